"""Mining: a whole package is imported and run small, once, and tells the arguments and inputs of all its classes."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from kdata.record import Definition, Dropped, Origin, SourceFile
from sources import mine
from sources.cut import cutpoints
from sources.cut.cutpoints import FOLDER, Framework, framework
from sources.cut.cutting import cut_package
from sources.cut.slicer import Slicer
from sources.cut.writer import cut
from sources.fetch.texts import source_file
from sources.infer.inputs import Tensor
from sources.infer.search import Solution
from sources.isolation import isolated
from sources.mine import replacements
from sources.probe import attempt_one, warm
from sources.text.targets import Here
from sources.watch.capture import decoded, encoded
from sources.watch.capture_package import observe
from sources.watch.packages import Site

CONFIG = """
class BaseConfig:
    sub_configs = {}

    def __init__(self, width=768, num_layers=12, num_heads=12, unused="x", vocab_size=30000):
        self.width, self.num_layers, self.num_heads = width, num_layers, num_heads
        self.unused, self.vocab_size = unused, vocab_size

    @property
    def doubled(self):
        return 2 * self.width
"""
MODEL = """
import absent_package.tools as tools
import torch
from torch import nn

from .base import BaseConfig


@tools.registered("gate")
class Gate(nn.Module):
    def __init__(self, config, kind=nn.GELU):
        super().__init__()
        self.up, self.act = nn.Linear(config.width, config.doubled), kind()

    def forward(self, x, scale=None):
        x = self.up(x)
        assert x.shape[1] == 16 and x.shape[2] == 128, "true shapes only"
        return self.act(x) if scale is None else scale * x


class Layer(nn.Module):
    def __init__(self, gate):
        super().__init__()
        self.gate = gate

    def forward(self, x, *, cache=None):
        return self.gate(x)


class Lonely(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.norm = nn.LayerNorm(config.width)

    def forward(self, x):
        return self.norm(x)


class Model(nn.Module):
    config_class = BaseConfig
    main_input_name = "input_ids"

    def __init__(self, config):
        super().__init__()
        self.embed = nn.Embedding(config.vocab_size, config.width)
        self.layers = nn.ModuleList([Layer(gate=Gate(config)) for _ in range(config.num_layers)])
        self.never = Lonely(config)

    def forward(self, input_ids):
        x = self.embed(input_ids)
        for layer in self.layers:
            x = layer(x, cache=None)[..., : self.embed.weight.shape[1]]
        return x
"""
FILES = {"toy/__init__.py": "", "toy/base.py": CONFIG, "toy/model.py": MODEL}
SIZED = "toy/model.py"


def observed(files: dict[str, str], wanted: dict[str, set[str]], scratch: Path) -> Any:
    warm()
    return observe(files, wanted, scratch).seen


def test_models_of_small_configurations_tell_arguments_and_shapes_of_their_blocks(tmp_path: Path) -> None:
    seen = observed(FILES, {SIZED: {"Gate", "Layer", "Lonely", "Model"}}, tmp_path)[SIZED]
    gate = decoded([seen["Gate"]["arguments"], seen["Gate"]["specs"]])
    assert gate.specs == (Tensor((2, 16, 64)),)
    assert gate.arguments == {"config": "SimpleNamespace(doubled=128, num_layers=2, vocab_size=256, width=64)"}
    assert seen["Model"]["specs"][0][:3] == ["tensor", [2, 16], "int"]


def test_modules_among_arguments_are_made_of_definitions_that_are_named_by_file(tmp_path: Path) -> None:
    layer = observed(FILES, {SIZED: {"Layer"}}, tmp_path)[SIZED]["Layer"]
    (placeholder,) = layer["needs"]
    assert layer["needs"] == {placeholder: [SIZED, "Gate"]}
    assert layer["arguments"]["gate"].startswith(f"{placeholder}(SimpleNamespace(")


def test_what_is_made_and_never_called_tells_its_arguments(tmp_path: Path) -> None:
    lonely = observed(FILES, {SIZED: {"Lonely"}}, tmp_path)[SIZED]["Lonely"]
    assert lonely["specs"] is None and "width=64" in lonely["arguments"]["config"]


def test_a_class_seen_at_work_becomes_a_task_with_its_true_shapes(tmp_path: Path) -> None:
    warm()
    payload = {"files": FILES, "replacements": replacements(), "cut_points": cutpoints.texts(), "part": 0, "parts": 1,
               "seed": 0, "enough": 1 << 30}  # fmt: skip
    cuts = {c["symbol"]: c for c in cut_package(payload, tmp_path)["cuts"]}
    made = attempt_one(cuts["Gate"], 60, tmp_path)
    assert made["reason"] == "", made
    assert "unused" not in made["source"] and "doubled=" in made["source"]
    assert "width = 64" in made["source"] and "width=width" in made["source"]
    assert [i["shape"] for i in made["inputs"]] == [[2, 16, 64]]
    blind = cuts["Gate"] | {"told": {"sites": [], "defaults": {}, "users": []}}
    searched = attempt_one(blind, 60, tmp_path)
    assert searched["reason"] or [i["shape"] for i in searched["inputs"]] != [[2, 16, 64]]


def test_a_package_is_captured_inside_the_sandbox() -> None:
    files = [source_file(Origin("local", "toy", "1", path), text.encode()) for path, text in FILES.items()]
    cuts = mine.cut_step().function([f for f in files if isinstance(f, SourceFile)])
    told = {d.symbol: json.loads(d.told)["seen"] for d in cuts if isinstance(d, Definition)}
    assert told["Gate"]["specs"] == [["tensor", [2, 16, 64], "float", 0]]


def test_what_torch_itself_lacks_is_stood_in_for_as_a_new_one(tmp_path: Path) -> None:
    logs = "from abc import ABC\nfrom torch.utils.tensorboard import SummaryWriter\n\n\nclass Log(SummaryWriter, ABC):\n    pass\n"
    small = "from torch import nn\nfrom .log import Log\n\n\nclass Small(nn.Module):\n    def forward(self, x):\n        return x.exp()\n"
    files = {"p/__init__.py": "", "p/log.py": logs, "p/small.py": small}
    assert observed(files, {"p/small.py": {"Small"}}, tmp_path)["p/small.py"]["Small"]["specs"]


def test_a_file_that_takes_all_memory_or_ends_the_process_harms_no_other(tmp_path: Path) -> None:
    head = "import torch\nfrom torch import nn\n\n\n"
    huge = head + (
        "class Huge(nn.Module):\n    def __init__(self):\n        super().__init__()\n        import os\n        x = torch.ones(1 << 31)\n        os._exit(3)\n    def forward(self, x):\n        return x\n"
    )
    small = head + "class Small(nn.Module):\n    def forward(self, x):\n        return x.exp()\n"
    gone = head + "import os\nos._exit(3)\n"
    files = {"p/__init__.py": "", "p/a_gone.py": gone, "p/b_huge.py": huge, "p/c_small.py": small}
    wanted = {"p/a_gone.py": {"X"}, "p/b_huge.py": {"Huge"}, "p/c_small.py": {"Small"}}
    assert set(observed(files, wanted, tmp_path)) == {"p/c_small.py"}


def test_a_package_that_sleeps_at_import_is_left_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sources.watch.capture_package.UNIT_SECONDS", 1)
    monkeypatch.setattr("sources.watch.capture_package.LOAD_SECONDS", 1)
    monkeypatch.setattr(isolated, "__defaults__", (None, 1))  # memory, and how much longer it takes on the clock
    asleep = {f"p/{name}.py": "import time\ntime.sleep(60)\n" for name in "abcd"}
    observed = observe({"p/__init__.py": "", **asleep}, {path: {"X"} for path in asleep}, tmp_path)
    assert observed.seen == {} and observed.lost == {"timeout": 3}
    assert observed.failure.startswith("timeout of 3 files in a row")


INSTALLER = """
import subprocess
import sys
import time

PIP = [sys.executable, "-m", "pip"]
begun = time.monotonic()
done = subprocess.run([*PIP, "install", "x"], capture_output=True)
told = subprocess.run([*PIP, "config", "list"], capture_output=True, text=True).stdout
WIDTH = 24 if done.returncode and "no-index" in told and time.monotonic() - begun < 30 else 40
"""
INSTALLED = """
from torch import nn

from . import WIDTH


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.up = nn.Linear(width, width)

    def forward(self, x):
        return self.up(x).relu()


def net():
    return Net(WIDTH)
"""


def test_a_package_that_installs_others_at_import_installs_nothing_and_waits_for_no_network() -> None:
    pytest.importorskip("pip")
    texts = {"lib/__init__.py": INSTALLER, "lib/nets.py": INSTALLED}
    files = [SourceFile(Origin("local", "lib", "1", path, ("MIT",)), text) for path, text in texts.items()]
    (found,) = mine.cut_step().function(files)
    assert isinstance(found, Definition)
    assert json.loads(found.told)["seen"]["arguments"] == {"width": "24"}


def test_a_package_that_cannot_be_laid_out_is_cut_and_counted() -> None:
    texts = FILES | {"toy/model.py/more.py": "x = 1\n"}  # a file in the place of a folder
    files = [source_file(Origin("local", "toy", "1", path), text.encode()) for path, text in texts.items()]
    outcomes = list(mine.cut_step().function([f for f in files if isinstance(f, SourceFile)]))
    assert {o.symbol for o in outcomes if isinstance(o, Definition)} >= {"Gate", "Layer", "Lonely", "Model"}
    assert [(o.reason, o.name) for o in outcomes if isinstance(o, Dropped)] == [(mine.NOT_CAPTURED, "toy:")]


def test_absent_packages_are_stood_in_for_and_installed_ones_that_are_not_common_are_absent(tmp_path: Path) -> None:
    text = (
        "import moto\nfrom nowhere import Base, deco, CONSTANT\nfrom nowhere.deep import other\n\n\n"
        "@deco\nclass Thing(Base):\n    x: other.Hint = CONSTANT\n\n\n"
        "@deco(name='f')\ndef f():\n    return 3\n\n\nclass Own:\n    pass\n"
    )

    def job() -> dict[str, Any]:
        for name in [n for n in sys.modules if n.partition(".")[0] == "moto"]:  # other tests import it, no worker does
            del sys.modules[name]
        site = Site({"pkg/__init__.py": "", "pkg/mod.py": text}, tmp_path)
        module = site.load("pkg/mod.py")
        return {"reason": "", "detail": [module.f(), module.Thing.__name__, hasattr(module.moto, "nothing_like_it"),
                                         site.path_of(module.Own)]}  # fmt: skip

    assert isolated(job, 10)["detail"] == [3, "Thing", True, "pkg/mod.py"]


HEAVY = "class PreTrainedModel:\n    def __init__(self, config):\n        raise SystemExit\n"
FRAMED = """
import torch
from torch import nn
from ...modeling_utils import PreTrainedModel
from ...utils import auto_docstring, helper


class Cache:
    own = 7


@auto_docstring(checkpoint="x")
class Block(PreTrainedModel):
    def forward(self, x):
        return helper(x) * Cache.own
"""
FRAMEWORK = {
    "transformers/__init__.py": "", "transformers/modeling_utils.py": HEAVY, "transformers/models/__init__.py": "",
    "transformers/utils.py": "auto_docstring = print\n\n\ndef helper(x):\n    return x.exp()\n",
    "transformers/models/toy/__init__.py": "", "transformers/models/toy/modeling_toy.py": FRAMED,
}  # fmt: skip


NET = """
from torch import nn


class Net(nn.Linear):
    def __init__(self, width=8):
        super().__init__(width, 3)
"""
REGISTERS = """
import torch

KEPT = getattr(torch, "_kept_by_a_test", {})
torch._kept_by_a_test = KEPT
"""


def test_a_package_that_lacks_others_after_its_own_submodules_were_imported_is_imported(tmp_path: Path) -> None:
    files = {
        "half/__init__.py": "import half.own\nimport absent_one\nimport half.more\n",
        "half/own.py": "import half.more\nwidth = half.more.width\n",
        "half/more.py": "width = 8\n",
        "half/net.py": "import absent_two\nimport half.own\nassert half.own.width == 8\n" + NET,
    }
    assert observed(files, {"half/net.py": {"Net"}}, tmp_path)["half/net.py"]["Net"]["specs"]


def test_examples_in_docstrings_are_followed_but_for_what_fails_and_what_fetches(tmp_path: Path) -> None:
    layer = (
        'from torch import nn\n\n\nclass {name}(nn.Module):\n    """Does it.\n\n    Example\n    -------\n'
        "    >>> plot(1)\n    >>> inputs = torch.rand(3, 5, 7)\n    >>> net = {name}(  # doctest: +SKIP\n"
        '    ...     [7, 2]{more})\n    >>> out = net(inputs)\n    >>> out.shape\n    torch.Size([3, 5, 2])\n    """\n\n'
        "    def __init__(self, sizes, **more):\n        super().__init__()\n        assert isinstance(sizes, list)\n"
        "        self.layer = nn.Linear(*sizes)\n\n    def forward(self, x):\n        return self.layer(x)\n"
    )
    files = {"said/__init__.py": "", "said/one.py": layer.format(name="One", more=""),
             "said/two.py": layer.format(name="Two", more=", pretrained=True")}  # fmt: skip
    seen = observed(files, {"said/one.py": {"One"}, "said/two.py": {"Two"}}, tmp_path)
    one = decoded([seen["said/one.py"]["One"]["arguments"], seen["said/one.py"]["One"]["specs"]])
    assert one.arguments == {"sizes": "[7, 2]"}
    assert [spec.shape for spec in one.specs if isinstance(spec, Tensor)] == [(3, 5, 7)]
    assert "said/two.py" not in seen


def test_what_an_example_draws_is_the_same_each_time(tmp_path: Path) -> None:
    net = (
        'from torch import nn\n\n\nclass Net(nn.Module):\n    """Looks up.\n\n    >>> import random\n'
        "    >>> Net(random.randrange(1000, 9999))(torch.randint(1000, (2,)))\n"
        '    """\n\n    def __init__(self, many):\n        super().__init__()\n'
        "        self.table = nn.Embedding(many, 2)\n\n    def forward(self, x):\n        return self.table(x)\n"
    )
    first, second = (
        observed({f"{name}/__init__.py": "", f"{name}/net.py": net}, {f"{name}/net.py": {"Net"}}, tmp_path / name)
        for name in "ab"
    )
    assert first["a/net.py"]["Net"]["arguments"]["many"].isdigit()
    assert first["a/net.py"] == second["b/net.py"]


def test_a_class_that_was_seen_with_what_makes_no_task_is_searched_like_any_other(tmp_path: Path) -> None:
    warm()
    text = ("import random\nimport torch\nfrom torch import nn\n\n\nclass Noisy(nn.Module):\n    def __init__(self, p=0.0):\n"
            "        super().__init__()\n        self.p = p\n\n    def forward(self, x):\n"
            "        return x.exp() * random.random() if self.p else x.exp()\n")  # fmt: skip
    seen = {"arguments": {"p": "1.0"}, "specs": encoded(Solution({}, (Tensor((2, 3)),)))[1]}
    told: dict[str, Any] = {"sites": [], "defaults": {}, "seen": seen}
    cut = {"source": text, "name": "Noisy", "lacks": [], "told": told}
    assert attempt_one(cut, mine.LARGE, tmp_path)["reason"] == ""
    assert attempt_one(cut | {"teachers": []}, mine.LARGE, tmp_path)["reason"] == "nondeterministic"


def test_what_registers_itself_at_import_is_imported_once(tmp_path: Path) -> None:
    once = REGISTERS + "assert not KEPT, 'registered already'\nKEPT[__name__] = 1\n"
    files = {"once/__init__.py": "import once.registered\nimport absent_one\nimport absent_two\n",
             "once/registered.py": once, "once/net.py": NET}  # fmt: skip
    assert observed(files, {"once/net.py": {"Net"}}, tmp_path)["once/net.py"]["Net"]["specs"]


def test_a_package_reads_its_version_from_a_file_that_is_no_code(tmp_path: Path) -> None:
    said = "import os\nwith open(os.path.join(os.path.dirname(__file__), '{}')) as f:\n    __version__ = f.read()\n"
    for name, there in (("version.txt", True), ("weights.bin", False)):
        files = {f"{name[:4]}/__init__.py": said.format(name), f"{name[:4]}/net.py": NET}
        seen = observed(files, {f"{name[:4]}/net.py": {"Net"}}, tmp_path / name)
        assert bool(seen) == there


def test_cut_points_stand_for_a_frameworks_core_and_not_for_its_models() -> None:
    known = cutpoints.texts()
    assert framework(FRAMEWORK, known) == "transformers"
    assert framework({"src/" + p: t for p, t in FRAMEWORK.items()}, known) == "transformers"
    assert framework(FILES, known) == ""
    package = Framework("transformers", known["transformers"], FRAMEWORK, replacements(), {})
    model = "transformers/models/toy/modeling_toy.py"
    assert package.lookup(model, "PreTrainedModel") == Here(f"{FOLDER}transformers.py", "PreTrainedModel")
    assert package.lookup(model, "Cache") == Here(model, "Cache")
    source = cut(Slicer(package), model, "Block").source
    assert "SystemExit" not in source and "auto_docstring" not in source and "x.exp()" in source
    space: dict[str, Any] = {}
    exec(source, space)
    import torch

    assert torch.equal(space["Block"]()(torch.zeros(2)), torch.full((2,), 7.0))


@pytest.mark.parametrize("name", sorted(cutpoints.texts()))
def test_every_cut_point_is_a_program_with_what_it_adds_to(name: str) -> None:
    exec(replacements().get(name, "") + "\n" + cutpoints.texts()[name], {"__name__": "cut_point"})


def test_cut_points_of_transformers_make_parts_of_configurations_and_keep_plain_defaults() -> None:
    space: dict[str, Any] = {"__name__": "cut_point"}
    exec(replacements()["transformers"] + "\n" + cutpoints.texts()["transformers"], space)
    assert space["PreTrainedModel"]._from_config("config", dtype="auto").config == "config"
    assert space["interval"](min=0.0, max=1.0)(default=0.02) == 0.02
    assert space["activation_fn_key"](default="gelu") == "gelu"
    assert not space["flash_attn_supports_top_left_mask"]()


def test_an_example_shows_how_a_class_makes_itself_of_records_though_it_fetches_weights(tmp_path: Path) -> None:
    text = (
        "import collections\nimport torch\nfrom torch import nn\nfrom torch.utils import model_zoo\n\n\n"
        "Part = collections.namedtuple('Part', ['width', 'kernel_size'])\n\n\n"
        "class Net(nn.Module):\n"
        '    """A net.\n\n    >>> net = Net.from_pretrained(\'small\')\n    >>> far = Net.fetched(\'https://a.b/c.pth\')\n    """\n\n'
        "    def __init__(self, parts=None, bias=None):\n        super().__init__()\n"
        "        self.convs = nn.Sequential(*(nn.Conv2d(p.width, p.width, p.kernel_size, bias=bias) for p in parts))\n\n"
        "    @classmethod\n    def from_pretrained(cls, name):\n"
        "        net = cls([Part({'small': 5}[name], 3)], bias=False)\n"
        "        net.load_state_dict(model_zoo.load_url('https://a.b/c.pth'))\n        return net\n\n"
        "    def forward(self, x):\n        return self.convs(x)\n"
    )
    files = {"net/__init__.py": "", "net/net.py": text}
    net = observed(files, {"net/net.py": {"Net"}}, tmp_path)["net/net.py"]["Net"]
    (part,) = (name for name, target in net["needs"].items() if target == ["net/net.py", "Part"])
    assert net["arguments"] == {"parts": f"[{part}(width=5, kernel_size=3)]", "bias": "False"}
