#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-3.0-or-later
"""Two versions of the library in one process (RTLD_LOCAL): each refuses the other's handles by name, and both go on.

The other version is built here from the same sources, with another number in base.h and no GLPK: what names neither the
version nor GLPK is compiled already.
"""
import concurrent.futures
import ctypes
import glob
import os
import re
import shutil
import subprocess
import sys

SRC, BUILD, CC = os.environ["SRC_DIR"], os.environ["BUILD_DIR"], os.environ.get("CC", "cc").split()
ERR_VERSION = -7


class Error(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("code", ctypes.c_int32), ("reserved", ctypes.c_int32),
                ("index", ctypes.c_int64), ("value", ctypes.c_double), ("field", ctypes.c_char * 64),
                ("message", ctypes.c_char * 512)]


def depends(path):
    """Whether that file names what differs between the two."""
    with open(path, encoding="utf-8") as file:
        return re.search(r"\bCKPD_(VERSION_|HAVE_GLPK)", file.read()) is not None


def build_other():
    shutil.copytree(os.path.join(SRC, "include"), "include")
    path = "include/ckptdispatch/base.h"
    with open(path, encoding="utf-8") as file:
        text = file.read()
    text, numbers = re.subn(r"(#define CKPD_VERSION_MINOR) \d+", r"\1 99", text)
    text, texts = re.subn(r'(#define CKPD_VERSION_STRING) "[^"]*"', r'\1 "0.99.0"', text)
    assert numbers == texts == 1
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    flags = ["-std=c11", "-O0", "-w", "-fPIC", "-fvisibility=hidden", "-D_GNU_SOURCE", "-DCKPD_BUILDING", "-Iinclude",
             f"-I{SRC}/lib"]
    sources = [s for s in glob.glob(f"{SRC}/lib/**/*.c", recursive=True) if "/solver/glpk" not in s]

    everything = any(map(depends, glob.glob(f"{SRC}/lib/**/*.h", recursive=True)))

    def compile_one(source):
        built = os.path.join(BUILD, "obj", os.path.relpath(source, SRC)[:-2] + ".pic.o")
        if not everything and not depends(source) and os.path.exists(built):
            return built
        target = os.path.relpath(source, SRC).replace("/", "-") + ".o"
        subprocess.run([*CC, *flags, "-c", "-o", target, source], check=True)
        return target

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        objects = list(pool.map(compile_one, sources))
    subprocess.run([*CC, "-shared", "-o", "libother.so", *objects, f"-Wl,--version-script,{SRC}/lib/libckptdispatch.map",
                    "-ljansson", "-lcsv", "-lpthread", "-ldl", "-lm"], check=True)


def load(path):
    library = ctypes.CDLL(path, mode=os.RTLD_LOCAL | os.RTLD_NOW)
    library.ckpd_version_string.restype = ctypes.c_char_p
    library.ckpd_solution_cost.restype = ctypes.c_double
    for name in ("ckpd_task_set", "ckpd_task_get"):
        getattr(library, name).argtypes = [ctypes.c_void_p, ctypes.c_char_p]
    return library


def make(library):
    context, task = ctypes.c_void_p(), ctypes.c_void_p()
    assert library.ckpd_context_new(ctypes.byref(context), None) == 0
    assert library.ckpd_task_new(ctypes.byref(task), context, b"job") == 0
    return context, task


def segments(library, task, value=None):
    if value is not None:
        library.ckpd_task_set.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_double]
        return library.ckpd_task_set(task, b"segments", value)
    out = ctypes.c_double()
    library.ckpd_task_get.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    assert library.ckpd_task_get(task, b"segments", ctypes.byref(out)) == 0
    return out.value


def told(library, context):
    error = Error(size=ctypes.sizeof(Error))
    assert library.ckpd_context_last_error(context, ctypes.byref(error)) == 0
    return error.code, error.field.decode(), error.message.decode()


def check(mine, other):
    context, task = make(mine)
    foreign_context, foreign_task = make(other)
    made = ctypes.c_void_p(1)
    # The first handle decides by status alone; beside a handle of our own the context has the words.
    assert segments(mine, foreign_task, 3) == ERR_VERSION
    assert mine.ckpd_task_new(ctypes.byref(made), foreign_context, b"x") == ERR_VERSION and made.value == 1
    assert mine.ckpd_mode_set_build(ctypes.byref(made), context, foreign_task, None, None) == ERR_VERSION
    code, field, message = told(mine, context)
    assert (code, field) == (ERR_VERSION, "task"), (code, field)
    wanted = (f"task was made by version {other.ckpd_version_string().decode()} of the library, "
              f"this is {mine.ckpd_version_string().decode()}")
    assert message == wanted, message
    print(message)
    for free in ("ckpd_task_free", "ckpd_context_free"):  # neither frees what is not its own
        getattr(mine, free)(foreign_task if "task" in free else foreign_context)
    assert segments(other, foreign_task, 3) == 0 and segments(other, foreign_task) == 3
    assert segments(mine, task, 5) == 0 and segments(mine, task) == 5
    for library, handles in ((mine, (context, task)), (other, (foreign_context, foreign_task))):
        library.ckpd_task_free(handles[1])
        library.ckpd_context_free(handles[0])


def main():
    build_other()
    mine = load(os.path.join(BUILD, "libckptdispatch.so"))
    other = load(os.path.join(os.getcwd(), "libother.so"))
    assert mine.ckpd_version() != other.ckpd_version() == 9900
    check(mine, other)
    check(other, mine)
    return 0


if __name__ == "__main__":
    sys.exit(main())
