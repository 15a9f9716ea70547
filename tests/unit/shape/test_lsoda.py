# SPDX-License-Identifier: LGPL-3.0-or-later
"""The swing, governor, turbine and battery equations solved by scipy's LSODA, against the library's Runge-Kutta."""
import ctypes
import os
import sys

try:
    import numpy
    from scipy.integrate import solve_ivp
except ImportError:
    # Another Python first in the path does not see the distribution's scipy; to a 32-bit build that one is of no use.
    SYSTEM = "/usr/bin/python3"
    if os.path.exists(SYSTEM) and sys.maxsize > 2**32 and "CKPD_LSODA_AGAIN" not in os.environ:
        os.environ["CKPD_LSODA_AGAIN"] = "1"
        os.execv(SYSTEM, [SYSTEM, os.path.abspath(__file__)])
    print("SKIP: scipy is not installed")
    sys.exit(77)

library = ctypes.CDLL(os.path.join(os.environ["BUILD_DIR"], "libckptdispatch.so"))
pointer = ctypes.c_void_p
for name, types in {
    "ckpd_context_new": [ctypes.POINTER(pointer), pointer],
    "ckpd_microgrid_new": [ctypes.POINTER(pointer), pointer, ctypes.c_char_p],
    "ckpd_microgrid_set": [pointer, ctypes.c_char_p, ctypes.c_double],
    "ckpd_microgrid_response": [pointer, ctypes.c_int64, ctypes.c_double, pointer, pointer, pointer, pointer],
}.items():
    function = getattr(library, name)
    function.argtypes = types
    function.restype = ctypes.c_int32
for name in ("ckpd_context_free", "ckpd_microgrid_free"):
    getattr(library, name).argtypes = [pointer]
    getattr(library, name).restype = None

STEP = 0.01
TIMES = numpy.arange(0, 60 + STEP / 2, STEP)


def trapezoid(depth):
    rise = numpy.clip((TIMES - 5) / 0.5, 0, 1)
    fall = numpy.clip((TIMES - 35) / 1.0, 0, 1)
    return depth * (rise - fall)


def own(settings, deficit):
    context, grid = pointer(), pointer()
    assert library.ckpd_context_new(ctypes.byref(context), None) == 0
    assert library.ckpd_microgrid_new(ctypes.byref(grid), context, b"gas-2x10") == 0
    for key, value in settings.items():
        assert library.ckpd_microgrid_set(grid, key.encode(), value) == 0
    out = numpy.zeros(len(TIMES)), numpy.zeros(len(TIMES)), numpy.zeros(len(TIMES))
    status = library.ckpd_microgrid_response(grid, len(TIMES), STEP, deficit.ctypes.data,
                                             *(array.ctypes.data for array in out))
    assert status == 0, status
    library.ckpd_microgrid_free(grid)
    library.ckpd_context_free(context)
    return out


def lsoda(settings, deficit):
    f0, rated, droop, t1, t2, load, valve_min, valve_max = 60.0, 20e6, 0.05, 0.2, 0.3, 12e6, 0.2, 1.05
    inertia, damping = settings.get("inertia_s", 1.5), 1.0
    power, gain, band, tau = settings.get("battery_power_w", 4e6), 4e6, settings.get("battery_deadband_hz", 0.1), 0.05
    secondary = settings.get("secondary_per_s", 0.0)
    m0 = load / rated

    def derive(t, x):
        w, v, m, b, s = x
        p = numpy.interp(t, TIMES, deficit)
        dv = (m0 + s - w / droop - v) / t1
        if (v >= valve_max and dv > 0) or (v <= valve_min and dv < 0):
            dv = 0.0
        off = f0 * w
        beyond = max(off - band, 0.0) + min(off + band, 0.0)
        target = min(max(gain * beyond, -power), power)
        return [(m - m0 + (p - b) / rated - damping * w) / (2 * inertia), dv, (v - m) / t2, (target - b) / tau,
                -secondary * w]

    # Restarted at every kink of the deficit, so that no step runs over one.
    kinks = [0.0, 5.0, 5.5, 35.0, 36.0, 60.0]
    x, parts = [0.0, m0, m0, 0.0, 0.0], []
    for a, b in zip(kinks, kinks[1:]):
        inside = TIMES[(TIMES > a - STEP / 2) & (TIMES < b - STEP / 2)]
        solution = solve_ivp(derive, (a, b), x, method="LSODA", t_eval=numpy.append(inside, b), rtol=1e-10, atol=1e-8,
                             max_step=0.05)
        assert solution.success, solution.message
        parts.append(solution.y[:, :-1])
        x = solution.y[:, -1]
    y = numpy.concatenate(parts + [numpy.array(x)[:, None]], axis=1)
    return f0 * y[0], y[3]


CASES = [({}, 1e6), ({}, 2e6), ({}, 3e6), ({"inertia_s": 1.07}, 2e6), ({"battery_deadband_hz": 0.017}, 2e6),
         ({"battery_power_w": 0.0}, 2e6), ({"battery_power_w": 0.5e6}, 3e6), ({"secondary_per_s": 2.0}, 2e6)]
worst = 0.0
for settings, depth in CASES:
    deficit = trapezoid(depth)
    mine, theirs = own(settings, deficit), lsoda(settings, deficit)
    error = numpy.abs(mine[0] - theirs[0]).max()
    power = numpy.abs(mine[1] - theirs[1]).max()
    print(f"{settings} {depth / 1e6:g} MW: largest difference {error:.2e} Hz, {power:.0f} W")
    worst = max(worst, error)
if worst > 1e-5:
    sys.exit(f"frequency differs by {worst} Hz")
