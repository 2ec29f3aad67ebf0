"""Mining student repositories: where a wrong argument came from, and what older or absent things meant."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from sources.cut.cutting import cut_package
from sources.cut.slicer import Slicer
from sources.cut.writer import cut as write_cut
from sources.infer.constructor.blamed import blamed
from sources.infer.constructor.trouble import wanted
from sources.infer.forward.failure import Failure
from sources.infer.forward.input_guesses import guesses
from sources.infer.forward.repairs import repairs
from sources.infer.inputs import Many, Tensor
from sources.infer.rewritten.drawn import drawn
from sources.infer.rewritten.given import LEFT_OUT, given
from sources.infer.running.check import check
from sources.infer.search import Solution, solve
from sources.mine import replacements
from sources.probe import load
from sources.text.symbols import Package

HEAD = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n\n\n"
GRAPH = (
    HEAD
    + """class Mixed(nn.Module):
    def __init__(self, order, polynomials, inner):
        super().__init__()
        self.order, self.polynomials = order, polynomials
        self.device = polynomials[0].device
        self.linear = nn.Linear(64, inner)

    def forward(self, x):
        return sum(self.linear(self.polynomials[k].matmul(x)) for k in range(self.order))


class Net(nn.Module):
    def __init__(self, width, hidden, settings, graphs, K):
        super().__init__()
        found = graphs
        self.blocks = nn.ModuleList([Mixed(K, found, inner=settings.hidden) for _ in range(2)])
        self.last = nn.Linear(width, hidden)

    def forward(self, x):
        return self.last(self.blocks[0](x) + self.blocks[1](x))
"""
)


def text_of(texts: dict[str, str], path: str, symbol: str) -> str:
    return write_cut(Slicer(Package(texts, replacements())), path, symbol).source


def cause(namespace: dict[str, Any], tmp_path: Path, **arguments: Any) -> set[str]:
    file = str(next(tmp_path.glob("cut_*.py")))
    try:
        namespace["Net"](**arguments)
    except Exception as error:  # whichever it is, it is what the test is about
        return blamed(error, ast.parse(GRAPH), file)
    return set()


def test_a_wrong_value_is_followed_out_to_the_constructor(tmp_path: Path) -> None:
    namespace = load(GRAPH, tmp_path)

    class Settings:
        hidden = "64"

    right = {"width": 64, "hidden": 64, "settings": Settings, "graphs": [torch.ones(64, 64)] * 3, "K": 3}
    assert cause(namespace, tmp_path, **{**right, "graphs": 64}) == {"graphs"}
    assert cause(namespace, tmp_path, **{**right, "graphs": [64]}) == {"graphs"}
    assert cause(namespace, tmp_path, **right) == {"settings.hidden"}


def test_a_list_of_matrices_is_given_where_tensors_are_taken_out_of_a_list(tmp_path: Path) -> None:
    namespace = load(GRAPH, tmp_path)
    solution = solve(namespace["Net"], namespace, GRAPH)
    assert isinstance(solution, Solution), solution
    assert solution.arguments["graphs"].startswith("[torch.rand(64, 64)")


def test_an_absolute_import_goes_past_a_module_that_lacks_the_name() -> None:
    texts = {
        "utils.py": "def double(x):\n    return x * 2\n",
        "models/utils/__init__.py": "def triple(x):\n    return x * 3\n",
        "models/net.py": HEAD + "from utils import double, triple\n\n\nclass Net(nn.Module):\n"
        "    def forward(self, x):\n        return double(triple(x))\n",
    }
    namespace: dict[str, Any] = {}
    exec(compile(text_of(texts, "models/net.py", "Net"), "cut", "exec"), namespace)
    assert torch.equal(namespace["Net"]()(torch.ones(2)), torch.full((2,), 6.0))


def test_a_statement_that_only_touches_the_system_is_left_out() -> None:
    text = HEAD + (
        "import os\nimport numpy as np\nfrom pathlib import Path\n\n\n"
        "def set_up():\n    os.makedirs('logs', exist_ok=True)\n\n\n"
        "class Net(nn.Module):\n    path = Path(__file__).parent / 'weights'\n\n"
        "    def __init__(self):\n        super().__init__()\n        set_up()\n"
        "        self.scale = np.array([1.0], dtype=np.float)\n\n"
        "    def forward(self, x):\n        return x * float(self.scale[0]) + np.infty * 0.0\n"
    )
    source = text_of({"net.py": text}, "net.py", "Net")
    namespace: dict[str, Any] = {}
    exec(compile(source, "cut", "exec"), namespace)  # where no __file__ is known
    assert namespace["Net"]().scale.dtype == "float64"
    assert "set_up" not in source
    assert "np.inf *" in source


@pytest.mark.parametrize("dropout", ["F.dropout(layer(x), p=0.5, training=True)", "F.dropout(layer(x))"])
def test_dropout_in_a_loop_that_is_always_on_is_left_out(dropout: str, tmp_path: Path) -> None:
    source = HEAD + (
        "class Prenet(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.layers = nn.ModuleList([nn.Linear(6, 6) for _ in range(3)])\n\n"
        f"    def forward(self, x):\n        for layer in self.layers:\n            x = {dropout}\n        return x\n"
    )
    cut = {"source": source, "name": "Prenet", "header": []}
    solution = Solution({}, (Tensor((4, 6)),))
    changed, own, same = given(cut, load(source, tmp_path), solution, lambda text: load(text, tmp_path))
    assert changed["header"] == [LEFT_OUT]
    assert same == solution
    net, x = own["Prenet"]().eval(), torch.randn(4, 6)
    assert torch.equal(net(x), net(x))


def test_loops_that_draw_noise_stay(tmp_path: Path) -> None:
    source = HEAD + (
        "class Noisy(nn.Module):\n    def forward(self, x):\n        for _ in range(2):\n"
        "            x = F.dropout(x + torch.randn_like(x))\n        return x\n"
    )
    cut = {"source": source, "name": "Noisy", "header": []}
    changed, _, _ = given(cut, load(source, tmp_path), Solution({}, (Tensor((4, 6)),)), lambda t: load(t, tmp_path))
    assert changed is cut


def test_few_indices_are_seen_to_matter() -> None:
    source = HEAD + (
        "class Chosen(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.heads = nn.ModuleList([nn.Linear(6, 6) for _ in range(2)])\n\n"
        "    def forward(self, x, y):\n        every = torch.stack([head(x) for head in self.heads], 1)\n"
        "        return every[torch.arange(y.size(0)), y]\n\n\n"
        "def get_inputs():\n    return [torch.randn(1, 6), torch.zeros(1, dtype=torch.long)]\n\n\n"
        "def get_init_inputs():\n    return []\n"
    )
    assert [i["dtype"] for i in check(source, "Chosen", 100, {})["inputs"]] == ["float32", "int64"]


ATTENTION = (
    HEAD.replace("import torch.nn.functional as F\n", "from torch.nn import Parameter as P\n")
    + """class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.value = nn.Linear(6, 6)
        self.gamma = P(torch.tensor(0.), requires_grad=True)
        self.beta = P(torch.Tensor([0.0]))
        self.one = P(torch.tensor([1.0]))

    def forward(self, x):
        return x + self.gamma * self.value(x) + self.beta * self.one
"""
)


def test_a_gate_of_one_zero_is_drawn(tmp_path: Path) -> None:
    net = load(drawn(ATTENTION), tmp_path)["Attention"]()
    assert net.gamma.shape == ()
    assert net.beta.shape == (1,)
    assert net.gamma != 0
    assert net.beta != 0
    assert net.one == 1


LATENT = (
    HEAD
    + """class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([nn.Conv2d(1024, 64, 3, padding=1)])
        self.table = nn.Embedding(10, 32)
        self.linear = nn.Linear(32, 1024 * 16)

    def forward(self, z, y=None):
        h = self.linear(z * self.table(y)) if y is not None else self.linear(z)
        return self.blocks[0](h.view(h.size(0), 1024, 4, 4))


class Critic(Generator):
    def forward(self, z, y=None):
        return self.linear(z) + self.linear(self.table(y))


class Wrapped(nn.Module):
    def __init__(self):
        super().__init__()
        self.network = Generator()

    def forward(self, code, scale):
        return self.network(code) * scale
"""
)


def test_a_latent_is_what_the_layer_takes_that_it_goes_to(tmp_path: Path) -> None:
    namespace = load(LATENT, tmp_path)
    assert guesses(namespace["Generator"]())[0][0] == Tensor((4, 32))
    assert guesses(namespace["Wrapped"]())[0][0] == Tensor((4, 32))


def test_an_optional_index_is_given_where_an_embedding_lacks_it(tmp_path: Path) -> None:
    namespace = load(LATENT, tmp_path)
    solution = solve(namespace["Critic"], namespace, LATENT)
    assert isinstance(solution, Solution), solution
    assert solution.specs[1] == Tensor((4,), "int", 10)


def test_records_are_not_given_more_of_what_has_no_name() -> None:
    failure = Failure(
        (Many((Tensor((4, 6)),), "record", ("x",)),), "IndexError: list index out of range", nn.Identity()
    )
    assert all(len(s.items) == len(s.keys) for _, (s, *_) in repairs(failure) if isinstance(s, Many))


def test_what_only_tensors_have_asks_for_tensors() -> None:
    assert wanted("AttributeError: 'int' object has no attribute 'sum'", "")[0] == "torch.ones(64, 64)"
    assert wanted("AttributeError: 'int' object has no attribute 'keys'", "")[0] == "{'a': 64}"


def test_what_checks_that_weights_were_loaded_goes_with_them() -> None:
    text = HEAD + (
        "class Net(nn.Module):\n    def __init__(self, path):\n        super().__init__()\n"
        "        self.layer = nn.Linear(4, 4)\n        found = torch.load(path)\n"
        "        missing, more = self.load_state_dict(found)\n        assert len(missing) == 0 and len(more) == 0\n"
        "        del found\n\n    def forward(self, x):\n        return self.layer(x)\n"
    )
    source = text_of({"net.py": text}, "net.py", "Net")
    assert "missing" not in source
    assert "found" not in source


SPECTRUM = HEAD.replace("import torch\n", "import torch\nimport torch as th\n", 1) + (
    "class Spectrum(nn.Module):\n    def forward(self, x):\n"
    "        assert x.min() >= 0.0\n"
    "        x = F.pad(x.unsqueeze(1), (400, 400), mode='reflect').squeeze(1)\n"
    "        parts = th.stft(x, 64,\n            window=torch.hann_window(64),)\n"
    "        return parts[..., 0] ** 2 + parts[..., 1] ** 2, torch.stft(x, 64, return_complex=True).abs()\n"
)


def test_spectra_of_older_programs_are_pairs_and_waves_are_long_enough(tmp_path: Path) -> None:
    source = text_of({"a.py": SPECTRUM}, "a.py", "Spectrum")
    assert source.count("view_as_real") == 1
    namespace = load(source, tmp_path)
    solution = solve(namespace["Spectrum"], namespace, source)
    assert isinstance(solution, Solution), solution
    wave = solution.specs[0]
    assert isinstance(wave, Tensor)
    assert wave.shape[-1] > 400
    assert wave.kind == "unit"


@pytest.mark.parametrize(
    ("shape", "wanted"), [((4, 64, 32, 32), (32, 32)), ((3, 64, 64), (32, 32)), ((16, 16), (32, 16))]
)
def test_an_equation_tells_what_its_operands_are(shape: tuple[int, ...], wanted: tuple[int, ...]) -> None:
    x, graph = Tensor((4, 64, 32, 32)), Tensor(shape)
    operands = tuple(torch.empty(t.shape) for t in (x, graph))
    message = "RuntimeError: einsum(): the number of subscripts in the equation (2) does not match"
    failure = Failure((x, Many((graph, graph))), message, nn.Identity(), "einsum", ("ncvl,vw->ncwl", *operands))
    _, (first, lists) = repairs(failure)[0]
    assert first == x
    assert isinstance(lists, Many)
    assert [t.shape for t in lists.items if isinstance(t, Tensor)] == [wanted] * 2


def test_messages_are_passed_as_older_versions_say() -> None:
    text = HEAD + (
        "from torch_geometric.nn import MessagePassing\n\n\nclass Conv(MessagePassing):\n"
        "    def forward(self, x, edge_index):\n        return self.propagate(self.aggr, edge_index, x=x)\n\n"
        "    def message(self, x_j):\n        return 2 * x_j\n"
    )
    namespace: dict[str, Any] = {}
    exec(compile(text_of({"a.py": text}, "a.py", "Conv"), "cut", "exec"), namespace)
    x, edges = torch.tensor([[1.0], [2.0], [3.0]]), torch.tensor([[0, 1, 2], [2, 2, 0]])
    assert namespace["Conv"]()(x, edges).tolist() == [[6.0], [0.0], [6.0]]


def test_what_is_called_in_a_list_is_a_list_of_layers(tmp_path: Path) -> None:
    text = HEAD + (
        "class Several(nn.Module):\n    def __init__(self, widths, parts):\n        super().__init__()\n"
        "        self.parts = [parts[i](widths) for i in range(2)]\n        self.layer = nn.Linear(widths, 8)\n\n"
        "    def forward(self, x):\n        return self.layer(self.parts[1](self.parts[0](x)))\n"
    )
    namespace = load(text, tmp_path)
    solution = solve(namespace["Several"], namespace, text)
    assert isinstance(solution, Solution), solution
    assert solution.arguments["parts"].startswith("[nn.")


def test_weights_of_either_branch_are_left_out_with_what_copies_them() -> None:
    text = HEAD + (
        "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.layer = nn.Linear(4, 4)\n        self.load()\n\n    def load(self):\n"
        "        own = self.state_dict()\n        if torch.cuda.is_available():\n            found = torch.load('a.pt')\n"
        "        else:\n            found = torch.load('a.pt', map_location='cpu')\n"
        "        for name, value in found.items():\n            own[name].copy_(value)\n\n"
        "    def forward(self, x):\n        return self.layer(x)\n"
    )
    namespace: dict[str, Any] = {}
    exec(compile(text_of({"net.py": text}, "net.py", "Net"), "cut", "exec"), namespace)
    assert namespace["Net"]()(torch.ones(2, 4)).shape == (2, 4)


def test_a_class_is_cut_without_values_that_its_calls_name(tmp_path: Path) -> None:
    text = HEAD + (
        "import absent\n\n\ndef words():\n    return absent.errors.NotFound\n\n\nsettings = words()\n\n\n"
        "class Net(nn.Module):\n    def __init__(self, config):\n        super().__init__()\n"
        "        self.layer = nn.Linear(config.width, 4)\n\n    def forward(self, x):\n        return self.layer(x)\n\n\n"
        "net = Net(settings)\n"
    )
    payload = {
        "files": {"net.py": text},
        "replacements": replacements(),
        "cut_points": {},
        "part": 0,
        "parts": 1,
        "seed": 0,
        "enough": 9,
    }
    (made,) = cut_package(payload, tmp_path)["cuts"]
    assert "words()" in made["source"]
    assert ["words()" in other["source"] for other in made["told"]["others"]] == [False]


def test_a_scale_of_nothing_in_a_call_is_one_that_counts() -> None:
    text = "class A(nn.Module):\n    def __init__(self):\n        self.last = NIN(4, 4, init_scale=0.)\n"
    assert "init_scale=0.1" in drawn(text)
    assert drawn(text.replace("init_scale=0.", "init_scale=2.0")) == text.replace("init_scale=0.", "init_scale=2.0")


SHAPED = HEAD + (
    "class Net(nn.Module):\n    def __init__(self, scheme, agents):\n        super().__init__()\n"
    "        width = scheme['state']['vshape']\n        width += scheme['obs']['vshape'] * 2\n        width += agents\n"
    "        self.layer = nn.Linear(width, 8)\n\n    def forward(self, x):\n        return self.layer(x)\n"
)


def test_what_is_added_up_is_found(tmp_path: Path) -> None:
    namespace = load(SHAPED, tmp_path)
    file = str(next(tmp_path.glob("cut_*.py")))
    with pytest.raises(TypeError) as raised:
        namespace["Net"]({"state": {"vshape": (64,)}, "obs": {"vshape": (64,)}}, 4)
    assert blamed(raised.value, ast.parse(SHAPED), file) == {"scheme.state.vshape", "agents"}
    solution = solve(namespace["Net"], namespace, SHAPED)
    assert isinstance(solution, Solution), solution


def test_what_is_taken_out_of_keyword_arguments_is_given(tmp_path: Path) -> None:
    text = HEAD + (
        "class Net(nn.Module):\n    def __init__(self, width, **kwargs):\n        super().__init__()\n"
        "        self.masked, self.rate = kwargs['masked'], kwargs.pop('rate')\n"
        "        self.layer = nn.Linear(width, 8)\n\n"
        "    def forward(self, x):\n        return self.layer(x) * (2 if self.masked else self.rate)\n"
    )
    namespace = load(text, tmp_path)
    solution = solve(namespace["Net"], namespace, text)
    assert isinstance(solution, Solution), solution
    assert {"masked", "rate"} <= set(solution.arguments)
