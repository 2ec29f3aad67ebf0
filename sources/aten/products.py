"""Products of matrices in every form: transposes, batches, broadcast, added to something, contracted by einsum."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sources.aten import tables, words
from sources.aten.form import Drawn, Form, camel, pick

Found = Iterator[tuple[Form, tuple[str, ...]]]
LETTERS = {
    "b": "batch_size", "h": "num_heads", "i": "m", "j": "n", "k": "k", "d": "d", "c": "channels", "l": "length",
    "q": "num_queries", "s": "num_keys", "e": "in_features", "o": "out_features", "y": "height", "x": "width",
}  # fmt: skip
EINSUMS = (
    "ik,kj->ij", "ki,kj->ij", "ik,jk->ij", "bik,bkj->bij", "bik,bjk->bij", "bik,kj->bij", "bki,bkj->bij", "i,j->ij",
    "ij,ij->i", "ij,ij->", "bij,bj->bi", "bhqd,bhsd->bhqs", "bhqs,bhsd->bhqd", "bqhd,bshd->bhqs", "bcl,oc->bol",
    "bcyx,oc->boyx", "ble,oe->blo", "ij,j->ij", "bcyx,bc->bcyx", "ik,kj,jd->id", "bi,oij,bj->bo", "ij->ji", "ij->i",
    "ij->j", "bij->ij", "bcl,bdl->bcd", "ii->i", "ii->", "bi,bj->bij", "bcyx->bc", "ik,jk,k->ij", "blc,bld->bcd",
)  # fmt: skip


def products() -> Found:
    """All of them."""
    rows = tables.rows("products")
    for number, (result, inputs) in enumerate(rows):
        yield _form(result, inputs, number), ("normal",)
    for number, equation in enumerate(EINSUMS):
        terms = equation.partition("->")[0].split(",")
        names = ("x",) if len(terms) == 1 else ("a", "b", "c")[: len(terms)]
        shapes = (" ".join(LETTERS[c] for c in term) for term in terms)
        inputs = ", ".join(f"{name} {shape}" for name, shape in zip(names, shapes, strict=True))
        result = f'torch.einsum("{equation}", {", ".join(names)})'
        yield _form(result, inputs, len(rows) + number), ("normal",)


def _form(result: str, inputs: str, number: int) -> Form:
    drawn = [Drawn(name, tuple(shape)) for name, *shape in (part.split() for part in inputs.split(","))]
    names = list(dict.fromkeys(n for d in drawn for n in d.shape if not n.isdigit()))
    sizes = words.values(names, result, number, shapes=[d.shape for d in drawn])
    function = next(iter(re.findall(r"(?:torch|F)[\w.]*(?=\()", result)), "torch.matmul")
    function = function.removeprefix("torch.linalg.").removeprefix("torch.").removeprefix("F.")
    name = camel(function) + pick(("", "", "Model", "Product"), "product", result, number)
    family = "einsum" if function == "einsum" else "distance" if re.search("dist|cos", function) else "matmul"
    return Form(_symbol(result, function), name, family, tuple(drawn), (f"return {result}",), sizes)


def _symbol(result: str, function: str) -> str:
    place = "torch.nn.functional" if f"F.{function}" in result else "torch.linalg" if "linalg" in result else "torch"
    return f"{place}.{function}"
