"""What kernels are called, by the names that Inductor gives them."""

from __future__ import annotations

import builtins

import pytest

from kdata.align.naming import label
from kdata.align.trace import trace

LITERALS = """
import torch
from torch import nn

class Model(nn.Module):
    def __init__(self, dim, SECOND):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))
        self.other = nn.Parameter(torch.ones(SECOND))
    def forward(self, x, y):
        return (x + y) * self.weight, self.other * 2

def get_inputs():
    return [torch.rand(4, 48, 64), torch.rand(4, 48, 64)]

def get_init_inputs():
    return [64, 20]
"""


@pytest.mark.parametrize(
    ("inductor", "name"),
    [
        ("triton_red_fused_native_layer_norm_relu_0", "layer_norm_relu"),
        ("triton_red_fused_mul__unsafe_view__softmax_add_0", "mul_softmax_add"),
        ("triton_per_fused__unsafe_view_add__safe_softmax_12", "add_softmax"),
        ("triton_poi_fused__to_copy__native_batch_norm_legit_functional_1", "cast_batch_norm"),
        ("triton_poi_fused__some_new_one__unsafe_index_1", "some_new_one_index"),
        ("triton_poi_fused_view_2", "fused"),
    ],
)
def test_a_kernel_is_called_by_what_it_computes(inductor: str, name: str) -> None:
    assert label(inductor) == name


def test_bare_numbers_are_called_as_the_constructor_calls_them_and_equal_ones_once() -> None:
    """``batch, length, dim = x.shape``, not ``batch_2, length_2, length_3``."""
    assert sorted(trace(LITERALS.replace("SECOND", "width"), "Model").names.values()) == [
        "batch", "dim", "length", "width",
    ]  # fmt: skip


def test_a_size_is_not_called_as_an_input_is() -> None:
    """A cell's constructor and its forward both say ``h``."""
    source = LITERALS.replace("dim", "x").replace("SECOND", "width")
    assert sorted(trace(source, "Model").names.values()) == ["batch", "channels", "length", "width"]


def test_python_may_hold_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """As it does once somebody has run a text among its own names: ``exec(text, vars(builtins))``."""
    monkeypatch.setitem(vars(builtins), "__builtins__", vars(builtins))
    assert "width" in trace(LITERALS.replace("SECOND", "width"), "Model").names.values()
