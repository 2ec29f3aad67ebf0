"""Cutting: names that are computed, that are imported if they can be, and that not every Python has."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from sources.cut.modules import NO_FORWARD, candidates
from sources.cut.pruning import pruned
from sources.infer.constructor.reading import reading
from sources.text.symbols import Package
from tests.cuts import HEAD, cut

FUNCTION = "def {0}(width):\n    return nn.Linear(4, width)\n\n\n"


def test_what_is_taken_out_of_a_module_comes_by_words_that_others_of_the_cut_say() -> None:
    """The name is the default of a class, and a function two calls below takes it out of a package's star imports."""
    texts = {
        "net/__init__.py": "",
        "net/models/__init__.py": "from .wide import *\nfrom .narrow import narrow8 as slim8\n",
        "net/models/wide.py": HEAD + FUNCTION.format("wide8") + FUNCTION.format("wide16"),
        "net/models/narrow.py": HEAD + FUNCTION.format("narrow8"),
        "net/util.py": "from net import models\n\n\ndef encoder(name):\n    return getattr(models, name)(8)\n",
        "net/net.py": HEAD + "from .util import encoder\n\n\nclass Net(nn.Module):\n    def __init__(self, base='wide8'):\n"
        "        super().__init__()\n        self.base = encoder(base)\n\n    def forward(self, x):\n        return self.base(x)\n",
    }  # fmt: skip
    source = cut(texts, "net/net.py", "Net")
    namespace: dict[str, Any] = {}
    exec(source, namespace)
    assert namespace["Net"]()(torch.ones(2, 4)).shape == (2, 8)
    assert "wide16" not in source
    slim = cut(texts | {"net/net.py": texts["net/net.py"].replace("wide8", "slim8")}, "net/net.py", "Net")
    exec(slim, namespace)
    assert namespace["Net"]()(torch.ones(2, 4)).shape == (2, 8)


def test_of_a_module_that_is_looked_through_what_goes_by_a_word_is_taken() -> None:
    kind = "class {0}(nn.Module):\n    def forward(self, x):\n        return x.{1}(0)\n\n\n"
    texts = {
        "net/__init__.py": "",
        "net/aggr/__init__.py": "from .basic import MeanPooling, MaxPooling, Pooling, MedianPooling\n",
        "net/aggr/basic.py": HEAD + "".join(
            kind.format(n, m) for n, m in
            [("Pooling", "sum"), ("MeanPooling", "mean"), ("MaxPooling", "amax"), ("MedianPooling", "median")]
        ),
        "net/find.py": HEAD + "def find(query):\n    import net.aggr as aggr\n"
        "    kinds = [k for k in vars(aggr).values() if isinstance(k, type)]\n"
        "    return next(k for k in kinds if k.__name__.lower() == query + 'pooling')()\n",
        "net/net.py": HEAD + "from .find import find\n\n\nclass Base(nn.Module):\n    def __init__(self, aggr='mean'):\n"
        "        super().__init__()\n        self.aggr = find(aggr)\n\n    def forward(self, x):\n        return self.aggr(x)\n"
        "\n\nclass Net(Base):\n    pass\n",
    }  # fmt: skip
    source = cut(texts, "net/net.py", "Net")
    namespace: dict[str, Any] = {}
    exec(source, namespace)
    assert torch.equal(namespace["Net"]()(torch.ones(2, 3)), torch.ones(3))
    assert "MedianPooling" not in source


def test_names_that_typing_has_since_lately_come_from_where_every_python_has_them() -> None:
    text = (
        HEAD + "import sys\nif sys.version_info >= (3, 12):\n    from typing import override\nelse:\n"
        "    from typing_extensions import override\nfrom typing_extensions import Literal, TypeVar\n"
        "from typing import Generic\nT = TypeVar('T', default=int)\nMode = Literal['sum', 'mean']\n\n\n"
        "class Net(nn.Module, Generic[T]):\n    @override\n    def forward(self, x):\n"
        "        return getattr(x, Mode.__args__[0])(0)\n"
    )
    source = cut({"net.py": text}, "net.py", "Net")
    namespace: dict[str, Any] = {}
    exec(source, namespace)
    assert namespace["Net"]()(torch.ones(3)) == 3
    assert "from typing import Generic, Literal" in source
    assert "from typing_extensions import TypeVar, override" in source


def test_a_package_that_a_task_has_is_there_when_it_is_asked_for() -> None:
    text = HEAD + (
        "from importlib.util import find_spec\nfrom lightning_utilities.core.imports import module_available\n"
        "HAS, HAS_NOT = find_spec('torch') is not None, find_spec('apex') is not None\n"
        "VISION, OTHER = module_available('torchvision'), module_available('sparseml')\n\n\n"
        "class Net(nn.Module):\n    def forward(self, x):\n        if not HAS or not VISION or HAS_NOT or OTHER:\n"
        "            raise ModuleNotFoundError\n        return x + 1\n"
    )
    namespace: dict[str, Any] = {}
    exec(cut({"net.py": text}, "net.py", "Net"), namespace)
    assert namespace["Net"]()(torch.ones(1)) == 2


def test_a_record_inside_a_class_keeps_its_fields_though_their_hints_are_of_the_package() -> None:
    text = HEAD + (
        "from dataclasses import dataclass, field\n\n\nclass Part:\n    pass\n\n\n"
        "class Net(nn.Module):\n    @dataclass\n    class Config:\n        part: Part = field(default_factory=lambda: 3)\n"
        "        width: int = 2\n\n    def __init__(self):\n        super().__init__()\n        self.config = self.Config(width=4)\n"
        "\n    def forward(self, x):\n        return x * self.config.width + self.config.part\n"
    )
    namespace: dict[str, Any] = {}
    exec(cut({"net.py": text}, "net.py", "Net"), namespace)
    assert namespace["Net"]()(torch.ones(1)) == 7


def test_distributed_as_an_attribute_of_torch_is_ours_of_one_process() -> None:
    text = HEAD + (
        "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.rank = torch.distributed.get_rank()\n    def forward(self, x):\n"
        "        return x + self.rank + torch.distributed.get_world_size()\n"
    )
    namespace: dict[str, Any] = {}
    exec(cut({"net.py": text}, "net.py", "Net"), namespace)
    assert namespace["Net"]()(torch.ones(1)) == 2


def test_words_of_a_table_are_what_is_looked_up_in_it(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(
        "TABLE = {'gelu': 1, 'relu': 2, 3: 4}\n\n\ndef make(config):\n    return TABLE[config.hidden_act]\n"
    )
    assert reading(str(tmp_path / "net.py")).words == {"hidden_act": ["'gelu'", "'relu'"]}


def test_a_record_that_is_the_default_of_a_field_is_made_anew() -> None:
    """As Python 3.10 had it; 3.11 says: mutable default."""
    text = HEAD + (
        "from dataclasses import dataclass, field\n\n\n@dataclass\nclass InnerConfig:\n    width: int = 3\n\n\n"
        "@dataclass(eq=True)\nclass Config:\n    inner: InnerConfig = InnerConfig(width=4)\n    other: int = int(2)\n"
        "    said: InnerConfig = field(default=InnerConfig(5), metadata={})\n\n\n"
        "class Net(nn.Module):\n    def __init__(self, config=Config()):\n        super().__init__()\n"
        "        self.line = nn.Linear(config.inner.width, config.other + config.said.width)\n"
        "    def forward(self, x):\n        return self.line(x)\n"
    )
    namespace: dict[str, Any] = {}
    exec(cut({"net.py": text}, "net.py", "Net"), namespace)
    assert namespace["Net"]()(torch.ones(5, 4)).shape == (5, 7)


def test_a_base_of_a_certain_type_is_the_base() -> None:
    text = HEAD + (
        "from typing import Generic, TypeVar\nT = TypeVar('T')\n\n\n"
        "class Base(Generic[T], nn.Module):\n    pass\n\n\n"
        "class Net(Base[int]):\n    def forward(self, x):\n        return x + 1\n"
    )
    found = candidates(Package({"net.py": text}))
    assert [(c.symbol, c.refused) for c in found] == [("Base", NO_FORWARD), ("Net", "")]


@pytest.mark.parametrize("hint", ["", ": Callable"])
def test_a_class_that_gives_a_name_what_is_so_called_outside_needs_that(hint: str) -> None:
    texts = {
        "net/__init__.py": "",
        "net/work.py": "def decode(module, x):\n    return x.sin()\n\n\ndef other(module, x):\n    return x\n",
        "net/net.py": HEAD + "from net.work import decode, other\nclass Net(nn.Module):\n"
        f"    decode{hint} = decode\n    def forward(self, x):\n        return self.decode(x)\n",
    }
    source = cut(texts, "net/net.py", "Net")
    for text in (source, pruned(source, ["Net"])):
        space: dict[str, Any] = {}
        exec(text, space)
        assert torch.equal(space["Net"]()(torch.ones(2)), torch.ones(2).sin())


def test_a_name_that_torch_gives_once_only_is_not_given() -> None:
    text = HEAD + (
        "from torch.utils.data import functional_datapipe\n\n\n@functional_datapipe('doubled')\n"
        "class Net(nn.Module):\n    def forward(self, x):\n        return x * 2\n"
    )
    assert "functional_datapipe" not in cut({"net.py": text}, "net.py", "Net")


def test_a_folder_without_an_init_file_is_imported_from_as_a_package_is() -> None:
    texts = {
        "net/ops.py": "def doubled(x):\n    return x + x\n",
        "net/net.py": HEAD + "from . import ops\n\n\nclass Net(nn.Module):\n    def forward(self, x):\n"
        "        return ops.doubled(x)\n",
    }  # fmt: skip
    flat = {path.removeprefix("net/"): text for path, text in texts.items()}  # the repository is the package itself
    for files, path in ((texts, "net/net.py"), (flat, "net.py")):
        namespace: dict[str, Any] = {}
        exec(cut(files, path, "Net"), namespace)
        assert torch.equal(namespace["Net"]()(torch.ones(2)), torch.full((2,), 2.0))


def test_methods_whose_names_are_computed_stay() -> None:
    text = (
        HEAD
        + "class Net(nn.Module):\n    def forward(self, x, part='head'):\n        return getattr(self, SAID)(x)\n\n"
    )
    text += "    def make_head(self, x):\n        return x + 1\n\n    def report(self):\n        return 0\n"
    for said in ("f'make_{part}'", "'make_%s' % part", "'make_' + part", "'make_{}'.format(part)"):
        source = cut({"net.py": text.replace("SAID", said)}, "net.py", "Net")
        namespace: dict[str, Any] = {}
        exec(source, namespace)
        assert torch.equal(namespace["Net"]()(torch.ones(2), "head"), torch.full((2,), 2.0))
        assert "report" not in source


def test_of_several_tables_of_one_name_none_is_private_to_a_class() -> None:
    part = "class {0}(nn.Module):\n    def forward(self, x):\n        return x{1}\n\n\n__all__ = {{'{0}': {0}}}\n"
    texts = {
        "net/tails/__init__.py": HEAD + part.format("Tail", " + 1"),
        "net/heads/__init__.py": HEAD + part.format("Head", " * 3"),
        "net/net.py": HEAD + "from . import heads, tails\n\n\nclass Net(nn.Module):\n    def __init__(self):\n"
        "        super().__init__()\n        self.parts = nn.Sequential(tails.__all__['Tail'](), heads.__all__['Head']())\n\n"
        "    def forward(self, x):\n        return self.parts(x)\n",
    }  # fmt: skip
    namespace: dict[str, Any] = {}
    exec(cut(texts, "net/net.py", "Net"), namespace)
    assert torch.equal(namespace["Net"]()(torch.ones(2)), torch.full((2,), 6.0))


def test_what_a_module_of_ours_defines_by_its_own_name_is_what_its_package_means_by_that() -> None:
    text = HEAD + "from timm.layers import create_attn\n\n\nclass Net(nn.Module):\n    def __init__(self):\n"
    text += "        super().__init__()\n        self.attn = create_attn('se', 16)\n\n    def forward(self, x):\n"
    namespace: dict[str, Any] = {}
    exec(cut({"net.py": text + "        return self.attn(x)\n"}, "net.py", "Net"), namespace)
    assert namespace["Net"]()(torch.ones(2, 16, 4, 4)).shape == (2, 16, 4, 4)


def test_a_type_hint_that_is_called_like_a_method_above_it_goes() -> None:
    text = (
        "from __future__ import annotations\n"
        + HEAD
        + (
            "class Scale(nn.Module):\n    def float(self) -> Scale:\n        return self\n\n"
            "    def forward(self, x, by: float | None = None, at: int = 0) -> float | None:\n"
            "        kept: float | None = by\n        return x * 2 if kept is None else self.float()\n"
        )
    )
    source = cut({"n.py": text}, "n.py", "Scale")
    assert "def forward(self, x, by = None, at: int = 0):\n        kept = by\n" in source
    exec(source, {})
