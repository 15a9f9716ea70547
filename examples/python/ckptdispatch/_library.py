# SPDX-License-Identifier: LGPL-3.0-or-later
"""Finds and loads the shared library and declares every symbol of its API list."""
import ctypes
import ctypes.util
import os
import pathlib

from . import _declarations as declarations

SCALARS = {
    "void": None,
    "char": ctypes.c_char,
    "double": ctypes.c_double,
    "int32_t": ctypes.c_int32,
    "int64_t": ctypes.c_int64,
    "uint8_t": ctypes.c_uint8,
    "uint32_t": ctypes.c_uint32,
    "uint64_t": ctypes.c_uint64,
    "size_t": ctypes.c_size_t,
}

HANDLES = {name: type(name, (ctypes.Structure,), {}) for name in declarations.HANDLES}
STRUCTS = {name: type(name, (ctypes.Structure,), {"__slots__": ()}) for name in declarations.STRUCTS}
CALLBACKS = {}


def ctype(text):
    """ctypes type of a C type as the API list spells it."""
    words = [word for word in text.replace("*", " * ").split() if word != "const"]
    base, stars = words[0], words[1:]
    if base == "char" and stars == ["*"] and text.startswith("const"):
        return ctypes.c_char_p
    if base == "void" and stars:
        result, stars = ctypes.c_void_p, stars[1:]
    elif base == "char" and text.startswith("const") and stars:
        result, stars = ctypes.c_char_p, stars[1:]
    else:
        result = SCALARS.get(base, HANDLES.get(base, STRUCTS.get(base, CALLBACKS.get(base))))
        if result is None and base != "void":
            raise TypeError(f"unknown type {text!r} in the API list")
    for _ in stars:
        result = ctypes.POINTER(result)
    return result


def _callback(signature):
    returns, arguments = signature
    return ctypes.CFUNCTYPE(ctype(returns), *(ctype(argument) for argument in arguments))


def _declare_types():
    for name, signature in declarations.CALLBACKS.items():
        CALLBACKS[name] = _callback(signature)
    waiting = dict(declarations.STRUCTS)
    while waiting:  # a struct that holds another by value comes after it
        for name, fields in list(waiting.items()):
            if any(isinstance(f[1], str) and f[1] in waiting and f[1] != name for f in fields):
                continue
            members = []
            for field in fields:
                kind = ctype(field[1]) if isinstance(field[1], str) else _callback(field[1])
                for length in reversed(field[2] if len(field) > 2 else ()):
                    kind = kind * length
                members.append((field[0], kind))
            STRUCTS[name]._fields_ = members
            del waiting[name]


def _candidates():
    """Where the library may be, most explicit first."""
    given = os.environ.get("CKPTDISPATCH_LIBRARY")
    if given:
        yield given
        return
    here = pathlib.Path(__file__).resolve()
    for folder in here.parents:  # a build tree around this file
        for name in ("libckptdispatch.so.0", "libckptdispatch.dylib"):
            if (folder / "build" / name).exists():
                yield str(folder / "build" / name)
    yield "libckptdispatch.so.0"
    found = ctypes.util.find_library("ckptdispatch")
    if found:
        yield found


def _open():
    tried = []
    for path in _candidates():
        try:
            return ctypes.CDLL(path)
        except OSError as error:
            tried.append(f"{path}: {error}")
    raise ImportError("libckptdispatch was not found; install it, or set CKPTDISPATCH_LIBRARY to its file. "
                      "Tried:\n  " + "\n  ".join(tried))


def _check_version(library):
    library.ckpd_abi_version.restype = ctypes.c_int32
    library.ckpd_version.restype = ctypes.c_int32
    abi, version = library.ckpd_abi_version(), library.ckpd_version()
    macros = declarations.MACROS
    wanted = macros["CKPD_VERSION_MAJOR"] * 10000 + macros["CKPD_VERSION_MINOR"] * 100
    if abi != macros["CKPD_ABI_VERSION"]:
        raise ImportError(f"libckptdispatch has ABI {abi}, this package is for {macros['CKPD_ABI_VERSION']}")
    if version < wanted:
        raise ImportError(f"libckptdispatch is version {version}, this package needs {wanted} or later")


def load():
    """The library, every function with its argument and result types."""
    library = _open()
    _check_version(library)
    for name, (returns, arguments) in declarations.FUNCTIONS.items():
        try:
            function = getattr(library, name)
        except AttributeError:
            raise ImportError(f"libckptdispatch lacks {name}: package and library differ") from None
        function.restype = ctype(returns)
        function.argtypes = [ctype(argument) for argument in arguments]
    return library


_declare_types()
LIBRARY = load()


def struct(name, **values):
    """A public struct with its size member set."""
    made = STRUCTS[name](**values)
    made.size = ctypes.sizeof(STRUCTS[name])
    return made
