"""A framework's own package, with its core cut short: see ``sources.cut_points``."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from pathlib import Path

from sources.text.bindings import Imported
from sources.text.symbols import Package
from sources.text.targets import Here, Target

FOLDER = "_cut_points/"  # in which they lie in a package
_MODELS = "MODELS"  # names what parts of a path mark files that are taken as they are


def texts() -> dict[str, str]:
    """All cut points, by the framework's top-level module."""
    folder = Path(__file__).parents[1] / "cut_points"
    return {f.stem: f.read_text() for f in sorted(folder.glob("*.py")) if f.name != "__init__.py"}


def framework(files: Mapping[str, str], known: Mapping[str, str]) -> str:
    """Which of the ``known`` frameworks a package is, "" for none."""
    owners = {path.removeprefix("src/").split("/")[0] for path in files if path.endswith("/__init__.py")}
    return next((name for name in sorted(known) if name in owners), "")


class Framework(Package):
    """The files of a framework: names of its core that its cut point defines mean these."""

    def __init__(
        self,
        name: str,
        cut_point: str,
        texts: Mapping[str, str],
        replacements: Mapping[str, str],
        examples: Mapping[str, str],
        about: Iterable[str] | None = None,
    ) -> None:
        """``name`` is the framework's top-level module; the rest is as in ``Package``."""
        super().__init__(texts, replacements, examples, about)
        self._cut = f"{FOLDER}{name}.py"
        self._part = f"{name}/"
        # The cut point's own names come last and so win; its imports may stand anywhere.
        self.texts[self._cut] = f"{replacements.get(name, '')}\n\n{cut_point}"
        self.replacements.add(self._cut)
        file = self.file(self._cut)
        assert file is not None
        bound = {n: ways[-1] for n, ways in file.bindings.items()}
        self._defined = {n for n, how in bound.items() if not isinstance(how, Imported)} - {_MODELS}
        self.noise = {n for n in self._defined if _is_none(bound[n])}
        self._models = _texts(bound[_MODELS])
        for name_ in self._defined:
            file.bindings[name_] = [bound[name_]]

    def lookup(self, path: str, name: str, hops: int = 0) -> Target:
        """What ``name`` means at the top level of the file ``path``, or at its cut point."""
        if name in self._defined and self._is_core(path):
            return Here(self._cut, name)
        return super().lookup(path, name, hops)

    def cuts(self, key: Here) -> bool:
        """Whether a definition is the cut point's."""
        return key.file == self._cut

    def _is_core(self, path: str) -> bool:
        inner = path.removeprefix("src/")
        return inner.startswith(self._part) and not any(part in inner for part in self._models)


def _is_none(how: object) -> bool:
    return isinstance(how, ast.Assign) and isinstance(how.value, ast.Constant) and how.value.value is None


def _texts(how: object) -> tuple[str, ...]:
    assert isinstance(how, ast.Assign)
    return tuple(ast.literal_eval(how.value))
