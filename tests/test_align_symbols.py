"""Alignment keeps sizes symbolic where Python, a constructor or ATen would ask for their values."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
import sympy
from torch.fx.experimental.symbolic_shapes import ShapeEnv, ShapeGuard, SLoc
from torch.utils._sympy.functions import FloorDiv

from kdata.align.chance import one_by_chance
from kdata.align.errors import AlignError
from kdata.align.step import align_file
from kdata.align.whole import LEAST, LENGTH, WholeNumbers
from tests.align_tasks import task, verified

SIZED = "def get_init_inputs():\n    return []"
LAYERS = {
    "a quotient given to int": ("nn.Linear(n, int(n / 4))", "4, n"),
    "a ratio given to int": ("nn.Linear(n, int(n * 0.5) + int(n * 2.0))", "4, n"),
    "one group a channel": ("nn.GroupNorm(n, n)", "2, n, 5, 3"),
    "a normalised weight": ("nn.utils.weight_norm(nn.Linear(n, 5))", "4, n"),
    "copies of a layer": ("nn.Sequential(*map(copy.deepcopy, [nn.Linear(n, n)] * 2))", "3, n"),
    "one group a channel of a convolution": ("nn.Conv1d(n, n, 3, groups=n)", "2, n, 9"),
}
FORWARDS = {
    "numpy's root": "return x / np.sqrt(x.shape[1])",
    "numpy's power": "return x * np.power(x.shape[1], -0.5)",
    "numpy's product": "return x.reshape(np.prod(x.shape)) * 2.0",
    "linspace": "return x * torch.linspace(-1.0, 2.0, x.shape[1])",
    "one hot": "return F.one_hot(x.argmax(1), x.shape[1]) * 2.0 + x",
    "numel of a shape": "return x.reshape(x.shape.numel()) * 2.0",
    "len of a tensor": "return x * torch.arange(len(x))[:, None]",
    "the larger and the lesser of two sizes": "return x / max(x.shape) - min(x.shape[0], x.shape[1])",
    "rounding up": "return x.new_zeros(x.shape[0], math.ceil(x.shape[1] / 2)) + x.sum(1, keepdim=True)",
    "a size given to float": "return x / math.sqrt(float(x.shape[1]))",
    "windows of a padded image": (
        "y = F.pad(torch.roll(x, 2, 1)[None, None], (1, 1, 2, 2), mode='replicate')\n"
        "return F.unfold(F.pad(y, (0, 2, 0, 0), value=0.5), 4, stride=4)"
    ),
    "a table looked up for a matmul": "return (x * torch.tensor([0.5, 2.0])[(x > 0.5).long()]) @ x.t()",
    "a clamped update of a slice": "y = x.clone()\ny[:, 1:] = x[:, :-1]\nreturn y * 2.0",
}


def sized(source: str, width: int) -> str:
    """The task with its constructor given ``n``."""
    source = source.replace("def __init__(self)", "def __init__(self, n)")
    return source.replace(SIZED, SIZED.replace("[]", "[n]")).replace("def get_inputs", f"n = {width}\ndef get_inputs")


def test_a_name_that_a_task_imports_is_what_it_imports() -> None:
    text = "from torch import max\ndef pick(x):\n    return max(x, 1), min(len(x), 3)"
    calls = ast.unparse(WholeNumbers().visit(ast.parse(text)))
    assert f"max(x, 1), {LEAST}({LENGTH}(x), 3)" in calls


@pytest.mark.parametrize("name", LAYERS)
def test_layer(name: str, tmp_path: Path) -> None:
    layer, shape = LAYERS[name]
    verified(sized(task("return self.layer(x)", f"[torch.rand({shape})]", f"self.layer = {layer}"), 16), tmp_path)


@pytest.mark.parametrize("name", FORWARDS)
def test_forward(name: str, tmp_path: Path) -> None:
    verified(task(FORWARDS[name], "[torch.rand(6, 12)]"), tmp_path)


def test_a_number_that_no_shape_tells_is_kept_by_the_constructor(tmp_path: Path) -> None:
    init = "self.scale = n ** 0.5"
    source = verified(sized(task("return x * self.scale", "[torch.rand(4, 9)]", init), 64), tmp_path).source
    assert "self.n = n" in source and "8.0" not in source


def test_rates_are_numbers_of_the_constructor_s(tmp_path: Path) -> None:
    init = "self.rates = [r.item() for r in torch.linspace(0.5, 1.0, 3)]"
    verified(task("return x * self.rates[1] + self.rates[2]", "[torch.rand(4, 9)]", init), tmp_path)


def test_a_number_in_a_list_is_kept_too(tmp_path: Path) -> None:
    source = sized(task("return x * self.scale", "[torch.rand(4, 9)]", "self.scale = n[1] ** 0.5"), 64)
    source = source.replace("return [n]", "return [(3, n)]")
    assert "self.n_1 = n[1]" in verified(source, tmp_path).source


def test_an_attribute_tells_a_size_that_no_shape_tells(tmp_path: Path) -> None:
    forward = "return x.new_ones(x.shape[0], self.width) * x.sum(1, keepdim=True)"
    source = verified(sized(task(forward, "[torch.rand(4, 9)]", "self.width = n"), 20), tmp_path).source
    assert "n = self.width" in source


def test_a_size_that_forward_is_given_is_said_so_though_the_module_remembers_it(tmp_path: Path) -> None:
    forward = "self.rows = rows\nreturn x.view(x.shape[0], self.rows, columns).mean(1) + columns"
    source = task(forward, "[torch.rand(4, 8 * 12), 8, 12]", "self.rows = None", parameters="x, rows, columns")
    text = verified(source, tmp_path).source
    assert "x, rows, columns)" in text and "= self.rows" not in text


def test_sizes_of_a_module_that_the_constructor_is_given(tmp_path: Path) -> None:
    source = sized(task("return self.part(x) + x[:, :1]", "[torch.rand(4, n)]", "self.part = n"), 40)
    source = source.replace("return [n]", "return [nn.Sequential(nn.LayerNorm(n), nn.Linear(n, 24))]")
    assert "40" not in verified(source, tmp_path).source


def test_what_a_head_has_is_a_size_too(tmp_path: Path) -> None:
    init = "self.heads, self.each, self.part = heads, int(n / heads), nn.Linear(n, n)"
    forward = "return self.part(x).view(x.size(0), -1, self.heads, self.each).softmax(2)"
    source = sized(task(forward, "[torch.rand(4, 6, n)]", init), 40)
    source = source.replace("self, n)", "self, n, heads)").replace("return [n]", "return [n, 5]")
    text = verified(source, tmp_path).source
    assert "heads = self.heads" in text and "n // heads" in text


def test_heads_are_a_size_though_they_are_few(tmp_path: Path) -> None:
    forward = "return self.part(x).view(x.size(0), -1, self.heads, self.part.out_features // self.heads).softmax(2)"
    source = sized(task(forward, "[torch.rand(4, 6, n)]", "self.heads, self.part = heads, nn.Linear(n, n)"), 40)
    source = source.replace("self, n)", "self, n, heads)").replace("return [n]", "return [n, 5]")
    assert "heads = self.heads" in verified(source, tmp_path).source


INDICES = {
    "a large window": "F.max_pool2d(x, (7, 4), 3, (3, 2), return_indices=True)",
    "dilated": "F.max_pool2d(x, 2, 1, 1, dilation=2, return_indices=True)",
    "in three dimensions": "F.max_pool3d(x, 2, return_indices=True)",
    "adaptive": "F.adaptive_max_pool2d(x.relu(), (3, 2), return_indices=True)",
}


@pytest.mark.parametrize("name", INDICES)
def test_indices_of_maxima(name: str, tmp_path: Path) -> None:
    verified(task(f"y, index = {INDICES[name]}\nreturn y, index", "[torch.randn(2, 4, 8, 9)]"), tmp_path)


def test_a_window_that_is_the_image(tmp_path: Path) -> None:
    forward = "return F.avg_pool2d(x, (x.size(-2), x.size(-1))) + F.max_pool2d(x, x.shape[2:])"
    verified(task(forward, "[torch.rand(2, 3, 8, 9)]"), tmp_path)


def test_bilinear_and_embedding_bag(tmp_path: Path) -> None:
    init = "self.both = nn.Bilinear(5, 6, 7)\nself.bag = nn.EmbeddingBag(11, 7, mode='max')"
    inputs = "[torch.rand(4, 5), torch.rand(4, 6), torch.randint(0, 11, (4, 3))]"
    verified(task("return self.both(x, y) + self.bag(z)", inputs, init, parameters="x, y, z"), tmp_path)


def test_attention_whose_task_chooses_its_backend(tmp_path: Path) -> None:
    attention = "torch.nn.attention"
    forward = (
        f"with {attention}.sdpa_kernel({attention}.SDPBackend.FLASH_ATTENTION):\n"
        "    return F.scaled_dot_product_attention(x, x, x)"
    )
    verified(task(forward, "[torch.rand(2, 3, 17, 16)]"), tmp_path)


def test_a_quotient_that_is_one_for_every_size_is_no_chance() -> None:
    size, environment = sympy.Symbol("s0", integer=True, positive=True), ShapeEnv()
    for quotient in (FloorDiv(2 * size - 1, size), FloorDiv(size, 64)):
        environment.guards.append(ShapeGuard(sympy.Eq(quotient, 1), SLoc(None, None), True))
    assert one_by_chance(environment) == f"Eq({FloorDiv(size, 64)}, 1)"


def test_a_quotient_that_is_one_by_chance_makes_no_candidate(tmp_path: Path) -> None:
    source = """
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, radix):
        super().__init__()
        self.radix = radix

    def forward(self, x):
        x = x.view(x.size(0), 4, self.radix, -1)
        return torch.softmax(x.transpose(1, 2), 1).reshape(x.size(0), -1)


radix = 16
batch_size = 4
features = FEATURES


def get_inputs():
    return [torch.randn(batch_size, features)]


def get_init_inputs():
    return [radix]
"""
    path = tmp_path / "radix.py"
    path.write_text(source.replace("FEATURES", "64"))
    with pytest.raises(AlignError, match="one by chance"):
        align_file(path)
    verified(source.replace("FEATURES", "192"), tmp_path)


def test_a_quotient_that_no_other_size_has_is_no_chance() -> None:
    """Where another size would divide by nothing (a width halved twice), nothing is said, and nothing raised."""
    size, environment = sympy.Symbol("s0", integer=True, positive=True), ShapeEnv()
    halved = FloorDiv(size, FloorDiv(size, 2))
    environment.guards.append(ShapeGuard(sympy.Eq(FloorDiv(halved, 2), 1), SLoc(None, None), True))
    assert not one_by_chance(environment)
