"""A look through a whole package before its definitions are cut: what it defines, and how often names have values.

A framework is looked through, and cut, a few folders at a time: the syntax trees of transformers take 1.8 GB together.

Runs inside the sandbox: no hostile text is parsed outside.
"""

from __future__ import annotations

import gc
import posixpath
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import astuple, dataclass, field
from pathlib import Path
from typing import Any

from sources.cut.cutpoints import Framework, framework
from sources.cut.modules import Candidate, candidates
from sources.hints.hints import MAX_CALLS, Hints, Place
from sources.text import documents
from sources.text.roots import Roots
from sources.text.symbols import Package

MAX_AT_ONCE = 4 << 20  # characters of a framework that are parsed at once
RARELY = 500_000  # new objects between two looks for garbage
FRAMES = 20_000  # of those that walk a tree: six a level of the deepest that is parsed
Look = tuple[Package, Hints]


@dataclass(slots=True)
class Whole:
    """All files of a package."""

    code: dict[str, str]
    examples: dict[str, str]
    settings: dict[str, str]
    replacements: dict[str, str]
    framework: str  # its name, "" for others
    roots: Roots
    _cut_points: Mapping[str, str]
    _only: Look | None = None  # of a package that is looked through at once
    _package: Package | None = None

    @staticmethod
    def of(payload: Mapping[str, Any], roots: Roots | None = None) -> Whole:
        """The package of a job: ``files``, ``replacements`` and ``cut_points``; beside it are ``roots``."""
        code, examples, settings = documents.split(payload["files"])
        points: dict[str, str] = payload["cut_points"]
        name = framework(code, points)
        return Whole(code, examples, settings, payload["replacements"], name, roots or Roots(), points)

    def symbols(self) -> Package:
        """The symbols of a package that is looked through at once."""
        if self._package is None:
            self._package = Package(self.code, self.replacements, self.examples, roots=self.roots)
        return self._package

    def look(self, paths: list[str]) -> Look:
        """The symbols of the package, and what these files of it tell; for all files, what was looked at before."""
        if not self.framework:
            if self._only is None:
                self._only = self.symbols(), Hints(self.symbols(), self.settings.values())
            return self._only
        gc.collect()  # a package and its files know each other: it would stay beside all that follow
        point = self._cut_points[self.framework]
        package = Framework(self.framework, point, self.code, self.replacements, self.examples, paths)
        return package, Hints(package)

    def groups(self, folders: Iterable[str]) -> Iterator[list[str]]:
        """The files of some folders, so many folders at a time as may be looked at together."""
        if not self.framework:
            yield sorted(self.code)
            return
        inside = defaultdict(list)
        for path in sorted(self.code):
            inside[posixpath.dirname(path)].append(path)
        group, size = list[str](), 0
        for folder in folders:
            more = sum(len(self.code[p]) for p in inside[folder])
            if group and size + more > MAX_AT_ONCE:
                yield group
                group, size = [], 0
            group, size = [*group, *inside[folder]], size + more
        if group:
            yield group

    def folders(self) -> list[str]:
        """All folders with code, in the order of their files."""
        return list(dict.fromkeys(map(posixpath.dirname, sorted(self.code))))


@dataclass(slots=True)
class Survey:
    """What cutting any part of a package must know of the whole."""

    candidates: list[Candidate] = field(default_factory=list)
    broken: dict[str, str] = field(default_factory=dict)  # files that do not parse, and why
    counts: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))  # values of its names
    calls: dict[str, list[Place]] = field(default_factory=dict)  # of a framework's classes

    @staticmethod
    def of(whole: Whole) -> Survey:
        """Look through all files."""
        survey = Survey()
        for paths in whole.groups(whole.folders()):
            package, hints = whole.look(paths)
            survey.candidates += candidates(package)
            for path in paths:
                package.file(path)  # so that every file that does not parse is known
            survey.broken |= package.broken
            if whole.framework:
                survey._add(hints)
            del package, hints  # two groups at once are not to be in memory
        if whole.framework:
            survey._add(Hints(Package({}), whole.settings.values()))
            own = {c.symbol for c in survey.candidates}
            survey.calls = {name: calls for name, calls in survey.calls.items() if name in own}
        return survey

    @staticmethod
    def decoded(answer: Mapping[str, Any]) -> Survey:
        """What ``encoded`` gave."""
        counts = {name: Counter(values) for name, values in answer["counts"].items()}
        return Survey([Candidate(*c) for c in answer["candidates"]], answer["broken"], counts, answer["calls"])

    def encoded(self) -> dict[str, Any]:
        """The survey as plain JSON."""
        return {"candidates": [astuple(c) for c in self.candidates], "broken": self.broken, "counts": self.counts,
                "calls": self.calls}  # fmt: skip

    def tell(self, hints: Hints) -> None:
        """Let the hints of some of a framework's files know what all files tell."""
        hints.counts, hints.everywhere = self.counts, self.calls

    def _add(self, hints: Hints) -> None:
        for name, values in hints.counts.items():
            self.counts[name].update(values)
        for name, calls in hints.calls().items():
            known = self.calls.setdefault(name, [])
            known += calls[: MAX_CALLS - len(known)]


def survey_package(payload: dict[str, Any], scratch: Path) -> dict[str, Any]:
    """The survey of a package, for the jobs that cut its parts."""
    quick_parsing()
    return Survey.of(Whole.of(payload)).encoded()


def quick_parsing() -> None:
    """Syntax trees are many small objects and hardly any garbage: looking for it often takes a third of the time.

    And they may be deep: a sum of hundreds of strings, a chain of hundreds of ``elif``.
    """
    sys.setrecursionlimit(FRAMES)
    gc.freeze()
    gc.set_threshold(RARELY, 20, 1000)
