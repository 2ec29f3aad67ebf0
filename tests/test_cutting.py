"""Cutting: what a task holds of its package, and what is refused."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from sources.cut.cutting import cut_package
from sources.cut.modules import candidates
from sources.cut.pruning import pruned
from sources.cut.slicer import SliceError, Slicer
from sources.cut.writer import cut as write_cut
from sources.hints.hints import Hints
from sources.mine import replacements
from sources.text.symbols import Package
from sources.text.targets import Here
from sources.watch.capture_package import Observed
from tests.cuts import HEAD, cut

PACKAGE = {
    "net/__init__.py": "from .layers import *\n",
    "net/layers/__init__.py": "from .norm import RMSNorm\nfrom . import act\n__all__ = ['RMSNorm', 'act']\n",
    "net/layers/norm.py": HEAD + "EPS = 1e-6  # guards the root\n\n\nclass RMSNorm(nn.Module):\n"
    "    def __init__(self, dim, eps=EPS):\n        super().__init__()\n        self.eps = eps\n"
    "        self.weight = nn.Parameter(torch.ones(dim))\n\n    def unused(self):\n        return os.getcwd()\n\n"
    "    def forward(self, x):\n        # root of the mean square\n"
    "        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps) * self.weight\n",
    "net/layers/act.py": HEAD + "def swish(x):\n    return x * torch.sigmoid(x)\n",
    "net/block.py": HEAD + "from net import layers\nfrom net.layers import RMSNorm\nfrom .registry import register\n"
    "from absent_package import thing\n\n\n@register('block')\nclass Block(nn.Module):\n"
    "    def __init__(self, dim, hidden_dim):\n        super().__init__()\n        print('made')\n"
    "        self.norm = RMSNorm(dim)\n        self.up = nn.Linear(dim, hidden_dim)\n"
    "        self.down = nn.Linear(hidden_dim, dim)\n\n    def forward(self, x: 'Strange') -> 'Stranger':\n"
    "        return x + self.down(layers.act.swish(self.up(self.norm(x))))\n\n\n"
    "class Lost(nn.Module):\n    def forward(self, x):\n        return thing(x)\n",
    "net/registry.py": "def register(name):\n    return lambda x: x\n",
}


def test_a_cut_holds_what_it_needs_and_no_more() -> None:
    source = cut(PACKAGE, "net/block.py", "Block")
    assert "# guards the root" in source
    assert "# root of the mean square" in source
    assert "def swish" in source
    for gone in (
        "unused",
        "print",
        "register",
        "Strange",
        "absent_package",
        "layers.act",
        "import torch.nn.functional",
    ):
        assert gone not in source
    namespace: dict[str, object] = {}
    exec(compile(source, "cut", "exec"), namespace)
    assert "Block" in namespace


def test_an_unused_method_at_the_end_is_left_out() -> None:
    text = (
        HEAD
        + "class M(nn.Module):\n    def forward(self, x):\n        return x.relu()\n\n    def last(self) -> Absent:\n        pass\n"
    )
    source = cut({"m.py": text}, "m.py", "M")
    assert "last" not in source
    assert source.endswith("return x.relu()\n")


def test_equal_names_of_two_files_are_told_apart() -> None:
    texts = {
        "a.py": "def scale(x):\n    return x * 2\n",
        "b.py": "import a\ndef scale(x):\n    return a.scale(x) + 1\n",
        "c.py": "from b import scale\ndef both(x):\n    return scale(x)\n",
    }
    namespace: dict[str, object] = {}
    exec(compile(cut(texts, "c.py", "both"), "cut", "exec"), namespace)
    assert namespace["both"](3) == 7  # type: ignore[operator]


def test_what_an_import_renames_is_told_apart_from_what_a_function_calls_so_itself() -> None:
    files = {
        "net/quick.py": HEAD + "def mult(x):\n    return x * 2\n",
        "net/slow.py": HEAD + "from .quick import mult as quick\n\n\ndef slow(x):\n    return x + x\n\n\n"
        "class Net(nn.Module):\n    def forward(self, x):\n"
        "        mult = quick if x.ndim > 1 else slow\n        return mult(x)\n",
    }
    namespace: dict[str, Any] = {}
    exec(compile(cut(files, "net/slow.py", "Net"), "cut", "exec"), namespace)
    assert namespace["Net"]()(torch.ones(1, 1)).item() == 2.0


def test_a_global_statement_follows_a_constant_that_is_renamed() -> None:
    counts = HEAD + "calls = 0\n\n\ndef count():\n    global calls\n    calls += 1\n    return calls\n"
    texts = {
        "one.py": counts,
        "two.py": counts.replace("def count", "def again"),
        "net.py": HEAD + "from one import count\nfrom two import again\n\n\nclass Net(nn.Module):\n"
        "    def forward(self, x):\n        return x * count() + again()\n",
    }
    namespace: dict[str, Any] = {}
    exec(compile(cut(texts, "net.py", "Net"), "cut", "exec"), namespace)
    assert torch.equal(namespace["Net"]()(torch.full((2,), 3.0)), torch.full((2,), 4.0))


def test_what_python_2_had_built_in_is_what_it_is_now() -> None:
    text = HEAD + (
        "import sys\n\n\nclass Net(nn.Module):\n    def __init__(self, act):\n        super().__init__()\n"
        "        named = isinstance(act, str) or (sys.version_info[0] == 2 and isinstance(act, unicode))\n"
        "        self.act = getattr(F, act) if named else act\n"
        "    def forward(self, x):\n        for _ in xrange(2):\n            x = self.act(x)\n        return x\n"
    )
    source = cut({"net.py": text}, "net.py", "Net")
    assert "isinstance(act, str))" in source
    assert "in range(2)" in source
    own = text.replace("class Net", "def xrange(n):\n    return [n]\n\n\nclass Net")
    assert "in xrange(2)" in cut({"net.py": own}, "net.py", "Net")


def test_definitions_that_mention_each_other_come_in_an_order_that_executes() -> None:
    text = HEAD + (
        "class Loss(nn.Module):\n    def __add__(self, other):\n        return Sum(self, other)\n"
        "class Sum(Loss):\n    pass\n"
        "class L1(Loss):\n    def forward(self, x, y):\n        return (x - y).abs().mean()\n"
    )
    exec(compile(cut({"m.py": text}, "m.py", "L1"), "cut", "exec"), {})


def test_a_table_of_classes_follows_the_class_that_looks_itself_up_in_it() -> None:
    texts = {
        "parts/__init__.py": "from parts.two import Two\nfrom parts.one import One\nTABLE = {'one': One, 'two': Two}\n",
        "parts/one.py": HEAD + "class One(nn.Module):\n    def forward(self, x):\n        return x.sin()\n",
        "parts/two.py": HEAD + (
            "class Two(nn.Module):\n    def __init__(self, names):\n        super().__init__()\n"
            "        from parts import TABLE\n        self.parts = nn.ModuleList([TABLE[n]() for n in names])\n\n"
            "    def forward(self, x):\n        return self.parts[0](x)\n"
        ),
    }  # fmt: skip
    exec(compile(cut(texts, "parts/two.py", "Two"), "cut", "exec"), {})


def test_what_is_computed_from_the_absent_is_absent() -> None:
    text = HEAD + (
        "import os\nfrom absent import Mixin, load\nHERE = os.path.dirname(__file__)\nKERNEL = load(HERE)\n"
        "class M(nn.Module, Mixin):\n    def forward(self, x):\n        return KERNEL(x) if x.is_cuda else x.relu()\n"
    )
    source = cut({"m.py": text}, "m.py", "M")
    assert "KERNEL = None" in source
    assert "class Mixin:\n    pass" in source
    exec(compile(source, "cut", "exec"), {})


def test_ugly_files_are_read_or_refused() -> None:
    texts = {
        "circle_a.py": "from circle_b import *\nfrom circle_b import x\n",
        "circle_b.py": "from circle_a import *\nfrom circle_a import x\n",
        "shadow.py": "import torch.nn as nn\ntorch = 1\nclass M(nn.Module):\n    def forward(self, x):\n        return x * torch\n",
        "torch.py": "x = 1\n",
        "two.py": "print 'python 2'\n",
        "broken.py": "class :\n",
        "deep.py": "x = " + "(" * 3000 + ")" * 3000 + "\n",
        "long.py": "x = 1\n" * 50_000,
        "uses.py": "from circle_a import x\nimport torch.nn as nn\nclass U(nn.Module):\n    def forward(self, y):\n        return x\n",
    }
    package = Package(texts)
    found = {c.symbol for c in candidates(package)}
    assert {"M", "U"} <= found
    for path in texts:
        package.file(path)
    assert set(package.broken) == {"two.py", "broken.py", "deep.py"}
    assert "# circle_a.x is not here and not needed\nx = None\n" in write_cut(Slicer(package), "uses.py", "U").source


def test_no_definition_is_the_end_of_its_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limit = sys.getrecursionlimit()
    monkeypatch.setattr("sources.cut.cutting.observe", lambda *_: Observed({}, {}))
    scale = HEAD + "class {}(nn.Module):\n    def forward(self, x):\n        return x * {}\n"
    alias = (
        "try:\n    fill = torch.nan_to_num\nexcept AttributeError:\n    def fill(x):\n        return torch.relu(x)\n"
    )
    texts = {
        "alias.py": HEAD + alias,
        "sum.py": scale.format("Sum", " + ".join(["1"] * 1500)),
        "calls.py": scale.format("Calls", "x" + ".relu()" * 300),
        "odd.py": scale.format("Odd", 2),
        "good.py": scale.format("Good", 3),
    }
    plain = Slicer.closure

    def closure(self: Slicer, root: Here, *more: Any) -> Any:
        if root.name == "Odd":
            raise RuntimeError("unforeseen")
        return plain(self, root, *more)

    monkeypatch.setattr(Slicer, "closure", closure)
    try:
        package = cut_package({"files": texts, "replacements": {}, "cut_points": {}, "part": 0, "parts": 1, "seed": 0,
                               "enough": 9}, tmp_path)  # fmt: skip
    finally:
        sys.setrecursionlimit(limit)
    assert {c["symbol"] for c in package["cuts"]} == {"Sum", "Calls", "Good"}
    assert {r["symbol"]: (r["reason"], r["detail"]) for r in package["refused"]} == {
        "fill": ("not sliceable", "fill is no function of its own"),
        "Odd": ("not sliceable", "RuntimeError: unforeseen"),
    }


def test_a_type_hint_in_parentheses_goes_whole() -> None:
    text = HEAD + (
        "class Shape:\n    pass\n\n\nclass Scale(nn.Module):\n"
        "    def forward(self, x, by: (Shape | None) = None) -> (Shape):\n"
        "        kept: ((Shape | None)) = by\n        return x * 2 if kept is None else x\n"
    )
    source = cut({"n.py": text}, "n.py", "Scale")
    assert "def forward(self, x, by = None):\n        kept = by\n" in source
    compile(source, "cut", "exec")


def test_dead_branches_of_absent_packages_are_left_out() -> None:
    text = HEAD + (
        "try:\n    from apex import fused\n    HAS_APEX = True\nexcept ImportError:\n    HAS_APEX = False\n"
        "def norm(x):\n    if HAS_APEX:\n        return fused(x)\n    return F.normalize(x)\n"
    )
    assert "fused" not in cut({"n.py": text}, "n.py", "norm")


def test_a_base_class_that_is_absent_is_a_reason() -> None:
    with pytest.raises(SliceError) as error:
        cut({"m.py": HEAD + "from absent import Base\nclass M(Base):\n    pass\n"}, "m.py", "M")
    assert error.value.reason == "needs a package that is absent"


REGISTRIES = {
    "net/registry.py": "class Registry:\n    def __init__(self):\n        self.known = {}\n\n"
    "    def register(self, name):\n        def add(made):\n            self.known[name] = made\n"
    "            return made\n\n        return add\n\n    def add_class(self, name, made):\n        self.known[name] = made\n\n"
    "    def __getattr__(self, name):\n        return name.lower()\n\n\nLAYERS = Registry()\n",
    "net/layers.py": HEAD
    + "from .registry import LAYERS, Registry\nACTS = Registry()\nACTS.add_class('silu', nn.SiLU)\n"
    "ACTS.forget(3)\nACTS.register_deprecated_key('old')\n\n\n@LAYERS.register('wide')\nclass Wide(nn.Module):\n    def forward(self, x):\n"
    "        return ACTS.known['silu']()(x)\n\n\n@LAYERS.register('narrow')\nclass Narrow(Wide):\n    pass\n",
    "net/model.py": HEAD + "from .registry import LAYERS\n\n\n@LAYERS.register('model')\nclass Model(nn.Module):\n"
    "    def __init__(self, kind=LAYERS.WIDE):\n        super().__init__()\n        self.layer = LAYERS.known[kind]()\n\n"
    "    def forward(self, x):\n        return self.layer(x)\n",
}


def test_a_registry_comes_with_the_entries_that_are_named() -> None:
    source = cut(REGISTRIES, "net/model.py", "Model")
    assert "@LAYERS.register('wide')" in source
    for gone in ("narrow", "ACTS.forget", "deprecated", "register('model')"):
        assert gone not in source
    namespace: dict[str, Any] = {}
    exec(compile(pruned(source, ["Model"]), "cut", "exec"), namespace)
    assert namespace["Model"]()(torch.ones(2)).shape == (2,)
    assert "register" not in cut(REGISTRIES, "net/layers.py", "Wide").partition("class Wide")[2]


def test_what_is_looked_up_among_the_globals_of_its_file_comes_by_the_words_that_are_said() -> None:
    files = {
        "net/banks.py": HEAD + "class FreeBank(nn.Linear):\n    pass\n\n\nclass Other(nn.Linear):\n    pass\n\n\n"
        "free = FreeBank\n\n\ndef get(name):\n    return {k.lower(): v for k, v in globals().items()}[name]\n",
        "net/model.py": HEAD + "from .banks import get\n\n\nclass Model(nn.Module):\n"
        "    def __init__(self, bank='free'):\n        super().__init__()\n        self.layer = get(bank)(2, 3)\n\n"
        "    def forward(self, x):\n        return self.layer(x)\n",
    }  # fmt: skip
    source, namespace = cut(files, "net/model.py", "Model"), dict[str, Any]()
    assert "Other" not in source
    exec(compile(source, "cut", "exec"), namespace)
    assert namespace["Model"]()(torch.ones(2)).shape == (3,)


def test_a_registry_that_is_gone_through_comes_with_what_sets_what_is_read() -> None:
    files = {
        "net/registry.py": "functions = {}\n\n\ndef base(mapping, key):\n    def add(made):\n        mapping[key] = made\n"
        "        return made\n\n    return add\n\n\ndef register(key):\n    return base(functions, key)\n",
        "net/config.py": "from types import SimpleNamespace\nfrom net import registry\n\n\ndef set_cfg(cfg):\n    cfg.base = 1\n"
        "    for function in registry.functions.values():\n        function(cfg)\n\n\ncfg = SimpleNamespace()\nset_cfg(cfg)\n",
        "net/more.py": "from .registry import register\n\n\n@register('a')\ndef set_a(cfg):\n    cfg.width = 3\n\n\n"
        "@register('b')\ndef set_b(cfg):\n    cfg.other = 4\n",
        "net/model.py": HEAD + "from .config import cfg\n\n\nclass Model(nn.Module):\n    def forward(self, x):\n"
        "        return x * cfg.width\n",
    }
    source, namespace = cut(files, "net/model.py", "Model"), dict[str, Any]()
    assert "set_b" not in source
    exec(compile(source, "cut", "exec"), namespace)
    assert namespace["Model"]()(torch.ones(2)).tolist() == [3, 3]


def test_a_site_says_which_entries_are_wanted() -> None:
    slicer = Slicer(Package(REGISTRIES, {}))
    assert "class Narrow" in write_cut(slicer, "net/model.py", "Model", (), ["narrow"]).source
    assert "class Narrow" not in write_cut(slicer, "net/model.py", "Model").source


def test_optional_imports_are_imports() -> None:
    text = HEAD + (
        "from monai.utils import optional_import\nRearrange, found = optional_import('einops.layers.torch', name='Rearrange')\n"
        "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        assert found\n"
        "        self.turn = Rearrange('a b -> b a')\n    def forward(self, x):\n        return self.turn(x)\n"
    )
    namespace: dict[str, Any] = {}
    exec(cut({"net.py": text}, "net.py", "Net"), namespace)
    assert namespace["Net"]()(torch.ones(2, 3)).shape == (3, 2)


def test_what_is_absent_and_only_asked_for_is_a_class() -> None:
    text = HEAD + (
        "from gymnasium.spaces import Box, Discrete\nclass Net(nn.Module):\n    def forward(self, x, space=None):\n"
        "        return x if isinstance(space, Box | Discrete) else x.exp()\n"
    )
    namespace: dict[str, Any] = {}
    exec(cut({"net.py": text}, "net.py", "Net"), namespace)
    assert namespace["Net"]()(torch.zeros(2)).tolist() == [1.0, 1.0]


def test_a_call_shows_what_its_variables_hold() -> None:
    text = HEAD + (
        "class Part(nn.Module):\n    def __init__(self, size):\n        super().__init__()\n        self.size = size\n"
        "    def forward(self, x):\n        return x * self.size\n\n\nclass Whole(nn.Module):\n"
        "    def __init__(self, part):\n        super().__init__()\n        self.part = part\n"
        "    def forward(self, x):\n        return self.part(x)\n\n\ndef make():\n    width = 48\n"
        "    part = Part(width)\n    return Whole(part)\n"
    )
    package = Package({"net.py": text}, {})
    site = Hints(package).sites(Here("net.py", "Whole"))[0]  # before the guess that a part is a Part
    assert site.spelled({Here("net.py", "Part"): "Part"}.get)["positional"] == ["Part(48)"]


def test_a_stand_in_serves_the_modules_below_it() -> None:
    text = HEAD + (
        "import gym\nfrom gymnasium import spaces\nclass Net(nn.Module):\n"
        "    def __init__(self, seen: gym.Space, done: spaces.Discrete):\n        super().__init__()\n"
        "        assert isinstance(done, spaces.Discrete)\n        self.line = nn.Linear(seen.shape[0], done.n)\n"
        "    def forward(self, x):\n        return self.line(x)\n"
    )
    package = Package({"net.py": text}, replacements())
    (site,) = Hints(package).sites(Here("net.py", "Net"))
    found = write_cut(Slicer(package), "net.py", "Net", sorted(site.needs, key=str))
    namespace: dict[str, Any] = {}
    exec(found.source, namespace)
    given = site.spelled(found.names.get)["named"]
    assert isinstance(given, dict)
    assert namespace["Net"](**{n: eval(t, namespace) for n, t in given.items()})(torch.ones(64)).shape == (16,)


def test_a_constant_that_is_made_in_steps_is_whole() -> None:
    """Each step counts: a table that is filled, then written to, then made a tensor."""
    text = (
        "import numpy as np\n" + HEAD + "table = np.empty((2, 2), dtype=np.float32)\ntable.fill(9)\n"
        "table[0, 0] = 1\ntable = torch.from_numpy(table)\n\n\n"
        "class Net(nn.Module):\n    def forward(self, x):\n        return x * table\n"
    )
    namespace: dict[str, Any] = {}
    exec(compile(cut({"net.py": text}, "net.py", "Net"), "cut", "exec"), namespace)
    assert namespace["Net"]()(torch.ones(2, 2)).tolist() == [[1, 9], [9, 9]]


def test_where_a_tensor_lies_is_no_number() -> None:
    text = "class Net(nn.Module):\n    def forward(self, x, y):\n        return x + y.to(x.get_device())\n"
    assert "y.to(x.device)" in cut({"net.py": HEAD + text}, "net.py", "Net")


CIRCLE = HEAD + (
    "class Graph:\n    kind = None\n    def pack(self):\n        return self.kind()\n\n\n"
    "class Packed(Graph):\n    apart = Graph\n\n\nGraph.kind = Packed\n\n\n"
    "class Net(nn.Module):\n    def forward(self, x):\n        return x * (2 if isinstance(Graph().pack(), Packed) else 3)\n"
)


def test_what_a_base_is_given_afterwards_stands_after_what_is_made_of_it() -> None:
    namespace: dict[str, Any] = {}
    exec(cut({"net.py": CIRCLE}, "net.py", "Net"), namespace)
    assert namespace["Net"]()(torch.ones(1)).item() == 2


def test_what_torch_and_python_call_by_themselves_is_kept() -> None:
    text = HEAD + (
        "class Square(torch.autograd.Function):\n    @staticmethod\n    def forward(x):\n        return x * x\n\n"
        "    @staticmethod\n    def setup_context(ctx, inputs, output):\n        ctx.save_for_backward(*inputs)\n\n"
        "    @staticmethod\n    def beside(ctx):\n        return 0\n\n\n"
        "class Net(nn.Module):\n    def forward(self, x):\n        return Square.apply(x)\n"
    )
    source = cut({"a.py": text}, "a.py", "Net")
    assert "def setup_context" in source
    assert "def beside" not in source


def test_a_method_that_has_another_name_is_kept() -> None:
    text = HEAD + (
        "class Net(nn.Module):\n    def twice(self, x):\n        return x * 2\n\n    double = twice\n\n"
        "    def forward(self, x):\n        return self.double(x)\n"
    )
    assert "def twice" in cut({"a.py": text}, "a.py", "Net")
