"""What a call that failed asks of the constructor, what configurations are compared with, and where inputs go first."""

from __future__ import annotations

import itertools
import re
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from sources.cut.modules import candidates
from sources.cut.slicer import Slicer
from sources.cut.writer import cut
from sources.infer.constructor.constructions import Constructions, Told
from sources.infer.forward.consumers import as_given
from sources.infer.forward.starts import starts
from sources.infer.inputs import all_tensors, draw
from sources.infer.running.progress import Budget
from sources.infer.search import Solution, solve
from sources.mine import replacements
from sources.text.symbols import Package
from sources.text.targets import Here

HEAD = "import torch\nimport torch.nn as nn\n\n\n"
UNSET = """class Net(nn.Module):
    def __init__(self, width, pooling):
        super().__init__()
        self.line = nn.Linear(width, width)
        if pooling == "sum":
            self.pool = torch.sum
        elif pooling == "mean":
            self.pool = torch.mean

    def forward(self, x):
        return self.pool(self.line(x), -1)
"""
WINDOWS = """class Net(nn.Module):
    def __init__(self, dim, window_size=7):
        super().__init__()
        self.dim, self.window_size = dim, window_size
        self.table = nn.Parameter(torch.randn(30, 30))
        self.line = nn.Linear(dim, dim)

    def forward(self, x):
        size = len(self.table) - 2  # 28 of 7, or 24 of 8, would do: only the window may change
        x = self.line(x).sum((0, 1))[:1] + self.table[:16, :16]
        h = x.shape[0]
        return x.view(h // self.window_size, self.window_size, h // self.window_size, self.window_size).sum(1)
"""
UNBOUND = """class Inner(nn.Module):
    def __init__(self, width, way):
        super().__init__()
        self.way, self.line = way, nn.Linear(width, width)

    def forward(self, x):
        if self.way == "both":
            y = self.line(x) + x
        return y


class Net(nn.Module):
    def __init__(self, width, way):
        super().__init__()
        self.inner = Inner(width, way)

    def forward(self, x):
        return self.inner(x)
"""
CHOICE = """class Net(nn.Module):
    def __init__(self, opt):
        super().__init__()
        self.stage = opt.stage
        self.line = nn.Linear(opt.width, opt.width)
        if opt.stage == "twice":
            self.line = nn.Sequential(self.line, nn.Linear(opt.width, opt.width))

    def forward(self, x):
        return self.line(x)
"""
WHOLE = """class Stem(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv = nn.Conv2d(3, width, 3)

    def forward(self, x):
        return self.conv(x)


class Net(nn.Module):
    def __init__(self, num_features=48):
        super().__init__()
        self.num_features = num_features
        self.norm = nn.BatchNorm2d(num_features)
        self.stem = Stem(num_features)

    def features(self, image):
        return self.norm(self.stem(image))

    def forward(self, x):
        return self.features(x).flatten(1)
"""

PYRAMID = """class Net(nn.Module):
    def __init__(self, widths=(8, 16, 24)):
        super().__init__()
        self.convs = nn.ModuleList(nn.Conv2d(width, 4, 3, padding=1) for width in widths)

    def forward(self, xs, shape):
        total = torch.zeros(xs[0].shape[0], 4, *shape)
        for i in range(len(self.convs)):
            total += nn.functional.interpolate(self.convs[i](xs[i]), size=shape)
        return total
"""
FLOW = """class Flow(nn.Module):
    def __init__(self, width, mels, n_layers, groups=1):
        super().__init__()
        self.lines = nn.ModuleList(nn.Linear(width + mels, width + mels) for _ in range(n_layers))

    def forward(self, x):
        for line in self.lines:
            x = line(x)
        return x


class Net(nn.Module):
    def __init__(self, n_turns, flow_config):
        super().__init__()
        self.flows = nn.Sequential(*(Flow(8, mels=8, **flow_config) for _ in range(n_turns)))

    def forward(self, x):
        return self.flows(x)
"""
SEEN = """class Net(nn.Module):
    def __init__(self, side=12, heads=(2, 2)):
        super().__init__()
        self.line = nn.Linear(side, side)
        self.table = nn.Parameter(torch.randn(12, 12))

    def forward(self, x):
        return self.line(x) @ self.table
"""


def _made(text: str, folder: Path) -> dict[str, Any]:
    file = folder / "task.py"
    file.write_text(HEAD + text)
    namespace: dict[str, Any] = {"__file__": str(file), "__name__": "task"}
    exec(compile(HEAD + text, str(file), "exec"), namespace)
    return {"nn": nn, "torch": torch} | namespace


def _solved(text: str, folder: Path) -> dict[str, str]:
    namespace = _made(text, folder)
    found = solve(namespace["Net"], namespace, HEAD + text)
    assert isinstance(found, Solution), found
    return found.arguments


def test_an_attribute_that_a_branch_sets_asks_for_the_branch(tmp_path: Path) -> None:
    assert _solved(UNSET, tmp_path)["pooling"] in ("'sum'", "'mean'")


def test_a_variable_that_a_branch_binds_asks_for_the_branch(tmp_path: Path) -> None:
    assert _solved(UNBOUND, tmp_path)["way"] == "'both'"


def test_a_shape_in_windows_asks_for_ones_that_divide_it(tmp_path: Path) -> None:
    assert 16 % int(_solved(WINDOWS, tmp_path)["window_size"]) == 0


def test_a_setting_that_is_compared_with_a_word_is_that_word(tmp_path: Path) -> None:
    assert _solved(CHOICE, tmp_path)["opt.stage"] == "'twice'"


def test_an_input_is_what_a_method_hands_to_a_part_and_not_what_the_network_gives(tmp_path: Path) -> None:
    first = starts(_made(WHOLE, tmp_path)["Net"]())[0]
    assert [t.shape[1] for _, t in all_tensors(first)] == [3]


def test_each_item_goes_to_a_layer_and_sizes_are_those_of_images(tmp_path: Path) -> None:
    module = _made(PYRAMID, tmp_path)["Net"]()
    first = starts(module)[0]
    assert [t.shape[1] for _, t in all_tensors(first)] == [8, 16, 24]
    assert module(*map(draw, first)).shape == (4, 4, 32, 32)


def test_settings_are_unpacked_for_what_a_call_does_not_give_itself(tmp_path: Path) -> None:
    found = _solved(FLOW, tmp_path)
    assert set(found) == {"n_turns", "flow_config", "flow_config.n_layers"}
    assert int(found["n_turns"]) <= 4


def test_the_defaults_have_their_turn_after_some_of_the_packages_own_arguments(tmp_path: Path) -> None:
    namespace, told = _made(SEEN, tmp_path), Told(({"positional": [], "named": {"side": "50"}},))
    constructions = Constructions(namespace["Net"], namespace, HEAD + SEEN, Budget(), told)
    tried: list[str | None] = []
    for arguments, _ in itertools.islice(constructions, 8):
        tried.append(arguments.get("side"))
        constructions.again({"side": str(100 + len(tried))})  # what mends them comes before all others
    assert tried == ["50", "101", "102", "103", None, "104", "105", "106"]


def test_a_module_that_defines_how_it_is_called_has_that_for_its_forward() -> None:
    text = HEAD + "class Gap(nn.Module):\n    def __call__(self, a, b):\n        return (a - b).abs()\n\n\n" \
                  "class Half(Gap):\n    def __call__(self, a, b):\n        return (a - b).abs() / 2\n\n\n" \
                  "class Plain:\n    def __call__(self, a):\n        return a\n"  # fmt: skip
    package = Package({"a.py": text}, {})
    assert [(c.symbol, c.refused) for c in candidates(package)] == [("Gap", ""), ("Half", "")]
    assert "def forward(self, a, b)" in cut(Slicer(package), "a.py", "Half").source
    assert "def __call__(self, a)" in package.file("a.py").text  # type: ignore[union-attr]


def _stand_in(name: str) -> types.SimpleNamespace:
    namespace: dict[str, Any] = {"__name__": "stand_in"}
    text = replacements()[name]
    for other in re.findall(r"^from (torchvision\.\w+) import [\w, ]+$", text, re.M):  # another stand-in
        exec(replacements()[other], namespace)
        text = re.sub(rf"^from {other} import .*$", "", text, flags=re.M)
    exec(text, namespace)
    return types.SimpleNamespace(**namespace)


@pytest.mark.parametrize(("rows", "columns"), [(4, 4), (5, 3), (3, 5)])
def test_factors_are_those_of_the_matrix(rows: int, columns: int) -> None:
    linalg, a = _stand_in("scipy.linalg"), np.random.default_rng(0).normal(size=(rows, columns)).astype(np.float32)
    p, low, up = linalg.lu(a)
    assert np.allclose(p @ low @ up, a, atol=1e-5)
    assert low.dtype == up.dtype == np.float32
    assert np.allclose(low, np.tril(low)) and np.allclose(up, np.triu(up)) and np.abs(low).max() <= 1
    q, r = linalg.qr(a)
    assert np.allclose(q @ r, a, atol=1e-5)
    assert np.array_equal(linalg.toeplitz([1, 2, 3], [1, 5]), [[1, 5], [2, 1], [3, 2]])
    assert np.array_equal(linalg.block_diag([[1, 2]], [3]), [[1, 2, 0], [0, 0, 3]])


def test_a_system_is_sampled_as_it_runs_between_the_samples() -> None:
    signal, linalg = _stand_in("scipy.signal"), _stand_in("scipy.linalg")
    a, b = np.array([[-1.0, 0.0], [1.0, -2.0]]), np.array([[1.0], [0.0]])
    held, driven, *_ = signal.cont2discrete((a, b, np.eye(2), np.zeros((2, 1))), 0.1)
    steps = [signal.cont2discrete((a, b, np.eye(2), np.zeros((2, 1))), 1e-4, "bilinear")[:2]] * 1000
    state, moved = np.eye(2), np.zeros((2, 1))
    for one, more in steps:
        state, moved = one @ state, one @ moved + more
    assert np.allclose(held, state) and np.allclose(driven, moved) and np.allclose(linalg.expm(0.1 * a), held)
    assert np.allclose(np.tril(a) @ linalg.solve_triangular(a, b, lower=True), b)


def test_cosine_transforms_are_turned_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy", types.ModuleType("scipy"))
    monkeypatch.setitem(sys.modules, "scipy.fftpack", _stand_in("scipy.fftpack"))  # type: ignore[arg-type]
    fft, x = _stand_in("scipy.fft"), np.random.default_rng(0).normal(size=(2, 6))
    wave = np.cos(np.pi * np.arange(6)[:, None] * (2 * np.arange(6) + 1) / 12)
    assert np.allclose(fft.dct(x), 2 * x @ wave.T)
    basis = fft.dct(np.eye(6), norm="ortho")
    assert np.allclose(basis @ basis.T, np.eye(6))
    for kind in (2, 3):
        for norm in (None, "ortho"):
            assert np.allclose(fft.idct(fft.dct(x, kind, norm=norm), kind, norm=norm), x)
    assert fft.dct(x, n=4, axis=0).shape == (4, 6)


def test_layers_of_frameworks_compute_what_theirs_do() -> None:
    layers, torch_layer = _stand_in("detectron2.layers"), nn.Conv2d(3, 32, 3)
    conv = layers.Conv2d(3, 32, 3, norm=layers.get_norm("GN", 32), activation=torch.relu)
    conv.load_state_dict(torch_layer.state_dict(), strict=False)
    x = torch.randn(2, 3, 8, 8)
    torch.testing.assert_close(conv(x), nn.functional.group_norm(torch_layer(x), 32).relu())
    bert = _stand_in("transformers")
    model = bert.BertModel(bert.BertConfig()).eval()
    tokens, mask = torch.randint(0, 1024, (2, 5)), torch.ones(2, 5)
    mask[0, 3:] = 0
    answer = model(tokens, attention_mask=mask)
    assert answer[0].shape == (2, 5, 64) and answer.pooler_output.shape == (2, 64)
    short = model(tokens[:1, :3])  # what is masked does not matter to the rest
    torch.testing.assert_close(answer[0][:1, :3], short[0])


@pytest.mark.parametrize("test", [
    "torch.__version__.startswith('0')", "not torch.__version__.startswith('2')", "torch.__version__ < '1.5'",
    "LooseVersion(torch.__version__) < LooseVersion('1.10')", "version.parse(torch.__version__) == version.parse('1.7.1')",
    "sys.version_info[0] < 3", "sys.version_info < (3, 8)", "torch.__version__ == 'parrots' or True",
])  # fmt: skip
def test_branches_for_other_versions_are_not_what_a_name_means(test: str) -> None:
    text = (
        HEAD
        + f"if {test}:\n    from .old import Norm\n    WIDTH = 1\nelse:\n    from .new import Norm\n    WIDTH = 2\n"
    )
    norm = "import torch.nn as nn\nclass Norm(nn.Module):\n    pass\n"
    package = Package({"n/a.py": text, "n/old.py": norm, "n/new.py": norm, "n/__init__.py": ""}, {})
    assert package.lookup("n/a.py", "Norm") == Here("n/old.py" if "or" in test[-8:] else "n/new.py", "Norm")


EMBEDDED = """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Conv2d(3, 8, 4, stride=4)
        self.line = nn.Linear(8, 8)

    def forward(self, x):
        x = self.embed(x).flatten(2).transpose(1, 2)
        B, L, C = x.shape
        return self.line(x.reshape(B * L, C))
"""


def test_shapes_of_what_a_layer_gave_are_not_those_of_the_input(tmp_path: Path) -> None:
    first = starts(_made(EMBEDDED, tmp_path)["Net"]())[0]
    assert [len(t.shape) for _, t in all_tensors(first)] == [4]
    assert as_given("x", "def forward(self, x):\n    x = x.float()\n    n, c = x.shape\n").endswith("x.shape\n")


@pytest.mark.parametrize(("line", "use", "said"), [
    ("from fractions import gcd", "gcd(4, 6)", "from math import gcd"),
    ("from torch.nn.utils import skip_init", "skip_init(nn.Linear, 2, bias=False, out_features=3).weight.isfinite().all()",
     "from operator import call as skip_init"),
    ("from torch._dynamo import is_compiling", "not is_compiling()", "from torch.compiler import is_compiling"),
    ("from collections import Iterable", "isinstance(x, Iterable)", "from collections.abc import Iterable"),
    ("import collections", "isinstance(x, collections.Iterable)", "collections.abc.Iterable)"),
    ("import inspect", "inspect.getargspec(Net.forward)[0]", "inspect.getfullargspec(Net.forward)[0]"),
    ("from collections import OrderedDict", "OrderedDict(x=x)", "from collections import OrderedDict"),
    ("try:\n    from itertools import ifilterfalse\nexcept ImportError:\n    from itertools import filterfalse as ifilterfalse",
     "ifilterfalse(None, [x])", "from itertools import filterfalse as ifilterfalse"),
    ("from torch._six import container_abcs", "isinstance(x, container_abcs.Sized)", "collections.abc as container_abcs"),
])  # fmt: skip
def test_names_that_have_moved_are_found_where_they_are_now(line: str, use: str, said: str) -> None:
    text = f"import torch\nimport torch.nn as nn\n{line}\n\n\nclass Net(nn.Module):\n    def forward(self, x):\n" \
           f"        return 2 * x, {use}\n"  # fmt: skip
    source = cut(Slicer(Package({"a.py": text}, replacements())), "a.py", "Net").source
    assert said in source
    namespace: dict[str, Any] = {"__name__": "task"}
    exec(source, namespace)
    assert len(namespace["Net"]()(torch.ones(2))) == 2


@pytest.mark.parametrize(("window", "layer"), [
    ("(1, 2)", "Conv2d"), ("kernel_size=(1, 2)", "Conv2d"), ("2", "Conv1d"), ("(2,)", "Conv1d"),
])  # fmt: skip
def test_a_convolution_over_rows_with_the_window_of_images_is_one_over_images(window: str, layer: str) -> None:
    text = f"import torch\nimport torch.nn as nn\n\n\nclass Net(nn.Module):\n    def __init__(self):\n" \
           f"        super().__init__()\n        self.gate = nn.Conv1d(3, 4, {window})\n\n    def forward(self, x):\n" \
           f"        return self.gate(x)\n"  # fmt: skip
    assert f"nn.{layer}(3, 4" in cut(Slicer(Package({"a.py": text}, replacements())), "a.py", "Net").source


MESSAGES = """class Part(nn.Module):
    def __init__(self):
        super().__init__()
        self.line = nn.Linear(8, 8)

    def forward(self, x, y):
        return self.line(x) @ y


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.part, self.line = Part(), nn.Linear(8, 8)

    def forward(self, x, y):
        x = self.part(x, y)
        return self.line(x)
"""


def test_a_part_whose_answer_takes_the_inputs_name_tells_of_images_only(tmp_path: Path) -> None:
    embedded = MESSAGES.replace("nn.Linear(8, 8)\n\n    def forward(self, x, y):\n        return self.line(x) @ y",
                                "nn.Conv2d(5, 8, 1)\n\n    def forward(self, x, y):\n        return self.line(x) @ y")  # fmt: skip
    for text, wanted in ((MESSAGES, [3, 8]), (embedded, [4, 5])):
        x = starts(_made(text, tmp_path)["Net"]())[0][0]
        assert [len(x.shape), x.shape[-1 if wanted[0] == 3 else 1]] == wanted  # type: ignore[union-attr]
