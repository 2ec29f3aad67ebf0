"""What compiled extensions are in torch: StyleGAN2's operators against what they are said to compute."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.nn.functional as functional

from sources.mine import replacements


@pytest.fixture(scope="module")
def load() -> Any:
    space: dict[str, Any] = {}
    exec(replacements()["torch.utils.cpp_extension"], space)
    return space["load"]


@pytest.mark.parametrize(("up", "down", "pads"), [(1, 1, (0, 0)), (2, 1, (2, 1)), (1, 2, (1, 1)), (2, 1, (-1, 2))])
def test_resampling_is_zeros_a_filter_and_every_other(load: Any, up: int, down: int, pads: tuple[int, int]) -> None:
    x, kernel = torch.randn(6, 9, 11, 1), torch.randn(3, 3)
    found = load("upfirdn2d").upfirdn2d(x, kernel, up, up, down, down, *pads, *pads)
    wide = torch.zeros(6, 9 * up, 11 * up)
    wide[:, ::up, ::up] = x[..., 0]
    padded = functional.pad(wide, [*pads, *pads])[:, None]
    torch.testing.assert_close(
        found[..., 0], functional.conv2d(padded, kernel.flip(0, 1)[None, None])[:, 0, ::down, ::down]
    )


def test_bias_and_leaky_relu_and_their_gradient(load: Any) -> None:
    x, bias, empty = torch.randn(4, 5, 3), torch.randn(5), torch.empty(0)
    fused = load("fused", sources=["fused_bias_act.cpp"]).fused_bias_act
    answer = fused(x, bias, empty, 3, 0, 0.2, 2.0)
    torch.testing.assert_close(answer, 2 * functional.leaky_relu(x + bias[:, None], 0.2))
    ones = torch.ones_like(x)
    torch.testing.assert_close(fused(ones, empty, answer, 3, 1, 0.2, 2.0), torch.where(answer > 0, 2.0, 0.4))


def test_no_other_extension_has_a_twin(load: Any) -> None:
    assert load(name="deform_attn") is None
