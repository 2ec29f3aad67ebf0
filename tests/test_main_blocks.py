"""What a cut holds of a script: values of its main block, arguments that it parses, inputs by name, no debugger."""

from __future__ import annotations

import ast
from typing import Any

import torch

from sources.cut.slicer import Slicer
from sources.cut.writer import cut as write_cut
from sources.text.bindings import parse
from sources.text.symbols import Package
from sources.watch.capture import specs_of

HEAD = "import torch\nimport torch.nn as nn\n\n"
NET = (
    "class Net(nn.Module):\n"
    "    def __init__(self):\n        super().__init__()\n        self.table = nn.Embedding(vocabulary, width)\n\n"
    "    def forward(self, x):\n        return self.table(x)\n\n"
)


def executed(text: str) -> dict[str, Any]:
    """The namespace of the cut of a script's ``Net``."""
    namespace: dict[str, Any] = {}
    source = write_cut(Slicer(Package({"tutorial.py": text})), "tutorial.py", "Net").source
    exec(compile(source, "cut", "exec"), namespace)
    return namespace


def test_values_of_a_main_block_come_with_what_reads_them() -> None:
    main = (
        "if __name__ == '__main__':\n    width = 2  # of a word\n    words = {'[PAD]': 0}\n"
        "    for i, w in enumerate('a b c'.split()):\n        words[w] = i + 1\n"
        "    vocabulary = len(words)\n    net = Net()\n    for epoch in range(9):\n        print(net)\n"
    )
    found = executed(HEAD + NET + main)
    assert found["Net"]().table.weight.shape == (4, 2)
    assert "epoch" not in found
    assert "net" not in found


def test_what_the_top_level_binds_is_not_what_the_main_block_says() -> None:
    text = HEAD + "width, vocabulary = 8, 3\n\n" + NET + "if __name__ == '__main__':\n    width = 2\n    Net()\n"
    assert executed(text)["Net"]().table.weight.shape == (3, 8)


def test_a_table_is_filled_by_loops_that_do_no_more_and_touch_nothing() -> None:
    fill = "for word in ['a', 'b']:\n    if word not in words:\n        words[word] = len(words)\n"
    reads = "for name in open('words.txt'):\n    words[name] = 9\n"
    also = "for name in 'cd':\n    words[name] = 9\n    torch.manual_seed(9)\n"
    text = HEAD + "width, words = 2, {}\n" + fill + reads + also + NET.replace("vocabulary", "len(words)")
    assert executed(text)["words"] == {"a": 0, "b": 1}


def test_inputs_by_name_only_are_inputs_by_position() -> None:
    text = (
        HEAD + "class Net(nn.Module):\n    def forward(\n        self,\n        x: int,  # of *, and\n        *,\n"
        "        scale: float,\n        mask=None,\n        shift,\n    ):\n        return x\n\n"
        "    def other(self, *, x):\n        return x\n\n\n"
        "class Some(nn.Module):\n    def forward(self, *x, scale):\n        return x\n"
    )
    tree = parse("net.py", text, lambda _: False).tree
    said = [ast.unparse(n.args) for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)]
    assert said == ["self, x: int, scale: float, mask=None, shift=None", "self, *, x", "self, *x, scale"]


def test_inputs_that_were_seen_by_name_are_told_by_position() -> None:
    class Net(torch.nn.Module):
        def forward(self, x: Any, more: Any = None, *, scale: Any, shift: Any = None) -> Any:
            return x

    specs = specs_of(Net(), (torch.ones(2),), {"scale": torch.ones(3)})
    assert [getattr(s, "shape", None) for s in specs] == [(2,), None, (3,)]


def test_a_main_block_has_the_defaults_of_its_arguments() -> None:
    net = (
        "class Net(nn.Module):\n    def forward(self, x):\n        return x.to(device) * args.scale\n\n\n"
        "if __name__ == '__main__':\n    import argparse\n    parser = argparse.ArgumentParser()\n"
        "    parser.add_argument('--scale', type=float, default=3.0)\n    args = parser.parse_args()\n"
        "    if args.scale > 9:\n        device = torch.device('cuda')\n    else:\n        device = torch.device('cpu')\n"
    )
    assert executed(HEAD + net)["Net"]()(torch.ones(1)).tolist() == [3.0]


def test_a_task_stops_for_no_debugger() -> None:
    text = HEAD + "import pdb\n\n\nclass Net(nn.Module):\n    def forward(self, x):\n        pdb.set_trace()\n"
    text += "        if x.dim() > 3:\n            breakpoint()\n        return x * 2\n"
    source = write_cut(Slicer(Package({"net.py": text})), "net.py", "Net").source
    compile(source, "cut", "exec")
    assert "set_trace" not in source
    assert "breakpoint" not in source
    assert "pdb" not in source


def test_a_name_that_only_functions_bind_begins_with_the_plain_value_that_they_give_it() -> None:
    counted = (
        "class Block(nn.Module):\n    def __init__(self):\n        super().__init__()\n        global count\n"
        "        self.number = count\n        count += 1\n\n\n"
        "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        global count, world\n"
        "        count, world = 0, 1\n        self.blocks = nn.ModuleList([Block(), Block()])\n\n"
        "    def forward(self, x):\n        return self.blocks[1].number * x\n"
    )
    assert executed(HEAD + counted)["Net"]().blocks[1].number == 1
    (how,) = parse("net.py", HEAD + counted, lambda name: False).bindings["count"]
    assert isinstance(how, ast.Assign)
    bound = parse("net.py", HEAD + "count = 5\n\n" + counted, lambda name: False).bindings["count"]
    assert [ast.unparse(b) for b in bound if isinstance(b, ast.Assign)] == ["count = 5"]


def test_of_what_is_compiled_or_imported_the_import_counts() -> None:
    text = "if not found:\n    ops = load(name='ops', sources=['ops.cu'])\nelse:\n    import ops\n"
    assert not isinstance(parse("net.py", text, lambda name: False).bindings["ops"][0], ast.stmt)
