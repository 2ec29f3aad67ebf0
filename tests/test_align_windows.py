"""Convolutions and poolings: one short kernel each, the same for every layer of a kind, right for every number."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.align_tasks import task, verified

LAYERS = {
    "strided, padded, dilated": ("nn.Conv2d(4, 6, (3, 2), stride=(2, 1), padding=(1, 2), dilation=(1, 2))", "4, 9, 11"),
    "grouped, over a line": ("nn.Conv1d(6, 4, 3, padding=1, groups=2, bias=False)", "6, 21"),
    "in three dimensions": ("nn.Conv3d(3, 5, 2, stride=2)", "3, 6, 7, 8"),
    "transposed, grouped": ("nn.ConvTranspose2d(4, 6, 3, 2, 1, output_padding=1, groups=2, dilation=2)", "4, 5, 7"),
    "transposed, in three dimensions": ("nn.ConvTranspose3d(2, 3, 3, stride=(1, 2, 1), bias=False)", "2, 3, 4, 5"),
    "transposed, depthwise": ("nn.ConvTranspose1d(5, 5, 3, stride=2, groups=5)", "5, 9"),
    "without a batch": ("nn.Conv2d(2, 4, 3)", "9, 8"),
    "same": ("nn.Conv2d(3, 4, (2, 3), padding='same')", "3, 8, 9"),
    "circular": ("nn.Conv1d(3, 4, 3, padding=1, padding_mode='circular')", "3, 12"),
}
POOLS = {
    "largest, dilated": ("nn.MaxPool2d(3, 2, 1, dilation=2)", "3, 14, 15"),
    "largest, axes that differ": ("nn.MaxPool3d((2, 3, 2), (1, 2, 2), (1, 0, 1))", "2, 6, 7, 8"),
    "mean over a line": ("nn.AvgPool1d(4, 3, 2)", "3, 23"),
    "mean without padding": ("nn.AvgPool2d(3, 2, 1, count_include_pad=False)", "3, 9, 10"),
}


def layered(layer: str, shape: str) -> str:
    return task("return self.layer(x)", f"[torch.rand(2, {shape}) - 0.5]", f"self.layer = {layer}")


@pytest.mark.parametrize("name", sorted(LAYERS))
def test_a_convolution_is_one_kernel(name: str, tmp_path: Path) -> None:
    source = verified(layered(*LAYERS[name]), tmp_path).source
    assert len(re.findall(r"^def .*conv\w*_kernel\(", source, re.MULTILINE)) == 1


@pytest.mark.parametrize("name", sorted(POOLS))
def test_a_pooling_is_one_short_kernel(name: str, tmp_path: Path) -> None:
    source = verified(layered(*POOLS[name]), tmp_path).source
    assert source.count("@triton.jit") == 1 and len(source.splitlines()) < 90


def test_layers_of_a_kind_share_a_text_and_say_their_own_numbers(tmp_path: Path) -> None:
    init = "self.a = nn.Conv2d(3, 20, 3, stride=2)\nself.b = nn.Conv2d(20, 70, 1, padding=1)"
    source = verified(task("return self.b(self.a(x).relu())", "[torch.rand(2, 3, 13, 15)]", init), tmp_path).source
    assert source.count("def conv2d(") == 1 and source.count("= conv2d(") == 1 and "return conv2d(" in source
    assert "self.a.stride" in source and "self.b.padding" in source and "BLOCK_M=64" in source


def test_a_layer_without_a_bias_has_the_text_of_one_with_it(tmp_path: Path) -> None:
    init = "self.a = nn.Conv2d(3, 4, 3, bias=False)\nself.b = nn.Conv2d(4, 5, 3)"
    source = verified(task("return self.b(self.a(x).relu())", "[torch.rand(2, 3, 13, 15)]", init), tmp_path).source
    assert source.count("def conv2d(") == 1 and "self.a.bias" in source and "self.b.bias" in source


def test_what_follows_a_convolution_reads_sizes_off_its_result(tmp_path: Path) -> None:
    init = "self.conv = nn.Conv1d(3, 4, 3, stride=2)\nself.other = nn.Conv1d(3, 4, 5, stride=2, padding=1)"
    forward = "y = torch.softmax(self.conv(x), 1) + self.other(x)\nreturn y.flatten(1), y.transpose(1, 2)"
    source = verified(task(forward, "[torch.rand(2, 3, 17)]", init), tmp_path).source
    assert "out_length = conv_out.shape" in source


def test_functions_and_own_weights_are_called_with_numbers(tmp_path: Path) -> None:
    init = "self.weight = nn.Parameter(torch.randn(4, 3, 3, 3))"
    forward = "return F.avg_pool2d(F.conv2d(x, self.weight, stride=2, padding=1), 2)"
    source = verified(task(forward, "[torch.rand(2, 3, 16, 18)]", init), tmp_path).source
    assert (
        "conv2d(x, self.weight, None, (2, 2), (1, 1), (1, 1), 1)" in source
        and "avg_pool2d(conv_out, 2, 2, 0)" in source
    )


def test_what_the_kernels_do_not_serve_is_written_from_windows(tmp_path: Path) -> None:
    forward = "return F.conv1d(x, self.weight), F.max_pool1d(x, 3, 2, ceil_mode=True)"
    init = "self.weight = nn.Parameter(torch.randn(4, 3, 3).double())"
    source = verified(task(forward, "[torch.rand(2, 3, 16).double()]", init), tmp_path).source
    assert "def conv1d(" not in source and "def max_pool1d(" not in source


def test_addresses_and_masks_have_one_order(tmp_path: Path) -> None:
    source = verified(task("return a @ b.T", "[torch.rand(m, k), torch.rand(n, k)]", "", "m = 20\nk = 24\nn = 18",
                           "a, b"), tmp_path).source  # fmt: skip
    assert "a_ptr + offs_m * k + offs_k[None, :], mask=mask_m & mask_k[None, :]" in source
    assert "b_ptr + offs_n * k + offs_k[:, None], mask=mask_k[:, None] & mask_n" in source
    assert "out_ptr + offs_m * n + offs_n, " in source
    summed = verified(task("return x.sum(1)", "[torch.rand(batch, rows, cols)]", "", "batch = 4\nrows = 20\ncols = 30"),
                      tmp_path).source  # fmt: skip
    assert "x_ptr + outer * rows * cols + col * cols + inner" in summed
    assert "row_mask & col_mask" in summed and "out.numel()" in summed
