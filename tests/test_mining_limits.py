"""Mining: what is too large for a task is made smaller, or given up early."""

from __future__ import annotations

import torch
from torch import nn

from kdata.record import Definition, Dropped, Origin, SourceFile, Task
from sources.infer.constructor.constructions import Constructions
from sources.infer.forward.variants import narrower, of_one, opened, shallower
from sources.infer.inputs import Tensor
from sources.infer.running.progress import Budget
from sources.infer.search import Solution, solve
from sources.mine import cut_step, step

HEAD = "import torch\nimport torch.nn as nn\n"
DEEP = (
    HEAD
    + """
class Deep(nn.Module):
    def __init__(self, dim, num_layers=None):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(dim, dim) for _ in range(num_layers))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x).relu()
        return x


class Endless(nn.Module):
    def forward(self, x):
        for _ in range(100):
            x = x.relu() + 1
        return x
"""
)


def test_networks_have_fewer_layers_or_too_many_operators() -> None:
    file = SourceFile(Origin("local", "pkg", "1", "deep.py", ("MIT",)), DEEP + "\n\ndef made():\n    Deep(8, 24)\n")
    cuts = [d for d in cut_step().function([file]) if isinstance(d, Definition)]
    found = list(step(operators=7).function(cuts))
    tasks = {t.symbol: t for t in found if isinstance(t, Task)}
    assert set(tasks) == {"Deep"}
    assert "num_layers = 3\n" in tasks["Deep"].source
    assert [d.reason for d in found if isinstance(d, Dropped)] == ["too many operators"]


HEAVY = (
    HEAD
    + """
class Heavy(nn.Module):
    def __init__(self):
        super().__init__()
        self.wide = nn.Conv2d(512, 512, 3, padding=1)

    def forward(self, x):
        return self.wide(x).relu()
"""
)


def test_inputs_are_no_heavier_than_need_be() -> None:
    file = SourceFile(Origin("local", "pkg", "1", "heavy.py", ("MIT",)), HEAVY)
    (cut,) = (d for d in cut_step().function([file]) if isinstance(d, Definition))
    (task,) = step(operators=16).function([cut])
    assert isinstance(task, Task)
    batch, channels, height, width = task.inputs[0].shape
    assert channels == 512
    assert 2 * batch * height * width * 9 * channels**2 <= 2**30


BOTTLENECK = (
    HEAD
    + """
class Bottleneck(nn.Module):
    def __init__(self, inplanes, planes):
        super().__init__()
        self.narrow = nn.Conv2d(inplanes, planes, 1)
        self.wide = nn.Conv2d(planes, planes * 4, 1)

    def forward(self, x):
        return (self.wide(self.narrow(x).relu()) + x).relu()
"""
)


def test_a_residual_connection_widens_the_input() -> None:
    file = SourceFile(Origin("local", "pkg", "1", "bottleneck.py", ("MIT",)), BOTTLENECK)
    (cut,) = (d for d in cut_step().function([file]) if isinstance(d, Definition))
    (task,) = step(operators=16).function([cut])
    assert isinstance(task, Task)
    assert "\nin_channels = 256\n" in task.source
    assert "\nchannels = 64\n" in task.source


def test_the_width_of_a_pyramid_is_halved() -> None:
    assert narrower({"ch": "128", "ch_mult": "[1, 2]"}) == {"ch": "64", "ch_mult": "[1, 2]"}
    assert narrower({"chn": "96", "nc": "64"}) == {"chn": "32", "nc": "32"}


def test_narrower_widths_can_still_be_normalised_in_groups_and_colours_and_dimensions_stay() -> None:
    given = {"model_channels": "448", "in_channels": "3", "dims": "2", "hidden_size": "96"}
    assert narrower(given) == {"model_channels": "224", "in_channels": "3", "dims": "2", "hidden_size": "32"}
    assert narrower({"model_channels": "224"}) == {"model_channels": "96"}


def test_a_model_of_too_many_parameters_becomes_narrower_and_keeps_its_images() -> None:
    made = []

    class Net(nn.Module):
        def __init__(self, width: int = 8192, image_size: int = 16) -> None:
            super().__init__()
            made.append((width, image_size))
            self.inner = nn.Sequential(nn.Linear(width, width), nn.Linear(width, width))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.inner(x)

    solved = solve(Net, {}, "class Net:\n    def __init__(self, width=8192, image_size=16):\n        pass\n")
    assert isinstance(solved, Solution)
    assert made == [(8192, 16), (4096, 16)]


def test_one_image_has_one_step_of_its_own() -> None:
    images, steps, words = Tensor((4, 3, 64, 64)), Tensor((64,), "int", 10), Tensor((4, 64), "int", 10)
    assert of_one((images, steps)) == (Tensor((1, 3, 64, 64)), Tensor((1,), "int", 10))
    assert of_one((words, steps)) == (Tensor((1, 64), "int", 10), steps)


def test_what_records_and_dictionaries_say_of_sizes_becomes_smaller_too() -> None:
    class Config:
        def __init__(self, layers: int = 24, width: int = 512, vocab_size: int = 50_000, rate: float = 0.1) -> None: ...

    given = {"cfg": "Config(width=256)", "net": "{'params': {'n_layer': 24, 'hidden_size': 64, 'vocab_size': 9}}"}
    said = opened(given, {"Config": Config})
    assert said == {"cfg": "Config(width=256, layers=24)", "net": given["net"]}
    assert shallower(said) == {
        "cfg": "Config(width=256, layers=12)",
        "net": "{'params': {'n_layer': 12, 'hidden_size': 64, 'vocab_size': 9}}",
    }
    assert narrower(said) == {
        "cfg": "Config(width=128, layers=24)",
        "net": "{'params': {'n_layer': 24, 'hidden_size': 32, 'vocab_size': 9}}",
    }


def test_what_took_too_long_is_begun_with_smaller_images_fewer_layers_and_features() -> None:
    class Net(nn.Module):
        def __init__(self, img_size: int = 64, depth: int = 8, width: int = 32) -> None:
            super().__init__()

    text = "class Net:\n    def __init__(self, img_size=64, depth=8, width=32):\n        pass\n"
    for lighter, expected in ((False, {}), (True, {"img_size": "16", "depth": "2", "width": "16"})):
        arguments, _ = next(iter(Constructions(Net, {}, text, Budget(), lighter=lighter)))
        assert arguments == expected
