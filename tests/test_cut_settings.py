"""Settings of a project's configuration: those that a cut reads come along, the others do not."""

from __future__ import annotations

from typing import Any

import pytest

from sources.cut.settings import without_unread_settings
from tests.cuts import HEAD, cut

SETTINGS = "".join(f"    # of the data\n    cfg.data.n{n} = [{n}]\n" for n in range(12))
CONFIGURED = """
class Record(dict):
    __getattr__, __setattr__ = dict.__getitem__, dict.__setitem__


cfg = Record()


def set_cfg(cfg):
    cfg.data = Record()
{settings}
    cfg.model = Record()
    cfg.model.width = 48
    cfg.model.depth = 2


set_cfg(cfg)


def layer():
    return {read}
"""


def test_settings_that_a_function_gives_come_with_its_call() -> None:
    texts = {
        "net/config.py": (
            "from yacs.config import CfgNode as CN\n\ncfg = CN()\nother = CN()\n\n\n"
            "def look(cfg):\n    print(cfg)\n\n\n"
            "def set_cfg(cfg):\n    cfg.gnn = CN()\n    cfg.gnn.width = 48\n\n\nlook(cfg)\nset_cfg(cfg)\nset_cfg(other)\n"
        ),
        "net/layer.py": HEAD + (
            "from net.config import cfg\n\n\nclass Layer(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
            "        self.mix = nn.Linear(cfg.gnn.width, 8)\n\n    def forward(self, x):\n        return self.mix(x)\n"
        ),
    }  # fmt: skip
    space: dict[str, Any] = {}
    text = cut(texts, "net/layer.py", "Layer")
    exec(compile(text, "cut", "exec"), space)
    assert space["Layer"]().mix.in_features == 48
    assert "look(" not in text
    assert "other" not in text


def test_settings_that_nothing_reads_are_left_out() -> None:
    space: dict[str, Any] = {}
    text = without_unread_settings(CONFIGURED.format(settings=SETTINGS, read="cfg.model.width"))
    exec(text, space)
    assert space["layer"]() == 48
    assert "data" not in text
    assert "depth" not in text


@pytest.mark.parametrize(
    "read",
    ["sorted(cfg)", "sorted(list(cfg))", "{**cfg.data}", "list(cfg.data.items())", "getattr(cfg.data, layer.name)"],
)
def test_settings_that_are_read_as_a_whole_stay(read: str) -> None:
    text = CONFIGURED.format(settings=SETTINGS, read=read)
    assert without_unread_settings(text) == text
