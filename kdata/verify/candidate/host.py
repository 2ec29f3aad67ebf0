"""The candidate's side: hostile code runs here. In a child of its own, under TRITON_INTERPRET=1 or on a GPU.

Nothing here decides anything: it builds ``ModelNew``, calls it, and hands back bytes and an account of what it saw.
There is no golden, no reference and no tolerance in this process.
"""

from __future__ import annotations

import contextlib
import gc
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from kdata.verify import reasons
from kdata.verify.candidate import addresses, arms, aside, enclosure, leftovers, shares, sowing, tuning, warmup, ways
from kdata.verify.candidate.allowed import Watch, hide_values
from kdata.verify.candidate.engine import INTERPRETED, Engine
from kdata.verify.candidate.indices import COUNTED_SO
from kdata.verify.candidate.keeping import keeping
from kdata.verify.candidate.launches import InjectedError, Made, memory
from kdata.verify.candidate.loading import ImportingError, load
from kdata.verify.candidate.moves import Layout
from kdata.verify.candidate.setting import (
    StopTrialError,
    build,
    derive,
    duplicate,
    others,
    outcome,
    refill,
    rehome,
    set_mode,
    want_gradients,
    weigh,
)
from kdata.verify.candidate.state import fingerprint, kept_tensors
from kdata.verify.candidate.unfilled import Blank, Unfilled
from kdata.verify.exchange import wire
from kdata.verify.exchange.guards import intact, start_bools_as
from kdata.verify.exchange.scratch import GIVEN, LATE, RETURNED, SOURCE
from kdata.verify.exchange.telling import line
from kdata.verify.interpreter import by_bits, distant, drawing, interpreter, pretence, sampling
from kdata.verify.reference.values import CALLING

PROGRAMS = 2  # of each launch, to see whether a call in another way does the same
WAY = ("mode", "gradients")  # in which a trial is called, where not in the usual way

_engine = INTERPRETED
_watches: list[Watch] = []
_snapshot: enclosure.Snapshot | None = None


def use(engine: Engine) -> None:
    """Run kernels on another engine than the interpreter from here on."""
    global _engine
    _engine = engine
    torch.set_num_threads(1)
    torch.backends.cudnn.allow_tf32 = False  # as the track on a CPU has it; torch allows it by default
    engine.ledger.install()
    hide_values(_watches, engine.ledger)


def warm() -> None:
    """Prepare the interpreter; all candidates inherit it."""
    interpreter.mend()
    addresses.listen()
    sampling.install()
    by_bits.install()
    use(_engine)
    pretence.install(lambda: _engine.ledger.moving)
    with torch.no_grad(), Watch(_engine.ledger):
        warmup.Double()(torch.ones(20))
    remember_libraries()


def remember_libraries() -> None:
    """Note what candidates must leave as it is."""
    global _snapshot
    enclosure.install()
    _snapshot = enclosure.Snapshot()


def blame(what: str) -> None:
    """Note compute that is no kernel's, in whatever watch is last."""
    if _watches:
        _watches[-1].called[what] = None


def settle() -> None:
    """From here on torch's switches must stay as they are."""
    if _snapshot:
        _snapshot.settle()


def answer(payload: dict[str, Any], scratch: Path) -> dict[str, Any]:
    """Import the candidate and run it on every trial.

    ``payload``: manifest, mode, trials (``given`` of each), ablate (the number of the trial to repeat: as it is, with
    kernels disabled, and with launches failing; None: no trial), otherwise (``given`` of trials that are called in
    other ways: mode and gradients), aside (see ``beyond.aside``: nothing else is run then), programs (how many of
    each launch run; 0: all), named (numbers of programs that are among them), seconds (that the process may take).
    """
    reader = wire.Reader(payload["manifest"], (scratch / GIVEN).read_bytes(), _engine.device)
    try:
        with pretence.presented() if _engine.enclosed else contextlib.nullcontext():
            module = load(scratch / SOURCE)
            value, writer = _run(module, reader, payload)
    except enclosure.ForbiddenError as error:
        return {"failed": [reasons.BEHIND, enclosure.fault() or line(error)]}
    except ImportingError as error:
        return {"failed": ["raises", f"on import: {error}"]}
    behind = enclosure.fault() or (_snapshot.change() if _snapshot else "")
    if behind:
        return {"failed": [reasons.BEHIND, behind]}
    (scratch / RETURNED).write_bytes(bytes(writer.blob))
    return value | {"manifest": writer.manifest}


def _run(module: ModuleType, reader: wire.Reader, payload: dict[str, Any]) -> tuple[dict[str, Any], wire.Writer]:
    calls = Calls(module, reader, payload["mode"])
    reports: list[dict[str, Any]] = []
    value: dict[str, Any] = {}
    if "aside" in payload:
        return {"trials": list(aside.calls(calls, payload["trials"], payload["aside"]))}, calls.writer
    for number, given in enumerate(payload["trials"]):
        shares.begin(payload, len(payload["trials"]) - number)
        _engine.take_turn(number)
        _engine.turn_round(given.get("backwards", False))
        _engine.show_unloaded(given.get("shown", False))
        looked_at = {"made": True} if number == payload["ablate"] else {}
        begun = time.process_time()
        reports.append(calls.trial(given | looked_at))
        reports[-1]["seconds"] = time.process_time() - begun
        if number == payload["ablate"]:
            value["repeated"] = calls.repeat(given)
            value["kept"], left = [calls.remembered(values=False)], calls.left()
        elif len(value.get("kept", ())) == number and _engine.choices() < 2 and given.get("again") and given["sized"]:
            # one more of the same sizes, where no tuner takes turns: a text may keep what it chose
            value["kept"].append(calls.remembered(values=False))
            if number == payload["ablate"] + 1:
                _engine.turn_round(False)
                both = [(n, payload["trials"][n]) for n in (payload["ablate"], number)]
                value["mixed"] = [*leftovers.mixed(calls, left, both, _engine.ledger.move)]
    if payload["ablate"] is None:
        shares.once_more(payload, reports, _engine.take_turn, calls.trial)
        return {"trials": reports, "arms": sorted(arms.taken)}, calls.writer
    _engine.turn_round(False)
    first = payload["trials"][payload["ablate"]] | {"again": False}
    value |= tuning.turns(_engine, calls.trial, payload["trials"], first, len(reports), payload["ablate"])
    value["drawn"] = [calls.trial(first) for _ in drawing.ends()]
    value["sown"] = sowing.again(calls, first, _engine.ledger.move())
    value["called_otherwise"] = calls.otherwise(payload["otherwise"])
    for name, behaviour in (("ablated", "skip"), ("otherwise", "skip"), ("failing", "fail")):
        _engine.ledger.behaviour = behaviour  # type: ignore[assignment]
        start_bools_as(name != "otherwise")
        value[name] = calls.trial(first)
    return value | {"trials": reports, "arms": sorted(arms.taken)}, calls.writer


@dataclass(slots=True)
class Last:
    """What a call leaves for the next one: the same module, the same tensors, other values in them."""

    model: Any
    inputs: list[Any]
    outputs: Any

    def tensors(self) -> list[torch.Tensor]:
        """Its inputs, outputs, weights and buffers."""
        leaves = torch.utils._pytree.tree_leaves((self.inputs, self.outputs))
        leaves += self.model.state_dict(keep_vars=True).values()
        return [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]


class Calls:
    """The calls of one candidate, one after another."""

    def __init__(self, module: ModuleType, reader: wire.Reader, mode: str) -> None:
        self.module, self.reader, self.mode = module, reader, mode
        self.writer = wire.Writer()
        self.last: Last | None = None

    def trial(self, given: dict[str, Any]) -> dict[str, Any]:
        """Build (or, ``again``, take the last call's module), load the weights, call once.

        The report holds nodes of the writer, or the reason there are none.
        """
        ledger = _engine.ledger
        ledger.launches = []
        _engine.seen()  # by a call that failed
        watch = Unfilled(ledger) if "outline" in given else Watch(ledger)
        report: dict[str, Any] = {"outcome": "ok", "detail": ""}
        last = self.last if given.get("again") else None
        self.last = None
        gc.disable()  # no code of the candidate's runs between its return and the writing of what it returned
        try:
            with enclosure.armed() if _engine.enclosed else contextlib.nullcontext():
                if "outline" in given:
                    report |= self._unfilled(given, watch)
                else:
                    report |= self._call(given, watch, last)
        except StopTrialError as stop:
            report |= {"outcome": stop.outcome, "detail": stop.detail}
        except RuntimeError as error:
            if "CUDA error" not in str(error):
                raise
            report |= {"outcome": outcome(error), "detail": line(error)}  # with its context later trials are lost, too
        finally:
            gc.enable()
        report["aten"] = [*watch.called, *by_bits.found()]
        report["launches"] = ledger.launches
        return report

    def otherwise(self, trials: list[dict[str, Any]]) -> list[dict[str, Any] | None]:
        """Calls of one trial in other ways; None where some programs of each launch leave all as in the usual way.

        Of those in evaluation mode the first comes after a call with other weights, in that mode, too.
        """
        alike: list[bool] = [False] * len(trials)
        if _engine.enclosed and trials:
            usual = self.left_by({name: part for name, part in trials[0].items() if name not in WAY})
            alike = [self.left_by(given) == usual for given in trials]
            sampling.sample(0)
        evaluating = next((n for n, given in enumerate(trials) if given["mode"] == "eval" != self.mode), None)
        return [
            self._after_others(given) if n == evaluating else None if alike[n] else self.trial(given)
            for n, given in enumerate(trials)
        ]

    def _after_others(self, given: dict[str, Any]) -> dict[str, Any]:
        """A call after one with other weights, between which nothing is said of the mode."""
        self.trial(given | {"again": False, "unlike": True})
        return self.trial(given | {"again": True, "sized": True})

    def left_by(self, given: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]], bytes]:
        """What a call is seen to do and leaves behind, of which few programs run."""
        sampling.sample(PROGRAMS)
        kept, self.writer = self.writer, wire.Writer()
        try:
            return self.trial(given | {"again": False}), self.writer.manifest, bytes(self.writer.blob)
        finally:
            self.writer = kept

    def repeat(self, given: dict[str, Any]) -> dict[str, Any]:
        """The last call once more, and what the candidate remembers before and after it."""
        if self.last is None:
            return {"outcome": "raises", "detail": "", "before": "", "after": ""}
        before = self.remembered()
        report = self.trial(given | {"again": True})
        return report | {"before": before, "after": self.remembered()}

    def remembered(self, values: bool = True) -> str:
        """See ``kdata.verify.candidate.state``; "" where the last call failed."""
        if self.last is None:
            return ""
        with _engine.ledger.move():
            left = [*(_snapshot.added() if _snapshot else []), *_engine.left()]
            return fingerprint(self.module, self.last.model, {*map(id, self.last.tensors())}, left, values)

    def left(self) -> leftovers.Left:
        """What stands in tensors that the candidate keeps, but for the weights and what the last call was given."""
        if self.last is None:
            return []
        with _engine.ledger.move():
            apart = self.last.tensors()
            return leftovers.left(kept_tensors(self.module, self.last.model, {*map(id, apart)}), apart)

    def _unfilled(self, given: dict[str, Any], watch: Watch) -> dict[str, Any]:
        """Call once on tensors without memory, while no kernel runs, or a few programs of each on addresses alone."""
        outline = given["outline"]
        _engine.ledger.behaviour = "far" if given["far"] else "skip"
        reader, writer = Blank(outline["manifest"], b""), wire.Outline()
        with pretence.unfilled():
            with pretence.left_blank():
                model = build(self.module, reader, outline)
            with watch:
                if self.mode == "eval":
                    model.eval()
                watch.let_count(model)
            with distant.watched(given["far"] == COUNTED_SO) as call:
                outputs = forward(model, reader.read(outline["inputs"]), watch, "off")
        if call.found:
            raise StopTrialError(COUNTED_SO if call.fractions else "out of bounds", call.found)
        with _engine.ledger.move():
            return {"outputs": writer.write(outputs), "outline": writer.manifest}

    def _call(self, given: dict[str, Any], watch: Watch, last: Last | None) -> dict[str, Any]:
        model = last.model if last else build(self.module, self.reader, given)
        if "dtype" in given:
            model.to(getattr(torch, given["dtype"]))
        state = self.reader.read(given["state"])
        state = others(state) if given.get("unlike") else state
        before = others(state)
        with watch:  # what is asked of a module before it is called may be overridden, and compute
            model = duplicate(model) if given.get("copied") else model
            weigh(model, state, before, trained=last is not None and bool(given.get("sized")))
            if last is None:
                model.to(_engine.device)
        if last is None:
            rehome(model, _engine.device)
        with watch:
            mode = given.get("mode", self.mode)
            set_mode(model, mode, turned=last is not None and not given.get("sized"))
            own = [*model.parameters(), *model.buffers()]
            watch.let_count(model)
        inputs = self.reader.read(given["inputs"])
        if last:
            inputs = refill(last.inputs, inputs)
        ledger = _engine.ledger
        way = given.get("way", "")
        if way:
            with ledger.move():
                inputs = ways.handed(way, given["place"], inputs)
                if way in ways.DTYPES:
                    model.to(getattr(torch, way))
        if given.get("gradients") == "on":
            want_gradients(inputs)
        held = torch.utils._pytree.tree_leaves([inputs, own])
        held = [t for t in held if isinstance(t, torch.Tensor)]
        sampling.give(memory(held))
        asked = [t for t in torch.utils._pytree.tree_leaves(inputs) if isinstance(t, torch.Tensor)]
        by_bits.begin(asked, memory([*asked, *model.state_dict(keep_vars=True).values()]))
        watch.layout = Layout(given["layout"], held) if given.get("layout") else None
        ledger.made = Made(held, ledger.move) if given.get("made") else None
        torch.rand(())  # no seed gives the state that is left then
        drawn = torch.get_rng_state()
        told = {"random": False}
        call = partial(derive, model, given["gradient"], told) if "gradient" in given else model
        calling = given.get("gradients", "on" if way == "derived" else "off")
        kept = keeping(model, self.module)
        with ways.around(way):
            outputs = ways.plain(way, forward(call, inputs, watch, calling))
        told["random"] = not torch.equal(drawn, torch.get_rng_state())
        if found := keeping(model, self.module) - kept:
            detail = f"from its first call on {min(found)} holds a weight, whichever takes that one's place later"
            raise StopTrialError("keeps", detail)
        with CALLING[calling]():  # whatever completes its work when it is read does so as in the call
            return self._report(model, inputs, outputs, watch, last) | told

    def _report(self, model: Any, inputs: list[Any], outputs: Any, watch: Watch, last: Last | None) -> dict[str, Any]:
        tensors = [t for t in torch.utils._pytree.tree_leaves(inputs) if isinstance(t, torch.Tensor)]
        bars = [t for t in tensors if t.layout is torch.strided]
        broken = _engine.outside() or watch.out_of_bounds() or not all(intact(t) for t in bars)
        with _engine.ledger.move():
            write = self.writer.write
            try:  # outputs first: what comes later may run code of the candidate's, and must not complete them
                held: dict[str, Any] = {"outputs": write(outputs), "earlier": write(last.outputs) if last else None}
            except wire.NotPlainError as error:
                raise StopTrialError("structure", f"it returns {error}") from error
            if made := _engine.ledger.made:
                held |= {"made": write(made.found)} | made.told(tensors, outputs if watch.scalars else None)
            held |= sampling.report(outputs, write) if sampling.active() else {}
            held |= {"inputs": write(inputs), "state": write(dict(model.state_dict())), "out_of_bounds": broken}
            held |= _engine.seen()
        self.last = Last(model, inputs, outputs)
        return held


def forward(model: Any, inputs: list[Any], watch: Watch, gradients: str) -> Any:
    """One call of a model, watched.

    Raises:
        StopTrialError: it ended early.
    """
    _watches.append(watch)
    _engine.ledger.calling = True
    _engine.begin()
    try:
        with CALLING[gradients](), watch:
            entered = torch.is_grad_enabled(), torch.is_inference_mode_enabled()
            outputs = model(*inputs)
            if (torch.is_grad_enabled(), torch.is_inference_mode_enabled()) != entered:
                raise StopTrialError("behind", "it leaves torch's gradients switched")
            _engine.settle()
            if sampling.slow():
                raise StopTrialError(LATE, sampling.SLOW)
            return outputs
    except StopTrialError:
        raise
    except InjectedError as error:
        raise StopTrialError("fault", line(error)) from error
    except (SystemExit, KeyboardInterrupt, GeneratorExit) as error:
        raise StopTrialError("raises", line(error)) from error
    except Exception as error:
        if sampling.slow():
            raise StopTrialError(LATE, sampling.SLOW) from error
        if _engine.outside() or "illegal memory access" in str(error):
            raise StopTrialError("out of bounds", line(error)) from error
        raise StopTrialError(outcome(error), line(error)) from error
    finally:
        _engine.ledger.calling = False
        _watches.pop()
