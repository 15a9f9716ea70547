# SPDX-License-Identifier: LGPL-3.0-or-later
"""Exceptions: one for each status code, all of them CkptDispatchError."""
from . import _declarations as declarations


class CkptDispatchError(Exception):
    """A call of the library failed.

    code   number of the status (CKPD_ERR_...)
    name   its name
    field  field, series or argument the error is about, "" when none
    index  slot, row or element, None when none
    value  the offending value, None when none
    """

    def __init__(self, message, code=0, name="", field="", index=None, value=None):
        super().__init__(message)
        self.code, self.name, self.field, self.index, self.value = code, name, field, index, value


class ArgumentError(CkptDispatchError, ValueError):
    """A value, name, length or combination that the library refuses."""


class FileFormatError(CkptDispatchError, ValueError):
    """A file or text that cannot be read as what it should be."""


class FileAccessError(CkptDispatchError, OSError):
    """A file that cannot be opened, read or written."""


class OutOfMemoryError(CkptDispatchError, MemoryError):
    """The library's allocator had nothing left."""


class NoModeError(CkptDispatchError):
    """No feasible mode; the message names the nearest miss."""


class SolverError(CkptDispatchError):
    """A backend failed, or none can solve the problem."""


class VerificationError(CkptDispatchError):
    """A plan violates the problem; it was not returned."""


class StateError(CkptDispatchError):
    """The object does not have what was asked for."""


_KINDS = {
    "CKPD_ERR_NO_MEMORY": OutOfMemoryError,
    "CKPD_ERR_STATE": StateError,
    "CKPD_ERR_NO_MODE": NoModeError,
    "CKPD_ERR_SYNTAX": FileFormatError,
    "CKPD_ERR_SCHEMA": FileFormatError,
    "CKPD_ERR_FILE": FileAccessError,
    "CKPD_ERR_BACKEND": SolverError,
    "CKPD_ERR_NO_BACKEND": SolverError,
    "CKPD_ERR_VERIFY": VerificationError,
}
_NAMES = {value: name for name, value in declarations.CONSTANTS.items()
          if name.startswith("CKPD_ERR_")}


def is_unknown_name(code):
    """Whether a status says that nothing has that name."""
    return _NAMES.get(code) == "CKPD_ERR_UNKNOWN_NAME"


def make(code, message, field="", index=None, value=None):
    """The exception for a status code."""
    name = _NAMES.get(code, "")
    number = code if name else 0
    kind = _KINDS.get(name, ArgumentError if -40 < number <= -2 else CkptDispatchError)
    return kind(message or name, code, name, field, index, value)
