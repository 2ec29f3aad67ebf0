"""Operators that candidates register are the functions that they are made of, with a derivative where it is asked for."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from kdata.verify.candidate.custom_ops import CustomOpDef, _named


@pytest.mark.parametrize("gradients", [True, False])
def test_keyword_only_arguments_hold_with_gradients_and_without(gradients: bool) -> None:
    def scaled(x: torch.Tensor, *, by: float = 1.0) -> torch.Tensor:
        return x * by

    def setup(ctx: Any, inputs: Any, keyword_only_inputs: Any, output: Any) -> None:
        ctx.by = keyword_only_inputs["by"]

    operator = CustomOpDef(scaled)
    operator.register_autograd(lambda ctx, gradient: gradient * ctx.by, setup_context=setup)
    x = torch.ones(3, requires_grad=gradients)
    with torch.set_grad_enabled(gradients):
        made = operator(x, by=3.0)
    assert torch.equal(made, torch.full((3,), 3.0))
    if gradients:
        made.sum().backward()
        assert torch.equal(x.grad, torch.full((3,), 3.0))


def test_an_operator_is_found_by_its_name_unless_a_library_has_that() -> None:
    made = _named("kdata_test::doubled", CustomOpDef(lambda x: 2 * x))
    assert torch.ops.kdata_test.doubled is made
    assert torch.ops.kdata_test.doubled.default is made
    theirs = torch.ops.aten.relu
    _named("aten::relu", CustomOpDef(lambda x: x))
    assert torch.ops.aten.relu is theirs
