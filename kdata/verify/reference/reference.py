"""The reference's side: what the candidate is given, and what it ought to answer. In a child of its own.

``answer`` is called in the sandbox with the task; no candidate is ever in this process. Two files come back: what may
be handed on to the candidate's process, and what stays with the judge.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Collection, Iterator
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.utils._pytree import tree_flatten, tree_leaves, tree_map, tree_unflatten

from kdata.task import INIT_INPUTS, Program, resize
from kdata.verify import reasons
from kdata.verify.candidate.unfilled import outlined
from kdata.verify.evidence.compare import FEW
from kdata.verify.exchange.scratch import GIVEN, KEPT
from kdata.verify.exchange.telling import line
from kdata.verify.exchange.wire import NotPlainError, Writer
from kdata.verify.options import Concession
from kdata.verify.reference.assigned import assigned
from kdata.verify.reference.choices import Choices
from kdata.verify.reference.conditioned import bears, suited
from kdata.verify.reference.draws import draw, thinned
from kdata.verify.reference.faults import TaskFaultError, answered, demand_runnable
from kdata.verify.reference.influence import copies, moved, same_again, unused
from kdata.verify.reference.probe import Cost, Meter, Prober
from kdata.verify.reference.roundings import but_labels, either_way, nudge
from kdata.verify.reference.scaled import TooLargeError
from kdata.verify.reference.styles import ALONE, DETAILS, schedule
from kdata.verify.reference.ties import either_place
from kdata.verify.reference.values import (
    CALLING,
    by_an_ulp,
    copied,
    described,
    doubles,
    equal,
    forward,
    own_epsilon,
    same,
    seed_torch,
    shifts,
    span,
    state_by,
    upcast,
)
from kdata.verify.reference.variants import Variant, grown, plan, varying
from kdata.verify.reference.weights import after_calls, after_many_calls, as_first_made, partly, redraw, without_signs

STEPPED = 1 << 23  # elements up to which steps are looked for where no golden is kept
WHOLE = 1 << 21  # elements up to which a task is run at its own sizes on real memory without being asked to
LARGE, EVALUATED = "large", {"mode": "eval", "gradients": "off"}  # a kind of variant, and a way of calling
MANY_CALLS, MANY_WORK = 128, 1 << 24  # before a draw that finds what many calls leave behind, and what these may cost
# Runs with inputs and weights moved by an ulp: how much error is the task's own; few errors say little, see compare.
NOISES, NOISES_OF_FEW = 2, 8


def warm() -> None:
    """Load what torch loads late."""
    prober = Prober("import torch\nclass Model(torch.nn.Linear): pass\ndef get_init_inputs(): return [4, 4]\n"
                    "def get_inputs(): return [torch.rand(4, 4)]\n", "Model")  # fmt: skip
    prober.forward({}, real=False)


def answer(payload: dict[str, Any], scratch: Path) -> dict[str, Any]:
    """Choose the variants, draw weights and inputs, and run the reference on them.

    ``payload``: source, entry_point, variants (how many), seeds (one a draw), level, whole (elements up to which a task
    is also run at its own sizes), precision. Returns ``{"fault": [reason, detail]}`` or what ``Reference.run`` says.
    """
    torch.set_num_threads(1)
    return answered(lambda: Reference(payload).run(scratch))


class Reference:
    """One task's reference, run at every variant and seed."""

    def __init__(self, payload: dict[str, Any]) -> None:
        self.source, self.entry_point = payload["source"], payload["entry_point"]
        self.prober = Prober(self.source, self.entry_point, payload.get("unlike", ()))
        self.count, self.seeds = payload["variants"], payload["seeds"]
        self.thorough, self.tf32 = payload["level"] == "trust", payload["precision"] == "tf32"
        self._conceded = Concession(**payload.get("conceded", {}))
        self.unused: list[str] = []
        self._simplest = 0  # the variant with least work
        self._own: dict[str, Any] | None = None  # its own sizes, where these are too large to compute
        self._most = payload["whole"]  # elements up to which a task is also looked at at its own sizes
        self._moved: dict[str, Any] = {}  # outputs that are moved only
        self._otherwise: list[dict[str, Any]] = []  # its first trial, called in other ways, and one of many rows
        self.mode, self._types = "train", dict[str, torch.dtype]()  # of weights: as they were first made
        self._copies, self._given = False, dict[str, Any]()  # a deep copy answers by its own weights; the last draw's
        self._slim = False  # no golden, no mutant, and one run with noise: for what is compared roughly
        self.given, self.kept = Writer(), Writer()

    def run(self, scratch: Path) -> dict[str, Any]:
        """Everything."""
        demand_runnable(self.prober, self.entry_point)
        try:
            variants = plan(self.prober, self.count, self.thorough, self._conceded)
        except TooLargeError as error:
            raise TaskFaultError(reasons.BAD_TASK, str(error)) from error
        self.mode = self._decide_mode(variants[0])
        decisive = [i for i, variant in enumerate(variants) if variant.kind not in ALONE]
        self._simplest = min(decisive, key=lambda i: variants[i].run.cost.work)
        trials = [trial for i, v in enumerate(variants) for trial in self._trials(i, v)]
        grows = varying(self.source, variants)
        trials += self._whole(variants)
        asks = variants[0].run.cost.asks
        (scratch / GIVEN).write_bytes(bytes(self.given.blob))
        (scratch / KEPT).write_bytes(bytes(self.kept.blob))
        return {"mode": self.mode, "variants": [{"kind": v.kind, "sizes": v.label} for v in variants],
                "trials": trials, "otherwise": self._otherwise, "own": self._own, "unused": self.unused,
                "moved": self._moved, "copies": self._copies, "base": variants[0].values, "grows": grows,
                "asked": [*asks.numbers, *asks.ends],
                "given": self.given.manifest, "kept": self.kept.manifest}  # fmt: skip

    def _trials(self, index: int, variant: Variant) -> list[dict[str, Any]]:
        """The variant at every draw; none where the reference fails at one of them, unless it is the base."""
        try:
            trials = [self._trial(index, variant, *draw) for draw in self._draws(variant.kind)]
        except (IndexError, RuntimeError, ValueError):
            if index == 0:
                raise
            self._otherwise = [trial for trial in self._otherwise if trial["variant"] != index]
            return []  # it ran when it was chosen: its own draws, labels say, do not fit every time
        return [trial for trial in trials if trial is not None]

    def _whole(self, variants: list[Variant]) -> list[dict[str, Any]]:
        """One trial at the task's own sizes, or beyond them where these are small: see ``beyond.whole``."""
        values: dict[str, int] | None = {} if variants[0].values else grown(self.prober, variants[-1])
        large = self._most > WHOLE and not values  # larger than what sizes are tried with
        run = self.prober.forward(values, real=not large) if values is not None else None
        most = self._most if large else WHOLE
        if run is None or max(run.elements, run.cost.largest, run.cost.work // 4) > most:
            with contextlib.suppress(Exception):  # it does not run on tensors without memory: nothing is known
                program = self.prober.program({})
                self._own = outlined(program, self.entry_point, self.mode == "train") if values == {} else None
            return []
        variants.append(Variant("grown" if values else "whole", values or {}, run))
        self._slim = True
        with contextlib.suppress(IndexError, RuntimeError, ValueError):  # its own draws may not fit such sizes
            style = "tailed natural" if self.thorough else "natural"
            trial = self._trial(len(variants) - 1, variants[-1], self.seeds[0], style)
            if trial is not None:
                return [trial]
        variants.pop()
        return []

    def _draws(self, kind: str) -> list[tuple[int, str]]:
        """Seeds, each with the distribution of the inputs, see ``kdata.verify.reference.styles``."""
        return schedule(kind, self.seeds, self.thorough)

    def _decide_mode(self, base: Variant) -> str:
        """As constructed ("train"), or "eval" where the reference is random so, or goes on from its last call."""
        for mode in ("train", "eval"):
            self.mode = mode
            program = self.prober.program(base.values)
            seed_torch(1)
            arguments, inputs = program.arguments(), program.inputs()
            drawn = self._build(program, arguments, None)
            redraw(drawn, torch.Generator().manual_seed(1))  # dropout behind weights that start at zero is seen too
            state = {k: v.detach().clone() for k, v in drawn.state_dict().items()}
            answers = []
            for seed in (2, 3):
                seed_torch(seed)
                module = self._build(program, program.arguments(), state)
                seed_torch(seed)
                answers.append(forward(module, copied(inputs)))
            self._plain(Writer(), answers)
            if same(*answers) and same_again(module, state, inputs, answers[1]):
                return mode
        raise TaskFaultError(reasons.RANDOM_REFERENCE, "two runs on the same weights and inputs differ")

    def _program(self, variant: Variant) -> Program:
        """The task at a variant's sizes."""
        return self.prober.program(variant.values)

    def _build(
        self, program: Program, arguments: tuple[list[Any], dict[str, Any]], state: dict[str, Any] | None
    ) -> nn.Module:
        module: nn.Module = program.namespace[self.entry_point](*arguments[0], **arguments[1])
        as_first_made(module, self._types)
        if state is not None:
            module.load_state_dict(state)
        return module.eval() if self.mode == "eval" else module

    def _trial(self, index: int, variant: Variant, seed: int, style: str) -> dict[str, Any] | None:
        """One draw of weights and inputs, and what the reference makes of it; None where the style does not suit it."""
        if not (styles := suited(style, variant.run.cost.names)):
            return None
        generator = torch.Generator().manual_seed(seed)
        seed_torch(seed)
        program = self._program(variant)
        arguments = program.arguments()
        seed_torch(seed)
        redraw(module := self._build(program, program.arguments(), None), generator)
        turn = self.seeds.index(seed) if seed in self.seeds else 1
        drawn = {k: v.detach().clone() for k, v in module.state_dict().items()}
        state = partly(self._given, drawn, turn) if self.thorough and index == 0 else drawn
        natural = program.inputs()
        state = without_signs(module, state, lambda weights: self._answer(program, weights, natural)[0])
        if self.mode == "train":
            last = index == 0 and seed == self.seeds[-1] != self.seeds[0]
            after, count = (after_many_calls, self._many(variant)) if last else (after_calls, turn)
            state = after(count, module, state, lambda weights: self._answer(program, weights, natural)[1])
        style, inputs = self._draw(styles, program, state, natural, generator)
        weighed = None if inputs is None else self._weigh(style, program, state, inputs, generator)
        if inputs is None or weighed is None:
            return None
        state = weighed
        first = style == "natural" and seed == self.seeds[0]
        if index == 0 and first:
            self.unused = unused(module, state, inputs, lambda *given: self._answer(program, *given)[0])
            seed_torch(0)
            self._moved = moved(self._build(program, program.arguments(), state), copied(inputs))
            answered_so = partial(forward, inputs=copied(inputs))
            self._copies = copies(self._build(program, program.arguments(), None), state, answered_so,
                                  self._answer(program, state, inputs)[0])  # fmt: skip
        given, self._given = self._arguments(arguments, variant), state
        given |= {"state": self.given.write(state), "inputs": self._plain(self.given, inputs)}
        kept = self._expect(program, state, inputs, generator, style == "corners")
        backwards = style in ("nearly", "named") or (index == 1 and seed == self.seeds[-1] != self.seeds[0])
        backwards |= variant.kind in ("grown", "whole")  # programs that are far apart meet there, if anywhere
        trial = {"variant": index, "seed": seed, "shapes": described(inputs), "detail": DETAILS[style],
                 "style": style, "backwards": backwards, "given": given, "kept": kept}  # fmt: skip
        if index == self._simplest and first and not self._slim:
            others = self._called_otherwise(program, state, inputs, kept)
            self._otherwise = [*(trial | other for other in others), *self._otherwise]
        elif variant.kind == LARGE and first and self.thorough:  # where batches are large it may be deaf to eval()
            others = self._called_otherwise(program, state, inputs, kept)
            self._otherwise += [trial | o for o in others if o["way"] == EVALUATED and o["kept"] is not kept]
        return trial

    def _many(self, variant: Variant) -> int:
        """How many calls are many, as far as they cost little."""
        return max(1, min(MANY_CALLS, MANY_WORK // max(1, variant.run.cost.work)))

    def _called_otherwise(
        self, program: Program, state: dict[str, Any], inputs: list[Any], kept: dict[str, Any]
    ) -> Iterator[dict[str, Any]]:
        """What is expected of the first trial in evaluation mode, and with gradients enabled or inference mode on."""
        judged, usual = self.mode, self._left(program, state, inputs)
        for mode in dict.fromkeys((judged, "eval")):
            self.mode = mode
            try:
                alike = mode == judged or same(usual, self._left(program, state, inputs))
                there = kept if alike else self._expect(program, state, inputs, torch.Generator().manual_seed(0))
                for gradients, context in CALLING.items():
                    if (mode, gradients) == (judged, "off"):
                        continue
                    with context():
                        self._build(program, program.arguments(), state)(*copied(inputs))
                    way, detail = {"mode": mode, "gradients": gradients}, f"in {mode} mode, gradients {gradients}"
                    yield {"kept": there, "judged": kept, "way": way, "detail": detail}
            except (IndexError, RuntimeError, TypeError, ValueError):  # the task cannot be called so
                continue
            finally:
                self.mode = judged

    def _left(self, program: Program, state: dict[str, Any], inputs: list[Any]) -> list[Any]:
        """What a call answers, and what state it leaves behind."""
        outputs, module, _ = self._answer(program, state, inputs)
        return [outputs, dict(module.state_dict())]

    def _draw(
        self, styles: list[str], program: Program, state: dict[str, Any], natural: list[Any], generator: torch.Generator
    ) -> tuple[str, list[Any] | None]:
        """The inputs in the first of the styles that suits the task, and which that is."""
        for style in styles:
            inputs = draw(style, natural, generator)
            if inputs is not None and self._bears(program, state, inputs, style, generator):
                return style, inputs
        return styles[-1], None

    def _weigh(
        self, style: str, program: Program, state: dict[str, Any], inputs: list[Any], generator: torch.Generator
    ) -> dict[str, Any] | None:
        """The weights of a draw in a style, None where it does not suit the task."""
        return state

    def _bears(
        self, program: Program, state: dict[str, Any], inputs: list[Any], style: str, generator: torch.Generator
    ) -> bool:
        """Whether the reference bears such inputs, see ``kdata.verify.reference.conditioned``."""
        eager, golden = (partial(answer, program, state) for answer in (self._answer, self._golden))
        return bears(style, inputs, lambda given: eager(given)[0], lambda given: golden(given)[0], generator)

    def _arguments(self, arguments: tuple[list[Any], dict[str, Any]], variant: Variant) -> dict[str, Any]:
        """Constructor arguments as data; where they are none, the text whose ``get_init_inputs`` makes them."""
        try:
            given = {"args": self.given.write(arguments[0]), "kwargs": self.given.write(arguments[1])}
        except NotPlainError:
            return {"text": resize(self.source, variant.values), "function": INIT_INPUTS, "build": ""}
        plain = not any(isinstance(leaf, torch.Tensor) for leaf in tree_leaves(arguments))
        return given | {"build": json.dumps(given) if plain else ""}  # equal ones build equal modules

    def _expect(
        self, program: Program, state: dict[str, Any], inputs: list[Any], generator: torch.Generator,
        shared: bool = False,
    ) -> dict[str, Any]:  # fmt: skip
        """Eager's answer, the fp64 golden, and answers to inputs moved by an ulp.

        ``shared``: whole rows are of one value, whose mean may be off by an ulp for all of them.
        """
        with Meter() as meter, Choices() as choices:
            eager, module, held = self._answer(program, state, inputs)
        cost = meter.cost
        changed = [name for name, value in module.state_dict().items() if not equal(value, state.get(name))]
        kept: dict[str, Any] = {"eager": self._plain(self.kept, eager), "inputs": self._plain(self.kept, held),
                "state": self.kept.write(dict(module.state_dict())), "golden": None, "note": "", "noisy": [],
                "chosen": [self._plain(self.kept, part) for part in choices.of(eager)],
                "dropped": None, "terms": cost.terms, "sums": cost.sums, "products": cost.products,
                "tf32": self.tf32 and cost.products}  # fmt: skip
        if (cost.jumps or cost.narrows) and (not self._slim or cost.largest <= STEPPED):
            with contextlib.suppress(Exception):  # outside its domain, or of another shape: no step is known
                kept["span"] = self._span(program, state, inputs, eager, cost)
        move = partial(by_an_ulp, generator=generator, whole=shared, tf32=kept["tf32"])
        if self._slim:  # its noise is all that tells what rounding does to it
            return kept | {"noisy": self._noisy(1, program, state, inputs, changed, move, cost.names)}
        try:
            golden, exact = self._golden(program, state, inputs)
            kept |= {"golden": self._plain(self.kept, golden),
                     "golden_state": self.kept.write(state_by(exact, changed))}  # fmt: skip
        except Exception as error:  # noqa: BLE001 - no fp64 form: eager itself is the measure
            kept["note"] = f"golden in the task's own dtype ({line(error)[:120]})"
        with contextlib.suppress(Exception):  # outside its domain: one mutant less
            dropped, _, _ = self._answer(program, state, tree_map(lambda t: thinned(t, generator), inputs))
            kept["dropped"] = self._plain(self.kept, dropped)
        few = sum(t.numel() for t in tree_leaves(eager) if isinstance(t, torch.Tensor)) < FEW
        kept |= assigned(partial(self._answer, program, state, inputs), inputs, held)
        noisy = self._noisy(NOISES_OF_FEW if few else NOISES, program, state, inputs, changed, move, cost.names)
        return kept | {"noisy": noisy}

    def _noisy(
        self, count: int, program: Program, state: dict[str, Any], inputs: list[Any], changed: list[str],
        move: Callable[[Any], Any], names: Collection[str],
    ) -> list[Any]:  # fmt: skip
        """Answers to weights and inputs that are moved by an ulp, and what became of the state."""
        found = []
        for number in range(count):
            moved = {k: move(v) for k, v in state.items()}
            try:
                with nudge(inputs, number, names):
                    noisy, other, _ = self._answer(program, moved, but_labels(move, inputs, names))
            except Exception:  # noqa: BLE001, S112 - at the edge of its domain: one estimate less
                continue
            found.append([self._plain(self.kept, noisy), self.kept.write(state_by(other, changed))])
        return found

    def _span(
        self, program: Program, state: dict[str, Any], inputs: list[Any], eager: Any, cost: Cost
    ) -> list[dict[str, Any]]:  # fmt: skip
        """The ends of answers to weights and inputs moved by some ulps, also before it rounds, and of other choices."""
        flat, structure = tree_flatten([state, inputs])
        leaves, outline = tree_flatten(eager)
        shifted = shifts(flat) if cost.jumps else ()
        moved = (tree_leaves(self._answer(program, *tree_unflatten(m, structure))[0]) for m in shifted)

        def again() -> list[Any]:
            return tree_leaves(self._answer(program, state, inputs)[0])

        others = chain(moved, either_way(again) if cost.narrows else (), either_place(again, cost.names))
        exact = []
        with contextlib.suppress(Exception):  # no fp64 form
            if cost.jumps and self._slim:  # whose golden is not kept: a sum of very many terms has an error of its own
                golden = tree_leaves(self._golden(program, state, inputs)[0])
                exact = [[g.to(e) if isinstance(e, torch.Tensor) else e for g, e in zip(golden, leaves, strict=True)]]
        ends = span([leaves, *others, *exact])
        return [self._plain(self.kept, tree_unflatten(end, outline)) for end in ends]

    def _golden(self, program: Program, state: dict[str, Any], inputs: list[Any]) -> tuple[Any, nn.Module]:
        with doubles(), own_epsilon([state, inputs]):
            double = {k: upcast(v) for k, v in state.items()}
            golden, exact, _ = self._answer(program, double, tree_map(upcast, inputs), double=True)
            return golden, exact

    def _answer(
        self, program: Program, state: dict[str, Any], inputs: list[Any], double: bool = False
    ) -> tuple[Any, nn.Module, list[Any]]:
        seed_torch(0)
        module = self._build(program, program.arguments(), None)
        (module.double() if double else module).load_state_dict(state)
        held = copied(inputs)
        return forward(module, held), module, held

    def _plain(self, writer: Writer, value: Any) -> dict[str, Any]:
        try:
            return writer.write(value)
        except NotPlainError as error:
            raise TaskFaultError(reasons.BAD_TASK, f"it takes or returns what is no plain data: {error}") from error
