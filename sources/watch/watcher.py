"""Watching the modules of a whole package at work: what each class is constructed and called with.

Like ``sources.watch.capture``, for classes of many files; what a settings object is asked for is noted, too.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, cast

from torch import nn

from sources.infer.inputs import Specs
from sources.infer.running.calls import has_tensor
from sources.infer.search import Solution
from sources.watch import capture
from sources.watch.packages import Site

MAX_TRIED = 3  # calls of one class that are looked at
Seen = dict[str, dict[str, dict[str, Any]]]  # path -> class -> its arguments, specs and what these name


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
            vocabulary = _PackageVocabulary(self)
            try:
                arguments = capture.arguments_of(module, vocabulary)
            except (capture.UnspeakableError, TypeError, ValueError):
                continue
            given = None if specs is None else capture.encoded(Solution(arguments, specs))[1]
            seen.setdefault(path, {})[name] = {"arguments": arguments, "specs": given, "needs": vocabulary.needs}
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


class _PackageVocabulary(capture.Vocabulary):
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
