"""The reference at its own sizes on a GPU: golden, baselines and the comparison. In a child that sees no candidate.

The parent asks (``kdata.sandbox.session``): ``admit`` once, then samples of the baselines (``kdata.verify.
timing_samples``), ``judge`` for whole outputs of the candidate and ``verify`` for elements of its timed ones.
"""

from __future__ import annotations

import base64
import contextlib
import copy
import itertools
import os
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_flatten, tree_leaves, tree_map, tree_unflatten
from torch.utils.flop_counter import FlopCounterMode

from kdata.sandbox.session import Peer
from kdata.task import INIT_INPUTS, execute
from kdata.verify import reasons
from kdata.verify.candidate.warmup import Double
from kdata.verify.exchange.scratch import COMPILATION, OWN
from kdata.verify.exchange.telling import line
from kdata.verify.exchange.wire import NotPlainError, Outline, Writer
from kdata.verify.gpu.draws import Draws, pick, places
from kdata.verify.gpu.errors import Measure, Span, eager_of, errors_of, near, picked, unequal, unpacked
from kdata.verify.gpu.restored import Restored
from kdata.verify.reference.magnitudes import CONDITION
from kdata.verify.reference.probe import Meter
from kdata.verify.reference.roundings import either_way, nudge
from kdata.verify.reference.styles import BITS, CONDITIONED, ON_DEVICE
from kdata.verify.reference.ties import either_place
from kdata.verify.reference.values import by_an_ulp, finite, shifts, span, upcast
from kdata.verify.reference.values import near as near_to
from kdata.verify.reference.weights import SMALL
from kdata.verify.timing.samples import Sampler

_driver: dict[str, bytes] = {}  # Triton's part of the driver, by its place in a cache
LARGE = "admit", "suits", "judge"  # questions that take several times the memory of a call
COMPILED = {"compile": "default", "max-autotune": "max-autotune-no-cudagraphs"}  # torch.compile's modes


def warm() -> None:
    """What forks need not do."""
    prepare()
    torch.set_num_threads(1)


def prepare() -> None:
    """Do once what else takes each fork seconds. Nothing here may start CUDA, as torch.compile's parts would."""
    with Meter():  # the first call below a dispatch mode imports hundreds of modules
        torch.zeros(1).add(1)
    with contextlib.suppress(ImportError, AssertionError, OSError):  # without a compiler each fork says why
        from triton import knobs
        from triton.backends.nvidia.driver import CudaUtils
        from triton.runtime.cache import triton_key

        triton_key()  # reads all of Triton
        CudaUtils()  # is compiled
        cache = Path(knobs.cache.dir)
        _driver.update({str(file.relative_to(cache)): file.read_bytes() for file in cache.rglob("*.so")})


def private_caches(scratch: Path) -> None:
    """Compilers write into the scratch folder only, where they find Triton's part of the driver."""
    tempfile.tempdir = str(scratch)
    os.environ["TRITON_CACHE_DIR"] = str(scratch / "triton")
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = str(scratch / "inductor")
    os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "1"
    for name, data in _driver.items():
        place = scratch / "triton" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)


def answer(payload: dict[str, Any], scratch: Path) -> None:
    """Serve one task.

    ``payload``: source, entry_point, mode, seed, roll (whether integer inputs may vary), tf32.
    """
    private_caches(scratch)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = payload["tf32"]
    peer, bench = Peer(scratch), Bench(payload, scratch)
    while (question := peer.question()) is not None:
        peer.answer(bench.answer(question))


class Bench:
    """One task on the device."""

    def __init__(self, payload: dict[str, Any], scratch: Path) -> None:
        self._payload, self._scratch = payload, scratch
        self._module: nn.Module = nn.Identity()
        self._restore = Restored(self._module)
        self._draws: Draws | None = None
        self._sampler: Sampler | None = None
        self._calls: dict[str, Callable[..., Any]] = {}
        self._measures: list[Measure | Tensor] = []
        self._recalled = False  # what an earlier process compiled
        self._jumps = self._narrows = False  # the answer may step where inputs move a little, or what is made of them
        self._names: frozenset[str] = frozenset()  # of the reference's operators
        self._tf32 = False  # there are products, which may be computed in it

    def answer(self, question: dict[str, Any]) -> dict[str, Any]:
        """Answer the parent; the candidate's process has what memory that took, unless calls are being timed."""
        answer = self._answer(question)
        if question["do"] in LARGE and "fault" not in answer:
            torch.cuda.empty_cache()
        return answer

    def _answer(self, question: dict[str, Any]) -> dict[str, Any]:
        match question["do"]:
            case "admit":
                try:
                    return self._admit()
                except Exception as error:  # noqa: BLE001 - whatever the task does, it cannot be timed here
                    varied = self._draws is not None and any(self._draws.rolled)
                    return {"fault": [reasons.BAD_TASK, f"at its own sizes: {line(error)}"], "varied": varied}
            case "compile":
                return self._compile(question["what"])
            case "recall":
                return self._recall()
            case "remember":
                return {"left": self._remember()}
            case "suits":
                return {"suits": self._suits(question["seed"])}
            case "judge":
                return {"outputs": self._judge(question)}
            case "verify":
                return {"excess": [self._verify(item) for item in question["samples"]]}
        assert self._sampler is not None
        return self._sampler.answer(question, self._scratch)

    def _admit(self) -> dict[str, Any]:
        """Build the module, draw inputs and weights, and leave them for the candidate's process."""
        program = execute(self._payload["source"], self._payload["entry_point"])
        given = Writer()
        torch.manual_seed(self._payload["seed"])
        with torch.device("cuda"), torch.no_grad():
            module = program.build()
            inputs = tree_map(lambda v: v.cuda() if isinstance(v, Tensor) else v, program.inputs())
        module = module.cuda()
        _freshen(module, torch.Generator("cuda").manual_seed(self._payload["seed"]))
        self._module = module.eval() if self._payload["mode"] == "eval" else module
        self._draws = Draws.of(inputs, self._payload["roll"])
        self._calls["eager"] = self._module
        self._sampler = Sampler(self._calls, self._draws, partial(Double(), torch.zeros(16, device="cuda")))
        try:
            arguments: dict[str, Any] = {
                k: given.write(v) for k, v in zip(("args", "kwargs"), program.arguments(), strict=True)
            }
        except NotPlainError:
            arguments = {"text": self._payload["source"], "function": INIT_INPUTS}
        node = arguments | {"state": given.write(dict(module.state_dict())), "draws": self._draws.write(given)}
        (self._scratch / OWN).write_bytes(bytes(given.blob))
        cost, self._restore = Restored.after(self._module, self._cost)
        node["changes"] = self._restore.names
        return {"given": node, "manifest": given.manifest, **cost}

    def _cost(self) -> dict[str, Any]:
        """What one forward is, and the least it must move and compute."""
        inputs = self._make(0)
        with torch.no_grad(), Meter() as meter, FlopCounterMode(display=False) as flops:
            outputs = self._module(*inputs)
        outline = Outline()
        node = outline.write(outputs)
        made = [t for t in tree_leaves(outputs) if isinstance(t, Tensor)]
        held = [t for t in tree_leaves(inputs) if isinstance(t, Tensor)]
        dtypes = {str(t.dtype)[6:] for t in (*held, *self._module.parameters(), *made)}
        cost, device = meter.cost, torch.cuda.get_device_properties()
        self._jumps, self._narrows, self._names = cost.jumps, cost.narrows, cost.names
        self._tf32 = self._payload["tf32"] and cost.products
        return {
            "outputs": node, "outline": outline.manifest, "terms": cost.terms, "sums": cost.sums or cost.products,
            "read": _bytes([*held, *self._module.parameters()]), "written": _bytes(made),
            "flops": flops.get_total_flops(), "shapes": ", ".join(f"{str(t.dtype)[6:]}{list(t.shape)}" for t in held),
            "dtypes": sorted(dtypes),
            "device": {"name": device.name, "sms": device.multi_processor_count, "l2": device.L2_cache_size,
                       "clock": getattr(device, "clock_rate", 0), "bus": getattr(device, "memory_bus_width", 0),
                       "memory_clock": getattr(device, "memory_clock_rate", 0), "major": device.major},
        }  # fmt: skip

    def _compile(self, what: str) -> dict[str, Any]:
        """Make a baseline of torch.compile; ``failed`` where it does not work on this task."""
        try:
            self._calls[what] = self._compiled(what)
        except Exception as error:  # noqa: BLE001 - one baseline less
            if not self._recalled:
                return {"failed": line(error)}
            from torch._inductor.utils import fresh_cache

            self._recalled = False  # what is kept may not work here: then it is made anew
            with fresh_cache(dir=str(self._scratch), delete=False):
                torch.compiler.reset()
                return self._compile(what)
        return {}

    def _compiled(self, what: str) -> Callable[..., Any]:
        from torch._inductor import config  # in children that have begun CUDA only: it asks for devices

        compiled: Callable[..., Any] = torch.compile(copy.deepcopy(self._module), mode=COMPILED[what], dynamic=False)
        # torch's own launcher of kernels takes the folders of the process that compiled along into what is kept.
        with torch.no_grad(), config.patch(use_static_cuda_launcher=False):
            compiled(*self._make(0))
        torch.cuda.synchronize()
        return compiled

    def _recall(self) -> dict[str, Any]:
        """Compile as an earlier process did that was asked for the same."""
        torch.compiler.load_cache_artifacts((self._scratch / COMPILATION).read_bytes())
        self._recalled = True
        return {}

    def _remember(self) -> bool:
        """Leave what was compiled; False where nothing was that can be kept."""
        made = torch.compiler.save_cache_artifacts()
        if made is not None:
            (self._scratch / COMPILATION).write_bytes(made[0])
        return made is not None

    def _suits(self, seed: int) -> bool:
        """Whether the reference is finite and well-conditioned on a draw that is out of the ordinary."""
        golden = self._golden(seed)
        try:
            eager = self._answers(self._module, self._make(seed))
            noisy = self._disturbed(seed)
        except Exception:  # noqa: BLE001 - outside its domain, or no room
            torch.cuda.empty_cache()
            return False
        return golden is not None and finite(eager) and all(near_to(eager, o, CONDITION) for o in (noisy, golden))

    def _judge(self, question: dict[str, Any]) -> list[dict[str, Any]]:
        """The errors of an output that the candidate's process left in a file, one entry a tensor."""
        measures = self._measure(question["seed"], question["terms"], question["sums"])
        where = [(question["at"], question["count"], question["run"])] * len(measures)
        data = (self._scratch / question["file"]).read_bytes()
        answers, found = list(unpacked(data, measures, where)), []
        for measure, answer, (seed, count, run) in zip(measures, answers, where, strict=True):
            found.append(errors_of(measure, answer, places(eager_of(measure).numel(), seed, count, run)))
        if not (self._jumps or self._narrows) or not any("fault" in f or f.get("excess", 0.0) > 1 for f in found):
            return found
        spans = self._spans(question["seed"])
        for n, (measure, answer, (seed, count, run)) in enumerate(zip(measures, answers, where, strict=True)):
            found[n] = errors_of(measure, answer, places(eager_of(measure).numel(), seed, count, run), spans[n])
        return found

    def _spans(self, seed: int) -> list[Span | None]:
        """The least and the largest of the answers to inputs of a draw moved by some ulps, output by output."""
        flat, structure = tree_flatten(self._make(seed))
        eager = self._answers(self._module, self._make(seed))
        try:
            shifted = shifts(flat) if self._jumps else ()
            moved = (self._answers(self._module, tree_unflatten(m, structure)) for m in shifted)
            ways = either_way(lambda: self._answers(self._module, self._make(seed))) if self._narrows else ()
            chosen = either_place(lambda: self._answers(self._module, self._make(seed)), self._names)
            return list(zip(*span(itertools.chain([eager], moved, ways, chosen)), strict=True))
        except Exception:  # noqa: BLE001 - outside its domain, no room, or another shape: no step is known
            torch.cuda.empty_cache()
            return [None] * len(self._measures)

    def _measure(self, seed: int, terms: int, sums: bool) -> list[Measure | Tensor]:
        """Eager's answer, the fp64 golden and a disturbed answer for one draw, output by output."""
        eager = self._answers(self._module, self._make(seed))
        golden = self._golden(seed)
        noisy = self._disturbed(seed)
        self._measures = []
        for n, output in enumerate(eager):
            if not (output.is_floating_point() or output.is_complex()):
                self._measures.append(output)
                continue
            exact = golden[n] if golden and golden[n].shape == output.shape else None
            measure = Measure(output, exact, noisy[n], terms, sums, self._tf32, ON_DEVICE[seed >> BITS] in CONDITIONED)
            measure.prepare()
            self._measures.append(measure)
        return self._measures

    def _disturbed(self, seed: int, whole: bool = True) -> list[Tensor]:
        """Eager's answer to a draw that is an ulp away; ``whole``: so are integers, for which there may be no room."""
        noise = torch.Generator("cuda").manual_seed(seed)
        inputs = tree_map(lambda v: by_an_ulp(v, noise), self._make(seed))
        try:
            with nudge(inputs) if whole else contextlib.nullcontext():
                return self._answers(self._module, inputs)
        except torch.OutOfMemoryError:
            if not whole:
                raise
        torch.cuda.empty_cache()
        return self._disturbed(seed, whole=False)

    def _golden(self, seed: int) -> list[Tensor] | None:
        """The module in fp64; None where it has no such form, or no room."""
        inputs = tree_map(upcast, self._make(seed))
        try:
            self._restore()
            with _double():
                return self._answers(copy.deepcopy(self._module).double(), inputs)
        except Exception:  # noqa: BLE001 - eager itself is then the measure
            torch.cuda.empty_cache()
            return None

    def _make(self, seed: int) -> list[Any]:
        assert self._draws is not None
        return self._draws.make(seed)

    def _answers(self, module: nn.Module, inputs: list[Any]) -> list[Tensor]:
        self._restore()
        with torch.no_grad():
            return [t.reshape(-1) for t in tree_leaves(module(*inputs)) if isinstance(t, Tensor)]

    def _verify(self, item: dict[str, Any]) -> list[float]:
        """How far elements of one timed output are off, look by look, as a share of what is allowed."""
        eager = self._answers(self._module, self._make(item["seed"]))
        off = [self._farthest(eager, look) for look in item["looks"]]
        if (self._jumps or self._narrows) and max(off, default=0.0) > 1:
            spans = self._spans(item["seed"])
            off = [self._farthest(eager, look, spans) for look in item["looks"]]
        return off

    def _farthest(self, eager: list[Tensor], look: dict[str, Any], spans: list[Span | None] | None = None) -> float:
        ends = spans or [None] * len(eager)
        return max((self._off(values, n, look, ends[n]) for n, values in enumerate(eager)), default=0.0)

    def _off(self, values: Tensor, number: int, look: dict[str, Any], ends: Span | None) -> float:
        where, measure = places(values.numel(), look["seed"], look["count"]), self._measures[number]
        wanted, ends = pick(values, where), picked(ends, where)
        data = bytearray(base64.b64decode(look["values"][number], validate=True))
        if len(data) != wanted.numel() * wanted.element_size():
            return 1e9
        answer = torch.frombuffer(data, dtype=wanted.dtype).cuda() if data else wanted
        if isinstance(measure, Measure):
            return min(near(answer, wanted, measure.limits, ends), 1e9)
        return 1e9 if unequal(answer, wanted, ends) else 0.0


def _freshen(module: nn.Module, generator: torch.Generator) -> None:
    """Draw the trainable parameters anew, on the device: see ``kdata.verify.reference.weights.redraw``."""
    with torch.no_grad():
        for parameter in module.parameters():
            if parameter.requires_grad and parameter.is_floating_point() and parameter.numel():
                noise = torch.rand(parameter.shape, generator=generator, device=parameter.device)
                first = parameter.reshape(-1)[0]
                small = bool((parameter == first).all()) and abs(float(first)) < SMALL
                parameter.copy_((noise - 0.5) / 4 if small else parameter * (0.8 + 0.4 * noise))


def _bytes(tensors: list[Any]) -> int:
    return sum(t.numel() * t.element_size() for t in tensors)


@contextlib.contextmanager
def _double() -> Iterator[None]:
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        yield
    finally:
        torch.set_default_dtype(before)
