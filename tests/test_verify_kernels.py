"""Which kernels compile to the same code, and which part of a candidate decides it."""

from __future__ import annotations

from typing import Any

import pytest

from kdata.task import sizes
from kdata.verify.compiling import kernels
from kdata.verify.options import Concession
from kdata.verify.reference.probe import Prober
from kdata.verify.reference.variants import VARIED, plan

TEXT = """
import triton
import triton.language as tl

SCALE = 2.0
OTHER = print("of no kernel")

@triton.jit
def twice(x):
    return x * SCALE

@triton.jit
def copy_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(y_ptr + i, twice(tl.load(x_ptr + i, mask=i < n)), mask=i < n)

class ModelNew:
    pass
"""
POINTER = {"type": "*fp32"}


def launch(kernel: str = "copy_kernel", names: str = "x_ptr y_ptr n BLOCK", n: int = 20, block: int = 64) -> Any:
    values = [POINTER, POINTER, {"type": "i32", "value": n}, {"constant": block}]
    return {"kernel": kernel, "arguments": dict(zip(names.split(), values, strict=True)), "options": {}}


def key(text: str, given: Any, target: str = "sm_90") -> str:
    return kernels.key(kernels.text_of(text, given), given, target)


def test_a_kernel_is_compiled_from_what_it_needs_only() -> None:
    text = kernels.text_of(TEXT, launch())
    assert "def twice" in text
    assert "SCALE" in text
    assert "ModelNew" not in text
    assert "print" not in text


def test_other_names_and_other_sizes_are_the_same_kernel() -> None:
    renamed = (
        TEXT.replace("copy_kernel", "move").replace("y_ptr", "out_ptr").replace(" i ", " at ").replace("+ i", "+ at")
    )
    renamed = renamed.replace("i <", "at <")
    assert key(TEXT, launch()) == key(renamed, launch("move", "x_ptr out_ptr n BLOCK", n=33))


@pytest.mark.parametrize(
    "other",
    [
        (TEXT, launch(block=128), "sm_90"),
        (TEXT, launch(n=1), "sm_90"),  # triton makes a constant of it
        (TEXT, launch(), "gfx942"),
        (TEXT.replace("SCALE = 2.0", "SCALE = 3.0"), launch(), "sm_90"),
        (TEXT.replace("x * SCALE", "x + SCALE"), launch(), "sm_90"),
        (TEXT.replace("store(y_ptr + i", "store(x_ptr + i"), launch(), "sm_90"),
    ],
)
def test_what_changes_the_code_is_another_kernel(other: tuple[str, Any, str]) -> None:
    assert key(*other) != key(TEXT, launch())


def test_counts_of_layers_are_no_sizes() -> None:
    source = """
import torch

class Model(torch.nn.Module):
    def __init__(self, dim, num_layers):
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(dim, dim) for _ in range(num_layers))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x

dim = 8
num_layers = 2

def get_inputs():
    return [torch.randn(4, dim)]

def get_init_inputs():
    return [dim, num_layers]
"""
    variants = plan(Prober(source, "Model"), 3)
    assert len(variants) >= 3
    assert not any("num_layers" in v.values for v in variants)


def test_what_an_operator_takes_in_counts_as_what_it_gives() -> None:
    """A kernel of a program for each pooled element would run for minutes on an input of a million."""
    source = """
import torch

class Model(torch.nn.Module):
    def forward(self, x):
        return torch.nn.functional.adaptive_avg_pool2d(x, (7, 5))

def get_inputs():
    return [torch.randn(3, 10, 23, 19)]

def get_init_inputs():
    return []
"""
    variants = plan(Prober(source, "Model"), 4)
    assert [v.kind for v in variants[:4]] == ["base", "odd", "one", "mixed"]
    assert all(v.run.elements <= VARIED for v in variants[:4])


ROTARY = """
import torch

class Model(torch.nn.Module):
    def forward(self, x):
        CUT
        return torch.cat([-second, first], -1)

def get_inputs():
    return [torch.randn(4, 8, 64)]

def get_init_inputs():
    return []
"""


@pytest.mark.parametrize(
    "cut", ["first, second = x.chunk(2, -1)", "first, second = x[..., : x.shape[-1] // 2], x[..., x.shape[-1] // 2 :]"]
)
def test_halves_are_halves_at_other_sizes_too(cut: str) -> None:
    variants = plan(Prober(ROTARY.replace("CUT", cut), "Model"), 3)
    last = {v.run.shapes[0][-1] for v in variants}
    assert len(last) > 2
    assert not any(size % 2 for size in last)
    assert any(v.run.shapes[0][-1] & (v.run.shapes[0][-1] - 1) for v in variants)  # no power of two
    cheap = plan(
        Prober(ROTARY.replace("CUT", cut).replace("randn(4,", "randn(64,"), "Model"), 3, conceded=Concession(thrift=8)
    )
    usual = plan(Prober(ROTARY.replace("CUT", cut).replace("randn(4,", "randn(64,"), "Model"), 3)
    assert cheap[0].run.cost.work < usual[0].run.cost.work / 4


@pytest.mark.parametrize("shapes", [["24, 40"], ["24, 40", "40, 16"], ["40"]])
def test_rows_for_descriptors_are_multiples_at_all_sizes(shapes: list[str]) -> None:
    text = (
        "import torch\nclass Model(torch.nn.Module):\n    def forward(self, *x):\n        return [t.exp() for t in x]\n"
        f"def get_inputs(): return [{', '.join(f'torch.randn({shape})' for shape in shapes)}]\n"
        "def get_init_inputs(): return []\n"
    )
    variants = plan(Prober(text, "Model"), 4, thorough=True, conceded=Concession(step=8))
    assert len(variants) > 4
    assert all(shape[-1] % 8 == 0 for v in variants for shape in v.run.shapes)


def test_kernels_of_one_class_are_told_apart() -> None:
    text = "import triton\nimport triton.language as tl\n\n\nclass Kernels:\n" + "".join(
        f"    @staticmethod\n    @triton.jit\n    def {name}(x_ptr, out_ptr, n, BLOCK: tl.constexpr):\n        pass\n\n"
        for name in ("one", "other")
    )
    assert key(text, launch("Kernels.one")) != key(text, launch("Kernels.other"))


@pytest.mark.parametrize("loop", ["for row in x:", "for i in range(x.shape[0]):\n            row = x[i]"])
def test_a_reference_that_loops_is_not_run_without_memory_a_million_times(loop: str) -> None:
    text = f"""
import torch

class Model(torch.nn.Module):
    def forward(self, x):
        total = x[0]
        {loop}
            total = total + row
        return total

def get_inputs():
    return [torch.randn(12, 4)]

def get_init_inputs():
    return []
"""
    prober = Prober(text, "Model")
    (rows,) = (s.name for s in sizes(text) if s.value == 12)
    assert prober.forward({rows: 12}) is not None
    assert prober.forward({rows: 200}, real=False) is not None
    assert prober.forward({rows: 1 << 20}, real=False) is None
