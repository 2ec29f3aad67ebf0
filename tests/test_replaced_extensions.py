"""What compiled extensions are in torch: StyleGAN2's operators against what they are said to compute."""

from __future__ import annotations

import itertools
import sys
from types import ModuleType
from typing import Any

import pytest
import torch
import torch.nn.functional as functional

from sources.mine import replacements
from tests.cuts import cut


@pytest.fixture(scope="module")
def load() -> Any:
    space: dict[str, Any] = {}
    with pytest.MonkeyPatch.context() as importable:
        exec(replacements()["enclib_cpu"], vars(compiled := ModuleType("enclib_cpu")))
        importable.setitem(sys.modules, "enclib_cpu", compiled)
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


@pytest.mark.parametrize("affine", [True, False])
def test_normalisation_in_place_scales_by_the_size_of_the_weight(load: Any, affine: bool) -> None:
    x, weight, bias = torch.randn(3, 4, 5), torch.randn(4), torch.randn(4)
    operators = load(name="inplace_abn", sources=[])
    mean, var = operators.mean_var(x)
    scale, shift = (weight.abs() + 1e-5, bias) if affine else (None, None)
    wanted = functional.batch_norm(x, mean, var, scale, shift, eps=1e-5)
    torch.testing.assert_close(functional.batch_norm(x, None, None, training=True), functional.batch_norm(x, mean, var))
    assert operators.forward(x, mean, var, weight, bias, affine, 1e-5) is x
    torch.testing.assert_close(x, wanted)
    operators.leaky_relu_forward(x, 0.1)
    torch.testing.assert_close(x, functional.leaky_relu(wanted, 0.1))


@pytest.mark.parametrize(("stride", "padding", "dilation", "masked"), [(1, 1, 1, True), (2, (0, 1), (1, 2), False)])
def test_a_deformed_convolution_weighs_points_by_their_corners(
    stride: int, padding: Any, dilation: Any, masked: bool
) -> None:
    space: dict[str, Any] = {}
    exec(replacements()["torchvision.ops"], space)
    x, weight, bias = torch.randn(2, 4, 7, 6), torch.randn(6, 2, 3, 3), torch.randn(6)  # two groups
    (down, across), (above, left) = ((v, v) if isinstance(v, int) else v for v in (dilation, padding))
    high, wide = (7 + 2 * above - 2 * down - 1) // stride + 1, (6 + 2 * left - 2 * across - 1) // stride + 1
    offset, mask = 2 * torch.randn(2, 36, high, wide), torch.rand(2, 18, high, wide)  # a group of two channels each
    found = space["deform_conv2d"](x, offset, weight, bias, stride, padding, dilation, mask if masked else None)

    def point(n: int, c: int, y: float, z: float) -> float:
        corners = [(int(y // 1) + i, int(z // 1) + j) for i in (0, 1) for j in (0, 1)]
        inside = [(i, j) for i, j in corners if 0 <= i < 7 and 0 <= j < 6]
        return sum(float(x[n, c, i, j]) * (1 - abs(y - i)) * (1 - abs(z - j)) for i, j in inside)

    for n, o, i, j in [(0, 0, 0, 0), (1, 5, high - 1, wide - 1), (0, 3, 1, 0), (1, 2, 0, 1)]:
        total, group = float(bias[o]), o // 3
        for c, k in itertools.product((2 * group, 2 * group + 1), range(9)):
            move = offset[n, 18 * group + 2 * k : 18 * group + 2 * k + 2, i, j].tolist()
            y, z = i * stride - above + k // 3 * down + move[0], j * stride - left + k % 3 * across + move[1]
            share = float(mask[n, 9 * group + k, i, j]) if masked else 1.0
            total += point(n, c, y, z) * share * float(weight[o, c % 2, k // 3, k % 3])
        assert total == pytest.approx(float(found[n, o, i, j]), abs=1e-4)


def test_no_other_extension_has_a_twin(load: Any) -> None:
    assert load(name="deform_attn") is None


def test_arrays_are_resampled_from_corner_to_corner() -> None:
    space: dict[str, Any] = {}
    exec(replacements()["scipy.ndimage"], space)
    x = torch.randn(2, 3, 8, 6)
    for factor in (0.5, 2.0):
        found = torch.from_numpy(space["zoom"](x.numpy(), (1.0, 1.0, factor, factor), order=1))
        size = [round(8 * factor), round(6 * factor)]
        torch.testing.assert_close(found, functional.interpolate(x, size, mode="bilinear", align_corners=True))
    labels = space["zoom"](torch.arange(8).view(2, 4).numpy(), (1, 0.5), order=0)
    assert labels.tolist() == [[0, 3], [4, 7]]


LIBRARY = (
    "import torch\nimport torch.nn as nn\nfrom torch.utils.cpp_extension import load\n\ncpu = load('enclib_cpu', [])\n"
)
RESIDUALS = """import torch
import torch.nn as nn
IMPORT


class Residuals(nn.Module):
    def __init__(self, width, words):
        super().__init__()
        self.codes, self.scales = nn.Parameter(torch.randn(words, width)), nn.Parameter(torch.ones(words))

    def forward(self, x):
        shares = CPU.scaled_l2_forward(x, self.codes, self.scales).softmax(2)
        return CPU.aggregate_forward(shares, x, self.codes)
"""


@pytest.mark.parametrize(("said", "library"), [("from encoding import cpu", ""), ("from .. import lib", LIBRARY)])
def test_what_a_copied_package_compiles_into_itself_or_loads_is_the_same(said: str, library: str) -> None:
    text = RESIDUALS.replace("IMPORT", said).replace("CPU", "lib.cpu" if library else "cpu")
    files = {
        "encoding/__init__.py": "from . import nn\n",
        "encoding/nn/__init__.py": "",
        "encoding/nn/encoding.py": text,
    }
    source = cut(
        files | ({"encoding/lib/__init__.py": library} if library else {}), "encoding/nn/encoding.py", "Residuals"
    )
    space: dict[str, Any] = {}
    exec(source, space)
    module, x = space["Residuals"](5, 3), torch.randn(2, 7, 5)
    apart = x[:, :, None] - module.codes
    shares = apart.square().sum(3).softmax(2)
    torch.testing.assert_close(module(x), torch.einsum("bnk,bnkd->bkd", shares, apart))
