"""One object that holds tables of several kinds: what is taken out of it is of a kind that somebody asks it for."""

from __future__ import annotations

from typing import Any

import torch

from sources.cut.slicer import Slicer
from sources.cut.writer import cut
from sources.text.symbols import Package

REGISTRY = """
class Registry:
    tables = {"loss": {}, "trainer": {}}

    def register_loss(self, name):
        def wrap(kind):
            self.tables["loss"][name] = kind
            return kind
        return wrap

    def register_trainer(self, name):
        def wrap(kind):
            self.tables["trainer"][name] = kind
            return kind
        return wrap

    def get_loss_class(self, name):
        return self.tables["loss"][name]

    def get(self, group, name):
        return self.tables[group][name]


registry = Registry()
"""
ENTRIES = """
import torch.nn as nn
from reg import registry


@registry.register_loss("plain")
class Plain(nn.Module):
    def forward(self, x):
        return x.mean()


@registry.register_trainer("plain")
class Training:
    pass
"""
NET = """
import torch.nn as nn
from reg import registry


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.loss = {}

    def forward(self, x):
        return self.loss(x)
"""


def text(asks: str, registry: str = REGISTRY, entries: str = ENTRIES) -> str:
    files = {"reg.py": registry, "entries.py": entries, "net.py": NET.format(asks)}
    return cut(Slicer(Package(files)), "net.py", "Net").source


def test_an_entry_of_another_kind_is_not_taken_though_it_goes_by_the_word() -> None:
    found = text('registry.get_loss_class("plain")()')
    assert "class Plain(" in found and "class Training" not in found


def test_the_kind_may_be_said_to_a_method() -> None:
    found = text('registry.get("trainer", "plain")()')
    assert "class Training" in found and "class Plain(" not in found


def test_where_there_is_one_kind_its_name_says_nothing() -> None:
    single = ENTRIES[: ENTRIES.index("@registry.register_trainer")]
    assert "class Plain(" in text('registry.get("x", "plain")()', entries=single)


def test_what_registers_asks_for_nothing() -> None:
    found = text('registry.get("plain", "plain")()')
    assert "class Plain(" not in found and "class Training" not in found


CIRCLE = """
class Registry:
    tables = {}

    @classmethod
    def register_part(cls, name):
        def wrap(kind):
            from base import Base
            assert issubclass(kind, Base)
            cls.tables[name] = kind
            return kind
        return wrap

    def get_part_class(self, name):
        return self.tables[name]


registry = Registry()
"""
BASE = """
import torch.nn as nn
from reg import registry


class Base(nn.Module):
    def forward(self, x):
        return registry.get_part_class("second")().forward(x)
"""
PARTS = """
from reg import Registry, registry
from base import Base


@registry.register_part("first")
class First(Base):
    pass


@Registry.register_part("second")
class Second(First):
    def forward(self, x):
        return x + 1
"""


def test_a_base_stands_before_its_class_though_a_registry_wants_both_of_them_first() -> None:
    files = {"reg.py": CIRCLE, "base.py": BASE, "parts.py": PARTS}
    for path, symbol in (("base.py", "Base"), ("parts.py", "First"), ("parts.py", "Second")):
        namespace: dict[str, Any] = {}
        exec(cut(Slicer(Package(files)), path, symbol).source, namespace)
        assert namespace[symbol]()(torch.ones(1)) == 2
