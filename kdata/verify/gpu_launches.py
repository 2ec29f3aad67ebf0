"""Seeing kernels launch on a GPU, and keeping them from it: ``kdata.verify.launches`` without the interpreter."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from triton.runtime import JITFunction
from triton.runtime.autotuner import Autotuner

from kdata.verify.launches import InjectedError, Ledger, signature, tensors_among


class DeviceLedger(Ledger):
    """What was launched since it was last cleared; ``watching`` only while outputs are checked, not while timed."""

    watching = True
    tuning = False  # an autotuner chooses by its own clock, instead of taking turns
    turn = 0

    def run_freely(self) -> None:
        """From here on as on a user's machine, but for calls that are watched."""
        self.behaviour, self.watching, self.tuning, self.made = "run", False, True, None

    @contextlib.contextmanager
    def watched(self) -> Iterator[None]:
        """One call."""
        self.launches, self.watching = [], True
        try:
            yield
        finally:
            self.watching = False

    def install(self) -> None:
        """Put this ledger between the candidate and Triton's launcher."""
        run, ledger = JITFunction.run, self

        def watched(function: Any, *args: Any, grid: Any, warmup: bool, **kwargs: Any) -> Any:
            if not ledger.watching or warmup:
                return run(function, *args, grid=grid, warmup=warmup, **kwargs)
            ledger.launches.append(signature(function, args, kwargs, grid))
            if ledger.behaviour == "skip":
                return None
            if ledger.behaviour == "fail":
                raise InjectedError("injected: this launch failed")
            values = [*args, *kwargs.values()]
            with ledger.made.around(tensors_among(values)) if ledger.made else contextlib.nullcontext():
                return run(function, *args, grid=grid, warmup=warmup, **kwargs)

        JITFunction.run = watched
        Autotuner._bench = self._taking_turns(Autotuner._bench)

    def _taking_turns(self, bench: Any) -> Any:
        """While outputs are checked, an autotuner's configurations take turns: each must be right."""

        def chosen(tuner: Any, *args: Any, config: Any, **meta: Any) -> Any:
            if self.tuning:
                return bench(tuner, *args, config=config, **meta)
            return [0.0 if config is tuner.configs[self.turn % len(tuner.configs)] else 1.0] * 3

        return chosen

    def take_turn(self, number: int) -> None:
        """Which of an autotuner's configurations the next new key gets."""
        self.turn = number
