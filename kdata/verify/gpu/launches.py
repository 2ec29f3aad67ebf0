"""Seeing kernels launch on a GPU, and keeping them from it: ``candidate.launches`` without the interpreter."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from triton.compiler.errors import CompileTimeAssertionFailure
from triton.runtime import JITFunction
from triton.runtime.autotuner import Autotuner
from triton.runtime.errors import OutOfResources, PTXASError

from kdata.verify.candidate.launches import InjectedError, Ledger, signature, tensors_among


class DeviceLedger(Ledger):
    """What was launched since it was last cleared; ``watching`` only while outputs are checked, not while timed."""

    watching = True
    tuning = False  # an autotuner chooses by its own clock, instead of taking turns
    turn = 0

    def __init__(self) -> None:
        super().__init__()
        self._unfit: dict[int, list[Any]] = {}  # of each autotuner, by its id: configurations that cannot be launched

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
        Autotuner.run = self._passing_over(Autotuner.run)

    def _taking_turns(self, bench: Any) -> Any:
        """While outputs are checked, an autotuner's configurations take turns: each must be right."""

        def chosen(tuner: Any, *args: Any, config: Any, **meta: Any) -> Any:
            if self.tuning:
                return bench(tuner, *args, config=config, **meta)
            unfit = self._unfit.get(id(tuner), [])
            fit = [c for c in tuner.configs if c not in unfit] or tuner.configs
            return [0.0 if config is fit[self.turn % len(fit)] else 1.0] * 3

        return chosen

    def _passing_over(self, run: Any) -> Any:
        """A configuration that needs more than the device has is passed over, as by a tuner that measures."""

        def passing(tuner: Any, *args: Any, **more: Any) -> Any:
            unfit = self._unfit.setdefault(id(tuner), [])
            while True:
                try:
                    return run(tuner, *args, **more)
                except (OutOfResources, PTXASError, CompileTimeAssertionFailure):
                    if self.tuning or len(tuner.configs) == 1 or tuner.best_config in unfit:
                        raise
                    unfit.append(tuner.best_config)
                    tuner.cache.clear()

        return passing

    def take_turn(self, number: int) -> None:
        """Which of an autotuner's configurations the next new key gets."""
        self.turn = number
