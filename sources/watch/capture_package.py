"""One capture for a whole package: its models are built small and run, and every class seen at work tells how.

The package is imported as it stands, in forks inside the sandbox, so that registries, factories and frameworks work.
What comes out is words: arguments as expressions, inputs as specs, see ``sources.watch.capture``.
"""

from __future__ import annotations

import doctest
import functools
import inspect
import itertools
import random
import re
import types
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

from sources.hints import configs_tiny
from sources.infer.forward.starts import starts
from sources.infer.input_search import feed
from sources.infer.inputs import Specs, Tensor, draw
from sources.infer.running.calls import has_tensor
from sources.infer.running.initial import cheapen
from sources.infer.running.progress import Budget, Progress
from sources.isolation import isolated
from sources.text.on_cpu import without_weights
from sources.watch.packages import MAX_STAND_INS, Site, classes
from sources.watch.watcher import Seen, Watcher

PACKAGE_SECONDS, UNIT_SECONDS = 900, 6  # CPU seconds of a package's own fork, below its job's; of one of its files
LOAD_SECONDS = 20  # CPU seconds of importing what all files of a package need, which happens once
LOAD_PATIENCE = 3  # times as long on the clock: some sleep
UNIT_MEMORY = 10 << 25  # bytes of address space that a file's models may take
MAX_SILENT = 3  # files in a row that never answer
MAX_CONFIGURATIONS = 6  # of one model
SEARCH_BUDGET = 3_000  # work that a search for a model's inputs may take, see ``progress.Budget``
MAX_STARTS = 6  # first guesses of inputs that a model without weights is tried with
SIDES = (64, 224)  # of images
# What an example does not get here.
_FETCHES = re.compile(
    r"from_pretrained|pretrained=True|https?://[^\s]+\.(pt|pth|bin)|hf_hub|torch\.hub|load_dataset|download"
)
Driver = Callable[[], None]
NEVER: dict[str, Any] = {"specs": None}


@dataclass(frozen=True, slots=True)
class Observed:
    """What running a package showed."""

    seen: Seen
    lost: dict[str, int]  # files whose run did not come to its end, by how it ended
    failure: str = ""  # why the package's run did not


def observe(files: Mapping[str, str], wanted: Mapping[str, set[str]], scratch: Path) -> Observed:
    """With what the ``wanted`` classes of files, and others on the way, are constructed and called."""
    answer = isolated(lambda: {"reason": "", **_observe(files, wanted, scratch)}, PACKAGE_SECONDS)
    if answer["reason"]:
        return Observed({}, {}, f"{answer['reason']}: {answer.get('detail', '')}")
    return Observed(answer["seen"], answer["lost"], answer["failure"])


def _observe(files: Mapping[str, str], wanted: Mapping[str, set[str]], scratch: Path) -> dict[str, Any]:
    site, seen, lost = Site(files, scratch / "site"), Seen(), Counter[str]()
    cheapen()
    without_weights()
    torch.set_grad_enabled(False)
    silent, loaded = 0, set[str]()
    for path, names in sorted(wanted.items()):
        names = {n for n in names if seen.get(path, {}).get(n, NEVER)["specs"] is None}
        if not names:
            continue
        outermost, _, inner = site.module_name(path).partition(".")
        if not loaded or inner and outermost not in loaded:  # what a package's files need is loaded before their forks
            loaded.add(outermost)
            _load_here(site, path)
        unit = isolated(functools.partial(_unit, site, path, names), UNIT_SECONDS, UNIT_MEMORY)
        if ended := unit["reason"] or unit["detail"]:
            lost[ended] += 1
        silent = silent + 1 if unit["reason"] == "timeout" else 0
        if silent >= MAX_SILENT:
            return {"seen": seen, "lost": lost, "failure": f"timeout of {silent} files in a row: it sleeps at import"}
        _add(seen, unit.get("seen", {}))
    return {"seen": seen, "lost": lost, "failure": ""}


def _add(seen: Seen, more: Seen) -> None:
    """Add what one file showed; calls that were seen before stay."""
    for where, found in more.items():
        known = seen.setdefault(where, {})
        for name, told in found.items():
            if known.get(name, NEVER)["specs"] is None:
                known[name] = told


def _load_here(site: Site, path: str) -> None:
    """Import a file's module in this process, if doing so in a fork does no harm; its own fork says what went wrong.

    What registers itself somewhere cannot be imported again when a package that it lacks has got a stand-in: each
    such package is then found out in a fork of its own, so that here all of them stand ready at once.
    """

    def load() -> dict[str, Any]:
        site.load(path)
        return {"reason": ""}

    failed = isolated(load, LOAD_SECONDS, patience=LOAD_PATIENCE)["reason"]
    for _ in range(MAX_STAND_INS if failed not in ("", "timeout") else 0):
        found = isolated(lambda: {"reason": "", "lacks": site.lacking(path)}, LOAD_SECONDS, patience=LOAD_PATIENCE)
        failed = found["reason"]
        if failed or not found["lacks"]:
            break
        site.stand_in_for(found["lacks"])
    if not failed:
        site.load(path)


def _unit(site: Site, path: str, wanted: set[str]) -> dict[str, Any]:
    module = site.load(path)
    watcher = Watcher(site)
    watcher.install()
    try:
        for driver in _drivers(module):
            if wanted <= {name for where, name in watcher.found if where == path}:
                break
            torch.manual_seed(0)  # the largest of the indices that it draws becomes a bound
            random.seed(0)
            try:
                driver()
            except Exception:  # noqa: BLE001, S112 - a model that cannot be built or run small shows less
                continue
    except BaseException as error:  # noqa: BLE001 - out of time: what was seen before counts
        return {"reason": "", "detail": type(error).__name__, "seen": watcher.told()}
    return {"reason": "", "detail": "", "seen": watcher.told()}


def _drivers(module: types.ModuleType) -> Iterator[Driver]:
    """What can be run to see the classes of a module: models of configurations, factories, classes with defaults."""
    own = [kind for kind in classes(module) if issubclass(kind, nn.Module)]
    framed = [k for k in own if isinstance(getattr(k, "config_class", None), type)]
    for kind in framed:
        yield functools.partial(_configured, kind)
    for kind in own:
        if shown := _shown(kind):
            yield functools.partial(_followed, shown, module)
    functions = [f for f in vars(module).values() if inspect.isfunction(f) and f.__module__ == module.__name__]
    for made in [*(f for f in functions if _is_factory(f)), *(k for k in own if k not in framed)]:
        yield functools.partial(_made, made)


def _shown(kind: type) -> list[str]:
    """The statements of the examples in a class's own docstring, but for those that fetch trained weights.

    Ways of its own to make one stay: what they fetch is missed after they have made it.
    """
    said = "\n".join(d for d in (kind.__dict__.get("__doc__"), getattr(vars(kind).get("forward"), "__doc__", "")) if d)
    makers = (name for name, way in vars(kind).items() if isinstance(way, classmethod | staticmethod))
    own = [f"{kind.__name__}.{name}(" for name in makers]
    try:
        every = [example.source for example in doctest.DocTestParser().get_examples(said)]
    except ValueError:  # its layout is not what doctest reads
        return []
    return [s for s in every if not _FETCHES.search(s) or any(way in s for way in own)]


def _followed(shown: list[str], module: types.ModuleType) -> None:
    """Do what an example shows, as its module sees it; others may not need a statement that fails."""
    space = {"torch": torch, "nn": nn, **vars(module)}
    for statement in shown:
        try:
            exec(compile(statement, "<example>", "exec"), space)  # noqa: S102 - in the sandbox
        except Exception:  # noqa: BLE001, S112 - it shows how to plot, or to read a file that is not here
            continue


def _is_factory(function: types.FunctionType) -> bool:
    """Whether a function can be called without arguments, and its name does not say that it does something else."""
    parameters = inspect.signature(function).parameters.values()
    if any(p.default is p.empty and p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL) for p in parameters):
        return False
    return not function.__name__.startswith(("_", "test", "main", "is_", "get_logger"))


def _configured(kind: Any) -> None:
    """Build and run a model of a small configuration: the smallest with which it runs."""
    built = list[nn.Module]()
    for config in itertools.islice(configs_tiny.configurations(kind.config_class), MAX_CONFIGURATIONS):
        try:
            model = kind(config)
        except Exception:  # noqa: BLE001, S112 - its sizes do not fit: the next configuration has fewer changes
            continue
        built = built or [model]
        if any(_runs(model, given) for given in configs_tiny.inputs(model, config)):
            return
    for model in built:
        feed(model, Budget(SEARCH_BUDGET))


def _runs(model: nn.Module, given: dict[str, Any]) -> bool:
    try:
        with Progress(Budget()):
            return has_tensor(model(**given))
    except Exception:  # noqa: BLE001 - other inputs may do
        return False


def _made(maker: Any) -> None:
    """Build and run what a factory or a class makes without arguments, with small ones, else without weights."""
    small = configs_tiny.arguments(maker) if isinstance(maker, type) else {}
    for given in [small, {}] if small else [{}]:
        try:
            model = maker(**given) if given else _weightless(maker)
        except Exception:  # noqa: BLE001, S112 - its sizes do not fit: its own defaults do
            continue
        if not isinstance(model, nn.Module):
            return
        if given and feed(model, Budget(SEARCH_BUDGET)) is not None:
            return
        if not given:
            _run_weightless(model)


def _weightless(maker: Any) -> Any:
    with torch.device("meta"):
        return maker()


def _run_weightless(model: nn.Module) -> None:
    """Run a model as it is made, else in evaluation mode: in training it may ask for targets."""
    with torch.device("meta"):
        first = list(_images(starts(model)[:MAX_STARTS]))
        for specs, training in ((s, t) for t in (model.training, False) for s in first):
            try:
                if has_tensor(model.train(training)(*(draw(s) for s in specs))):
                    return
            except Exception:  # noqa: BLE001, S112 - inputs of another shape may do
                continue


def _images(first: list[Specs]) -> Iterator[Specs]:
    """The guesses, images among them in sizes that networks are made for."""
    for specs in first:
        yield specs
        tensors = [t for t in specs if isinstance(t, Tensor)]
        if len(specs) == 1 and tensors and len(tensors[0].shape) == 4:
            for side in SIDES:
                yield (tensors[0].resized(2, side).resized(3, side),)
