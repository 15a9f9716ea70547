# SPDX-License-Identifier: LGPL-3.0-or-later
"""Context, handles, arrays, fields: what every class of the package is made of."""
import ctypes
import math
import threading

from . import errors
from ._library import CALLBACKS, HANDLES, LIBRARY, struct

try:
    import numpy
except ImportError:
    numpy = None


class Context:
    """Library context: log and last error. One thread at a time; every object keeps its own alive."""

    def __init__(self, log=None, level=2):
        pointer = ctypes.POINTER(HANDLES["ckpd_context"])()
        status = LIBRARY.ckpd_context_new(ctypes.byref(pointer), None)
        if status:
            raise errors.make(status, "context cannot be made")
        self.pointer = pointer
        self._raised = None  # exception of a callback, to be raised when the library returns
        self._log = None
        if log is not None:
            self.set_log(log, level)

    def __del__(self):
        pointer, self.pointer = getattr(self, "pointer", None), None
        if pointer:
            LIBRARY.ckpd_context_free(pointer)

    def set_log(self, log, level=2):
        """log(level, code, text) for messages up to `level`: 1 error, 2 warning, 3 information, 4 debug."""
        wrapped = CALLBACKS["ckpd_log_fn"](
            lambda at, code, text, _: self.guard(log, None, at, code, text.decode(errors="replace")))
        self.check(LIBRARY.ckpd_context_set_log(self.pointer, level, wrapped, None))
        self._log = wrapped

    def guard(self, function, on_error, *arguments):
        """Calls a user's function from inside a callback; its exception waits for the library's return."""
        try:
            return function(*arguments)
        except BaseException as error:  # also KeyboardInterrupt: nothing may cross the library
            if self._raised is None:
                self._raised = error
            return on_error

    def check(self, status):
        """Raises what a callback raised, or the library's error."""
        raised, self._raised = self._raised, None
        if raised is not None:
            raise raised
        if status < 0:
            last = struct("ckpd_error")
            LIBRARY.ckpd_context_last_error(self.pointer, ctypes.byref(last))
            if last.code != status:
                raise errors.make(status, LIBRARY.ckpd_strerror(status).decode())
            raise errors.make(status, last.message.decode(errors="replace"), last.field.decode(errors="replace"),
                              None if last.index < 0 else last.index,
                              None if math.isnan(last.value) else last.value)
        return status

    @staticmethod
    def check_read(status, what, known=()):
        """For readers of objects that are immutable after build: they tell a status alone, the context's last error
        is that of another call."""
        if status < 0:
            text = LIBRARY.ckpd_strerror(status).decode()
            if known and errors.is_unknown_name(status):
                text += "; known are " + ", ".join(known)
            raise errors.make(status, f"{what}: {text}", what)


class Handle:
    """An object of the library. `with` or close() ends it early; else the garbage collector does."""

    kind = ""  # "ckpd_task"

    def __init__(self, context, make, *arguments):
        self.context = context
        pointer = ctypes.POINTER(HANDLES[self.kind])()
        context.check(make(ctypes.byref(pointer), *arguments))
        self._pointer = pointer

    @classmethod
    def _adopt(cls, context, pointer):
        made = cls.__new__(cls)
        made.context, made._pointer = context, pointer
        return made

    @property
    def pointer(self):
        """The C handle; an error once closed."""
        if not self._pointer:
            raise errors.StateError(f"this {type(self).__name__} is closed")
        return self._pointer

    def close(self):
        """Ends the object now; doing it twice is fine."""
        pointer, self._pointer = getattr(self, "_pointer", None), None
        if pointer:
            getattr(LIBRARY, self.kind + "_free")(pointer)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        self.close()


class Borrowed:
    """Part of another object, which it keeps alive."""

    def __init__(self, owner, pointer):
        self.owner, self.context, self.pointer = owner, owner.context, pointer


class Fields:
    """Named parameters: object["layers"] = 80, object.set(layers=80, heads=64), object.describe()."""

    def _call(self, verb):
        return getattr(LIBRARY, f"{self.kind}_{verb}")

    def __setitem__(self, name, value):
        if isinstance(value, str):
            status = self._call("set_text")(self.pointer, name.encode(), value.encode())
        else:
            status = self._call("set")(self.pointer, name.encode(), float(value))
        self.context.check(status)

    def __getitem__(self, name):
        if self.describe_field(name)["kind"] == "choice":
            buffer = ctypes.create_string_buffer(256)
            self.context.check(self._call("get_text")(self.pointer, name.encode(), buffer, 256))
            return buffer.value.decode()
        value = ctypes.c_double()
        self.context.check(self._call("get")(self.pointer, name.encode(), ctypes.byref(value)))
        return None if math.isnan(value.value) else value.value

    def set(self, **fields):
        """Sets several fields; returns the object."""
        for name, value in fields.items():
            self[name] = value
        return self

    @classmethod
    def describe(cls):
        """Every field: name, kind, unit, doc, choices, minimum, maximum, default, required."""
        return describe(cls.kind + "_field")

    def describe_field(self, name):
        """Description of one field; an unknown name gives a description without a kind."""
        return next((field for field in self.describe() if field["name"] == name), {"kind": ""})


_DESCRIPTIONS = {}


def describe(prefix):
    """What `prefix`_count() and `prefix`_info() list, as dictionaries."""
    if prefix not in _DESCRIPTIONS:
        rows = []
        for index in range(getattr(LIBRARY, prefix + "_count")()):
            info = struct("ckpd_field_info")
            getattr(LIBRARY, prefix + "_info")(index, ctypes.byref(info))
            default = None if math.isnan(info.default_value) else info.default_value
            choices = info.choices.decode().split("|") if info.choices else []
            rows.append({
                "name": info.name.decode(),
                "kind": {1: "number", 2: "integer", 3: "flag", 4: "choice"}.get(info.kind, ""),
                "unit": info.unit.decode(), "doc": info.doc.decode(), "choices": choices,
                "minimum": info.minimum, "maximum": info.maximum, "required": bool(info.required),
                "default": choices[int(default)] if choices and default is not None else default,
            })
        _DESCRIPTIONS[prefix] = rows
    return _DESCRIPTIONS[prefix]


def doubles(values):
    """A C array of doubles and its length, from a sequence, an array or anything with a buffer."""
    if numpy is not None:
        block = numpy.ascontiguousarray(values, dtype=numpy.float64).reshape(-1)
        return (ctypes.c_double * block.size).from_buffer_copy(block.tobytes()), block.size
    block = list(values)
    return (ctypes.c_double * len(block))(*block), len(block)


def int32s(values):
    """A C array of int32 and its length."""
    block = [int(value) for value in values]
    return (ctypes.c_int32 * len(block))(*block), len(block)


def answer(block):
    """Values of the library as a numpy array where numpy is present, else as a list."""
    return numpy.array(block, dtype=numpy.float64) if numpy is not None else list(block)


def interruptible(run, cancel):
    """run() on a thread of its own, so that Ctrl-C reaches us while the library works.

    On KeyboardInterrupt cancel() is asked once, and the answer that the library then gives is returned. Off the
    main thread Python delivers no interrupts and run() is simply called.
    """
    if threading.current_thread() is not threading.main_thread():
        return run()
    box, done = {}, threading.Event()

    def work():
        try:
            box["value"] = run()
        except BaseException as error:
            box["error"] = error
        finally:
            done.set()

    threading.Thread(target=work).start()
    while not done.is_set():  # not join(): an interrupted join() takes the thread for ended (bpo-45274)
        try:
            done.wait(0.05)
        except KeyboardInterrupt:
            cancel()
    if "error" in box:
        raise box["error"]
    return box["value"]
