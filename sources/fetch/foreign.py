"""Packages that a repository's definitions need, and that are absent here: fetched as archives, never installed or run.

What was fetched once is kept in the user's cache folder by the requirement that asked for it, so that a version that
nothing pins stays the same from run to run until its folder there is removed.
"""

from __future__ import annotations

import contextlib
import logging
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement

from kdata.cache import cache_folder, put
from kdata.record import Inlined, Origin, SourceFile, digest
from sources.fetch import pypi
from sources.fetch.texts import SourceError

MAX_ARCHIVE = 64 << 20  # bytes of one package
MAX_TOTAL = 192 << 20  # and of all that one repository may ask for
MAX_PACKAGES = 16
MAX_LOOKUPS = 500  # packages that one run asks the index for, however many repositories it reads
UNKNOWN = "LicenseRef-unknown"  # of a file that nothing tells the licence of
_LOG = logging.getLogger(__name__)


@dataclass
class Index:
    """The package index with its cache. Once it does not answer, or was asked enough, it is left alone."""

    cache: Path = field(default_factory=lambda: cache_folder("packages"))
    trouble: str = ""  # why it was left alone
    _nowhere: set[str] = field(default_factory=set)
    _lookups: int = 0

    def get(self, requirement: str) -> tuple[str, bytes] | None:
        """Name and bytes of the archive of a package, None where there is none or it is too large."""
        folder = self.cache / digest(requirement)
        for file in sorted(folder.glob("[!.]*")):
            return file.name, file.read_bytes()
        if self.trouble or requirement in self._nowhere:
            return None
        if self._lookups >= MAX_LOOKUPS:
            self._leave(f"{MAX_LOOKUPS} were looked up in this run")
            return None
        self._lookups += 1
        try:
            filename, data = pypi.archive(_checked(requirement), MAX_ARCHIVE)
            pypi.identity(filename)
        except SourceError as error:
            self._nowhere.add(requirement)
            if not error.lasting:
                self._leave(str(error))
            return None
        with contextlib.suppress(OSError):  # where nothing can be kept it is fetched anew
            put(folder / filename, data)
        return filename, data

    def _leave(self, why: str) -> None:
        self.trouble = why
        _LOG.warning("kdata: absent packages are not fetched: %s", why)


@dataclass
class Fetched:
    """What was fetched for one repository."""

    index: Index
    asked: list[str] = field(default_factory=list)  # modules, found or not
    _archives: list[tuple[str, bytes, str]] = field(default_factory=list)  # name, contents, module
    _known: dict[tuple[str, str], SourceFile] = field(default_factory=dict)

    def add(self, asks: Iterable[Sequence[str]]) -> None:
        """Fetch what is asked for, modules with requirements."""
        for module, requirement in asks:
            self.asked.append(module)
            found = self.index.get(requirement) if len(self._archives) < MAX_PACKAGES else None
            if found and sum(len(data) for _, data, _ in self._archives) + len(found[1]) <= MAX_TOTAL:
                self._archives.append((*found, module))

    def job(self) -> tuple[dict[str, Any], dict[str, bytes]]:
        """What a job is told of the archives, and the files to lay into its scratch folder."""
        named = [(name, f"root{i}", module) for i, (name, _, module) in enumerate(self._archives)]
        return {"asked": self.asked, "roots": named}, {f"root{i}": a[1] for i, a in enumerate(self._archives)}

    def look_up(self, files: Iterable[Sequence[str]]) -> None:
        """Read the licences of files, given as ``NAME==VERSION`` and path."""
        inside = defaultdict(set)
        for package, path in files:
            inside[package].add(path)
        for filename, data, _ in self._archives:
            package = "==".join(pypi.identity(filename))
            if paths := inside.pop(package, None):
                with contextlib.suppress(SourceError):  # what cannot be read has no licence that is known
                    found = pypi.read(data, filename, paths.__contains__)
                    self._known |= {(package, f.origin.path): f for f in found if isinstance(f, SourceFile)}

    def origin(self, origin: Origin, files: Sequence[Sequence[str]]) -> Origin:
        """The origin of a text that took definitions from files that were looked up. All their licences hold."""
        inside: dict[str, list[Origin]] = defaultdict(list)
        for package, path in files:
            known = self._known.get((package, path))
            inside[package].append(known.origin if known else Origin("pypi", package, "", path))
        inlined = tuple(
            Inlined(package, every[0].revision, _all(every), every[0].url) for package, every in sorted(inside.items())
        )
        # Without a licence of its own nothing of a repository may be passed on, whatever it took from others.
        licences = {x for i in inlined for x in i.licenses}.union(origin.licenses) if origin.licenses else ()
        return replace(origin, licenses=tuple(sorted(licences)), inlined=inlined) if inlined else origin


def _all(origins: Iterable[Origin]) -> tuple[str, ...]:
    return tuple(sorted({x for o in origins for x in o.licenses or (UNKNOWN,)}))


def _checked(requirement: str) -> Requirement:
    """A requirement that the sandbox named: a name and versions, no address."""
    try:
        found = Requirement(requirement)
    except InvalidRequirement as error:
        raise SourceError(f"{requirement[:80]!r} is no requirement") from error
    if found.url or found.extras or found.marker:
        raise SourceError(f"{requirement[:80]!r} is more than a package name and version")
    return found
