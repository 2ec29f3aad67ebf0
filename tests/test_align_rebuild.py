"""Constructors that a candidate may not have are written anew, as plain layers of torch."""

from __future__ import annotations

from pathlib import Path

from kdata.align.step import align_file
from tests.align_tasks import task, verified

REGISTRY = """
import inspect
from keyword import iskeyword

class Registry:
    def __init__(self):
        self.made = {}

    def register(self, name):
        assert not iskeyword(name)
        def keep(function):
            self.made[name] = function
            return function
        return keep

    def __getitem__(self, key):
        return self.made[key[0]](key[1])

LAYERS = Registry()

@LAYERS.register("conv")
def conv(dims):
    return (nn.Conv1d, nn.Conv2d)[dims - 1]

@LAYERS.register("norm")
def norm(dims):
    return nn.GroupNorm

def build(kind, dims, *given):
    made = LAYERS[kind, dims]
    assert "affine" not in inspect.signature(nn.Conv2d).parameters
    return made(*given)
"""
INIT = """self.dims = 2
self.block = nn.Sequential(build("conv", 2, 3, 8, 3), nn.ReLU(), build("norm", 2, 2, 8))
self.head = nn.Module()
self.head.out = build("conv", 2, 8, 5, 1)"""
INPUTS = "[torch.randn(2, 3, 9, 10)]"


def test_layers_of_a_registry_are_made_by_name(tmp_path: Path) -> None:
    source = verified(task("return self.head.out(self.block(x))", INPUTS, INIT, REGISTRY), tmp_path).source
    assert "Registry" not in source and "import inspect" not in source
    assert "self.block = nn.Sequential(nn.Conv2d(3, 8, 3), nn.Identity(), nn.GroupNorm(2, 8))" in source
    assert "self.head = nn.Module()" in source and "self.head.out = nn.Conv2d(8, 5, 1)" in source


def test_layers_that_are_kept_by_key(tmp_path: Path) -> None:
    init = 'self.parts = nn.ModuleDict({"the first": build("conv", 2, 3, 8, 3)})'
    source = task("return F.relu(next(iter(self.parts.values()))(x))", INPUTS, init, REGISTRY)
    assert 'self.parts["the first"] = nn.Conv2d(3, 8, 3)' in verified(source, tmp_path).source


def test_weights_that_are_made_otherwise_keep_their_constructor(tmp_path: Path) -> None:
    init = f"{INIT}\nnn.init.ones_(self.head.out.weight)"
    path = tmp_path / "task.py"
    path.write_text(task("return self.head.out(self.block(x))", INPUTS, init, REGISTRY))
    assert "Registry" in align_file(path).source


def test_a_constructor_that_may_be_said_stays(tmp_path: Path) -> None:
    made = "self.norm = nn.LayerNorm(10) if self.training else None"
    assert made in verified(task("return self.norm(x)", INPUTS, made), tmp_path).source
