"""The candidate's side: hostile code runs here. In a child of its own, under TRITON_INTERPRET=1 or on a GPU.

Nothing here decides anything: it builds ``ModelNew``, calls it, and hands back bytes and an account of what it saw.
There is no golden, no reference and no tolerance in this process.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from kdata.verify import interpreter, warmup, wire
from kdata.verify.allowed import Watch, hide_values
from kdata.verify.guards import guarded, intact
from kdata.verify.launches import InjectedError, Ledger
from kdata.verify.loading import line, load

GIVEN, RETURNED, SOURCE = "given.bin", "returned.bin", "candidate.py"
OUT_OF_MEMORY = ("allocate memory", "CUDA out of memory")


@dataclass(frozen=True, slots=True)
class Engine:
    """What runs kernels here."""

    device: str
    ledger: Ledger
    take_turn: Callable[[int], None]  # which of an autotuner's configurations comes next
    outside: Callable[[], bool]  # whether a kernel reached outside its tensors since this was last asked
    settle: Callable[[], None]  # wait for the device


_engine = Engine("cpu", Ledger(), interpreter.take_turn, lambda: bool(interpreter.violations()), lambda: None)
_watches: list[Watch] = []


class StopTrialError(Exception):
    """A trial ended early: its outcome and the reason."""

    def __init__(self, outcome: str, detail: str) -> None:
        super().__init__(outcome, detail)
        self.outcome, self.detail = outcome, detail


def use(engine: Engine) -> None:
    """Run kernels on another engine than the interpreter from here on."""
    global _engine
    _engine = engine
    torch.set_num_threads(1)
    engine.ledger.install()
    hide_values(_watches, engine.ledger)


def warm() -> None:
    """Prepare the interpreter; all candidates inherit it."""
    interpreter.mend()
    use(_engine)
    _pretend_cuda()
    with torch.no_grad(), Watch(_engine.ledger):
        warmup.Double()(torch.ones(20))


def _pretend_cuda() -> None:
    """Let wrappers that insist on a GPU (``assert x.is_cuda``, ``with torch.cuda.device(..)``) pass here."""
    torch.Tensor.is_cuda = property(lambda _: True)  # type: ignore[assignment]
    torch.Tensor.cuda = lambda self, *_args, **_more: self  # type: ignore[method-assign]
    torch.cuda.device = lambda *_args: contextlib.nullcontext()  # type: ignore[assignment,misc]
    torch.cuda.synchronize = lambda *_args: None
    torch.cuda.current_device = lambda: 0


def answer(payload: dict[str, Any], scratch: Path) -> dict[str, Any]:
    """Import the candidate and run it on every trial.

    ``payload``: manifest, mode, trials (``given`` of each), ablate (the number of the trial to repeat with kernels
    disabled, and with launches failing).
    """
    reader = wire.Reader(payload["manifest"], (scratch / GIVEN).read_bytes(), _engine.device)
    try:
        module = load(scratch / SOURCE)
    except BaseException as error:  # noqa: BLE001 - SystemExit too is an answer
        return {"failed": ["raises", f"on import: {line(error)}"]}
    writer = wire.Writer()

    def run(number: int) -> dict[str, Any]:
        return trial(module, reader, writer, payload["trials"][number], payload["mode"])

    reports = []
    for number in range(len(payload["trials"])):
        _engine.take_turn(number)
        reports.append(run(number))
    value: dict[str, Any] = {"trials": reports}
    _engine.take_turn(payload["ablate"])
    for name, behaviour in (("ablated", "skip"), ("failing", "fail")):
        _engine.ledger.behaviour = behaviour  # type: ignore[assignment]
        value[name] = run(payload["ablate"])
    (scratch / RETURNED).write_bytes(bytes(writer.blob))
    return value | {"manifest": writer.manifest}


def trial(
    module: ModuleType, reader: wire.Reader, writer: wire.Writer, given: dict[str, Any], mode: str
) -> dict[str, Any]:
    """Build, load the weights, call once. The report holds nodes of the writer, or the reason there are none."""
    ledger = _engine.ledger
    ledger.launches = []
    watch = Watch(ledger)
    report: dict[str, Any] = {"outcome": "ok", "detail": ""}
    try:
        report |= _call(module, reader, writer, given, mode, watch)
    except StopTrialError as stop:
        report |= {"outcome": stop.outcome, "detail": stop.detail}
    except RuntimeError as error:
        if "CUDA error" not in str(error):
            raise
        report |= {"outcome": "raises", "detail": line(error)}  # the context is lost: later trials end so, too
    report["aten"] = list(watch.called)
    report["launches"] = ledger.launches
    return report


def _call(
    module: ModuleType, reader: wire.Reader, writer: wire.Writer, given: dict[str, Any], mode: str, watch: Watch
) -> dict[str, Any]:
    model = _build(module, reader, given)
    state = reader.read(given["state"])
    try:
        model.load_state_dict(state, strict=True)
    except Exception as error:
        raise StopTrialError("state", line(error)) from error
    _rehome(model.to(_engine.device))
    if mode == "eval":
        model.eval()
    inputs = reader.read(given["inputs"])
    outputs = _forward(model, inputs, watch)
    bars = [
        t for t in torch.utils._pytree.tree_leaves(inputs) if isinstance(t, torch.Tensor) and t.layout is torch.strided
    ]
    broken = _engine.outside() or watch.out_of_bounds() or not all(intact(t) for t in bars)
    with _engine.ledger.move():
        held = {"inputs": writer.write(inputs), "state": writer.write(dict(model.state_dict()))}
        try:
            return {**held, "outputs": writer.write(outputs), "out_of_bounds": broken}
        except wire.NotPlainError as error:
            raise StopTrialError("structure", f"it returns {error}") from error


def _rehome(model: torch.nn.Module) -> None:
    """Move parameters and buffers between guard bars too."""
    for tensor in [*model.parameters(), *model.buffers()]:
        strides = tensor.stride() if tensor.is_contiguous() else None
        moved = guarded(tensor.shape, strides, tensor.dtype, tensor.device)
        tensor.data = moved.copy_(tensor.data)


def _build(module: ModuleType, reader: wire.Reader, given: dict[str, Any]) -> Any:
    torch.manual_seed(0)
    model = getattr(module, "ModelNew", None)
    if not (isinstance(model, type) and issubclass(model, torch.nn.Module)):
        raise StopTrialError("no ModelNew", "ModelNew is no nn.Module class")
    positional, keyword = _arguments(reader, given)
    try:
        return model(*positional, **keyword)
    except TypeError as error:
        raise StopTrialError("constructor", line(error)) from error
    except Exception as error:
        raise StopTrialError("raises", f"in the constructor: {line(error)}") from error


def _arguments(reader: wire.Reader, given: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """The constructor's arguments; made by the task's own text where they are no plain data (modules, functions)."""
    if "args" in given:
        return reader.read(given["args"]), reader.read(given["kwargs"])
    space: dict[str, Any] = {"__name__": "task"}
    exec(compile(given["text"], "<task>", "exec"), space)  # noqa: S102 - the sandbox is around us
    made = space[given["function"]]()
    if len(made) == 2 and isinstance(made[0], list) and isinstance(made[1], dict):
        return made[0], made[1]
    return list(made), {}


def _forward(model: Any, inputs: list[Any], watch: Watch) -> Any:
    _watches.append(watch)
    try:
        with torch.no_grad(), watch:
            outputs = model(*inputs)
            _engine.settle()
            return outputs
    except InjectedError as error:
        raise StopTrialError("fault", line(error)) from error
    except Exception as error:
        if _engine.outside() or "illegal memory access" in str(error):
            raise StopTrialError("out of bounds", line(error)) from error
        memory = isinstance(error, MemoryError) or any(words in str(error) for words in OUT_OF_MEMORY)
        raise StopTrialError("memory" if memory else "raises", line(error)) from error
    finally:
        _watches.pop()
