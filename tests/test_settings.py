"""Configurations as calls: mappings that name a class with its arguments, and sizes that belong together."""

from __future__ import annotations

import ast

import pytest

from sources.hints.hints import Hints
from sources.hints.settings import Settings, builds, mapping
from sources.infer.constructor.configs import Config
from sources.text.symbols import Package
from sources.text.targets import Here

NECK = """import torch.nn as nn


class Neck(nn.Module):
    def __init__(self, width, levels, norm=None):
        super().__init__()
        self.lines = nn.ModuleList(nn.Linear(width, width) for _ in range(levels))

    def forward(self, x):
        return x
"""
CONFIGURED = 'model = dict(type="Neck", width=48, levels=3, norm=dict(type="BN"), optimizer="adam")\n'
YAML = "model:\n  _target_: net.Neck\n  width: 96\n  levels: 2\n"
BESIDE = "lr: 0.1\nneck: net.Neck\nneck_args: {width: 40}\n"
NESTED = "neck:\n  name: Neck\n  params: {width: 24, levels: 5}\n"


@pytest.mark.parametrize(
    ("code", "settings", "named"),
    [
        (CONFIGURED, "", {"width": "48", "levels": "3", "norm": "{'type': 'BN'}"}),
        ("model = {'type': 'Neck', 'width': 32}\n", "", {"width": "32"}),
        ("", YAML, {"width": "96", "levels": "2"}),
        ("", NESTED, {"width": "24", "levels": "5"}),
        ("", BESIDE, {"width": "40"}),
    ],
)
def test_a_configuration_that_names_a_class_is_a_call_of_it(code: str, settings: str, named: dict[str, str]) -> None:
    package = Package({"net.py": NECK, "configs/a.py": code})
    (site,) = Hints(package, [settings]).sites(Here("net.py", "Neck"))
    assert site.spelled(lambda _: None)["named"] == named


def test_sizes_of_one_mapping_stay_together() -> None:
    texts = ["a: {WIDTHS: [8, 8], STRIDES: [1, 2], NAME: A}", "b: {WIDTHS: [4], OTHER: 3}", "c: {WIDTHS: [4], MORE: 3}"]
    package = Package({"net.py": "import torch\n"})
    found = Hints(package, texts).defaults(["WIDTHS", "STRIDES", "unknown"])
    assert found == {"WIDTHS": "[8, 8]", "STRIDES": "[1, 2]"}
    assert Hints(package, texts).defaults(["WIDTHS"]) == {"WIDTHS": "[4]"}  # the most usual one


@pytest.mark.parametrize("said", ['given.pop("embed_dim", 768)', 'cfg.get("embed_dim", 768)'])
def test_what_stands_for_a_setting_that_is_not_given_is_its_default(said: str) -> None:
    text = f"def small(embed_dim=1):\n    return embed_dim\n\n\nclass Args:\n    def __init__(self, **given):\n        x = {said}\n"
    assert Hints(Package({"net.py": text})).defaults(["embed_dim"]) == {"embed_dim": "768"}


def test_what_is_no_literal_and_what_names_no_class_is_left_out() -> None:
    node = ast.parse("dict(type='Neck', width=size, levels=2)", mode="eval").body
    assert builds(node)
    assert mapping(node) == {"type": "'Neck'", "levels": "2"}
    assert not builds(ast.parse("dict(width=2)", mode="eval").body)
    settings = Settings()
    settings.add({"type": "'Neck'"})
    assert settings.of("Neck", None) == []


STAGES = "net:\n  STAGES: {ONE: {WIDTH: 8, DEPTH: 1}, TWO: {WIDTH: 24, DEPTH: 2}}\n"


def test_a_size_is_that_of_its_own_mapping() -> None:
    found = Hints(Package({"net.py": "import torch\n"}), [STAGES]).defaults(["ONE", "TWO", "WIDTH"])
    assert {"ONE.WIDTH": "8", "TWO.WIDTH": "24"}.items() <= found.items()
    one, two = (Config(f"config.{name}", {}, {}, found) for name in ("ONE", "TWO"))
    assert (one.WIDTH, two.WIDTH) == (8, 24)


def test_a_part_that_a_mapping_tells_of_goes_by_its_name_alone() -> None:
    settings = Settings()
    settings.add({"name": "'Detector'", "backbone": "{'width': 4}", "head": "'plain'", "depth": "3"})
    given = [{"backbone_cfg": "{'width': 4}", "depth": "3"}]
    assert settings.of("Detector", ["backbone_cfg", "head_cfg", "depth"]) == given
    assert settings.of("Detector", ["backbone_cfg", "backbone"]) == [{"backbone": "{'width': 4}"}]
    settings.add({"name": "'Twice'", "backbone_args": "{'width': 8}", "backbone": "{'width': 4}"})
    assert settings.of("Twice", ["backbone_args"]) == [{"backbone_args": "{'width': 8}"}]


def test_of_parameters_that_may_be_meant_it_is_the_first() -> None:
    settings = Settings()
    settings.add({"name": "'Detector'", "backbone": "{'width': 4}", "depth": "3"})
    names = [f"backbone_{end}" for end in ("cfg", "args", "config", "params", "kwargs")]
    for first in names:
        (given,) = settings.of("Detector", [first, *names])
        assert given == {first: "{'width': 4}"}
