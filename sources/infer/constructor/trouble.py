"""Errors as the search over constructor arguments sees them: where, of what kind of value, what they ask for."""

from __future__ import annotations

import ast
import linecache
import re
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import nn

from sources.hints.guesses import PARTS
from sources.infer.constructor.configs import CONFIG, METHOD
from sources.infer.constructor.parts import FIRST, STUB

# How messages say of what type a value is that does not do.
_CULPRIT = re.compile(
    r"'(\w+)' object (?:is not|has no|does not|cannot)|object of type '(\w+)'|argument of type '(\w+)'"
    r"|instances of '(\w+)' and '(\w+)'|operand type\(s\) for [^:]*: '(\w+)' and '(\w+)'|non-iterable (\w+) object"
    r"|(?:mapping|iterable|number|string|integer), (?:but got |not )'?(\w+)|^TypeError: (\w+) is not a Module"
    r"|found element of type (\w+)\b(?!\.)|with an iterable, but got (\w+)|type object '(\w+)' has"
    r"|(\w+)\.forward\(\) (?:takes|got an unexpected|missing)|cannot assign '(\w+)' object to buffer"
)
_OF_STRINGS = r"attribute '(lower|upper|split|startswith|endswith|strip|format|join|replace|find)'"
_OF_DICTIONARIES = r"attribute '(items|keys|values|update|pop|setdefault|copy)'|must be a mapping|not a mapping"
_OF_MODULES = r"attribute '(parameters|modules|children|named_parameters|weight|eval|train|state_dict|forward)'"

_CLASSES = ["nn.Identity", "nn.ReLU", "nn.LayerNorm", "nn.BatchNorm2d"]
_ONLY_TENSORS = set(dir(torch.Tensor)).difference(["tolist"], *map(dir, (nn.Module, str, dict, list, float, int)))
_OF_TENSORS = rf"has no attribute '({'|'.join(sorted(_ONLY_TENSORS))})'"
TENSORS = ["torch.ones(64, 64)", "torch.ones(64)"]
WORDS = "torch.randn(1024, 64)"  # vectors of so many
_LOOKS_UP = re.compile(r"from_pretrained\(|\bembeddings\.dim")  # where torch.nn.Embedding is given them
_TENSORS = ["torch.linspace(0.99, 0.01, 64)", "torch.ones(64, 64)"]
_PARAMETERS = ["nn.Parameter(torch.randn(64, 64))", "nn.Parameter(torch.ones(64))"]
_LISTS = ["[32, 64]", "[2, 2, 2, 2]", "(8, 8)", "[3, 5]", "[16, 32, 64, 128]"]
_IN_SETTING = re.compile(r" in \w+(\.\w+)+")  # a name is looked for in it
MAX_LINES = 12  # of one call
_INSTANCES = ["nn.Identity()", "[nn.Identity(), nn.Identity()]", "nn.Linear(64, 64)"]


@dataclass(frozen=True, slots=True)
class Trouble:
    """An error, the lines of code nearest to it, and all lines on the way to it."""

    message: str
    near: str = ""
    far: str = ""
    line: str = ""
    held: frozenset[str] = frozenset()  # plain values, as expressions, of the variables in the program's failing line

    @classmethod
    def of(cls, error: Exception, file: str = "", program: str = "") -> Trouble:
        """The trouble of an error; lines of one ``file`` only, where that is given."""
        message = f"{type(error).__name__}: {error}"
        frames = [f for f in traceback.extract_tb(error.__traceback__) if not file or f.filename == file]
        lines = list(map(_line, frames))
        own = [_line(f) for f in frames if f.filename == program][-1:]  # the error may be deep inside of torch
        near = " ".join([*own, *lines[-2 if file else -3 :], message])
        return cls(message, near, " ".join(lines), lines[-1] if lines else "", _held(error, program))

    @property
    def culprits(self) -> frozenset[str]:
        """Names of the types of values that do not do; empty where the message does not say."""
        match = _CULPRIT.search(self.message)
        return frozenset(filter(None, match.groups())) if match else frozenset()


def _line(frame: traceback.FrameSummary) -> str:
    """The code that a frame is at: all lines of a call."""
    first = frame.lineno or 0
    last = min(max(frame.end_lineno or 0, first), first + MAX_LINES)
    return " ".join(linecache.getline(frame.filename, n).strip() for n in range(first, last + 1))


def _held(error: Exception, program: str) -> frozenset[str]:
    """Strings and numbers that the innermost failing line of a program works on."""
    frames = [(f, n) for f, n in traceback.walk_tb(error.__traceback__) if f.f_code.co_filename == program]
    if not frames:
        return frozenset()
    frame, line = frames[-1]
    words = set(re.findall(r"\w+", linecache.getline(program, line)))
    plain = (v for n, v in frame.f_locals.items() if n in words and type(v) in (str, int, float) and v not in (0, 1))
    return frozenset(map(repr, plain))


@lru_cache(maxsize=1 << 12)
def kinds(expression: str) -> frozenset[str]:
    """Names of the types that an argument's value, and what it holds, may have."""
    if expression == CONFIG:
        return frozenset(["Config"])
    if expression.startswith(METHOD):
        return frozenset(["function", *kinds(expression.removeprefix(METHOD))])
    try:
        value = ast.literal_eval(expression)
    except (ValueError, SyntaxError):
        if expression[:1] == "[":  # of modules
            return frozenset(["list", *re.findall(r"(\w+)\(", expression)])
        called = re.match(r"[\w.]*?(\w+)\(", expression)
        if expression.startswith("lambda") or expression.startswith("F."):
            return frozenset(["function", "builtin_function_or_method"])
        return frozenset([called[1]] if called else ["type", "function", expression.split(".")[-1]])
    return frozenset(_types(value))


def _types(value: object) -> Iterator[str]:
    """Names of the types of a plain value, and of all that it holds."""
    yield type(value).__name__
    inner = [*value, *value.values()] if isinstance(value, dict) else value if isinstance(value, list | tuple) else []
    for held in inner:
        yield from _types(held)


def wanted(message: str, line: str, running: bool = False) -> list[str]:
    """Values of the kind that an error message asks for; ``running``: forward failed, not the constructor."""
    if match := re.search(r"values to unpack \(expected (\d)|unpack non-iterable", message):
        count = int(match[1]) if match[1] else line.split("=")[0].count(",") + 1
        if re.search(r"\.(shape|size\(\))\s*(#|$)", line):  # it is a tensor, of so many dimensions
            return [f"torch.rand({', '.join({4: ('4', '3', '32', '32')}.get(count, ('16',) * count))})"]
        return [{2: "(32, 32)", 3: "(3, 32, 32)"}.get(count, str((16,) * count)), str([2] * count)]
    rules = [
        (r"found element of type torch\.Size", [CONFIG]),  # what has a method ``size`` and is no tensor: a vocabulary
        (r"indices must be integers or slices, not tuple", TENSORS),  # columns are taken: ``pairs[:, 0]``
        (_OF_TENSORS, [WORDS, *TENSORS] if _LOOKS_UP.search(line) else TENSORS),
        (r"(list|tuple) index out of range", ["[2, 2, 2, 2]", "[16, 32, 64, 128]", "[16, 32, 64, 128, 256]"]),
        (r"attribute 'keys'", ["{'a': 64}", "{}", CONFIG, "{'a': nn.Identity()}"]),  # a key that is none is named next
        (_OF_DICTIONARIES, ["{}", CONFIG, "{'a': 64}", "{'a': nn.Identity()}"]),
        (r"not a Module subclass|ModuleList\S* should be called with an iterable",
         ["[nn.Identity(), nn.Identity()]", "nn.Identity()", "[nn.Conv2d(64, 64, 3, padding=1)] * 2"]),
        (r"argument of type '(int|float|bool)'", [CONFIG] if _IN_SETTING.search(line) else _LISTS),
        (r"argument '\w+' \(position \d\) must be tuple of ints, not", ["(1, 1)", "(2, 2, 2, 2)", *_LISTS]),
        (r"not iterable|not subscriptable|has no len|must be an iterable|\"sequence\" type",
         _LISTS),
        (r"to have \d+ channels, but got|Kernel size can't be greater", ["(3, 64, 64)", "64"]),
        (r"missing 1 required positional argument: 'input'", _CLASSES),
        (r"object is not callable|should be called with|should be callable",
         [*_INSTANCES, *_CLASSES] if running else [*_CLASSES, *_INSTANCES]),
        (r"attribute name must be string|module 'torch\.nn' has no",
         ["'LSTM'", "'GRU'"] if re.search(r"(?i)rnn|lstm|recurrent", line) else ["'ReLU'", "'GELU'", "'SiLU'"]),
        (r"attribute '(astype|tolist)'", ["torch.ones(64, 64).numpy()", "torch.ones(64).numpy()"]),
        (r"invalid literal for int\(\)", ["'32'"]),  # of numbers in a text, whatever stands between them
        (_OF_STRINGS, ["'relu'", "'gelu'", "'mean'"]),
        (r"between 0 and 1", ["0.0", "[0.0, 0.0]", "0.5"]),
        (r"Embeddings parameter is expected", [WORDS]),
        (r"expected np.ndarray|numpy.ndarray", [f"{WORDS}.numpy()", "torch.ones(64).numpy()"]),
        (r"as parameter '\w+' \(torch\.nn\.Parameter", _PARAMETERS),
        (r"torch Tensor or None required|must be Tensor|to be a Tensor|expected Tensor as element \d+ in", _TENSORS),
        (r"forward\(\) got an unexpected keyword argument '(kernel_size|stride|padding|dilation)'", ["nn.Conv2d"]),
        (r"forward\(\) got an unexpected keyword argument 'scale_factor'", ["nn.Upsample"]),
        # a base class of layers, which cannot be called itself, is what a type hint names
        (r"\.forward\(\) (takes \d+ positional|got an unexpected keyword|missing \d+ required)|_forward_unimplemented"
         r"|is missing the required \"forward\"", [FIRST, STUB]),
        (r"^StopIteration|not an iterator", PARTS if ".parameters()" in line else []),  # it has no weights
        (_OF_MODULES, ["nn.Linear(64, 64)", "nn.Conv2d(64, 64, 3, padding=1)", "nn.Identity()"]),
        (r"has no attribute", [CONFIG, "nn.Identity()", "nn.Identity"]),
        (r"divisible|division|modulo|multiple", ["64", "256", "4", "96", "32", "1", "2", "16", "8", "128"]),
        (r"must match the size", ["(64, 1, 1, 1)", "(64, 1, 1)", "(64,)", "(1, 64, 1, 1)", "64", "(1,)", "1"]),
        (r"can only concatenate \w+ \(not \"int\"\)", ["64", "16"]),
        (r"\bodd\b", ["3", "1", "5", "7"]),
        (r"unsupported operand|not supported between|as an integer|invalid combination|must be|can't multiply"
         r"|argument 'size'", ["64", "4", "0.5", "2", "1"]),
    ]  # fmt: skip
    if listed := _listed(message):
        return listed
    options = re.search(r"\bin\s*[\[({]((?:\s*['\"][\w-]+['\"],?)+)\s*[\])}]", line)
    found = re.findall(r"['\"][\w-]+['\"]", options[1]) if options else []
    if re.search(r"not subscriptable|item assignment|indices must be integers", message) and re.search(
        r"\w\[['\"]", line
    ):
        found.append(CONFIG)
    return found + next((v for pattern, v in rules if re.search(pattern, message)), [])


def _listed(message: str) -> list[str]:
    """The words of which a message says that one is to be given, as expressions."""
    if match := re.search(
        r"(?i)(?:must be|one of|choose from|supported|expected)\b[^\[(']*[\[(]?((?:['\"]?[\w.-]+['\"]?, ){2,}[^\])]*)",
        message,
    ):
        found = [repr(w) for w in re.findall(r"[\w.-]+", match[1]) if not w.isdecimal()][:4]
        if found and not re.search(r"tensor|int,", match[1], re.I):
            return found
    modes = re.search(r"\w+(?: \| \w+){2,}", message)  # "for the modes: nearest | linear | bilinear"
    return [repr(w) for w in modes[0].split(" | ")] if modes else []


def offered(message: str, tree: ast.Module) -> list[str]:
    """Words of a message that the program's text has as strings, too: "pass one of: resnet18 or resnet50"."""
    words = dict.fromkeys(re.findall(r"\w[\w.-]*\w", message))
    return [repr(word) for word in words if word in _strings(tree)]


@lru_cache(maxsize=4)  # of one program at a time
def _strings(tree: ast.Module) -> frozenset[str]:
    return frozenset(n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str))
