"""Changes to dictionaries are seen in their memory: every kind of change, and no other."""

from __future__ import annotations

import gc
import types
from collections.abc import Callable
from typing import Any

import pytest

from kdata.verify.candidate import unchanged
from kdata.verify.candidate.unchanged import Watched

CHANGES: dict[str, Callable[[dict[Any, Any]], Any]] = {
    "another value": lambda d: d.update(a=object()),
    "a new name": lambda d: d.update(new=1),
    "a lost name": lambda d: d.pop("a"),
    "nothing left": lambda d: d.clear(),
    "many new names": lambda d: d.update({str(n): n for n in range(1000)}),
    "another order": lambda d: d.update(a=d.pop("a")),
}


def dictionaries() -> list[dict[Any, Any]]:
    return [{}, {"a": 1, "b": 2}, {"a": 1, 2: 3}, {**dict.fromkeys(map(str, range(100))), "a": 0}]


def test_memory_is_read_as_it_is_here() -> None:
    """On the Pythons that are supported nothing falls back to looking at names one by one."""
    assert unchanged._readable()


def test_what_is_only_looked_at_is_unchanged() -> None:
    held = dictionaries()
    watched = Watched(held)
    assert [d.get("a") for d in held] == [None, 1, 1, 0]
    assert [list(d.items()) for d in held] == [list(d.items()) for d in map(dict, held)]
    assert list(watched.changed()) == []


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("place", [1, 2, 3])
def test_a_change_is_seen(change: str, place: int) -> None:
    held = dictionaries()
    copies = [dict(d) for d in held]  # keep what was in them, as those must who watch
    watched = Watched(held)
    CHANGES[change](held[place])
    assert list(watched.changed()) == [place]
    assert len(copies) == len(held)


def test_names_of_an_empty_one_are_seen() -> None:
    held = dictionaries()
    watched = Watched(held)
    held[0]["a"] = 1
    assert list(watched.changed()) == [0]


def test_a_value_put_back_is_no_change() -> None:
    held = dictionaries()
    watched, before = Watched(held), held[3]["a"]
    held[3]["a"] = object()
    held[3]["a"] = before
    assert list(watched.changed()) == []


def test_classes_and_modules() -> None:
    kind, module = type("Kind", (), {"name": 1}), types.ModuleType("module")
    inner = [gc.get_referents(vars(kind))[0], vars(module)]
    held = [dict(d) for d in inner]
    watched = Watched(inner)
    kind.name = 2  # type: ignore[attr-defined]
    assert list(watched.changed()) == [0]
    module.name = 1  # type: ignore[attr-defined]
    assert list(watched.changed()) == [0, 1]
    assert len(held) == 2


def test_values_kept_apart_count_as_changed() -> None:
    """Instances of a class share a table of names."""

    class Point:
        def __init__(self) -> None:
            self.x = 1

    first, second = Point(), Point()
    assert list(Watched([vars(first), vars(second)]).changed()) in ([0, 1], [])
    watched = Watched([vars(second)])
    second.x = 2
    assert list(watched.changed()) == [0]


def test_where_memory_looks_otherwise_all_count_as_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unchanged, "_readable", lambda: False)
    assert list(Watched(dictionaries()).changed()) == [0, 1, 2, 3]
