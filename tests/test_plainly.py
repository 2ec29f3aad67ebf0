"""Calls in whose place a task says what they come to, and what of a program stands elsewhere."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from sources.text.plainly import HELD_AS, with_errors, with_held, without_compiling
from tests.attempts import attempted, cut_and_attempted
from tests.cuts import HEAD, cut

NET = "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"


def test_what_is_compiled_is_as_it_is() -> None:
    text = "def make(f):\n    g = torch.jit.script(torch.compile(f.cuda(), fullgraph=True))\n    return compile(g), torch.compile\n"
    plain = without_compiling(text, ast.parse(text))
    assert ast.unparse(ast.parse(plain)) == ast.unparse(
        ast.parse("def make(f):\n    g = f.cuda()\n    return compile(g), torch.compile\n")
    )


def test_what_ends_a_program_as_it_was_given_something_wrong_is_an_error() -> None:
    text = "def make(kind):\n    if kind:\n        sys.exit('no kind')\n    exit()\n\n\nexit()\n"
    plain = with_errors(text, ast.parse(text))
    assert "        raise RuntimeError('no kind')\n    raise RuntimeError()\n\n\nexit()" in plain
    whole = "def main():\n    sys.exit(run())\n"
    assert with_errors(whole, ast.parse(whole)) == whole


def test_a_word_for_which_a_constructor_does_not_exit_is_found(tmp_path: Path) -> None:
    text = """
class Net(nn.Module):
    def __init__(self, kind):
        super().__init__()
        if kind == "wide":
            self.layer = nn.Linear(64, 128)
        elif kind == "narrow":
            self.layer = nn.Linear(64, 32)
        else:
            print("unknown")
            exit()

    def forward(self, x):
        return self.layer(x).tanh()
"""
    assert "wide" in cut_and_attempted(HEAD + text, "Net", tmp_path)["source"]


@pytest.mark.parametrize("said", ["getattr(torchvision.models, arch)", "torchvision.models.__dict__[arch]"])
def test_networks_are_taken_out_of_a_package_by_computed_names(said: str) -> None:
    text = f"""'''Networks.'''
from __future__ import annotations

{HEAD}import torchvision


class Net(nn.Module):
    def __init__(self, arch: str = "resnet18"):
        super().__init__()
        self.body = {said}(pretrained=True)

    def forward(self, x):
        return self.body(x).softmax(-1)
"""
    plain = with_held(text, ast.parse(text))
    assert f"import torchvision.models as {HELD_AS}\nimport torch\n" in plain and "torchvision.models." not in plain
    taken = cut({"net.py": text}, "net.py", "Net")
    assert "def resnet18" in taken and "def vgg16" not in taken


def test_what_was_compiled_in_a_package_is_plain_torch() -> None:
    texts = {
        "net/__init__.py": "",
        "net/layers/pool.py": f"{HEAD}from net import _C\n\n\nclass Pool(nn.Module):\n    def forward(self, x, boxes):\n"
        "        return _C.roi_align_forward(x, boxes, 0.5, 7, 7, 2)\n",
    }
    assert "def roi_align_forward(" in cut(texts, "net/layers/pool.py", "Pool")


def test_sides_that_a_module_is_given_before_it_is_called_are_inputs(tmp_path: Path) -> None:
    """A product of them is how long its sequence is."""
    text = f"""{NET}        self.norm = nn.LayerNorm(64)
        self.H = None
        self.W = None

    def forward(self, x):
        B, L, C = x.shape
        H, W = self.H, self.W
        assert L == H * W, "input feature has wrong size"
        return torch.roll(self.norm(x).view(B, H, W, C), 1, dims=1).flatten(1, 2) + x
"""
    assert attempted(text, tmp_path)["reason"] == ""


def test_a_script_that_says_a_word_that_python_took_since_tells_its_settings(tmp_path: Path) -> None:
    """What it sets of a network, ``model.rate``, is in its class."""
    network = f"""{NET}        self.layer = nn.Linear(64, 64)

    def forward(self, x):
        return self.layer(x) * self.rate
"""
    script = """
import argparse

parser = argparse.ArgumentParser()
parser.add_argument("--rate", type=float, default=0.25)
args = parser.parse_args()


def train(model, batches):
    model.rate = args.rate
    for batch in batches:
        model(batch.cuda(async=True), async = False)
"""
    outcome = cut_and_attempted(HEAD + network + script, "Net", tmp_path)
    assert outcome["reason"] == "" and "rate = 0.25" in outcome["source"]
