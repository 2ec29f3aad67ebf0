"""Environment variables that a package sets and reads."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from sources.text.environment import said_in
from tests.cuts import HEAD, cut

NET = HEAD + (
    "import os\nSIZE = int(os.environ['HEAD_SIZE'])\n\n\nclass Net(nn.Module):\n    def forward(self, x):\n"
    "        return x * SIZE if os.environ['MODE'] == 'wide' else x\n"
)


@pytest.mark.parametrize("said", ["'3'", "str(3)", "str(args.size)", "args.size"])
def test_what_a_script_sets_before_it_imports_a_module_is_known_in_the_module(said: str) -> None:
    script = (
        "import os\nfrom argparse import ArgumentParser\n\nparser = ArgumentParser()\n"
        'parser.add_argument("--size", type=int, default=3, help="of a head")\nargs = parser.parse_args()\n'
        f"os.environ['HEAD_SIZE'] = {said}\nos.environ[\"MODE\"] = 'wide'  # or 'narrow'\nimport net\n"
    )
    namespace: dict[str, Any] = {}
    exec(cut({"net.py": NET, "train.py": script}, "net.py", "Net"), namespace)
    assert namespace["Net"]()(torch.ones(1)) == 3


def test_what_is_computed_is_not_known_and_the_first_plain_value_counts() -> None:
    text = (
        'os.environ["A"] = find()\nos.environ["A"] = "1"\nos.environ["A"] = "2"\nif os.environ["B"] == "1":\n    pass\n'
    )
    assert said_in([text, 'os.environ["C"] = str(other.size)\n']) == {"A": "'1'"}
