"""Device functions that candidates carry when they need them: what ``tl`` lacks and Inductor takes from libdevice.

Each is the text of a Triton function, written into the candidate above its kernels.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

# libdevice and tl_math functions that tl has under the same name
IN_TL = frozenset("abs ceil cos erf exp exp2 floor fma log log2 rsqrt sigmoid sin sqrt".split())
RENAMED = {"sqrt_rn": "sqrt", "fast_expf": "exp", "fast_dividef": "fdiv", "div_rn": "fdiv"}

SOURCES: dict[str, str] = {
    "tanh": '''
def tanh(x):
    """Hyperbolic tangent, without overflow for large arguments."""
    e = tl.exp(-2.0 * tl.abs(x))
    t = (1.0 - e) / (1.0 + e)
    return tl.where(x < 0, -t, t)
''',
    "log1p": '''
def log1p(x):
    """log(1 + x), accurate for small x (Kahan's correction)."""
    u = 1.0 + x
    d = u - 1.0
    return tl.where(d == 0, x, tl.log(u) * tl.where(u == float("inf"), 1.0, x / d))
''',
    "expm1": '''
def expm1(x):
    """exp(x) - 1, accurate for small x: a Taylor polynomial near zero."""
    series = x * (1.0 + x / 2.0 * (1.0 + x / 3.0 * (1.0 + x / 4.0 * (1.0 + x / 5.0 * (1.0 + x / 6.0)))))
    return tl.where(tl.abs(x) < 0.25, series, tl.exp(x) - 1.0)
''',
    "pow": '''
def pow(x, y):
    """x ** y; a negative base needs a whole exponent."""
    half = y * 0.5 + x * 0.0
    magnitude = tl.exp2(y * tl.log2(tl.abs(x)))
    signed = tl.where((x < 0) & (tl.floor(half) != half), -magnitude, magnitude)
    power = tl.where((x < 0) & (tl.floor(half * 2.0) != half * 2.0), float("nan"), signed)
    return tl.where((half == 0) | (x == 1), 1.0, power)
''',
    "log10": '''
def log10(x):
    """Logarithm to base ten."""
    return tl.log(x) * 0.4342944819032518
''',
    "asinh": '''
def asinh(x):
    """Inverse hyperbolic sine, accurate for small x."""
    a = tl.abs(x)
    y = log1p(a + a * a / (1.0 + tl.sqrt(a * a + 1.0)))
    return tl.where(x < 0, -y, y)
''',
    "acosh": '''
def acosh(x):
    """Inverse hyperbolic cosine, accurate near one."""
    t = x - 1.0
    return log1p(t + tl.sqrt(t * (x + 1.0)))
''',
    "atanh": '''
def atanh(x):
    """Inverse hyperbolic tangent, accurate for small x."""
    return 0.5 * (log1p(x) - log1p(-x))
''',
    "hypot": '''
def hypot(x, y):
    """Length of the vector (x, y), without overflow."""
    larger = tl.maximum(tl.abs(x), tl.abs(y))
    rest = tl.minimum(tl.abs(x), tl.abs(y)) / tl.where(larger == 0, 1.0, larger)
    return larger * tl.sqrt(1.0 + rest * rest)
''',
    "isnan": '''
def isnan(x):
    """Whether x is not a number."""
    return x != x
''',
    "isinf": '''
def isinf(x):
    """Whether x is infinite."""
    return tl.abs(x) == float("inf")
''',
    "signbit": '''
def signbit(x):
    """Whether x is negative; -0.0 is taken as positive."""
    return x < 0
''',
    "trunc": '''
def trunc(x):
    """Round towards zero."""
    return tl.where(x < 0, tl.ceil(x), tl.floor(x))
''',
    "nearbyint": '''
def nearbyint(x):
    """Round to the nearest integer, halves to the even one."""
    up = tl.floor(x + 0.5)
    tie = (up - x == 0.5) & (tl.floor(up * 0.5) * 2.0 != up)
    return tl.where(tie, up - 1.0, up)
''',
    "fmod": '''
def fmod(x, y):
    """Remainder with the sign of the dividend."""
    q = x / y
    return x - tl.where(q < 0, tl.ceil(q), tl.floor(q)) * y
''',
    "tan": '''
def tan(x):
    """Tangent."""
    return tl.sin(x) / tl.cos(x)
''',
    "sinh": '''
def sinh(x):
    """Hyperbolic sine."""
    series = x * (1.0 + x * x / 6.0 * (1.0 + x * x / 20.0))
    return tl.where(tl.abs(x) < 0.125, series, 0.5 * (tl.exp(x) - tl.exp(-x)))
''',
    "cosh": '''
def cosh(x):
    """Hyperbolic cosine."""
    return 0.5 * (tl.exp(x) + tl.exp(-x))
''',
    "atan": '''
def atan(x):
    """Arc tangent (Cephes' polynomial after two reductions of the argument)."""
    a = tl.abs(x)
    large = a > 2.414213562373095
    middle = (a > 0.4142135623730950) & (a <= 2.414213562373095)
    start = tl.where(large, 1.5707963267948966, tl.where(middle, 0.7853981633974483, 0.0))
    t = tl.where(large, -1.0 / a, tl.where(middle, (a - 1.0) / (a + 1.0), a))
    z = t * t
    p = ((8.05374449538e-2 * z - 1.38776856032e-1) * z + 1.99777106478e-1) * z - 3.33329491539e-1
    y = start + p * z * t + t
    return tl.where(x < 0, -y, y)
''',
    "asin": '''
def asin(x):
    """Arc sine."""
    return atan(x / tl.sqrt(1.0 - x * x))
''',
    "acos": '''
def acos(x):
    """Arc cosine."""
    return 1.5707963267948966 - atan(x / tl.sqrt(1.0 - x * x))
''',
    "atan2": '''
def atan2(y, x):
    """Angle of the point (x, y)."""
    base = atan(tl.where(x == 0, 0.0, y / tl.where(x == 0, 1.0, x)))
    turned = tl.where(x < 0, tl.where(y < 0, base - 3.141592653589793, base + 3.141592653589793), base)
    axis = tl.where(y > 0, 1.5707963267948966, tl.where(y < 0, -1.5707963267948966, 0.0))
    return tl.where(x == 0, axis, turned)
''',
    "erfc": '''
def erfc(x):
    """Complementary error function."""
    return 1.0 - tl.erf(x)
''',
    "floor_div": '''
def floor_div(a, b):
    """Integer division rounded down; ``//`` rounds towards zero."""
    quotient = a // b
    return tl.where((a % b != 0) & ((a < 0) != (b < 0)), quotient - 1, quotient)
''',
    "floor_mod": '''
def floor_mod(a, b):
    """Remainder with the sign of the divisor; ``%`` has that of the dividend."""
    remainder = a % b
    return tl.where((remainder != 0) & ((remainder < 0) != (b < 0)), remainder + b, remainder)
''',
    "larger_with_index": '''
def larger_with_index(a, a_index, b, b_index):
    """The larger value with its index; NaN wins, the first of equals wins."""
    first = (a > b) | ((a != a) & (b == b)) | (((a == b) | ((a != a) & (b != b))) & (a_index < b_index))
    return tl.where(first, a, b), tl.where(first, a_index, b_index)
''',
    "smaller_with_index": '''
def smaller_with_index(a, a_index, b, b_index):
    """The smaller value with its index; NaN wins, the first of equals wins."""
    first = (a < b) | ((a != a) & (b == b)) | (((a == b) | ((a != a) & (b != b))) & (a_index < b_index))
    return tl.where(first, a, b), tl.where(first, a_index, b_index)
''',
    "multiply": '''
def multiply(a, b):
    """Product, to reduce with."""
    return a * b
''',
    "either": '''
def either(a, b):
    """Logical or, to reduce with."""
    return a | b
''',
}


def with_dependencies(names: Iterable[str]) -> list[str]:
    """The helpers named and those that they call, callees first."""
    ordered: list[str] = []

    def add(name: str) -> None:
        if name in ordered:
            return
        for node in ast.walk(ast.parse(SOURCES[name])):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in SOURCES:
                add(node.func.id)
        ordered.append(name)

    for name in sorted(names):
        add(name)
    return ordered


def text(names: Iterable[str]) -> str:
    """Source of the helpers and of what they call."""
    return "\n\n".join(f"@triton.jit{SOURCES[name].rstrip()}\n" for name in with_dependencies(names))
