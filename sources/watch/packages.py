"""A package's own code, imported as it stands; what else it imports is real only where every installation has it.

Runs in a fork inside the sandbox: the import system of the process is another one afterwards.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import posixpath
import re
import sys
import types
from abc import ABCMeta
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import BuiltinImporter, FrozenImporter, ModuleSpec, PathFinder
from pathlib import Path
from typing import Any

from sources.text.importable import ALLOWED, STANDARD

# What torch and this project's own dependencies bring, the same on every machine; with what these import themselves.
COMMON = frozenset("torch numpy sympy fsspec filelock packaging yaml tqdm requests httpx huggingface_hub".split())
# Files that only check which versions of other packages are installed, and what stands in their place.
INSTEAD = {"transformers/dependency_versions_check.py": "def dep_version_check(*_): ...\n"}
# What is added to files: documentation that is made at import takes most of the time.
ADDED = {
    "transformers/utils/auto_docstring.py": "\n\ndef auto_docstring(obj=None, **_):\n"
    "    return (lambda inner: inner) if obj is None else obj\n"
}
MAX_STAND_INS = 24  # packages that one import may lack
VERSION = "1.0.0"  # that a package without metadata gives itself
NEWEST = "99.0.0"  # that a stand-in says: who asks wants no older one
_VERSION_FILE = re.compile(r"_*version_*(\.\w+)?", re.I)


class _Permissive(ABCMeta):
    """Classes that have every attribute, and whose calls decorate or make an instance; others are bases beside them."""

    stands_in: bool

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _stand_in(name)

    def __call__(cls, *given: Any, **named: Any) -> Any:
        if "stands_in" not in vars(cls):
            return super().__call__(*given, **named)
        decorated = len(given) == 1 and not named and isinstance(given[0], type | types.FunctionType)
        return given[0] if decorated else super().__call__()


def _stand_in(name: str) -> Any:
    """A class that stands for something of an absent package: it can be a base, a decorator, a hint or a constant."""
    members = {
        "stands_in": True,
        "__getattr__": lambda self, inner: _stand_in(inner),
        "__call__": lambda self, *given, **_: given[0] if len(given) == 1 and callable(given[0]) else self,
        "__iter__": lambda self: iter(()),
        "__class_getitem__": classmethod(lambda cls, _: cls),
    }
    return _Permissive(name, (), members)


def _member(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return _stand_in(name)


class _Importer(MetaPathFinder, Loader):
    """Finds the package itself and what is common; stands in for what ``absent`` names; nothing else is there."""

    def __init__(self, own: Iterable[str]) -> None:
        self.own = frozenset(own)
        self.absent: set[str] = set()
        self._real = set(COMMON | STANDARD | ALLOWED | self.own)

    def find_spec(self, name: str, path: Sequence[str] | None, target: types.ModuleType | None = None) -> Any:
        top = name.split(".")[0]
        if top not in self._real | self.absent and _importer() in self._real - self.own:
            self._real.add(top)
        if top in self._real or top.startswith("_"):
            return PathFinder.find_spec(name, path, target)
        return ModuleSpec(name, self, is_package=True) if top in self.absent else None

    def stand_in_for(self, top: str) -> bool:
        """From now on a package that was not found is stood in for; False where it is there, or already is."""
        if top in self.own | self.absent or top in self._real and PathFinder.find_spec(top) is not None:
            return False
        self._real.discard(top)  # what torch itself would import, and no installation need have
        self.absent.add(top)
        return True

    def find_distributions(self, context: Any = None) -> Any:
        return PathFinder.find_distributions(context)

    def create_module(self, spec: ModuleSpec) -> types.ModuleType:
        return types.ModuleType(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        module.__dict__["__getattr__"] = _member
        module.__dict__["__version__"] = NEWEST


def _importer() -> str:
    """The package whose code is importing something."""
    frame: types.FrameType | None = sys._getframe(2)
    while frame is not None and (frame.f_globals.get("__name__") or "").startswith("importlib"):
        frame = frame.f_back
    return str(frame.f_globals.get("__name__") or "").split(".")[0] if frame else ""


class Site:
    """The files of a package, laid out so that they can be imported."""

    def __init__(self, files: Mapping[str, str], folder: Path) -> None:
        """Write the files and change this process's imports.

        Raises:
            OSError: they cannot be written.
        """
        self.folder = folder = folder.resolve()
        self._roots = {path: _root(path, files) for path in files if path.endswith(".py")}
        for path, text in files.items():
            place = folder / path
            place.parent.mkdir(parents=True, exist_ok=True)
            key = path.removeprefix("src/")
            place.write_text(INSTEAD.get(key, text) + ADDED.get(key, ""), errors="surrogatepass")
        roots = dict.fromkeys(self._roots.values())
        own = {path[len(root) :].lstrip("/").split("/")[0].removesuffix(".py") for path, root in self._roots.items()}
        self._importer = _Importer(own)
        sys.path[:0] = [str(folder / root) for root in roots]
        sys.meta_path[:] = [BuiltinImporter, FrozenImporter, self._importer]
        for loaded in [m for m in sys.modules if m.split(".")[0] in own - COMMON - STANDARD]:
            del sys.modules[loaded]
        _forget_versions(own)

    def load(self, path: str) -> types.ModuleType:
        """The module of a file; packages that it lacks are stood in for.

        Raises:
            Exception: whatever importing it raises.
        """
        name = self.module_name(path)
        for _ in range(MAX_STAND_INS):
            before = set(sys.modules)
            try:
                return importlib.import_module(name)
            except ModuleNotFoundError as error:
                top = (error.name or "").split(".")[0]
                if not top or not self._importer.stand_in_for(top):
                    raise
            except FileNotFoundError as error:
                if not self._supplied(error.filename):
                    raise
            # A package that failed is gone, but not what it had imported of its own: a new one would lack that.
            for half in [m for m in sys.modules.keys() - before if m.split(".")[0] in self._importer.own]:
                del sys.modules[half]
            importlib.invalidate_caches()
        raise ImportError(f"{path} lacks more than {MAX_STAND_INS} packages")

    def lacking(self, path: str) -> str:
        """The first package that the module of a file lacks when it is imported, "" for none.

        Raises:
            Exception: whatever else importing it raises.
        """
        try:
            importlib.import_module(self.module_name(path))
        except ModuleNotFoundError as error:
            top = (error.name or "").split(".")[0]
            if not top or top in self._importer.own | self._importer.absent:
                raise
            return top
        return ""

    def stand_in_for(self, package: str) -> None:
        """From now on a package that is absent is stood in for."""
        self._importer.stand_in_for(package)

    def _supplied(self, path: object) -> bool:
        """Whether a file that is no code, and so not here, could be written: the one with the package's version."""
        place = Path(str(path))
        if place.exists() or self.folder not in place.parents or not _VERSION_FILE.fullmatch(place.name):
            return False
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(f"{VERSION}\n")
        return True

    def module_name(self, path: str) -> str:
        """The dotted name of a file's module."""
        inner = path[len(self._roots[path]) :].lstrip("/")
        return inner.removesuffix("/__init__.py").removesuffix(".py").replace("/", ".")

    def path_of(self, value: Any) -> str:
        """The file that a class or function of the package is defined in, "" for those of others."""
        module = sys.modules.get(getattr(value, "__module__", None) or "")
        file = getattr(module, "__file__", None) or ""
        prefix = f"{self.folder}/"
        return file.removeprefix(prefix) if file.startswith(prefix) else ""


def _root(path: str, files: Mapping[str, str]) -> str:
    """The folder that the outermost package around a file lies in."""
    folder = posixpath.dirname(path)
    while folder and f"{folder}/__init__.py" in files:
        folder = posixpath.dirname(folder)
    return folder


def _forget_versions(own: Iterable[str]) -> None:
    """Packages ask for their own version, but their metadata are not here."""
    known, names = importlib.metadata.version, {n.replace("_", "-").lower() for n in own}

    def version(distribution_name: str) -> str:
        return VERSION if distribution_name.replace("_", "-").lower() in names else known(distribution_name)

    importlib.metadata.version = version


def classes(module: types.ModuleType) -> Iterator[type]:
    """The classes that a module defines, in the order of its text."""
    own = (v for v in vars(module).values() if isinstance(v, type) and v.__module__ == module.__name__)
    yield from dict.fromkeys(own)
