"""What a module is given before it is called, and other things that its text says of its user: settings, methods."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
import torch
from torch import nn

from sources import probe
from sources.cut.slicer import Slicer
from sources.cut.writer import cut as write_cut
from sources.hints.demands import demands
from sources.hints.hints import Hints
from sources.infer.constructor import configs
from sources.infer.constructor.configs import CONFIG, Config
from sources.infer.constructor.counted import in_lists
from sources.infer.forward.failure import Failure
from sources.infer.forward.input_guesses import guesses
from sources.infer.forward.repairs import repairs
from sources.infer.inputs import Many, Tensor
from sources.infer.running.progress import Budget, constructing
from sources.infer.running.repeated import REPEATED
from sources.mine import replacements
from sources.text.danger import harmful, touches_system
from sources.text.documents import sections
from sources.text.set_before import NOTE, given_before
from sources.text.symbols import Package
from sources.text.targets import Here
from tests.attempts import attempted
from tests.cuts import HEAD, cut

NEAREST = f"""{HEAD}

class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.prototypes = torch.tensor(())
        self.scale = None
        self.scale = nn.Parameter(torch.ones(64))
        self.shift = None

    def scores(self, x):
        return -torch.cdist(x * self.scale, self.prototypes)


class Nearest(Classifier):
    def forward(self, queries, soft: bool = False):
        '''Scores of queries.'''
        if self.shift is not None:
            queries = queries + self.shift
        return self.scores(queries).softmax(-1)
"""


def test_what_a_module_is_given_before_it_is_called_is_an_input() -> None:
    """Not what a constructor fills itself, nor what forward does without."""
    whole = given_before(NEAREST, "Nearest")
    assert "def forward(self, queries, prototypes, soft: bool = False):" in whole
    assert "self.prototypes = prototypes\n        if self.shift" in whole
    assert "shift = shift" not in whole and "scale = scale" not in whole
    assert given_before(whole.replace("torch.tensor(())", "torch.ones(2, 64)"), "Nearest").count("prototypes)") == 1


@pytest.mark.parametrize(("old", "new"), [("queries,", "prototypes,"), ("self.prototypes)", "self.scale)")])
def test_a_class_stays_as_it_is_where_nothing_is_to_be_given(old: str, new: str) -> None:
    text = NEAREST.replace(old, new)
    assert given_before(text, "Nearest") == text


def test_a_classifier_takes_its_prototypes(tmp_path: Path) -> None:
    outcome = attempted(NEAREST.removeprefix(HEAD).replace("Nearest", "Net"), tmp_path)
    assert outcome["reason"] == "" and NOTE in outcome["source"]
    assert [i["name"] for i in outcome["inputs"]] == ["queries", "prototypes"]


def test_definitions_of_a_text_are_not_those_of_python() -> None:
    own = "def compile(module, deep=True):\n    return [compile(m) for m in module] if deep else module\n"
    assert touches_system(own) == harmful(ast.parse(own).body[0]) == ""
    assert touches_system(own.replace("def compile", "def other")) == "compile"


def test_a_global_that_a_function_sets_decides_nothing() -> None:
    text = f"""{HEAD}
fused = False


def enable():
    global fused
    fused = True


def norm(width):
    if fused:
        return nn.SyncBatchNorm(width)
    return nn.BatchNorm2d(width)


class Net(nn.Module):
    def __init__(self, fuse=True):
        super().__init__()
        if fuse:
            enable()
        self.norm = norm(8)

    def forward(self, x):
        return self.norm(x)
"""
    assert "SyncBatchNorm" in cut({"net.py": text}, "net.py", "Net")
    assert "SyncBatchNorm" not in cut({"net.py": text.replace("global fused", "pass")}, "net.py", "Net")


def test_all_documents_of_a_configuration_are_parts_of_it() -> None:
    told = sections("audio:\n  n_fft: 1200\n  bins: 601\n---\nmodel:\n  width: 400\n")
    assert (("n_fft", "1200"), ("bins", "601")) in told and (("width", "400"),) in told
    assert sections("- a\n---\nwidth: 3\ndepth: 4\n") == [(("width", "3"), ("depth", "4"))]


def test_checks_of_what_is_computed_say_which_value_would_do(tmp_path: Path) -> None:
    """Of settings, too, that a configuration was asked for."""
    text = "def build(cfg, classes, patch=4):\n    assert cfg.n_fft // 2 + 1 == cfg.bins\n    assert classes == 3 * patch ** 2\n"
    file = tmp_path / "program.py"
    file.write_text(text)
    names: dict[str, object] = {}
    exec(compile(text, str(file), "exec"), names)
    found = []
    for bins in ("64", "33"):
        cfg = Config("cfg", {"cfg": CONFIG, "cfg.n_fft": "64", "cfg.bins": bins}, {}, {})
        with pytest.raises(AssertionError) as caught:
            names["build"](cfg, 10)  # type: ignore[operator]
        found.append({d.name: d.wanted for d in demands(caught.value, ast.parse(text), str(file))})
    assert found[0]["bins"] == ("33",) and found[1]["classes"] == ("48",)


def test_settings_that_are_kept_by_another_name_may_be_mappings() -> None:
    source = "self.net = cfg.TRUNK.NET\nself.trained = self.net.get('TRAINED', False)\n"
    fields = {"cfg": CONFIG, "cfg.NET": CONFIG, "cfg.NET.WIDTH": "8"}
    assert configs.text("cfg", fields, source) == "SimpleNamespace(NET=Configuration(WIDTH=8))"
    assert configs.text("cfg", fields, "", mapping=True) == "Configuration(NET=Configuration(WIDTH=8))"
    assert configs.OF_RECORDS.search("AttributeError: 'types.SimpleNamespace' object has no attribute 'get'")


class Attending(nn.Module):
    """Says of its inputs what the method says that takes them."""

    def __init__(self) -> None:
        super().__init__()
        self.line = nn.Linear(16, 16)

    def energies(self, query: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
        """Scores.

        query: what is looked for (batch, 16)
        weights: of before (B, 2, length)
        """
        return self.line(query)[:, None] * weights.sum(1)[..., None]

    def forward(self, asked: torch.Tensor, past: torch.Tensor) -> torch.Tensor:
        return self.energies(asked, weights=past).softmax(1)


def test_a_method_tells_the_shapes_of_what_it_is_handed() -> None:
    first, second = guesses(Attending())
    assert first[0] == Tensor((4, 16))
    assert isinstance(second[0], Tensor) and second[0].shape[:2] == (4, 2) and len(second[0].shape) == 3


def test_frames_are_so_many_that_a_table_of_positions_fits() -> None:
    message = "The size of tensor a (784) must match the size of tensor b (1568) at non-singleton dimension 1"
    video = Tensor((1, 3, 8, 224, 224))
    found = [specs for _, specs in repairs(Failure((video,), message, nn.Identity(), "add"))]
    assert (video.resized(2, 16),) in found


def test_labels_are_below_the_number_of_classes() -> None:
    message = "RuntimeError: Class values must be smaller than num_classes."
    found = [s[0] for _, s in repairs(Failure((Tensor((4,), "int", 16),), message, nn.Identity(), "one_hot"))]
    assert Tensor((4,), "int", 4) in found


def test_layers_that_processes_share_are_whole_in_one(tmp_path: Path) -> None:
    text = f"""{HEAD}from fairscale.nn.model_parallel.layers import ColumnParallelLinear, ParallelEmbedding, RowParallelLinear
from fairscale.nn.checkpoint import checkpoint_wrapper


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = ParallelEmbedding(100, 16, init_method=lambda x: x)
        self.up = checkpoint_wrapper(ColumnParallelLinear(16, 32, bias=False, gather_output=False))
        self.down = RowParallelLinear(32, 16, bias=False, input_is_parallel=True)

    def forward(self, x):
        return self.down(torch.relu(self.up(self.words(x))))
"""
    source = write_cut(Slicer(Package({"net.py": text}, replacements())), "net.py", "Net").source
    namespace = probe.load(source, tmp_path)
    assert namespace["Net"]()(torch.zeros(2, 3, dtype=torch.int64)).shape == (2, 3, 16)


def test_hyperparameters_of_tensorflow_are_settings() -> None:
    text = (
        "import tensorflow as tf\n\n\ndef make():\n    return tf.contrib.training.HParams(frames_per_step=1, depth=3)\n"
    )
    assert Hints(Package({"a.py": text})).defaults(["frames_per_step"]) == {"frames_per_step": "1"}


def test_keys_of_a_mapping_are_as_many_as_are_taken() -> None:
    """``list(maps.values())`` of a pyramid is asked for a third map."""
    two = Many((Tensor((4, 8, 32, 32)),) * 2, "dict", ("first", "second"))
    found = [s for _, s in repairs(Failure((two,), "IndexError: list index out of range", nn.Identity(), "conv2d"))]
    assert (Many((Tensor((4, 8, 32, 32)),) * 3, "dict", ("first", "second", "third")),) in found


def test_a_tuple_is_given_where_one_is_added() -> None:
    message = 'TypeError: can only concatenate list (not "tuple") to list'
    assert in_lists("[32, 64]", message) == ["(32, 64,)"]
    assert in_lists("[nn.Identity() for _ in range(2)]", message) == in_lists("64", message) == []


class Derivative(nn.Module):
    """Of a state at a time, as solvers ask for it."""

    def __init__(self) -> None:
        super().__init__()
        self.line = nn.Linear(9, 8)

    def forward(self, t: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = self.line(torch.cat([x, torch.ones_like(x[:, :1]) * t], 1))
        return y


def test_a_time_before_a_state_is_one_number() -> None:
    time, _ = guesses(Derivative())
    assert time[0] == Tensor((), "unit")


def test_a_copy_of_a_package_is_served_by_our_text_of_it() -> None:
    """Not the package itself, nor what our text does not define."""
    own = "CONV_LAYERS = dict(a=1)\n\n\ndef build_conv_layer(cfg):\n    return CONV_LAYERS[cfg]\n\n\ndef ours():\n    pass\n"
    package = {"mmcv/__init__.py": "", "mmcv/cnn/__init__.py": "from .bricks import build_conv_layer, ours\n",
               "mmcv/cnn/bricks.py": own, "net.py": "from third.mmcv.cnn import build_conv_layer, ours\n"}  # fmt: skip
    nested = {p if p == "net.py" else f"third/{p}": t for p, t in package.items()} | {"third/__init__.py": ""}
    found = Package(nested, replacements())
    assert found.lookup("net.py", "build_conv_layer") == Here("mmcv.py", "build_conv_layer")
    assert found.lookup("net.py", "ours") == Here("third/mmcv/cnn/bricks.py", "ours")
    itself = package | {"net.py": "from mmcv.cnn import build_conv_layer\n"}
    assert Package(itself, replacements()).lookup("net.py", "build_conv_layer").file == "mmcv/cnn/bricks.py"  # type: ignore[union-attr]


def test_a_branch_for_another_version_defines_nothing() -> None:
    text = "import torch\n\nif torch.__version__ != 'parrots':\n    def load(x):\n        return x.exp()\nelse:\n    def load(x):\n        return x.other()\n"
    net = f"{HEAD}from ext import load\n\n\nclass Net(nn.Module):\n    def forward(self, x):\n        return load(x)\n"
    assert "x.exp()" in cut({"ext.py": text, "net.py": net}, "net.py", "Net")
    assert "x.other()" in cut({"ext.py": text.replace("!=", "=="), "net.py": net}, "net.py", "Net")


def test_weights_that_are_made_of_random_numbers_repeat_while_a_search_lasts() -> None:
    with constructing(Budget()):
        weights, few = torch.randn(512, 512), torch.rand(4, 4)
    assert torch.equal(weights.view(-1)[:1000], weights.view(-1)[REPEATED : REPEATED + 1000])
    assert abs(float(weights.mean())) < 0.1 and few.unique().numel() == 16
