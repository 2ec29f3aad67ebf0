"""Classes whose first arguments count what is not there, and what their parts, bases and packages tell of better ones."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from sources import mine, probe
from sources.hints.hints import Hints
from sources.infer.constructor.counted import recounted
from sources.infer.forward.failure import Failure
from sources.infer.forward.repairs import repairs
from sources.infer.inputs import Tensor
from sources.infer.running.check import UnfitError, check
from sources.mine import replacements
from sources.text.symbols import Package
from sources.text.targets import Here
from tests.attempts import attempted
from tests.cuts import HEAD, cut

NESTED = """
class Net(nn.Module):
    def __init__(self, n, dims, modules):
        super().__init__()
        self.up = nn.Linear(dims[0], dims[1])
        self.more = nn.Sequential(*[nn.Linear(dims[1], dims[1]) for _ in range(modules[1])])
        self.inner = Net(n - 1, dims[1:], modules[1:]) if n > 1 else nn.Identity()

    def forward(self, x):
        return self.inner(self.more(self.up(x)))
"""
REDUCED = """
class Net(nn.Module):
    def __init__(self, in_channel, depth, stride=1):
        super().__init__()
        self.first = nn.Conv2d(in_channel, depth, 3, stride, 1)
        self.less = nn.Conv2d(depth, depth // 16, 1)
        self.more = nn.Conv2d(depth // 16, depth, 1)

    def forward(self, x):
        x = self.first(x)
        return x * torch.sigmoid(self.more(torch.relu(self.less(x.mean((2, 3), keepdim=True)))))
"""
WHOLE = """
class Net(nn.Module):
    def __init__(self, width, m=2.0):
        super().__init__()
        self.line, self.m = nn.Linear(width, width), m
        self.curves = [lambda x: x, lambda x: 2 * x, lambda x: 2 * x ** 2 - 1]

    def forward(self, x):
        return self.curves[self.m](self.line(x))
"""
CLIP = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Conv2d(3, 8, 3, 2, 1), nn.Conv2d(8, 8, 7, padding=1)

    def forward(self, faces):
        x = torch.cat([faces[:, :, i] for i in range(faces.size(2))], dim=0)
        return self.last(self.first(x[:, :, x.size(2) // 2:]))
"""
WEIGHED = """
class Net(nn.Module):
    def __init__(self, net, width=8):
        super().__init__()
        assert width
        self.net = net
        self.double = net.double_it
        self.count = sum(p.numel() for p in net.parameters())

    def forward(self, images):
        return self.net(images.to(next(self.net.parameters()).device), None) / self.count
"""
HEADS = """
class Net(nn.Module):
    def __init__(self, nc=5, anchors=(), ch=()):
        super().__init__()
        self.nl, self.no = len(anchors), nc + len(anchors[0]) // 2
        self.register_buffer("anchors", torch.tensor(anchors).float().view(self.nl, -1, 2))
        self.m = nn.ModuleList(nn.Conv2d(c, self.no, 1) for c in ch)

    def forward(self, x):
        return [self.m[i](x[i]) * self.anchors[i].mean() for i in range(self.nl)]
"""


@pytest.mark.parametrize("text", [NESTED, REDUCED, WHOLE])
def test_counts_become_what_an_error_asks_for(text: str, tmp_path: Path) -> None:
    outcome = attempted(text, tmp_path)
    assert not outcome["reason"], outcome


def test_a_batch_of_one_that_was_squeezed_away_is_one_of_two() -> None:
    message = "IndexError: Dimension out of range (expected to be in range of [-1, 0], but got 1)"
    failure = Failure((Tensor((1, 3, 32, 32)), Tensor((4, 8))), message, nn.Identity(), "size")
    assert (Tensor((2, 3, 32, 32)), Tensor((4, 8))) in [specs for _, specs in repairs(failure)]


def test_each_side_is_as_long_as_a_window_asks_for() -> None:
    message = (
        "RuntimeError: Calculated padded input size per channel: (2 x 6). Kernel size: (3 x 3). Kernel size can't be"
    )
    clip, image = Tensor((4, 3, 8, 16, 16)), Tensor((4, 1, 32, 32))
    found = [specs for _, specs in repairs(Failure((clip, image), message, nn.Identity(), "conv2d"))]
    assert (clip, Tensor((4, 1, 64, 32))) in found
    assert (Tensor((4, 3, 2, 32, 16)), image) in found


def test_steps_that_a_comment_tells_of_may_be_none_of_an_input() -> None:
    message = "RuntimeError: Expected 3D (unbatched) or 4D (batched) input to conv2d, but got input of size: [4, 64, 1, 80, 16]"
    told = Tensor((4, 64, 1, 80, 16))
    arguments = (torch.ones(told.shape), torch.ones(8, 1, 3, 3))
    cheapest, *_ = repairs(Failure((told,), message, nn.Identity(), "conv2d", arguments))
    assert cheapest[1] == (Tensor((4, 1, 80, 16)),)


def test_frames_that_are_laid_one_after_another_are_of_a_clip(tmp_path: Path) -> None:
    outcome = attempted(CLIP, tmp_path)
    assert not outcome["reason"], outcome
    assert len(outcome["inputs"][0]["shape"]) == 5


def test_what_goes_by_star_args_may_be_nothing() -> None:
    class Loss(nn.Module):
        def forward(self, x: Any, *args: Any) -> Any:
            return self.of(x, *args)

        def of(self, x: Any) -> Any:
            return x

    message = "TypeError: Loss.of() takes 2 positional arguments but 3 were given"
    x = Tensor((4, 8))
    (cost, first), *_ = repairs(Failure((x, Tensor((4, 8))), message, Loss(), "linear"))
    assert (cost, first) == (0.0, (x,))


def test_what_is_asked_for_its_weights_is_a_part_that_has_some(tmp_path: Path) -> None:
    outcome = attempted(WEIGHED, tmp_path)
    assert not outcome["reason"], outcome
    assert "StubModule(nn." in outcome["source"]


def test_rows_that_a_package_says_come_before_guesses_and_maps_are_as_many(tmp_path: Path) -> None:
    told = {"sites": [], "users": [], "defaults": {"anchors": "[[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]]"}}
    made: dict[str, Any] = {"name": "Net", "source": HEAD + HEADS, "told": told, "lacks": [], "header": []}
    outcome = probe.attempt_one(made, mine.LARGE, tmp_path)
    assert not outcome["reason"], outcome
    assert len(outcome["inputs"]) == 3


def test_what_a_class_gives_to_its_base_is_a_call_of_that() -> None:
    text = """
class base(nn.Module):
    def __init__(self, n, dims, layer=None, width=4):
        super(base, self).__init__()


class One(base):
    def __init__(self, db):
        n = 5
        dims = [8, 16, 32]
        super(One, self).__init__(n, dims, width=8)


class Two(base):
    def __init__(self, n):
        base.__init__(self, n, [8], nn.ReLU)
"""
    package = Package({"net.py": HEAD + text}, replacements())
    sites = [site.spelled(lambda key: key.name) for site in Hints(package).sites(Here("net.py", "base"))]
    assert {"positional": ["5", "[8, 16, 32]"], "named": {"width": "8"}} in sites
    assert {"positional": [None, "[8]", "nn.ReLU"], "named": {}} in sites


def test_layers_of_einops_are_told_by_name_and_repeat() -> None:
    space: dict[str, Any] = {}
    exec(replacements()["einops"], space)
    more = space["Reduce"](pattern="b ... -> (b s) ...", reduction="repeat", s=3)
    less = space["Reduce"](pattern="(b s) ... -> b ...", reduction="sum", s=3)
    x = torch.randn(2, 4, 5)
    assert more(x).shape == (6, 4, 5)
    torch.testing.assert_close(less(more(x)), 3 * x)
    assert space["rearrange"](x, "b (x y) c -> b x y c", x=2).shape == (2, 2, 2, 5)
    assert space["rearrange"](x, pattern="b c d -> b d c").shape == (2, 5, 4)


@pytest.mark.parametrize(("name", "dim", "back"), [("top", 2, 1), ("bottom", 2, 0), ("left", 3, 1), ("right", 3, 0)])
def test_corner_pools_take_the_largest_on_one_side(name: str, dim: int, back: int) -> None:
    space: dict[str, Any] = {}
    exec(replacements()[f"{name}_pool"], space)
    x = torch.randn(2, 3, 5, 6)
    (found,) = space["forward"](x)
    for i in range(x.shape[dim]):
        side = x.narrow(dim, i, x.shape[dim] - i) if back else x.narrow(dim, 0, i + 1)
        assert torch.equal(found.select(dim, i), side.amax(dim))


def test_a_pickled_copy_of_settings_is_left_out() -> None:
    text = """
import pickle


class Net(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.settings = pickle.dumps(dict(width=width))
        self.line = nn.Linear(width, width)

    def forward(self, x):
        return self.line(x)
"""
    space: dict[str, Any] = {}
    made = cut({"net.py": HEAD + text}, "net.py", "Net")
    exec(made, space)
    assert "import pickle" not in made
    assert space["Net"]().settings == b"" != pickle.dumps({})


def test_weights_in_a_file_of_numpys_are_left_out() -> None:
    text = """
import numpy as np


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.line = nn.Linear(8, 8)
        weights = np.load("./net.npy", allow_pickle=True)[()]
        for n, p in self.named_parameters():
            p.data = torch.FloatTensor(weights[n])

    def forward(self, x):
        return self.line(x)
"""
    made = cut({"net.py": HEAD + text}, "net.py", "Net")
    space: dict[str, Any] = {}
    exec(made, space)
    assert "np.load" not in made
    assert space["Net"]()(torch.ones(2, 8)).shape == (2, 8)


def test_a_complex_answer_is_constant_only_if_all_its_numbers_are_one() -> None:
    text = (
        HEAD
        + """
class Model(nn.Module):
    def forward(self, x):
        return torch.complex(x * {0}, x * {0} + 1)


def get_inputs():
    return [torch.randn(3, 4)]


def get_init_inputs():
    return []
"""
    )
    assert check(text.format(2), "Model")["mode"] == "train"
    with pytest.raises(UnfitError):
        check(text.format(0), "Model")


def test_what_ends_without_memory_is_begun_smaller(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lighter: list[bool] = []

    def broken(cut: dict[str, Any], *_: Any) -> dict[str, Any]:
        lighter.append(bool(cut.get("lighter")))
        raise TypeError("'frame' object is not callable")

    def here(job: Any, *_: Any) -> dict[str, Any]:
        try:
            return dict(job())
        except TypeError as error:
            return {"reason": "does not run alone", "detail": str(error)}

    monkeypatch.setattr(probe, "infer", broken)
    monkeypatch.setattr(probe, "isolated", here)
    attempted(WHOLE, tmp_path)
    assert lighter[:2] == [False, True]


def test_a_circulant_matrix_has_one_column_shifted() -> None:
    space: dict[str, Any] = {}
    exec(replacements()["scipy.linalg"], space)
    assert space["circulant"]([1, 2, 3]).tolist() == [[1, 3, 2], [2, 1, 3], [3, 2, 1]]


def test_numbers_of_which_items_are_taken_become_lists_together(tmp_path: Path) -> None:
    text = """class Net(nn.Module):
    def __init__(self, width, kernel_size=11, stride=1):
        super().__init__()
        padding = (kernel_size[0] - stride[0]) // 2
        self.conv = nn.Conv1d(width, width, kernel_size, stride, padding)

    def forward(self, x):
        return self.conv(x)
"""
    outcome = attempted(text, tmp_path)
    assert outcome["reason"] == "", outcome["detail"]


def test_a_default_of_classes_has_no_items_that_are_counted() -> None:
    class Net(nn.Module):
        def __init__(self, depth: int = 4, kinds: tuple[type, ...] = (nn.ReLU,), widths: object = (8, 16, 32)) -> None:
            super().__init__()

    assert recounted(Net, {}, "IndexError: list index out of range") == [{"depth": "2"}]
