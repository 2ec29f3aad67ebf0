"""A library's files as the cutting of kernels sees them: Triton may be imported, and its decorators are the point."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping

from kdata.align import helpers
from sources.cut.pieces import Piece, is_noise
from sources.cut.slicer import Slicer
from sources.text.bindings import REWRITES, File, Imported
from sources.text.references import with_references
from sources.text.symbols import Package
from sources.text.targets import External, Missing, Target

LAUNCHING = re.compile(
    r"(triton\.)?(jit|autotune|heuristics)\b|contextmanager|dataclass|property|staticmethod|classmethod"
)
CALLERS = re.compile(
    r"^(dispatch|input_guard|contiguous|tensor_cache|checkpoint|libentry|libtuner|force_static\w*|"
    r"torch\.library\.impl|(torch\.library\.)?(triton_op|custom_op)|register_custom_op|replay_launches)$"
)
# What kernels call beyond Triton's language is said in it: the interpreter has no libdevice, nor has every GPU.
LIBDEVICE = re.compile(r"triton\.language\.(extra(\.\w+)*\.)?(libdevice|math)")
STAND_IN = "kdata_libdevice.py"
ALIKE = "abs ceil cos erf exp exp2 floor fma log log2 rsqrt sin sqrt".split()
NEAREST = {"sqrt_rn": "sqrt", "div_rn": "fdiv", "fast_expf": "exp", "fast_dividef": "fdiv", "rint": "nearbyint",
           "isinfd": "isinf", "isnand": "isnan", "isinff": "isinf", "isnanf": "isnan", "div_rz": "fdiv",
           "fast_tanf": "tan", "fast_sinf": "sin", "fast_cosf": "cos", "fast_powf": "pow", "fast_tanhf": "tanh",
           "fast_logf": "log", "ffloor": "floor"}  # fmt: skip
BESIDE = """
@triton.jit
def isfinited(x):
    return tl.abs(x) < float("inf")


@triton.jit
def finitef(x):
    return tl.abs(x) < float("inf")


@triton.jit
def round(x):
    whole = tl.floor(tl.abs(x))
    whole = tl.where(tl.abs(x) - whole >= 0.5, whole + 1.0, whole)
    return tl.where(x < 0, -whole, whole)


def is_boolean_dtype(dtype):
    return dtype == torch.bool


def is_integer_dtype(dtype):
    return not dtype.is_floating_point and not dtype.is_complex and dtype != torch.bool


def is_float_dtype(dtype):
    return dtype.is_floating_point
"""


def libdevice() -> str:
    """The text of a module that defines libdevice's functions in Triton's language."""
    parts = ["import torch\nimport triton\nimport triton.language as tl", helpers.text(helpers.SOURCES), BESIDE]
    plain = {name: name for name in ALIKE} | {k: v for k, v in NEAREST.items() if v in ALIKE or v == "fdiv"}
    parts += [_forward(name, f"tl.{target}") for name, target in plain.items()]
    parts += [_forward(name, target) for name, target in NEAREST.items() if target in helpers.SOURCES]
    return "\n\n".join(parts)


def _forward(name: str, target: str) -> str:
    given = "x, y, z" if name == "fma" else "x, y" if target == "tl.fdiv" else "x"
    return f"@triton.jit\ndef {name}({given}):\n    return {target}({given})\n"


class KernelPackage(Package):
    """The files of a library."""

    rewrites = tuple(rewrite for rewrite in REWRITES if rewrite is not with_references)  # launches are wanted here

    def __init__(
        self, texts: Mapping[str, str], replacements: Mapping[str, str] | None = None,
        said: Callable[[str, str], str] | None = None,
    ) -> None:  # fmt: skip
        """``said`` gives a file's text as it is to be parsed, by its path and text.

        Only what recipes and launchers name is parsed: a library has thousands of files, its kernels need a few.
        """
        super().__init__({**texts, STAND_IN: libdevice()}, replacements, about=())
        self._given, self._said = frozenset(texts), said

    def _text(self, path: str) -> str:
        text = super()._text(path)
        return self._said(path, text) if self._said and path in self._given else text

    def owns(self, path: str, module: str) -> bool:
        """Whether a module is of the library, or what its kernels are written in."""
        return module.split(".")[0] == "triton" or super().owns(path, module)

    def resolve(self, path: str, how: Imported, hops: int = 0) -> Target:
        """What an import statement in the file ``path`` binds."""
        if how.module == "torch._prims_common":
            return self.member(STAND_IN, how.name)
        if how.level or how.module.split(".")[0] != "triton":
            return super().resolve(path, how, hops)
        whole = f"{how.module}.{how.name}" if how.name else how.module
        if how.name and LIBDEVICE.fullmatch(how.module):
            return self.member(STAND_IN, how.name)
        if LIBDEVICE.fullmatch(whole) and not whole.endswith(".math"):
            return super().resolve(path, Imported(STAND_IN.removesuffix(".py")))
        if whole == "triton.language":
            return External(whole)
        return External(how.module, how.name) if how.name else External(how.module)

    def _module(self, path: str, module: str, level: int) -> str | None:
        if not level and module.split(".")[0] == "triton":
            return None
        return super()._module(path, module, level)


class KernelSlicer(Slicer):
    """Cuts launchers with their kernels out of a library."""

    def chain(self, piece: Piece, node: ast.Attribute) -> Target | None:
        """What a dotted name means; ``tl.extra.cuda.libdevice.round`` is said in Triton's language, as imports are."""
        root, _, rest = ast.unparse(node.value).partition(".")
        found = rest.endswith("libdevice") and LIBDEVICE.fullmatch(f"triton.language.{rest}")
        if found and self.target(piece, root) == External("triton.language"):
            return self.package.member(STAND_IN, node.attr)
        return super().chain(piece, node)

    def is_noise(self, path: str, decorator: ast.expr) -> bool:
        """Whether a candidate computes the same without a decorator; never of those that make a kernel."""
        root = decorator.func if isinstance(decorator, ast.Call) else decorator
        if LAUNCHING.search(ast.unparse(root)):
            return ast.unparse(root).startswith("torch")
        if is_noise(decorator) or CALLERS.search(ast.unparse(root)):
            return True
        if not isinstance(root, ast.Name | ast.Attribute):
            return False
        target, _ = self.package.chain(path, root)
        return isinstance(target, Missing) and bool(target.name)


def kernels(file: File) -> set[str]:
    """Names of the ``@triton.jit`` functions of a file."""
    functions = (s for s in file.tree.body if isinstance(s, ast.FunctionDef))
    return {f.name for f in functions if any(_is_jit(d) for d in f.decorator_list)}


def _is_jit(decorator: ast.expr) -> bool:
    root = decorator.func if isinstance(decorator, ast.Call) else decorator
    return ast.unparse(root) in ("triton.jit", "jit")
