"""What a module draws while it runs becomes an input of its forward."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from sources.infer.inputs import Tensor, draw
from sources.infer.rewritten.given import LEFT_OUT, NOTE, given
from sources.infer.search import Solution
from sources.probe import load

HEAD = (
    "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\nfrom torch.distributions import Normal\n\n\n"
)
VAE = """class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean = nn.Linear(6, 3)
        self.spread = nn.Linear(6, 3)

    def reparameterize(self, mean, log_var, scale=(1.0)):
        std = torch.exp(0.5 * log_var)
        eps = torch.randn_like(std)
        return eps * std * scale + mean

    def encode(self, x, *, twice=False):
        return self.reparameterize(self.mean(x),
                                   self.spread(x),)

    def forward(self, x, labels=None, **others):
        return self.encode(x) + self.reparameterize(self.mean(x), self.spread(x)), F.dropout(x, 0.5)
"""
PARTS = """class Noise(nn.Module):
    def forward(self, x):
        return x + torch.empty_like(x).uniform_() + torch.normal(x, 2.0 * x.abs()) * torch.bernoulli(x.sigmoid())


def spread(mean, deviation):
    return Normal(mean, deviation).rsample()


class Whole(nn.Module):
    def __init__(self):
        super().__init__()
        self.noise = Noise()

    def forward(self, x):
        return self.noise(x) + spread(x, x.exp())
"""


def made(text: str, name: str, tmp_path: Path, shape: tuple[int, ...] = (4, 6)) -> tuple[dict[str, Any], Any, Solution]:
    source = HEAD + text
    cut = {"source": source, "name": name, "header": ["from somewhere"]}
    solution = Solution({}, (Tensor(shape),))
    return given(cut, load(source, tmp_path), solution, lambda source: load(source, tmp_path))


def runs(namespace: dict[str, Any], name: str, solution: Solution) -> torch.Tensor:
    torch.manual_seed(0)
    module = namespace[name]().eval()
    inputs = [torch.ones(spec.shape) * (i + 1) / 8 for i, spec in enumerate(solution.specs)]  # type: ignore[union-attr]
    out = module(*inputs)
    assert torch.equal(*(t[0] if isinstance(t, tuple) else t for t in (out, module(*inputs))))
    result: torch.Tensor = out[0] if isinstance(out, tuple) else out
    return result


def test_noise_is_handed_down_through_methods_to_where_it_was_drawn(tmp_path: Path) -> None:
    cut, namespace, solution = made(VAE, "VAE", tmp_path)
    assert solution.specs == (Tensor((4, 6)), Tensor((4, 3)), Tensor((4, 3)))
    assert "def forward(self, x, noise, noise_2, labels=None, **others):" in cut["source"]
    assert "def encode(self, x, *, twice=False, noise):" in cut["source"]
    assert "def reparameterize(self, mean, log_var, scale=(1.0), noise=None):" in cut["source"]
    assert "eps = noise" in cut["source"]
    assert "(x)\n" in cut["source"]  # dropout is off
    assert cut["header"] == ["from somewhere", NOTE]
    out = runs(namespace, "VAE", solution)
    torch.manual_seed(0)
    module = namespace["VAE"]().eval()
    x = torch.full((4, 6), 1 / 8)
    mean, std = module.mean(x), torch.exp(0.5 * module.spread(x))
    assert torch.allclose(out, 2 * mean + std * (2 / 8 + 3 / 8), atol=1e-6)


def test_dropout_that_a_forward_makes_for_itself_is_left_out(tmp_path: Path) -> None:
    text = (
        "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.line, self.share = nn.Linear(6, 6), 0.5\n\n"
        "    def forward(self, x):\n        return nn.Dropout(p=self.share)(self.line(x)).relu()\n"
    )
    cut, namespace, solution = made(text, "Net", tmp_path)
    assert cut["header"][1:] == [LEFT_OUT] and "return (self.line(x)).relu()" in cut["source"]
    runs(namespace, "Net", solution)


def test_noise_goes_through_modules_and_functions_and_keeps_its_distribution(tmp_path: Path) -> None:
    cut, namespace, solution = made(PARTS, "Whole", tmp_path)
    kinds = [spec.kind for spec in solution.specs]  # type: ignore[union-attr]
    assert kinds == ["float", "unit", "float", "unit", "float"]
    assert "self.noise(x, noise=noise, noise_2=noise_2, noise_3=noise_3)" in cut["source"]
    assert "return (mean + (deviation) * noise)" in cut["source"]
    x = torch.full((4, 6), 1 / 8)
    expected = x + 2 / 8 + (x + 2 * x * 3 / 8) * (x.sigmoid() > 0.5) + x + x.exp() * 5 / 8
    assert torch.allclose(runs(namespace, "Whole", solution), expected, atol=1e-6)


def test_gumbels_are_made_of_what_is_given(tmp_path: Path) -> None:
    text = (
        "class Choice(nn.Module):\n    def forward(self, x, hard=True):\n"
        "        return F.gumbel_softmax(x, 0.5, hard=hard, dim=1) * 2\n"
    )
    cut, namespace, solution = made(text, "Choice", tmp_path)
    assert solution.specs == (Tensor((4, 6)), Tensor((4, 6), "unit"))
    assert "def forward(self, x, noise, hard=True):" in cut["source"]
    assert "softmax_of_gumbels(x, 0.5, hard=hard, dim=1, uniform=noise) * 2" in cut["source"]
    x, uniform = torch.zeros(4, 6), torch.rand(4, 6)
    assert torch.equal(namespace["Choice"]()(x, uniform).argmax(1), uniform.argmax(1))


@pytest.mark.parametrize("forward", [
    "return sum(x + torch.randn_like(x) for _ in range(2))",  # in a generator
    "for i in range(2):\n            x = x + torch.randn(*(4, 6)[i:])\n        return x",  # of two ranks
    "for _ in range(99):\n            x = x + torch.randn_like(x)\n        return x",  # without end
    "return x + torch.poisson(x.abs())",
    "return x if torch.rand(1) < 0.5 else 2 * x",  # a single number decides
    "return x * 2",
])  # fmt: skip
def test_what_cannot_be_given_stays(forward: str, tmp_path: Path) -> None:
    text = f"class Net(nn.Module):\n    def forward(self, x):\n        {forward}\n"
    cut, _, solution = made(text, "Net", tmp_path)
    assert cut["source"] == HEAD + text
    assert solution.specs == (Tensor((4, 6)),)


@pytest.mark.parametrize(("forward", "spec", "said"), [
    ("return x[:, torch.randint(6, (1,))]", Tensor((1,), "int", 6), "return x[:, noise]"),  # of a batch of one
    ("for i in range(1, 3):\n            x = x + torch.randint(i, 2 * i + 2, (4, i))[:, :1]\n        return x",
     Tensor((2, 4, 2), "int", 4), "(i + next(noise)[tuple(map(slice, (4, i)))] % (2 * i + 2 - i))"),
    ("for i in range(1, 3):\n            x = x[torch.randint(0, len(x) - i, (4,))]\n        return x",
     Tensor((2, 4), "int", 3), "x[(next(noise)[tuple(map(slice, (4,)))] % (len(x) - i))]"),
    ("for i in range(1, 3):\n            size = (4,)\n            x = x[torch.randint(len(x) - i, size)]\n        return x",
     Tensor((2, 4), "int", 3), "x[(next(noise)[tuple(map(slice, size))] % (len(x) - i))]"),
    ("for i in range(1, 3):\n            x = x + torch.randint(-i, 0, (4, 1))\n        return x",
     Tensor((2, 4, 1), "int", 2), "(-i + next(noise)[tuple(map(slice, (4, 1)))] % (0 - -i))"),
    ("for i in range(1, 3):\n            x = x[torch.randint(i, high=4, size=(4,))]\n        return x",
     Tensor((2, 4), "int", 3), "x[(i + next(noise)[tuple(map(slice, (4,)))] % (4 - i))]"),
])  # fmt: skip
def test_integers_are_drawn_between_their_bounds(forward: str, spec: Tensor, said: str, tmp_path: Path) -> None:
    text = f"class Net(nn.Module):\n    def forward(self, x):\n        {forward}\n"
    cut, namespace, solution = made(text, "Net", tmp_path)
    assert solution.specs == (Tensor((4, 6)), spec)
    assert said in cut["source"]
    assert len(namespace["Net"]()(*map(draw, solution.specs))) == 4


SIZES = """class Noise(nn.Module):
    def forward(self, x):
        n, c, h, w = x.shape
        index = torch.randint(h, (w, h))
        return x.new_empty(n, 1, h, w).normal_() + torch.randn(n, 1, h, w) + torch.rand_like(x[:, :, index].mean(2))


class Plain(nn.Module):
    def forward(self, x):
        return x


class Layer(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x):
        return self.inner(x)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([Layer(Noise()), Layer(Noise()), Layer(Noise())])
        self.last = Layer(Plain())

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)[..., ::2, ::2]
        return self.last(x)
"""


def test_noise_of_several_sizes_is_part_of_the_largest(tmp_path: Path) -> None:
    cut, namespace, solution = made(SIZES, "Net", tmp_path, (2, 3, 8, 8))
    large = (3, 2, 1, 8, 8)
    assert solution.specs[1:] == (
        Tensor((3, 8, 8), "int", 8), Tensor(large), Tensor(large), Tensor((3, 2, 3, 8, 8), "unit")
    )  # fmt: skip
    assert "index = (next(noise)[tuple(map(slice, (w, h)))] % h)" in cut["source"]
    assert namespace["Net"]()(*map(draw, solution.specs)).shape == (2, 3, 1, 1)


LOOPS = """class Layer(nn.Module):
    def forward(self, x):
        return x + torch.randn_like(x)


class Deep(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([Layer(), Layer()])

    def forward(self, x):
        \"\"\"Each layer draws.\"\"\"
        for layer in self.layers:
            x = layer(x)
        return x + torch.stack([torch.rand_like(x) for _ in range(3)]).sum(0)
"""


def test_what_a_loop_draws_is_given_row_by_row(tmp_path: Path) -> None:
    cut, namespace, solution = made(LOOPS, "Deep", tmp_path)
    assert solution.specs == (Tensor((4, 6)), Tensor((2, 4, 6)), Tensor((3, 4, 6), "unit"))
    assert "x = layer(x, noise=noise)" in cut["source"]
    x, rows, more = torch.ones(4, 6), torch.randn(2, 4, 6), torch.rand(3, 4, 6)
    torch.testing.assert_close(namespace["Deep"]()(x, rows, more), x + rows.sum(0) + more.sum(0))


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ("e = torch.zeros_like(x)\n        e.normal_()\n        return x + e", lambda x, noise: x + noise),
        ("return x.bernoulli(0.25)", lambda x, noise: (noise < 0.25).float()),
        ("return x + torch.bernoulli(x, p=0.25)", lambda x, noise: x + (noise < 0.25).float()),
    ],
)
def test_what_is_drawn_in_place_or_by_another_probability_is_what_it_was(
    body: str, wanted: Any, tmp_path: Path
) -> None:
    text = f"class Noisy(nn.Module):\n    def forward(self, x):\n        {body}\n"
    _, namespace, solution = made(text, "Noisy", tmp_path)
    x, noise = torch.full((4, 6), 1 / 8), torch.full((4, 6), 2 / 8)
    assert len(solution.specs) == 2
    assert torch.equal(runs(namespace, "Noisy", solution), wanted(x, noise))


@pytest.mark.parametrize("drawn", ["Laplace", "LogNormal"])
def test_other_distributions_with_a_loc_and_a_scale_are_left_alone(drawn: str, tmp_path: Path) -> None:
    body = f"d = torch.distributions.{drawn}(x, x.exp())\n        return d.rsample()"
    cut, _, solution = made(f"class Noisy(nn.Module):\n    def forward(self, x):\n        {body}\n", "Noisy", tmp_path)
    assert len(solution.specs) == 1 and "noise" not in cut["source"]


INTEGERS = [
    ("return x[:, torch.randint(6, (3,))]", Tensor((3,), "int", 6), lambda x, drawn: x[:, drawn]),
    ("return x[:, torch.randint(2, high=6, size=(3,))]", Tensor((3,), "int", 4), lambda x, drawn: x[:, 2 + drawn]),
    (
        "return x + torch.randint(1, 6, (4, 1), dtype=x.dtype).mul_(0.5)",
        Tensor((4, 1), "int", 5),
        lambda x, drawn: x + (1 + drawn) * 0.5,
    ),
    ("return x[torch.randperm(x.shape[0])]", Tensor((4,), "unit"), lambda x, drawn: x[drawn.argsort()]),
    (
        "w = x.softmax(-1)\n        return x.gather(1, torch.multinomial(w, 2))",
        Tensor((4, 6), "unit"),
        lambda x, drawn: x.gather(1, (x.softmax(-1) / -drawn.log()).topk(2).indices),
    ),
    (
        "choice = torch.distributions.Categorical(logits=x)\n        return x + choice.sample()[:, None]",
        Tensor((4, 6), "unit"),
        lambda x, drawn: x + (x.softmax(-1) / -drawn.log()).argmax(-1)[:, None],
    ),
]


@pytest.mark.parametrize(("body", "wanted", "meant"), INTEGERS)
def test_integers_that_are_drawn_are_given_or_made_of_uniform_numbers(
    body: str, wanted: Tensor, meant: Any, tmp_path: Path
) -> None:
    text = f"class Drawing(nn.Module):\n    def forward(self, x):\n        {body}\n"
    _, namespace, solution = made(text, "Drawing", tmp_path)
    assert solution.specs[1:] == (wanted,)
    x, given_ = torch.randn(4, 6), draw(wanted)
    torch.testing.assert_close(namespace["Drawing"]()(x, given_), meant(x, given_))


def test_numbers_chosen_by_what_is_given_are_spread_as_those_that_were_drawn(tmp_path: Path) -> None:
    text = "class Drawing(nn.Module):\n    def forward(self, x):\n        return torch.multinomial(x.abs(), 1)\n"
    _, namespace, _ = made(text, "Drawing", tmp_path, (4, 3))
    shares, torch_seed = torch.tensor([0.1, 0.3, 0.6]), torch.manual_seed(0)
    chosen = namespace["Drawing"]()(shares.expand(20_000, 3), torch.rand(20_000, 3, generator=torch_seed))
    torch.testing.assert_close(chosen.flatten().bincount() / 20_000, shares, atol=0.02, rtol=0)


def test_what_draws_elsewhere_while_it_trains_stays_as_it_is(tmp_path: Path) -> None:
    text = (
        "class Codes(nn.Module):\n    def pick(self, x):\n        return x[torch.randperm(x.shape[0])]\n\n"
        "    def forward(self, x):\n        y = self.pick(x)\n"
        "        return torch.stack([self.pick(y) for _ in range(2)]) if self.training else y\n"
    )
    cut, _, solution = made(text, "Codes", tmp_path)
    assert cut["source"] == HEAD + text
    assert len(solution.specs) == 1


DIFFUSION = """def default(value, make):
    return value if value is not None else make()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.line, self.steps = nn.Linear(6, 6), 10

    def times(self, count):
        return torch.randint(0, self.steps, (count,))

    def losses(self, x, t, noise=None):
        noise = default(noise, lambda: torch.randn_like(x))
        return (self.line(x) - noise) * t[:, None]

    def forward(self, x, *args, times=None, **kwargs):
        times = default(times, lambda: self.times(len(x)))
        return self.losses(x, times, *args, **kwargs)
"""


def test_what_a_lambda_draws_is_handed_to_the_function_around_it(tmp_path: Path) -> None:
    cut, _, solution = made(DIFFUSION, "Net", tmp_path)
    assert solution.specs == (Tensor((4, 6)), Tensor((4,), "int", 10), Tensor((4, 6))) or solution.specs == (
        Tensor((4, 6)), Tensor((4, 6)), Tensor((4,), "int", 10))  # fmt: skip
    assert "def losses(self, x, t, noise=None, noise_2=None):" in cut["source"].replace("noise_3", "noise_2")
    assert "def times(self, count, noise" in cut["source"]
    assert cut["header"] == ["from somewhere", NOTE]


def test_inputs_that_go_by_no_name_get_one_beside_what_is_drawn(tmp_path: Path) -> None:
    source = HEAD + DIFFUSION
    solution = Solution({}, (Tensor((4, 6)), Tensor((4, 6))))
    cut, namespace, changed = given(
        {"source": source, "name": "Net"}, load(source, tmp_path), solution, lambda text: load(text, tmp_path)
    )
    assert changed.specs == (Tensor((4, 6)), Tensor((4, 6)), Tensor((4,), "int", 10))
    assert "def forward(self, x, args_1, noise" in cut["source"]
    torch.manual_seed(0)
    net, x, t = namespace["Net"](), torch.ones(4, 6), torch.arange(4)
    assert torch.allclose(net(x, 2 * x, t), (net.line(x) - 2 * x) * t[:, None])
