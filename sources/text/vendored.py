"""Files of other packages, fetched or copied into a repository, that import what our replacement of these defines.

``annotator/uniformer/mmcv`` is such a copy: of its registries, and of what is compiled, only our own text has all.
"""

from __future__ import annotations

from collections.abc import Callable

from sources.text.bindings import File, Imported
from sources.text.roots import Roots
from sources.text.targets import Here, Inner, Target

COPIED = frozenset(["mmcv"])  # packages that repositories copy whole, and that do not run as their text stands


def copied(path: str) -> str:
    """The path of a file in a copy of a package, from that package on; "" for any other file."""
    parts = path.split("/")
    at = next((i for i, part in enumerate(parts[:-1]) if i and part in COPIED), 0)
    return "/".join(parts[at:]) if at else ""


def instead(
    path: str, found: Target, roots: Roots, replacements: set[str], served: Callable[[str], str],
    file_of: Callable[[str], File | None],
) -> Target:  # fmt: skip
    """What our replacement of a package defines by the name that a file imports from that package, or a copy of it.

    What is built of both would be known by the registries of one of them only.
    """
    if not isinstance(found, Here | Inner):
        return found
    fetched = path in roots and found.file in roots
    plain = roots.plain(found.file) if fetched else copied(found.file)
    if isinstance(found, Inner):
        return Inner(plain) if not fetched and plain in replacements else found
    ours = f"{served(plain.split('/')[0]).replace('.', '/')}.py" if plain else ""
    file = file_of(ours) if ours in replacements else None
    defined = file is not None and any(not isinstance(w, Imported) for w in file.bindings.get(found.name, []))
    return Here(ours, found.name) if defined else found
