"""One capture for a whole package: its models are built small and run, and every class seen at work tells how.

The package is imported as it stands, in forks inside the sandbox, so that registries, factories and frameworks work.
What comes out is words: arguments as expressions, inputs as specs, see ``sources.capture``.
"""

from __future__ import annotations

import functools
import inspect
import itertools
import resource
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import torch
from torch import nn

from sources import capture, configs_tiny
from sources.initial import cheapen
from sources.inputs import Specs, Tensor, draw
from sources.isolation import isolated
from sources.on_cpu import without_weights
from sources.packages import Site, classes
from sources.progress import Budget, Progress
from sources.search import Solution, feed, has_tensor, starts

PACKAGE_SECONDS, UNIT_SECONDS = 900, 6  # CPU seconds of a package's own fork, below its job's; of one of its files
UNIT_MEMORY = 3 << 30  # bytes of address space that a file's models may take
MAX_LOST = 3  # files in a row that never answer
MAX_TRIED = 3  # calls of one class that are looked at
MAX_CONFIGURATIONS = 6  # of one model
SEARCH_BUDGET = 3_000  # work that a search for a model's inputs may take, see ``progress.Budget``
MAX_STARTS = 6  # first guesses of inputs that a model without weights is tried with
SIDES = (64, 224)  # of images
Seen = dict[str, dict[str, dict[str, Any]]]  # path -> class -> its arguments, specs and what these name
Driver = Callable[[], None]
NEVER: dict[str, Any] = {"specs": None}


def observe(files: Mapping[str, str], wanted: Mapping[str, set[str]], scratch: Path) -> Seen:
    """With what the ``wanted`` classes of files, and others on the way, are constructed and called."""
    answer = isolated(lambda: {"reason": "", "seen": _observe(files, wanted, scratch)}, PACKAGE_SECONDS)
    seen: Seen = answer.get("seen", {})
    return seen


def _observe(files: Mapping[str, str], wanted: Mapping[str, set[str]], scratch: Path) -> Seen:
    site, seen = Site(files, scratch / "site"), Seen()
    cheapen()
    without_weights()
    torch.set_grad_enabled(False)
    lost = 0
    for number, (path, names) in enumerate(sorted(wanted.items())):
        names = {n for n in names if seen.get(path, {}).get(n, NEVER)["specs"] is None}
        if not names:
            continue
        if number == 0:  # what all files need is loaded once, before the forks
            isolated_load(site, path)
        unit = isolated(functools.partial(_unit, site, path, names), UNIT_SECONDS)
        lost = lost + 1 if unit["reason"] == "timeout" else 0
        if lost >= MAX_LOST:  # it sleeps at import
            break
        for where, found in unit.get("seen", {}).items():
            for name, told in found.items():
                known = seen.setdefault(where, {})
                if known.get(name, NEVER)["specs"] is None:
                    known[name] = told
    return seen


def isolated_load(site: Site, path: str) -> str:
    """Import a file's module here, if doing so in a fork does no harm; what became of it."""

    def load() -> dict[str, Any]:
        site.load(path)
        return {"reason": ""}

    reason: str = isolated(load, UNIT_SECONDS)["reason"]
    if not reason:
        site.load(path)
    return reason


def _limit_memory() -> None:
    """From now on this process may take so much more than it has: some models hardly shrink."""
    taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    most = taken + UNIT_MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def _unit(site: Site, path: str, wanted: set[str]) -> dict[str, Any]:
    _limit_memory()
    module = site.load(path)
    watcher = Watcher(site)
    watcher.install()
    try:
        for driver in _drivers(module):
            if wanted <= {name for where, name in watcher.found if where == path}:
                break
            try:
                driver()
            except Exception:  # noqa: BLE001, S112 - a model that cannot be built or run small shows less
                continue
    except BaseException as error:  # noqa: BLE001 - out of time: what was seen before counts
        ended = type(error).__name__
    else:
        ended = ""
    return {"reason": "", "detail": ended, "seen": watcher.told()}


def _drivers(module: types.ModuleType) -> Iterator[Driver]:
    """What can be run to see the classes of a module: models of configurations, factories, classes with defaults."""
    own = [kind for kind in classes(module) if issubclass(kind, nn.Module)]
    framed = [k for k in own if isinstance(getattr(k, "config_class", None), type)]
    for kind in framed:
        yield functools.partial(_configured, kind)
    functions = [f for f in vars(module).values() if inspect.isfunction(f) and f.__module__ == module.__name__]
    for made in [*(f for f in functions if _is_factory(f)), *(k for k in own if k not in framed)]:
        yield functools.partial(_made, made)


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
    with torch.device("meta"):
        for specs in _images(model, starts(model)[:MAX_STARTS]):
            try:
                if has_tensor(model(*(draw(s) for s in specs))):
                    return
            except Exception:  # noqa: BLE001, S112 - inputs of another shape may do
                continue


def _images(model: nn.Module, first: list[Specs]) -> Iterator[Specs]:
    """The guesses, images among them in sizes that networks are made for."""
    for specs in first:
        yield specs
        tensors = [t for t in specs if isinstance(t, Tensor)]
        if len(specs) == 1 and tensors and len(tensors[0].shape) == 4:
            for side in SIDES:
                yield (tensors[0].resized(2, side).resized(3, side),)


@dataclass(slots=True)
class Watcher:
    """Keeps with what the modules of a package are constructed and called, and which of their settings are read."""

    site: Site
    found: dict[tuple[str, str], tuple[nn.Module, Specs]] = field(default_factory=dict)
    made: dict[tuple[str, str], nn.Module] = field(default_factory=dict)  # the first of each class
    _tried: dict[tuple[str, str], int] = field(default_factory=dict)
    _read: dict[int, dict[str, None]] = field(default_factory=dict)  # names that were read of an object, by its id
    _settings: list[Any] = field(default_factory=list)  # these objects: kept, so that their ids hold
    _watching: set[type] = field(default_factory=set)
    _keys: dict[type, tuple[str, str] | None] = field(default_factory=dict)

    def install(self) -> None:
        """Watch all modules from now on."""
        call, watcher = nn.Module.__call__, self

        def new(kind: type, *given: Any, **named: Any) -> Any:
            made: Any = object.__new__(kind)
            object.__setattr__(made, capture.MADE_WITH, (given, named))
            if key := watcher.key(kind):
                watcher.made.setdefault(key, made)
            for value in (*given, *named.values()):
                watcher._watch_settings(value)
            return made

        def watched(self: nn.Module, *given: Any, **named: Any) -> Any:
            key = watcher.key(type(self))
            if key is None or key in watcher.found or watcher._tried.get(key, 0) >= MAX_TRIED:
                return call(self, *given, **named)
            watcher._tried[key] = watcher._tried.get(key, 0) + 1
            try:
                specs = capture.lenient_specs(self, given, named)
            except (capture.UnspeakableError, TypeError, ValueError, RuntimeError):
                return call(self, *given, **named)
            result = call(self, *given, **named)
            if has_tensor(result):
                watcher.found.setdefault(key, (self, specs))
            return result

        nn.Module.__new__ = staticmethod(new)  # type: ignore[assignment, method-assign]
        nn.Module.__call__ = watched  # type: ignore[method-assign]

    def key(self, kind: type) -> tuple[str, str] | None:
        """The file and name of a class of the package, None for others."""
        if kind not in self._keys:
            path = self.site.path_of(kind)
            top = path and kind.__qualname__ == kind.__name__
            self._keys[kind] = (path, kind.__name__) if top else None
        return self._keys[kind]

    def told(self) -> Seen:
        """What was seen, as plain JSON: for modules that nothing called, or not so that it worked, their arguments."""
        seen: Seen = {}
        for (path, name), first in self.made.items():
            module, specs = self.found.get((path, name), (first, None))
            spelling = _Spelling(self)
            try:
                arguments = capture.arguments_of(module, spelling)
            except (capture.UnspeakableError, TypeError, ValueError):
                continue
            given = None if specs is None else capture.encoded(Solution(arguments, specs))[1]
            seen.setdefault(path, {})[name] = {"arguments": arguments, "specs": given, "needs": spelling.needs}
        return seen

    def _watch_settings(self, value: Any) -> None:
        """Note which attributes of an object of the package that is no module are read from now on."""
        kind = type(value)
        if kind in self._watching or isinstance(value, nn.Module | type) or not self.site.path_of(kind):
            return
        self._watching.add(kind)
        watcher, plain = self, cast("Callable[[Any, str], Any]", kind.__getattribute__)
        own = {getattr(sys.modules.get(k.__module__), "__file__", "") for k in kind.__mro__}

        def reading(self: Any, name: str) -> Any:
            found = plain(self, name)
            if not name.startswith("__") and sys._getframe(1).f_code.co_filename not in own:
                if id(self) not in watcher._read:
                    watcher._settings.append(self)
                watcher._read.setdefault(id(self), {})[name] = None
                watcher._watch_settings(found)
            return found

        try:
            kind.__getattribute__ = reading  # type: ignore[assignment]
        except TypeError:  # a class written in C
            return


class _Spelling(capture.Spelling):
    """Names for classes and functions of the package, and texts for its settings."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self.needs: dict[str, list[str]] = {}  # placeholder -> file and name

    def name(self, value: Any) -> str | None:
        path, name = self.watcher.site.path_of(value), getattr(value, "__qualname__", "")
        if not path or not name.isidentifier():
            return None
        known = next(
            (p for p, target in self.needs.items() if target == [path, name]), f"{capture.HERE}{len(self.needs)}"
        )
        self.needs[known] = [path, name]
        return known

    def settings(self, value: Any) -> dict[str, Any] | None:
        if not self.watcher.site.path_of(type(value)):
            return None
        names = sorted(self.watcher._read.get(id(value), {}))
        return {n: v for n in names if not callable(v := getattr(value, n, print))}
