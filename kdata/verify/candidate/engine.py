"""What runs a candidate's kernels: Triton's interpreter, or a GPU. In the host's child."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from kdata.verify.candidate.launches import Ledger
from kdata.verify.candidate.setting import StopTrialError
from kdata.verify.interpreter import assumed, interpreter, order, precision, races, streams, unloaded


@dataclass(frozen=True, slots=True)
class Engine:
    """What runs kernels here."""

    device: str
    ledger: Ledger
    take_turn: Callable[[int], None]  # which of an autotuner's configurations comes next
    outside: Callable[[], bool]  # whether a kernel reached outside its tensors since this was last asked
    racing: Callable[[], str]  # how its programs or lanes raced since this was last asked
    settle: Callable[[], None]  # wait for the device, or raise where nobody would
    turn_round: Callable[[bool], None] = lambda _: None  # let programs run last to first
    choices: Callable[[], int] = lambda: 0  # turns after which an autotuner has had them all
    prunes: Callable[[], bool] = lambda: False  # whether an autotuner may leave out some by what it is given
    measure: Callable[[bool], None] = lambda _: None  # let autotuners run a kernel before they choose
    enclosed: bool = False  # whether the enclosure holds while the candidate runs: not where kernels are compiled
    left: Callable[[], list[Any]] = list  # what a candidate keeps where no object of Python's shows it
    show_unloaded: Callable[[bool], None] = lambda _: None  # what masked loads leave out is numbers that show
    unloaded: Callable[[], bool] = lambda: False  # whether any left something out since this was last asked
    assumes: Callable[[], bool] = lambda: False  # whether any assumed what is not so since this was last asked
    products: Callable[[], bool | None] = lambda: None  # whether any product of float32 left its precision to Triton
    begin: Callable[[], None] = lambda: None  # a call begins

    def seen(self) -> dict[str, Any]:
        """What a report tells of how kernels ran since this was last asked."""
        told = {"racing": self.racing, "unloaded": self.unloaded, "assumes": self.assumes, "products": self.products}
        return {name: ask() for name, ask in told.items()}


def _demand_order() -> None:
    """A call has returned.

    Raises:
        StopTrialError: its caller's stream does not come after all that it launched, or that not after what it uses.
    """
    if detail := streams.unfinished():
        raise StopTrialError("unfinished", detail)
    if detail := streams.early():
        raise StopTrialError("unordered", detail)


INTERPRETED = Engine(
    "cpu", Ledger(), interpreter.take_turn, lambda: bool(interpreter.violations()), races.found,
    _demand_order, order.turn_round, interpreter.choices, interpreter.prunes, interpreter.measure, True,
    show_unloaded=unloaded.show, unloaded=unloaded.met, assumes=assumed.broken, products=precision.left,
    begin=streams.begin,
)  # fmt: skip
