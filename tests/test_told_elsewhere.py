"""What a package says elsewhere of a class's arguments: by the word it is registered by, by defaults around a call."""

from __future__ import annotations

from sources.hints.guesses import rows
from sources.hints.hints import Hints
from sources.hints.trees import likeliest
from sources.infer.forward.variants import enlarged
from sources.text.symbols import Package
from sources.text.targets import Here

REGISTERED = """import torch.nn as nn

MODELS = {}


def register(name):
    def put(kind):
        MODELS[name] = kind
        return kind
    return put


@register("liif")
class Implicit(nn.Module):
    def __init__(self, encoder_spec, width):
        super().__init__()
        self.encoder, self.line = MODELS[encoder_spec["name"]](), nn.Linear(width, width)

    def forward(self, x):
        return self.line(self.encoder(x))


@register("plain")
class Plain(nn.Module):
    def forward(self, x):
        return 2 * x
"""
CONFIGURED = '{"model": {"name": "liif", "args": {"encoder_spec": {"name": "plain", "args": {}}, "width": 48}}}'
MADE = """import functools

import torch.nn as nn
from torch.nn import LayerNorm


class Net(nn.Module):
    def __init__(self, norm, last, width):
        super().__init__()
        self.norm, self.last = norm(width), last(width)

    def forward(self, x):
        return self.last(self.norm(x))


def build(norm=nn.BatchNorm1d, last=functools.partial(LayerNorm, eps=1e-6), width=512):
    return Net(norm, last, width)
"""
SET = """import torch.nn as nn

_C = Node()
_C.SLOW.ALPHA = 8
_C.SLOW.KERNEL = [5, 1]
_C.MIXUP.ALPHA = 0.8
_C.MIXUP.SIZE = 3
_C.MIXUP.WIDTH = 3
_C.DATA.ALPHA = 0.8
_C.DATA.SIDE = 224
_C.DATA.MEAN = [0.5]
_C.DATA.PATH = "a"


class Fuse(nn.Module):
    def __init__(self, alpha, kernel, width):
        super().__init__()
        self.net = nn.Conv3d(width, width, (kernel, 1, 1), stride=(alpha, 1, 1))

    def forward(self, x):
        return self.net(x)


class Net(nn.Module):
    def __init__(self, cfg, width):
        super().__init__()
        self.fuse = Fuse(cfg.SLOW.ALPHA, cfg.SLOW.KERNEL, width)

    def forward(self, x):
        return self.fuse(x)
"""


def test_a_configuration_may_name_a_class_by_the_word_that_it_is_registered_by() -> None:
    hints = Hints(Package({"net.py": REGISTERED}), [CONFIGURED])
    named = hints.sites(Here("net.py", "Implicit"))[0].spelled(lambda target: None)["named"]
    assert named == {"encoder_spec": "{'name': 'plain', 'args': {}}", "width": "48"}


def test_classes_that_a_function_takes_by_default_are_what_it_hands_on() -> None:
    (site,) = Hints(Package({"net.py": MADE})).sites(Here("net.py", "Net"))
    assert site.spelled(lambda target: None)["positional"] == [
        "nn.BatchNorm1d", "functools.partial(nn.LayerNorm, eps=1e-06)", None,
    ]  # fmt: skip


def test_a_call_is_given_what_its_package_sets_in_that_part_of_its_settings() -> None:
    (site,) = Hints(Package({"net.py": SET})).sites(Here("net.py", "Fuse"))
    assert site.spelled(lambda target: None)["positional"] == ["8", "[5, 1]", None]
    made = Hints(Package({"net.py": SET.replace("cfg.SLOW.ALPHA, ", "[nn.Linear(cfg.SLOW.ALPHA, 8)], ")}))
    assert made.sites(Here("net.py", "Fuse"))[0].spelled(lambda target: None)["positional"][0] == "[nn.Linear(8, 8)]"


def test_rows_that_a_package_has_are_no_extents_of_a_window() -> None:
    assert rows("anchors", ["8", "[[1, 2], [3, 4]]"]) == ["[[1, 2], [3, 4]]"]
    assert rows("stride", ["[[1, 2, 2]]"]) == []


def test_a_size_of_one_is_a_tests() -> None:
    assert likeliest({"1": 1, "768": 1, "1024": 1}) == "768"
    assert likeliest({"1": 2, "768": 1}) == "1"


def test_images_grow_to_what_the_package_says() -> None:
    message = "RuntimeError: non-positive stride is not supported"
    assert enlarged({"img_size": "32", "dim": "64"}, message, {"img_size": "224"}) == [{"img_size": "224", "dim": "64"}]
    assert enlarged({"img_size": "(32, 32)"}, message, {"img_size": "(3, 3)"}) == [{"img_size": "(128, 128)"}]
