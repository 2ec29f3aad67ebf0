"""What a search tries next."""

from __future__ import annotations

from sources.infer.agenda import Agenda


def test_the_cheapest_comes_first_each_once_and_at_its_least_cost() -> None:
    agenda = Agenda[str]()
    assert not agenda
    assert agenda.push(3.0, 1, "late")
    assert agenda.push(2.0, 2, "middle")
    assert not agenda.push(4.0, 1, "dearer")
    assert agenda.push(1.0, 1, "sooner")
    assert agenda.push(2.0, 3, "after the middle")
    assert [agenda.pop() for _ in range(3)] == [(1.0, "sooner"), (2.0, "middle"), (2.0, "after the middle")]
    assert not agenda
    assert not agenda.push(0.0, 1, "again")
    assert not agenda
