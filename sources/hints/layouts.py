"""Shapes that a module's text tells of its inputs: docstrings, comments, type hints, unpacked shapes, einops patterns.

A shape is told in names, ``(batch_size, C, 2*H)``; names mean sizes by what the constructor was given, by what people
call them, and the same wherever they stand.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterator, Mapping

Shape = tuple[str, ...]  # of dimensions: a number, a name, an expression of names, or "..."
BATCH, TOKENS, SIDE, DEPTH = 4, 64, 32, 8
_DIMENSION = r"[\w.]+(?: ?(?:[*+/-]|//) ?\w+)*|\*\w*|\.\.\."
_LISTED = re.compile(rf"[(\[]#?\s*((?:{_DIMENSION})(?:\s*,\s*(?:{_DIMENSION}))+|\w+\s*,)\s*[)\]]")
# A number for each sample, which is seldom written with a comma: ``size [batch_size]``.
_BATCH = re.compile(r"[(\[]\s*(?:\w+ ?\* ?)?(B|N|BS|bsz?|(?:[Mm]ini_?)?[Bb]atch(?:_?[Ss]ize)?)\s*[)\]]")
_CROSSED = re.compile(r"(?<![\w.])(\w+(?: ?[x×] ?\w+){1,5})(?![\w(])")
_ENTRY = re.compile(r"\n\s*(?::\w|['\"]?\w+['\"]?\s*(?:\([^)\n]*\))?\s*:|-+\n|\n|[-*] )|[Rr]eturns?\b|->|→")
_NO_SIZE = re.compile(
    r"(?i)tensor|option|default|int$|float|str$|bool|list|tuple|none|true|false|module|array|e\.g|etc"
)
_WORDS = [(r"\b([1-6])-?[dD]\b", 0), (r"\bmatrix\b", 2), (r"\bvector\b", 1)]
# What people call dimensions.
_SIZES: list[tuple[re.Pattern[str], int]] = [
    (re.compile(pattern, re.I), size)
    for pattern, size in [
        (r"b|bs|bz|bsz|nb?|(mini_?)?batch\w*|n_?batch|num_?(samples|examples|instances)", BATCH),
        (r"h|w|height|width|hh?|ww?|\w*_?(height|width|[hw])|(im(age|g)?_?)?(size|side)|x|y", SIDE),
        (r"t|l|s|n|m|p|seq\w*|\w*len(gth)?\w*|time\w*|tokens?|\w*_(tokens?|steps?|len|seq)|n?frames?|tgt|src|q|k|v|points?|num_\w+",
         TOKENS),
        (r"depth|z", DEPTH),
    ]
]  # fmt: skip
# Settings that say the size of a dimension which goes by a letter: of skeletons (N, C, T, V, M) all do.
_SAID = [(re.compile(pattern), re.compile(said)) for pattern, said in [
    (r"c|ch|cin|c_?in|chan\w*|in_?ch\w*", r"in(put)?_?(ch|channels?)|c_?in"),
    (r"v", r"(num|n)_?(points?|joints?|nodes?|vertices|keypoints?)"),
    (r"m", r"(num|n)_?(persons?|people)"),
]]  # fmt: skip
_OPERATORS: dict[type, Callable[[int, int], int]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv,
    ast.Div: operator.floordiv,
}  # fmt: skip


def told(name: str, documentation: str, code: str, hint: str = "") -> list[Shape]:
    """Shapes of the parameter ``name`` of a function, the most explicit first."""
    return list(dict.fromkeys([*_hinted(hint), *_entries(name, documentation, code), *_handled(name, code)]))


def _hinted(hint: str) -> Iterator[Shape]:
    """``Float[Tensor, "b c h w"]``."""
    for text in re.findall(r"Tensor\s*,\s*['\"]([^'\"]+)['\"]", hint):
        yield tuple(text.split())


def _entries(name: str, documentation: str, code: str) -> Iterator[Shape]:
    """What docstrings and comments say after the parameter's name, up to the next one's entry."""
    comments = "\n".join(re.findall(r"#\s*(.*)", code))
    head = rf"(?:^|[\s`*:('\"])(?:param\s+)?{re.escape(name)}[`'\"]*(?:\.(?:shape|size(?:\(\))?))?(?=[\s:(,=`-])"
    for text in (documentation, comments):
        for match in re.finditer(head, text):
            rest = text[match.end() : match.end() + 400]
            entry = _ENTRY.split(rest, maxsplit=1)[0]
            if shape := _shape(entry):
                yield shape
                break
    if alone := re.search(rf"def \w+\(self,\s*{re.escape(name)}\b[^,()]*\)[^\n]*:\n((?:\s*#.*\n)+)", code):
        yield from filter(None, [_shape(alone[1])])
    for comment in re.findall(rf"^\s*{re.escape(name)}\b[^#\n(]*,\s*#(.*)$", code, re.M):
        if shape := _shape(comment):
            yield shape


def _shape(text: str) -> Shape | None:
    """The first shape of a text; of ``dim=64`` the name counts."""
    text = re.sub(r"\b([^\W\d]\w*)\s*=\s*\d+(?=\s*[,)\]])", r"\1", text)
    for match in _LISTED.finditer(text.replace(r"\times", "x").replace("\\", "")):
        shape = tuple(part.strip() for part in match[1].split(",") if part.strip())
        ranges = "0" in shape  # of values: ``[0, ..., vocab_size]``
        if len(shape) <= 6 and not ranges and not any(_NO_SIZE.search(part) for part in shape):
            return shape
    if each := _BATCH.search(text):
        return (each[1],)
    for match in _CROSSED.finditer(text):
        shape = tuple(part.strip() for part in re.split(r"[x×]", match[1]))
        if all(len(part) <= 2 or part.isdecimal() or "_" in part or _is_size(part) for part in shape):
            return shape
    for pattern, rank in _WORDS:
        if found := re.search(pattern, text):
            return ("_",) * (rank or int(found[1]))
    return None


def _is_size(word: str) -> bool:
    """Whether a word is one that people call a dimension by."""
    return any(pattern.fullmatch(word) for pattern, _ in _SIZES)


def _handled(name: str, code: str) -> Iterator[Shape]:
    """Unpacked shapes and einops patterns."""
    name = re.escape(name)
    for names in re.findall(rf"^\s*([\w, _*]+?)\s*=\s*{name}\.(?:shape|size\(\))\s*(?:#.*)?$", code, re.M):
        if "," in names and "*" not in names:
            yield tuple(n.strip() for n in names.strip().strip(",").split(","))
    for pattern in re.findall(rf"(?:rearrange|reduce|repeat)\(\s*{name}\s*,\s*f?['\"](.*?)->", code):
        groups = re.findall(r"\([^)]*\)|[^\s()]+", pattern)
        yield tuple("*".join(g.strip("()").split()) or "1" for g in groups)


class Sizes:
    """What the names of dimensions mean, for one call."""

    def __init__(self, known: Mapping[str, int], channels: int, features: int) -> None:
        """``known`` are sizes by name; a first layer takes so many ``channels`` or ``features``."""
        # "dim" may be a size or the number of an axis
        self._known = {n.lower(): size for n, size in known.items() if size > (7 if n in ("dim", "axis") else 0)}
        self._channels, self._features = channels, features

    def shape(self, dimensions: Shape) -> tuple[int, ...]:
        """Sizes of the dimensions. An ellipsis counts as one dimension, after batch and channels as two."""
        if len(dimensions) == 3 and dimensions[0] != "..." and dimensions[-1] in ("*", "..."):
            dimensions = (*dimensions[:2], "_", "_")
        return tuple(self._size(d, i, len(dimensions)) for i, d in enumerate(dimensions))

    def _size(self, dimension: str, at: int, rank: int) -> int:
        try:
            size = self._evaluated(ast.parse(dimension, mode="eval").body, at, rank)
        except (SyntaxError, ValueError, ZeroDivisionError):
            size = self._named("_", at, rank)
        return size if 0 < size < 1 << 16 else self._named("_", at, rank)

    def _evaluated(self, node: ast.expr, at: int, rank: int) -> int:
        if isinstance(node, ast.Constant) and type(node.value) is int:
            return node.value
        if isinstance(node, ast.Name):
            return self._named(node.id, at, rank)
        if isinstance(node, ast.Attribute):
            return self._named(node.attr, at, rank)
        if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            left, right = (self._evaluated(n, at, rank) for n in (node.left, node.right))
            return _OPERATORS[type(node.op)](left, right)
        raise ValueError(ast.dump(node))

    def _named(self, name: str, at: int, rank: int) -> int:
        if name.strip("_") == "":
            return self._usual(at, rank)
        low = name.lower()
        if low not in self._known:
            self._known[low] = self._guessed(low, at, rank)
        return self._known[low]

    def _guessed(self, name: str, at: int, rank: int) -> int:
        settings = [said for pattern, said in _SAID if pattern.fullmatch(name)] if rank >= 4 else []
        if settings and (size := next((v for n, v in self._known.items() if settings[0].fullmatch(n)), 0)):
            return size
        if re.fullmatch(r"c|ch|cin|c_?in|chan\w*|in_?ch\w*|\w*channels?", name):
            return self._channels if rank >= 3 else self._features
        if re.fullmatch(r"d|dim|e|f|c|\w*(_dim|hidden|embed|emb|feat|model)\w*", name):
            return DEPTH if rank == 5 and name == "d" else self._features
        if name == "n" and (at or rank < 3):
            return TOKENS
        size = next((size for pattern, size in _SIZES if pattern.fullmatch(name)), self._usual(at, rank))
        return SIDE // 2 if size == SIDE and rank == 5 else size

    def _usual(self, at: int, rank: int) -> int:
        if rank == 1:
            return self._features
        if at == 0:
            return BATCH
        if rank <= 3:
            return self._features if at == rank - 1 else TOKENS
        return self._channels if at == 1 else DEPTH if rank == 5 and at == 2 else SIDE if rank == 4 else SIDE // 2
