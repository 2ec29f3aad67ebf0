"""Operators as they stand in modules: with steps before and after them, in the ways that people write such programs.

What is computed comes from tables, see ``blocks.toml``; shapes, steps and spelling are drawn with a seed.  A reduction
that can keep its dimension comes in two programs that differ in nothing else.
"""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, takewhile

from sources.aten import chains, tables, words
from sources.aten.chains import POINTWISE, UNKNOWN, Chain
from sources.aten.form import INDEX, LONGEST, Drawn, Form, Style, camel, wrapped

Found = Iterator[tuple[Form, tuple[str, ...]]]
TABLES = ("blocks", "blocks_along")
DIMS = {
    1: ("0", "-1"), 2: ("1", "0", "-1"), 3: ("1", "2", "-1", "0", "-2"), 4: ("1", "-1", "2", "3", "0"),
    5: ("1", "-1", "2"),
}  # fmt: skip
SEVERAL = {3: ("(1, 2)", "(0, 2)", "(-2, -1)"), 4: ("(2, 3)", "(1, 2, 3)", "(0, 2, 3)"), 5: ("(2, 3, 4)",)}
MEANS = ("", ".mean(dim=-1)", ".sum(dim=-1)", ".mean(dim={dim})", ".flatten(1).sum(dim=1)")
DOCSTRINGS = ("{first}.", "Applies {all}.", "A module that computes {all}.", "Model that performs {all}.")
UNWANTED = (chains.gated, chains.compared)  # steps whose kernels are long, or hold for one size
MOST_INPUTS = 4
MATRICES = ("a", "b", "c")
# What a constructor's numbers are where nothing else is said; others have what they are given as their default.
USUAL = {"stride": "1", "padding": "0", "output_padding": "0", "dilation": "1", "groups": "1", "bias": "True",
         "keepdim": "False", "alpha": "1.0", "beta": "1.0"}  # fmt: skip
TRIES = 12  # of a step, until one fits


@dataclass(frozen=True, slots=True)
class Family:
    """Rows of a table that are drawn alike; ``blocks.toml`` says what the fields mean."""

    name: str
    times: int
    before: Sequence[int]
    after: Sequence[int]
    rows: Sequence[Sequence[str]]
    ranks: Sequence[int] = (2,)
    result: str = "x"  # what the result is called
    pointwise: bool = False  # only such steps follow
    most: int = words.MOST  # elements of a tensor


@dataclass(frozen=True, slots=True)
class Kept:
    """A step with numbers that are attributes, and what these may be."""

    word: str
    expression: str
    parameters: Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class Stock:
    """What ``steps.toml`` holds: sizes of words, shapes of matrices, steps."""

    sizes: Mapping[str, Sequence[int]]
    matrices: Sequence[Mapping[str, Sequence[int]]]
    kept: Sequence[Kept]


@dataclass(slots=True)
class Block:
    """A program in the making."""

    family: Family
    rng: random.Random
    stock: Stock
    chain: Chain
    dim: str
    made: tuple[str, ...] = ()  # the shape of the row's result, as far as it is known

    def expression(self, text: str, keepdim: bool) -> str:
        """What a row computes, with its dimension and whether that is kept, as numbers or as attributes.

        One of two neighbours has attributes, the other numbers: else they would be taken for duplicates.
        """
        rng, said, kept = self.rng, self.dim, ""
        chance, whether = rng.random(), rng.choice(("", "", "said", "kept"))
        attribute = (chance < 0.5) != keepdim if "{keepdim}" in text else chance < 0.4 and "{dim}" in text
        if attribute:
            self.keep("dim", self.dim)
            said = "self.dim"
        if keepdim or whether:
            kept = f", keepdim={keepdim}"
        if attribute and whether and "{keepdim}" in text:
            self.keep("keepdim", str(keepdim))
            kept = ", keepdim=self.keepdim"
        text = text.replace("{mean}", rng.choice(MEANS[:1] if len(self.chain.shape) < 2 else MEANS))
        return text.replace("{dims}", said).replace("{dim}", said).replace("{keepdim}", kept)

    def keep(self, name: str, value: str) -> None:
        """A parameter of the constructor as an attribute."""
        if name not in self.chain.arguments:
            self.chain.layers.append(f"self.{name} = {name}")
            self.chain.arguments[name] = value

    def step(self, options: Sequence[chains.Option]) -> None:
        """One more step, if any of the options fits."""
        for _ in range(TRIES):
            _, step = self.rng.choices(options, [w for w, _ in options])[0]
            if len(self.chain.inputs) < MOST_INPUTS and step(self.chain):
                return

    def kept(self, chain: Chain) -> bool:
        """A step with a number that is an attribute."""
        step = self.rng.choice(self.stock.kept)
        if step.word in chain.steps or set(step.parameters) & set(chain.arguments):
            return False
        for name, values in step.parameters.items():
            self.keep(name, self.rng.choice(values))
        return chain.say(step.word, step.expression)


def blocks(seed: int) -> Found:
    """All of them, in the order of the tables."""
    stock = _stock()
    for family in (Family(**row) for name in TABLES for row in tables.table(name)["family"]):
        for number, row in enumerate(family.rows):
            for turn in range(family.times):
                for keepdim in (False, True) if "{keepdim}" in row[0] else (False,):
                    rng = random.Random(f"{seed} {family.name} {number} {turn}")
                    yield _form(family, row, rng, keepdim, stock), ()


def _stock() -> Stock:
    table = tables.table("steps")
    return Stock(table["sizes"], table["matrices"], [Kept(**row) for row in table["kept"]])


def _form(family: Family, row: Sequence[str], rng: random.Random, keepdim: bool, stock: Stock) -> Form:
    text, given, result, *layers = row
    inputs = _inputs(given, rng.choice(family.ranks), rng)
    rank = len(inputs[0].shape)
    several = SEVERAL.get(rank, ()) if "{dims}" in text and rng.random() < 0.3 else ()
    dim = rng.choice(several or DIMS[rank])
    chain = Chain(rng, rng.random() < 0.5, list(inputs[0].shape), inputs=list(inputs))
    block = Block(family, rng, stock, chain, dim)
    _before(block)
    _core(block, text, layers, keepdim)
    chain.shape = _result(result, inputs[0].shape, dim, keepdim)
    chain.start = tuple(chain.shape) if inputs[0].name == "x" and result == "=" else ()
    block.made = tuple(n for n in chain.shape if n != UNKNOWN)
    if result != "!":
        _after(block)
    return _styled(_written(block), rng)


def _inputs(given: str, rank: int, rng: random.Random) -> tuple[Drawn, ...]:
    """The inputs of a row: name, then how they are drawn, then sizes."""
    names = rng.choice(words.NAMES[max(rank, 2) if re.search(r" \w+ \*", given) else rank])
    draw = rng.choice(("normal", "normal", "unit"))
    return tuple(_input(part.split(), names, draw) for part in given.split(","))


def _input(parts: list[str], names: tuple[str, ...], draw: str) -> Drawn:
    name, *shape = parts
    name, bounded, bound = name.partition("<")
    name, _, said = name.partition("~")
    whole = tuple(n for part in shape for n in ((names if shape == ["*"] else names[1:]) if part == "*" else (part,)))
    return Drawn(name, whole, INDEX + bound if bounded else said.replace("_", " ") or draw)


def _before(block: Block) -> None:
    chain, first = block.chain, block.chain.inputs[0]
    for _ in range(block.rng.choice(block.family.before) if first.draw in ("normal", "unit") else 0):
        if first.name == "x":
            block.step([(5.0, chains.act), (1.5, block.kept), (1.0, chains.add_bias)])
        else:
            word = block.rng.choice(list(POINTWISE))
            chain.steps.append(word)
            chain.lines.append(f"{first.name} = {POINTWISE[word][0].format(first.name)}")


def _core(block: Block, text: str, layers: Sequence[str], keepdim: bool) -> None:
    chain, vocabulary = block.chain, words.VALUES.keys() | block.stock.sizes.keys()
    for layer in layers:
        said, _, more = layer.replace("{dim}", block.dim).partition(" | ")
        parts = (part.partition(": ") for part in more.split(", "))
        given = {name: _one_of(values, chain.rng) for name, _, values in parts}
        found = re.findall(r"(?<!\w)[a-z_]+(?![\w=])", said.partition(" = ")[2])
        chain.layers += _lines(f"self.{said}")
        chain.arguments |= {w: given.get(w, w) for w in found if w in given or w in vocabulary}
    *lines, last = block.expression(text, keepdim).split("; ")
    chain.lines += lines
    chain.say(_word(text, layers, block.family.name), last)


def _lines(made: str) -> list[str]:
    """A layer of the constructor, or where it is too long a line for each of its arguments."""
    if len(made) + 8 <= LONGEST:
        return [made]
    call = ast.parse(made.partition(" = ")[2], mode="eval").body
    assert isinstance(call, ast.Call)
    given = [*map(ast.unparse, call.args), *(f"{k.arg}={ast.unparse(k.value)}" for k in call.keywords)]
    return wrapped(f"{made.partition('(')[0]}(", given, ")").rstrip().split("\n")


def _one_of(values: str, rng: random.Random) -> str:
    """One of several values, divided by strokes."""
    return rng.choice(values.split("/")) if "/" in values else values


def _word(text: str, layers: Sequence[str], family: str) -> str:
    """What a row is called: its layer, its function, or its family."""
    layer = re.search(r"nn\.(?!Parameter)(\w+)", " ".join(layers)) if "self." in text else None
    if layer:
        return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", layer[1]).lower()
    function = re.search(r"(?:torch|F)\.(?:linalg\.)?(\w+)\(", text)
    plain = family in ("matmul", "batched matmul", "linear", "pointwise", "norm", "loss")
    return family.replace(" ", "_") if plain or function is None else function[1]


def _result(said: str, shape: Sequence[str], dim: str, keepdim: bool) -> list[str]:
    """The shape of what a row computes."""
    if said == "=":
        return list(shape)
    if said in (".", "!"):
        return []
    if said != "-":
        return said.split()
    gone = {int(d) % len(shape) for d in re.findall(r"-?\d", dim)}
    return [("1" if n in gone else name) for n, name in enumerate(shape) if keepdim or n not in gone]


def _after(block: Block) -> None:
    chain, kept = block.chain, (2.0, block.kept)
    count = block.rng.choice(block.family.after)
    for left in reversed(range(count)):
        if chain.finished:
            return
        if block.family.pointwise or not chain.shape:  # of a number most functions are 1
            block.step([(4.0, chains.act), kept] if chain.shape else [kept])
            continue
        options = [*chains.light(chain), (4.0, chains.act), kept, *(chains.ending(chain) if left == 0 else [])]
        options = [option for option in options if option[1] not in UNWANTED]
        if UNKNOWN in chain.shape and len(chain.shape) > 2 and chain.shape[1].endswith("channels"):
            options.append((2.0, chains.add_bias))
        block.step(options)


def _written(block: Block) -> Form:
    """The form, with sizes and with lines that end in a return."""
    chain, rng = block.chain, block.rng
    lines, inputs = list(chain.lines), tuple(chain.inputs)
    if len(lines) == 1 or rng.random() < 0.4:
        lines[-1] = f"return {lines[-1].removeprefix('x = ')}"
    else:
        lines.append("return x")
    if all(i.name != "x" for i in inputs):
        lines = [re.sub(r"\bx\b", block.family.result, line) for line in lines]
    parameters = tuple(v for v in chain.arguments.values() if v.isidentifier() and v not in ("True", "False"))
    shapes = [*(i.shape for i in inputs), block.made, *pairwise(parameters), parameters[-1:]]
    sizes = _sizes(shapes, min(block.family.most, words.MOST), rng, block.stock)
    symbol, layers = ", ".join(chain.steps), tuple(chain.layers)
    return Form(
        symbol, camel(*chain.steps), block.family.name, inputs, tuple(lines), sizes, layers, dict(chain.arguments)
    )


def _sizes(shapes: Sequence[Sequence[str]], most: int, rng: random.Random, stock: Stock) -> dict[str, int]:
    """A size for each word; half of the matrices are tall, wide or otherwise uneven."""
    names = list(dict.fromkeys(n for shape in shapes for n in shape if not n.isdigit()))
    matrix = rng.choice(stock.matrices) if rng.random() < 0.5 else {}
    usual = {n: matrix.get(n) or stock.sizes.get(n) or words.VALUES.get(n) or (32, 64, 128) for n in names}
    return words.fitted({n: rng.choice(options) for n, options in usual.items()}, shapes, most)


def _styled(form: Form, rng: random.Random) -> Form:
    """The same program, in one of the ways that people write."""
    form = _capitals(form) if rng.random() < 0.4 else form
    form = _matrices(form) if rng.random() < 0.4 else form
    said = [word.replace("_", " ") for word in form.symbol.split(", ")]
    whole = said[0] if len(said) == 1 else f"{', '.join(said[:-1])} and {said[-1]}"
    template = rng.choice(DOCSTRINGS)
    docstring = template.format(first=whole[0].upper() + whole[1:], all=whole)
    style = Style(
        docstring if rng.random() < 0.5 else "", rng.random() < 0.3, rng.random() < 0.2, rng.random() < 0.25,
        rng.random() < 0.4, _group(form) if rng.random() < 0.5 else (), rng.random() < 0.3,
    )  # fmt: skip
    return _optional(replace(form, style=style), rng) if rng.random() < 0.5 else replace(form, style=style)


def _optional(form: Form, rng: random.Random) -> Form:
    """The same program, some of whose constructor's last numbers have defaults, and are mostly left out where equal."""
    numbers = list(takewhile(lambda n: form.arguments[n] not in form.sizes, reversed(list(form.arguments))))
    defaults = {n: USUAL.get(n, form.arguments[n]) for n in reversed(numbers[: rng.randint(1, len(numbers) or 1)])}
    arguments = dict(form.arguments)
    while rng.random() < 0.9 and arguments and (last := next(reversed(arguments))) in defaults:
        if arguments[last] != defaults[last]:
            break
        del arguments[last]
    return replace(form, arguments=arguments, defaults=defaults)


def _capitals(form: Form) -> Form:
    """Sizes of one letter as capitals, where the constructor knows nothing of them."""
    names = {n: n.upper() for n in form.sizes if len(n) == 1}
    if set(names) & set(form.arguments):
        return form
    inputs = tuple(replace(i, shape=tuple(names.get(n, n) for n in i.shape)) for i in form.inputs)
    return replace(form, inputs=inputs, sizes={names.get(n, n): value for n, value in form.sizes.items()})


def _matrices(form: Form) -> Form:
    """Tensors called a, b and c as capitals, as matrices are."""
    names = {i.name: i.name.upper() for i in form.inputs if i.name in MATRICES}
    if not names or {*names, *names.values()} & {*form.sizes, *form.arguments}:
        return form
    word = re.compile(rf"(?<![\w.'\"])({'|'.join(names)})\b")
    body = tuple(word.sub(lambda match: names[match[1]], line) for line in form.body)
    return replace(form, inputs=tuple(replace(i, name=names.get(i.name, i.name)) for i in form.inputs), body=body)


def _group(form: Form) -> tuple[str, ...]:
    """The sizes after the first of the first input, where the rest of the program has no other use for them."""
    group = form.inputs[0].shape[1:]
    others = {*form.arguments.values(), *(i.draw.removeprefix(INDEX) for i in form.inputs)}
    if not group or set(group) & others or len(set(group)) < len(group) or any(n.isdigit() for n in group):
        return ()
    rests = (_without(i.shape, group) for i in form.inputs)
    return () if any(set(rest) & set(group) for rest in rests) else group


def _without(shape: tuple[str, ...], group: tuple[str, ...]) -> tuple[str, ...]:
    runs = [n for n in range(len(shape)) if shape[n : n + len(group)] == group]
    return shape if not runs else (*shape[: runs[0]], *shape[runs[0] + len(group) :])
