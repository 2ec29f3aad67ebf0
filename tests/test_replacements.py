"""What stands in for packages that are absent: layers, filters, what the standard library has lost."""

from __future__ import annotations

import ast
import dataclasses
import functools
import inspect
import itertools
import math
from typing import Any

import numpy as np
import pytest
import torch

from sources import mine
from sources.text.roots import Roots
from sources.text.symbols import Package
from sources.text.targets import Here
from tests.cuts import HEAD, cut
from tests.wheels import wheel


def test_own_replacements_serve_modules_of_the_standard_library_and_what_they_import_themselves() -> None:
    package = Package({"n.py": "from distutils.version import LooseVersion\nimport torch_geometric as tg\n"
                               "import librosa\nedge = tg.nn.EdgeConv\nbank = librosa.filters.mel\n"}, mine.replacements())  # fmt: skip
    assert package.lookup("n.py", "LooseVersion") == Here("distutils/version.py", "LooseVersion")
    trees = [ast.parse(x, mode="eval").body for x in ("tg.nn.EdgeConv", "librosa.filters.mel")]
    assert [package.chain("n.py", t)[0] for t in trees if isinstance(t, ast.Attribute)] == [
        Here("torch_geometric.py", "EdgeConv"), Here("librosa.py", "mel")]  # fmt: skip


def test_layers_of_a_package_stand_on_our_base_of_them() -> None:
    layer = (
        "from torch_geometric.nn.conv.message_passing import MessagePassing\n\n\nclass Odd(MessagePassing):\n    pass\n"
    )
    files = {"torch_geometric/__init__.py": b"", "torch_geometric/nn/__init__.py": b"from .conv import *\n",
             "torch_geometric/nn/conv/__init__.py": b"from .odd_conv import Odd\n",
             "torch_geometric/nn/conv/odd_conv.py": layer.encode(),
             "torch_geometric/nn/conv/message_passing.py": b"class MessagePassing:\n    pass\n"}  # fmt: skip
    roots = Roots([("torch_geometric-2.0-py3-none-any.whl", wheel(files), "torch_geometric")])
    package = Package({"n.py": "from torch_geometric.nn import Odd\n"}, mine.replacements(), roots=roots)
    found = package.lookup("n.py", "Odd")
    assert isinstance(found, Here)
    ours = Here("torch_geometric/nn/conv/message_passing.py", "MessagePassing")
    assert package.lookup(found.file, "MessagePassing") == ours


def test_modules_that_our_text_does_not_say_are_the_packages_own() -> None:
    files = {"torch_geometric/__init__.py": b"", "torch_geometric/graphgym/__init__.py": b"",
             "torch_geometric/graphgym/register.py": b"config_dict = {}\n",
             "torch_geometric/nn/__init__.py": b"from .odd import Odd\n",
             "torch_geometric/nn/odd.py": b"class Odd:\n    pass\n"}  # fmt: skip
    roots = Roots([("torch_geometric-2.0-py3-none-any.whl", wheel(files), "torch_geometric")])
    text = "import torch_geometric.graphgym.register as register\nimport torch_geometric.nn as pyg_nn\n"
    package = Package({"n.py": text}, mine.replacements(), roots=roots)
    base = "_roots/torch-geometric==2.0/torch_geometric"
    wanted = {"register.config_dict": Here(f"{base}/graphgym/register.py", "config_dict"),
              "pyg_nn.Odd": Here(f"{base}/nn/odd.py", "Odd"), "pyg_nn.EdgeConv": Here("torch_geometric.py", "EdgeConv")}  # fmt: skip
    for said, target in wanted.items():
        node = ast.parse(said, mode="eval").body
        assert isinstance(node, ast.Attribute)
        assert package.chain("n.py", node)[0] == target


def test_a_function_of_a_package_may_be_called_as_the_module_that_it_is_in() -> None:
    files = {"torch_geometric/__init__.py": b"", "torch_geometric/nn/__init__.py": b"from .odd import odd\n",
             "torch_geometric/nn/odd.py": b"from torch_geometric.resolver import resolver as odd\n",
             "torch_geometric/resolver.py": b"def resolver():\n    pass\n"}  # fmt: skip
    roots = Roots([("torch_geometric-2.0-py3-none-any.whl", wheel(files), "torch_geometric")])
    package = Package({"n.py": "from torch_geometric.nn import odd\n"}, mine.replacements(), roots=roots)
    assert package.lookup("n.py", "odd") == Here("_roots/torch-geometric==2.0/torch_geometric/resolver.py", "resolver")


def test_a_whole_package_is_ours_first_and_its_own_where_ours_says_nothing() -> None:
    files = {"pytorch_lightning/__init__.py": b"from .core import LightningModule, odd\n",
             "pytorch_lightning/core.py": b"class LightningModule:\n    pass\n\n\ndef odd():\n    pass\n"}  # fmt: skip
    roots = Roots([("pytorch_lightning-2.0-py3-none-any.whl", wheel(files), "pytorch_lightning")])
    text = "import pytorch_lightning as pl\nimport lightning.pytorch as plain\nimport lightning as whole\n"
    package = Package({"n.py": text}, mine.replacements(), roots=roots)
    own = Here("_roots/pytorch-lightning==2.0/pytorch_lightning/core.py", "odd")
    base, seeds = (Here("pytorch_lightning.py", n) for n in ("LightningModule", "seed_everything"))
    said = {"pl.LightningModule": base, "pl.seed_everything": seeds, "pl.odd": own, "plain.LightningModule": base,
            "whole.LightningModule": base, "whole.pytorch.LightningModule": base}  # fmt: skip
    for name, target in said.items():
        node = ast.parse(name, mode="eval").body
        assert isinstance(node, ast.Attribute)
        assert package.chain("n.py", node)[0] == target


def test_a_lightning_module_seeds_freezes_and_has_settings_before_it_saves_any() -> None:
    space: dict[str, Any] = {}
    exec(mine.replacements()["pytorch_lightning"], space)
    base: Any = space["LightningModule"]

    class Net(base):  # type: ignore[misc]
        def __init__(self, seed: int) -> None:
            super().__init__()
            assert space["seed_everything"](seed, workers=True) == seed
            self.hparams.update(width=3)
            self.line = torch.nn.Linear(self.hparams.width, 2)
            self.freeze()

    one, other = Net(5), Net(5)
    assert torch.equal(one.line.weight, other.line.weight)
    assert not one.training and not one.line.weight.requires_grad and not Net(6).line.weight.equal(one.line.weight)
    one.unfreeze()
    assert one.training and one.line.weight.requires_grad
    mixin: Any = space["HyperparametersMixin"]

    class Part(torch.nn.Module, mixin):  # type: ignore[misc]
        def __init__(self, width: int, norm: Any = None) -> None:
            super().__init__()
            twice = 2 * width  # noqa: F841 - no argument
            self.save_hyperparameters(ignore=["norm"])

    class Deeper(Part):
        def __init__(self, depth: int, **options: Any) -> None:
            super().__init__(4)
            self.save_hyperparameters()

    assert Part(4).hparams == {"width": 4}
    assert Deeper(2, kind="x").hparams == {"width": 4, "depth": 2, "kind": "x"}


def test_settings_in_records_are_containers_at_any_depth_and_always_open() -> None:
    space: dict[str, Any] = {}
    exec(mine.replacements()["omegaconf"], space)

    @dataclasses.dataclass
    class Inner:
        width: int = 3
        sides: list[int] = dataclasses.field(default_factory=lambda: [4, 5])

    @dataclasses.dataclass
    class Outer:
        name: str
        inner: Inner = dataclasses.field(default_factory=Inner)

    conf = space["OmegaConf"]
    for made in (conf.structured(Outer), conf.create({"name": None, "inner": {"width": 3, "sides": [4, 5]}})):
        assert made == {"name": None, "inner": {"width": 3, "sides": [4, 5]}}
        assert made.inner.width == 3 and conf.select(made, "inner.width") == 3
        assert conf.select(made, "inner.none", 7) == 7 and conf.is_missing(made, "name")
        with space["open_dict"](made):
            made.inner.depth = 2
        assert made["inner"]["depth"] == 2
    assert conf.structured(Outer("net", Inner(8))).inner.width == 8
    assert conf.get_type(conf.structured(Outer)) is Outer and conf.get_type(conf.structured(Outer), "inner") is Inner
    assert conf.get_type(Inner()) is Inner and conf.get_type(conf.create({"a": [1]})) is dict
    assert conf.merge({"inner": {"width": 1}}, None, {"name": "x"}).inner.width == 1


def test_our_base_of_layers_takes_the_place_of_a_packages_own_and_no_other_text_does() -> None:
    ours = "torch_geometric/nn/conv/message_passing.py"
    texts = {"torch_geometric/__init__.py": "", ours: "class MessagePassing:\n    pass\n",
             "torch_geometric/nn/conv/odd.py": "from torch_geometric.nn.conv.message_passing import MessagePassing\n",
             "timm/layers/create_act.py": "OWN = 1\n"}  # fmt: skip
    package = Package(texts, mine.replacements())
    assert package.lookup("torch_geometric/nn/conv/odd.py", "MessagePassing") == Here(ours, "MessagePassing")
    assert ours in package.replacements
    assert package.lookup("timm/layers/create_act.py", "OWN") == Here("timm/layers/create_act.py", "OWN")


def test_blocks_of_transformers_take_what_they_took_before() -> None:
    space: dict[str, Any] = {}
    exec(mine.replacements()["timm.layers"], space)
    block = space["Block"](8, 2, qk_scale=0.25, drop=0.5)
    assert (block.attn.scale, block.attn.proj_drop.p, block.mlp.drop2.p) == (0.25, 0.5, 0.5)
    rows = space["Mlp"](8, bias=(False, True), drop=(0.125, 0.0))
    assert (rows.fc1.bias, rows.drop1.p, rows.drop2.p) == (None, 0.125, 0.0)
    assert rows.fc2.bias is not None


def test_messages_of_edges_that_are_updated_and_of_two_kinds_of_nodes() -> None:
    space: dict[str, Any] = {}
    exec(mine.replacements()["torch_geometric.nn.conv.message_passing"], space)

    base: Any = space["MessagePassing"]

    class Conv(base):  # type: ignore[misc]
        def forward(self, x: torch.Tensor, edges: torch.Tensor) -> Any:
            scale = self.edge_updater(edges, weight=edges[0] + 1.0, x=(x, None), size=(3, 2))
            return self.propagate(edges, scale=scale, x=(x, None), size=(3, 2))

        def edge_update(self, x_j: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
            return weight[:, None] * x_j.sign()

        def message(self, x_j: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
            return x_j * scale

    x, edges = torch.tensor([[1.0], [2.0], [-3.0]]), torch.tensor([[0, 1, 2], [1, 1, 0]])
    assert Conv()(x, edges).tolist() == [[9.0], [5.0]]
    assert Conv(["sum", "max"])(x, edges).tolist() == [[9.0, 9.0], [5.0, 4.0]]


@pytest.mark.parametrize("taps", [9, 11])
def test_filters_of_all_kinds_add_up_to_none(taps: int) -> None:
    namespace: dict[str, Any] = {}
    exec(mine.replacements()["scipy.signal"], namespace)
    design = functools.partial(namespace["firwin"], taps, scale=False)
    nothing = [0.0] * (taps // 2) + [1.0] + [0.0] * (taps // 2)
    assert design(0.3) + design(0.3, pass_zero=False) == pytest.approx(nothing)
    assert design([0.2, 0.5], pass_zero="bandpass") + design([0.2, 0.5]) == pytest.approx(nothing)
    assert design(0.3, pass_zero="highpass") == pytest.approx(design(0.3, pass_zero=False))
    assert namespace["firwin"](taps, 0.3).sum() == pytest.approx(1.0)
    with pytest.raises(ValueError, match="Nyquist"):
        namespace["firwin"](8, 0.3, pass_zero=False)


def test_einx_names_axes() -> None:
    einx: dict[str, Any] = {}
    exec(mine.replacements()["einx"], einx)
    a, b, x, mask = torch.randn(3), torch.randn(4), torch.randn(2, 3, 6), torch.rand(2, 3) < 0.5
    assert torch.equal(einx["subtract"]("j, i -> 1 i j", a, b), (a[None, :] - b[:, None])[None])
    assert torch.equal(einx["where"]("b n, b n d, -> b n d", mask, x, 0.0), x * mask[..., None])
    assert torch.equal(einx["multiply"]("b n d, b n", x, mask), x * mask[..., None])
    assert torch.equal(einx["add"]("b n d, s d -> (b s) n d", x, torch.ones(5, 6))[4], x[0] + 1)
    assert torch.equal(einx["add"]("b n [d]", x, torch.ones(6)), x + 1)
    assert torch.equal(einx["less"]("... j, ... i -> ... i j", x, x), x[..., None, :] < x[..., :, None])
    assert torch.allclose(einx["sum"]("... d -> ...", x), x.sum(-1))
    assert torch.allclose(einx["mean"]("b [n] d", x), x.mean(1))
    at = torch.randint(6, (2, 3))
    assert torch.equal(einx["get_at"]("b n [d], b n -> b n", x, at), x.gather(-1, at[..., None])[..., 0])
    at = torch.randint(3, (2, 9))
    assert torch.equal(einx["get_at"]("b [n] d, b i -> b i d", x, at), x.gather(1, at[..., None].expand(2, 9, 6)))


def test_lengths_for_quick_transforms_have_small_factors() -> None:
    namespace: dict[str, Any] = {}
    exec(mine.replacements()["scipy.fftpack"], namespace)
    assert [*map(namespace["next_fast_len"], (1, 7, 11, 17, 97, 127, 241, 1025))] == [1, 8, 12, 18, 100, 128, 243, 1080]


def test_models_of_settings_hold_their_fields_and_tell_what_they_need() -> None:
    namespace: dict[str, Any] = {"__name__": "settings"}
    exec(mine.replacements()["pydantic"], namespace)
    exec(
        "class Inner(BaseModel):\n    width: int = 8\n\n\nclass Net(BaseModel):\n    depth: int\n    inner: Inner\n"
        "    rates: list = Field(default_factory=list)\n    name: str = Field('net', description='what it is called')\n",
        namespace,
    )
    kind = namespace["Net"]
    made = kind(depth=2, inner={"width": 16})
    assert (made.depth, made.inner.width, made.rates, made.name) == (2, 16, [], "net")
    assert made.rates is not kind(depth=1, inner={}).rates
    assert [p.name for p in inspect.signature(kind).parameters.values() if p.default is p.empty] == ["depth", "inner"]
    assert kind.model_validate(made.model_dump()).model_dump() == made.model_dump()
    with pytest.raises(TypeError, match="depth"):
        kind(inner={})


def test_one_process_holds_what_all_hold_together() -> None:
    namespace: dict[str, Any] = {}
    exec(mine.replacements()["torch.distributed"], namespace)
    x, into = torch.randn(3), [torch.zeros(3)]
    before = x.clone()
    namespace["all_reduce"](x, op=namespace["ReduceOp"].SUM).wait()
    namespace["all_gather"](into, x)
    assert torch.equal(x / namespace["get_world_size"](), before)
    assert torch.equal(into[0], before)


def test_a_contraction_is_an_einsum_of_all_operands() -> None:
    namespace: dict[str, Any] = {}
    exec(mine.replacements()["opt_einsum"], namespace)
    a, b, c = torch.randn(2, 3), torch.randn(3, 4), torch.randn(4)
    assert torch.allclose(namespace["contract"]("ij,jk,k->i", a, b, c, optimize="auto"), a @ b @ c)
    assert torch.allclose(namespace["contract_expression"]("ij,jk->ik", (2, 3), (3, 4))(a, b), a @ b)


def test_a_truncated_normal_has_scipys_moments_and_follows_torchs_seed() -> None:
    namespace: dict[str, Any] = {}
    exec(mine.replacements()["scipy.stats"], namespace)
    truncnorm = namespace["truncnorm"]
    assert truncnorm.std(a=-2, b=2, loc=0, scale=1) == pytest.approx(0.87962566103423978)  # as AlphaFold's code says
    assert truncnorm.mean(0, math.inf) == pytest.approx(math.sqrt(2 / math.pi))
    torch.manual_seed(0)
    one = truncnorm.rvs(a=-2, b=2, loc=1, scale=0.5, size=4000)
    torch.manual_seed(0)
    other = truncnorm(-2, 2, loc=1, scale=0.5).rvs(size=(4000,))
    assert (one == other).all()
    assert 0 <= one.min() < 0.2
    assert 1.8 < one.max() <= 2
    assert one.std() == pytest.approx(0.44, abs=0.02)


def test_lengths_of_vectors_are_drawn_with_torchs_generator() -> None:
    namespace: dict[str, Any] = {}
    exec(mine.replacements()["scipy.stats"], namespace)
    torch.manual_seed(0)
    drawn = namespace["chi"].rvs(4, loc=1, scale=0.5, size=(40, 100))
    assert drawn.shape == (40, 100) and drawn.min() > 1
    assert drawn.mean() == pytest.approx(1 + 0.5 * 1.88, abs=0.02)  # sqrt(2) gamma(5 / 2) / gamma(2)


def test_masks_are_inverted_though_a_class_extends_them_in_its_own_way() -> None:
    space: dict[str, Any] = {}
    exec(mine.replacements()["transformers"], space)
    base: Any = space["PreTrainedModel"]

    class Model(base):  # type: ignore[misc]
        def get_extended_attention_mask(self, mask: Any, shape: Any, device: Any, is_decoder: bool) -> None:
            raise AssertionError

    mask = Model(space["PretrainedConfig"]()).invert_attention_mask(torch.tensor([[1.0, 0.0]]))
    assert mask.shape == (1, 1, 1, 2)
    assert mask[0, 0, 0].tolist() == [0.0, torch.finfo(torch.float32).min]


def test_a_configuration_of_fields_takes_what_it_is_given_and_finishes_by_it() -> None:
    space: dict[str, Any] = {}
    exec(mine.replacements()["huggingface_hub.dataclasses"], space)
    exec(mine.replacements()["transformers"], space)
    base, field = space["PretrainedConfig"], space["as_validated_field"](lambda value: None)

    class Config(base):  # type: ignore[misc]
        width: int = 4096
        heads: int = field(default=32)
        head_dim: int | None = None

        def __post_init__(self, **kwargs: Any) -> None:
            self.head_dim = self.width // self.heads if self.head_dim is None else self.head_dim
            super().__post_init__(**kwargs)

    config = Config(width=64, heads=4)
    assert (config.width, config.heads, config.head_dim, config.use_cache) == (64, 4, 16, False)
    assert Config().heads == 32 and Config(head_dim=8).head_dim == 8


def test_special_functions_have_the_values_that_are_known() -> None:
    namespace: dict[str, Any] = {}
    exec(mine.replacements()["scipy.special"], namespace)
    x = np.linspace(-0.9, 0.9, 7)
    np.testing.assert_allclose(namespace["eval_legendre"](3, x), (5 * x**3 - 3 * x) / 2)
    np.testing.assert_allclose(namespace["eval_legendre"](np.arange(2)[:, None], x), [np.ones(7), x])
    np.testing.assert_allclose(namespace["eval_chebyt"](3, x), 4 * x**3 - 3 * x)
    np.testing.assert_allclose(namespace["eval_hermite"](2, x), 4 * x**2 - 2)
    np.testing.assert_allclose(namespace["erf"](x), [math.erf(v) for v in x])
    np.testing.assert_allclose(namespace["softmax"](np.array([[1e4, 1e4], [0.0, 0.0]]), axis=1), 0.5)
    assert namespace["comb"](7, 3) == 35 and namespace["factorial"](5) == 120
    assert namespace["logsumexp"](np.zeros(4)) == pytest.approx(math.log(4))


@pytest.mark.parametrize("name", ["haar", "db2", "sym3", "db8"])
def test_wavelets_are_orthogonal_and_those_that_are_known(name: str) -> None:
    space: dict[str, Any] = {}
    exec(mine.replacements()["pywt"], space)
    bank = np.array(space["Wavelet"](name).filter_bank)
    shifted = np.stack([np.roll(np.pad(f, (0, 40)), 2 * k) for f in bank[:2] for k in range(9)])
    np.testing.assert_allclose(shifted @ shifted.T, np.eye(18), atol=1e-7)
    np.testing.assert_allclose(bank[:2], bank[2:, ::-1])
    known = [-0.1294095, 0.2241439, 0.8365163, 0.4829629]
    np.testing.assert_allclose(space["Wavelet"]("db2").dec_lo, known, atol=1e-7)
    assert (space["dwt_coeff_len"](64, 8, "zero"), space["dwt_coeff_len"](65, bank[0], "per")) == (35, 33)
    assert space["dwt_max_level"](64, space["Wavelet"]("db2")) == 4


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (4, 4), (3, 5), (5, 2)])
@pytest.mark.parametrize("maximize", [False, True])
def test_an_assignment_costs_least_of_all(rows: int, columns: int, maximize: bool) -> None:
    space: dict[str, Any] = {}
    exec(mine.replacements()["scipy.optimize"], space)
    for seed in range(12):
        cost = np.random.default_rng(seed).normal(size=(rows, columns)).round(1)
        first, second = space["linear_sum_assignment"](torch.tensor(cost), maximize)
        assert first.tolist() == sorted({*first.tolist()}) and len({*second.tolist()}) == min(rows, columns)
        tall = cost if rows <= columns else cost.T
        every = (
            sum(tall[i, j] for i, j in enumerate(p)) for p in itertools.permutations(range(tall.shape[1]), len(tall))
        )
        assert cost[first, second].sum() == pytest.approx(max(every) if maximize else min(every))


@pytest.mark.parametrize("window", ["hann", np.hamming(65)[:64]])
def test_waves_come_back_from_their_spectrum(window: Any) -> None:
    space: dict[str, Any] = {}
    exec(mine.replacements()["librosa"], space)
    wave = np.random.default_rng(0).normal(size=640).astype(np.float32)
    spectrum = space["stft"](wave, 128, 32, 64, window)
    assert spectrum.shape == (65, 21)
    frame = np.pad(wave, 64)[32 * 5 : 32 * 5 + 128] * np.pad(space["get_window"]("hann", 64), 32)
    if isinstance(window, str):
        np.testing.assert_allclose(spectrum[:, 5], np.fft.rfft(frame), atol=1e-4)
    np.testing.assert_allclose(space["istft"](spectrum, 32, 64, window), wave, atol=1e-4)


def test_a_console_says_nothing() -> None:
    text = (
        f"{HEAD}from rich.console import Console\nSCREEN = Console(width=80)\n\n\nclass Net(nn.Module):\n"
        "    def forward(self, x):\n        with SCREEN.status('busy') as shown:\n            shown.line()\n"
        "            return x.sin()\n"
    )
    exec(cut({"net.py": text}, "net.py", "Net"), space := dict[str, Any]())
    assert space["Net"]()(torch.ones(2)).shape == (2,)
