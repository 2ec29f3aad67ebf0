"""What `kdata pairs` and `kdata corpus` do with libraries that they are given; the list of all where none is."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

from kdata import storage
from kdata.shards import Manifest, Store
from kdata.verbs import summary
from sources.fetch.texts import SourceError
from sources.libraries import LIBRARIES
from sources.pairs.recipe import read


def make_each(names: Sequence[str], out: str, make: Callable[[Store, str], list[Manifest]]) -> None:
    """Make the shards of each library in the folder ``out``, and tell of each; one that cannot be had ends no other.

    Without names it lists the libraries: licence, whether there are recipes for pairs, package, repository, and where
    in it references are.

    Raises:
        SourceError: some could not be had; each was told of.
        ValueError: no folder is named.
    """
    if not names:
        for key, library in LIBRARIES.items():
            package = f"pypi:{library.package}" if library.package else ""
            known = f"{key:24} {library.license:14} {'pairs' if read(key) else '':6} {package:27}"
            print(f"{known} {library.url} references: {', '.join(library.references)}")
        return
    if not out:
        raise ValueError("name a folder for the shards with --out")
    storage.demand_folder(out)
    failed = []
    for name in names:
        print(f"kdata: collecting {name}", file=sys.stderr, flush=True)
        try:
            made = make(Store(out), name)
        except SourceError as error:
            failed.append(name)
            print(f"kdata: {error}", file=sys.stderr, flush=True)
            continue
        for manifest in made:
            print(summary([manifest], f"{name}: {manifest.stage}"), flush=True)
    if failed:
        raise SourceError(f"{len(failed)} of {len(names)} failed: {', '.join(failed)}")
