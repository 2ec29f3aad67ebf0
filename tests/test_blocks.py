"""Operators as they stand in modules: what is drawn runs, is written in many ways, and has its neighbours."""

from __future__ import annotations

import ast
import re
from itertools import pairwise

import pytest

from kdata.task import execute, resize, sizes
from sources import operators
from sources.aten import job, running
from sources.aten.blocks import blocks
from sources.aten.form import GROUP, Form


@pytest.fixture(scope="module")
def forms() -> list[Form]:
    return [form for form, _ in blocks(0)]


def test_blocks_run_and_are_parsed(forms: list[Form]) -> None:
    some = forms[::25]
    assert len(some) > 90
    assert sum(running.shrunk(form) is not None for form in some) >= 0.97 * len(some)
    assert all(ast.parse(form.text("")) for form in forms)


def test_seed_decides_the_text(forms: list[Form]) -> None:
    assert [form for form, _ in blocks(0)] == forms
    other = {form.text("") for form, _ in blocks(1)}
    assert len(other & {form.text("") for form in forms}) < 0.05 * len(forms)


def test_each_reduction_has_its_neighbour(forms: list[Form]) -> None:
    pairs = [(a, b) for a, b in pairwise(forms) if _task(a) == _task(b)]
    told = [(a.text(""), b.text("")) for a, b in pairs if "keepdim" in b.text("")]
    assert len(told) > 150
    assert all(("self.dim" in a) != ("self.dim" in b) for a, b in told)  # else they would be taken for duplicates
    assert all(("True" in b) and a != b for a, b in told)


def _task(form: Form) -> tuple[object, ...]:
    return form.symbol, form.inputs, tuple(form.sizes.items())


def test_shapes_stand_as_tuples(forms: list[Form]) -> None:
    grouped = [form for form in forms if form.style.group]
    assert 0.1 * len(forms) < len(grouped) < 0.6 * len(forms)
    assert {len(form.style.group) for form in grouped} >= {1, 2, 3}
    form = next(f for f in grouped if len(f.style.group) == 2 and len(f.inputs) == 1 and not f.layers)
    text = form.text("")
    assert f"(*{GROUP}" in text or f", *{GROUP}" in text
    names = [s.name for s in sizes(text)]
    assert names[-2:] == [GROUP, f"{GROUP}[1]"]
    program = execute(resize(text, {GROUP: 5, f"{GROUP}[1]": 3}), form.name)
    assert program.inputs()[0].shape[1:] == (5, 3)


def test_dimensions_of_a_tuple_are_free(forms: list[Form]) -> None:
    form = next(f for f in forms if "cumsum" in f.symbol and len(f.style.group) == 2)
    assert job._free(form.text(""), form.name) == [[True] * len(i.shape) for i in form.inputs]


def test_spelling_changes_nothing_else(forms: list[Form]) -> None:
    described = next(f for f in forms if f.style.docstring and f.style.described and f.style.named_super and f.layers)
    text = described.text("")
    kind = next(n for n in ast.parse(text).body if isinstance(n, ast.ClassDef))
    forward = next(n for n in kind.body if isinstance(n, ast.FunctionDef) and n.name == "forward")
    assert ast.get_docstring(kind) == described.style.docstring
    assert f"{described.inputs[0].name} (torch.Tensor): of shape" in (ast.get_docstring(forward) or "")
    assert f"super({described.name}, self).__init__()" in text


def test_numbers_of_the_constructor_may_be_constants(forms: list[Form]) -> None:
    form = next(f for f in forms if f.style.constants and f.arguments.get("scale") == "0.5")
    text = form.text("")
    assert "\nscale = 0.5\n" in text and re.search(r"return \[.*\bscale\b.*\]", text)


def test_matrices_of_all_shapes(forms: list[Form]) -> None:
    products = [f for f in forms if f.symbol.split(", ")[0] == "matmul" and {"m", "k", "n"} <= f.sizes.keys()]
    tall = sum(f.sizes["m"] >= 8 * f.sizes["n"] for f in products)
    wide = sum(f.sizes["n"] >= 8 * f.sizes["m"] for f in products)
    deep = sum(f.sizes["k"] >= 8 * max(f.sizes["m"], f.sizes["n"]) for f in products)
    odd = sum(any(size % 2 for size in f.sizes.values()) for f in products)
    assert min(tall, wide, deep, odd) >= 10


def test_blocks_are_nobodys_code(forms: list[Form]) -> None:
    assert "blocks" in operators.KINDS and "blocks" in job.PRODUCERS
    assert tuple(job.DRAWN) == operators.DRAWN
    row = {"kind": "blocks", "symbol": forms[0].symbol, "name": forms[0].name, "text": forms[0].text("")}
    origin = operators._origin(row, "2.0")
    assert origin.repository == "torch-blocks" and origin.path.startswith(f"blocks/{forms[0].symbol}/")
    assert "a block of PyTorch's operators drawn with seed 7" in job._header("blocks", forms[0], {"seed": 7})


def test_constructors_take_what_they_use(forms: list[Form]) -> None:
    for form in forms:
        made = " ".join(line.partition(" = ")[2] or line for line in form.layers)  # long layers have several lines
        assert all(re.search(rf"(?<!\w){name}(?!\w)", made) for name in form.arguments), form.text("")


def test_what_a_default_says_is_left_out_at_the_end_only(forms: list[Form]) -> None:
    optional = [form for form in forms if form.defaults]
    assert len(optional) > len(forms) / 8
    for form in optional:
        names = list({**form.arguments, **form.defaults})
        assert list(form.arguments) == names[: len(form.arguments)]
        assert list(form.defaults) == names[-len(form.defaults) :]
