"""Packages beside a repository's own that definitions are cut out of: the Python files of fetched archives.

A file is unpacked when it is asked for.  Runs inside the sandbox: no hostile text is parsed outside.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from kdata.record import Origin, SourceFile
from sources.fetch.archives import Archive
from sources.fetch.pypi import identity
from sources.fetch.texts import SourceError, source_file

FOLDER = "_roots"  # in which they lie beside the repository


class Roots(Mapping[str, str]):
    """The texts of some archives by path: ``_roots/NAME==VERSION/`` and the path as it is imported."""

    def __init__(self, archives: Sequence[tuple[str, bytes, str]] = ()) -> None:
        """``archives`` are names, contents, and the module that each is here for; of others nothing is taken."""
        self.bases: list[str] = []  # the folders that imports start from
        self._places: dict[str, tuple[Archive, str]] = {}
        self._searched: dict[str, bytes] = {}  # of files that were searched for a word
        for filename, data, module in archives:
            try:
                label, archive = "==".join(identity(filename)), Archive(data, filename)
            except SourceError:
                continue  # what cannot be read provides nothing
            self._add(f"{FOLDER}/{label}", archive, module)

    @staticmethod
    def laid(listed: Sequence[Sequence[str]], scratch: Path) -> Roots:
        """Those that a job lists as names, files in its scratch folder, and modules."""
        return Roots([(name, (scratch / file).read_bytes(), module) for name, file, module in listed])

    def _add(self, base: str, archive: Archive, module: str) -> None:
        starts = [p.removesuffix(tail) for p in archive.paths for tail in (f"{module}.py", f"{module}/__init__.py")
                  if p == tail or p.endswith(f"/{tail}")]  # fmt: skip
        starts = starts or [p[: f"/{p}".index(f"/{module}/")] for p in archive.paths if f"/{module}/" in f"/{p}"]
        if not starts or base in self.bases:
            return
        start = min(starts, key=lambda s: (s.count("/"), s))
        self.bases.append(base)
        self._places |= {f"{base}/{p[len(start) :]}": (archive, p) for p in archive.paths if p.startswith(start)}

    def base(self, path: str) -> str:
        """The folder that the imports of one of the files start from, "" for a file that is none of them."""
        return "/".join(path.split("/")[:2]) if path in self._places else ""

    def plain(self, path: str | None) -> str:
        """The path of one of the files as it is imported."""
        return (path or "").split("/", 2)[2]

    def beside(self, path: str) -> list[str]:
        """The files of the package that a file is of, or that a file of ours is said to be of."""
        top = (self.plain(path) if path in self._places else path).split("/")[0]
        return [p for p in self._places if self.plain(p).split("/")[0] == top]

    def inner(self, path: str) -> tuple[str, str]:
        """The ``NAME==VERSION`` that a file is of, and its path in the archive."""
        return self.base(path).split("/")[1], self._places[path][1]

    def __getitem__(self, path: str) -> str:
        archive, inner = self._places[path]
        made = source_file(Origin("pypi", "", "", inner), archive.read(inner))
        return made.text if isinstance(made, SourceFile) else ""

    def says(self, path: str, *words: str) -> bool:
        """Whether any of some words stands in a file.

        Whole packages are searched for one name after the other, so what is searched is kept: as bytes, since one
        picture in a comment makes every character of a text take four.
        """
        if path not in self._searched:
            self._searched[path] = self[path].encode("utf-8", "surrogatepass")
        return any(word.encode() in self._searched[path] for word in words)

    def __contains__(self, path: Any) -> bool:
        return path in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)
