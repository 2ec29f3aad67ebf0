"""What holds at run time of the language that candidates are written in, see ``candidate.subset``. In children only.

Three things, each of which would be enough for most of what text hides:

- the candidate's module has builtins of its own: none that make or read code, ``getattr`` and ``setattr`` that keep to
  interfaces, ``__import__`` with the same rules as the text;
- an audit hook (which Python lets nobody remove) refuses what reaches the machine while the candidate's code runs;
- the namespaces of torch, triton, numpy and this judge, and torch's settings, must be afterwards what they were before.
"""

from __future__ import annotations

import builtins
import contextlib
import functools
import gc
import sys
from collections.abc import Iterator, Sequence
from operator import is_
from types import FunctionType, ModuleType
from typing import Any

import packaging.version  # noqa: F401 - candidates may import it: what it holds must be known before
import torch
from torch.nn.modules import module as modules
from torch.nn.utils import parametrize
from torch.utils import _contextlib

from kdata.verify.candidate import custom_ops
from kdata.verify.candidate.arrays import ARRAYS, Arrays
from kdata.verify.candidate.chance import CHANCE, Chance
from kdata.verify.candidate.silence import LOGGING, Logger
from kdata.verify.candidate.source import PURE, object_to_import
from kdata.verify.candidate.subset import BUILTINS, closed, private
from kdata.verify.candidate.unchanged import Watched

CANDIDATE = "candidate"  # the name of the candidate's module
REFUSED = (
    "os.", "subprocess.", "socket.", "ctypes.", "gc.", "signal.", "shutil.", "tempfile.", "glob.", "pty.", "mmap.",
    "pickle.", "resource.", "fcntl.", "sqlite3.", "urllib.", "http.", "ftplib.", "smtplib.", "webbrowser.", "syslog.",
    "code.__new__", "object.__setattr__", "object.__delattr__", "sys.settrace", "sys.setprofile", "sys._current",
    "sys.addaudithook", "sys.unraisablehook", "sys.excepthook", "_thread.start", "builtins.input", "cpython.",
)  # fmt: skip
RENAMING = ("code.__new__", "object.__setattr__")  # of what torch 2.15 wraps around a function: @torch.no_grad()
LISTING = ("os.listdir", "os.scandir", "os.walk", "os.fwalk")  # Python's own imports do
READ = (".py", ".pyc", ".so")  # files that Python reads for itself
WRITING = 0o3 | 0o100 | 0o1000 | 0o2000  # access mode, O_CREAT, O_TRUNC, O_APPEND
KERNELS = "rewritten_fn"  # where Triton's interpreter keeps kernels that it has read, by the functions they are made of
MISSING = object()
GLOBAL_HOOKS = [v for n, v in vars(modules).items() if n.startswith("_global_") and isinstance(v, dict)]
WATCHED = ("torch", "triton", "numpy", "kdata", "builtins", "packaging", *PURE)
Namespace = dict[str, Any]


class ForbiddenError(BaseException):
    """What was asked for lies outside the enclosure. No ``except Exception`` hides it."""


class Enclosure:
    """The audit hook, and the first thing that was refused."""

    def __init__(self) -> None:
        self.fault = ""
        self._armed = self._installed = False

    def install(self) -> None:
        """Start listening; once a process."""
        if not self._installed:
            self._installed = True
            sys.addaudithook(self._hear)
            functools.update_wrapper = self._named_wrapper(functools.update_wrapper)
            custom_ops.install(CANDIDATE)

    def _named_wrapper(self, original: Any) -> Any:
        """``update_wrapper``, by which no attribute of any name and no namespace comes into a candidate's hands."""

        def update_wrapper(wrapper: Any, wrapped: Any, *more: Any, **named: Any) -> Any:
            library = isinstance(wrapper, FunctionType) or of_library(type(wrapper))
            if self._armed and not (library and callable(wrapped)):
                self.refuse("functools.update_wrapper")
            return original(wrapper, wrapped, *more, **named)

        return update_wrapper

    @contextlib.contextmanager
    def armed(self) -> Iterator[None]:
        """While the candidate's code runs."""
        before, self._armed = self._armed, True
        try:
            yield
        finally:
            self._armed = before

    def refuse(self, what: str) -> None:
        """Note it and stop what asked for it.

        Raises:
            ForbiddenError: always.
        """
        self.fault = self.fault or what[:200]
        raise ForbiddenError(what)

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self._armed and (event == "open" or event.startswith(REFUSED)) and not _harmless(event, arguments):
            self.refuse(f"{event} {arguments[0] if arguments else ''}".strip())


def _harmless(event: str, arguments: tuple[Any, ...]) -> bool:
    asking = sys._getframe(2)
    if event in RENAMING and asking.f_globals is vars(_contextlib):
        return True
    if event == "object.__setattr__":  # what dataclasses do to the candidate's classes
        kind, name = arguments[0], arguments[1]
        if name == "__class__" and isinstance(kind, torch.nn.Module):  # a layer whose weight is normed is of its own
            return asking.f_back is not None and asking.f_back.f_globals is vars(parametrize)
        if isinstance(kind, FunctionType) and name == "__defaults__":  # and named tuples to what makes them
            return str(kind.__globals__.get("__name__")).startswith("namedtuple_")
        if name == "__bases__":  # likewise, to the class
            return bool(arguments[2] == (tuple,) and issubclass(kind, tuple) and kind.__module__ == CANDIDATE)
        if isinstance(kind, type) and issubclass(kind, tuple) and kind.__module__ == "collections":
            return name == "__module__" and not of_library(kind)  # what namedtuple does to the class that it makes
        return isinstance(kind, type) and kind.__module__ == CANDIDATE and name in ("__doc__", "__qualname__")
    if event != "open":
        return event in LISTING
    path, _, flags = arguments
    return isinstance(path, str) and path.endswith(READ) and not (flags or 0) & WRITING


_enclosure = Enclosure()
install, armed, refuse = _enclosure.install, _enclosure.armed, _enclosure.refuse
Logger.refuse = Chance.refuse = Arrays.refuse = refuse
STAND_INS = {"logging": LOGGING, "random": CHANCE, "numpy": ARRAYS}


def fault() -> str:
    """What was refused first; "" if nothing was."""
    return _enclosure.fault


def builtins_for(own: set[str]) -> Namespace:
    """The builtins of a candidate's module, whose text gives the names ``own`` itself."""
    space = {name: value for name, value in vars(builtins).items() if name not in BUILTINS}
    space["__build_class__"] = builtins.__build_class__
    space["__import__"] = _import
    ask, answers, change = getattr, hasattr, setattr

    def check(thing: Any, name: Any) -> None:
        known = isinstance(name, str) and not private(name, set() if isinstance(thing, ModuleType) else own)
        if not known or (isinstance(thing, ModuleType) and closed(f"{thing.__name__}.{name}")):
            refuse(f"getattr {name}")

    def guarded_getattr(thing: Any, name: Any, *default: Any) -> Any:
        check(thing, name)
        found = ask(thing, name, *default)
        if _foreign(found):
            refuse(f"getattr {name}")
        return found

    def guarded_hasattr(thing: Any, name: Any) -> bool:
        check(thing, name)
        return answers(thing, name)

    def guarded_setattr(thing: Any, name: Any, value: Any) -> None:
        check(thing, name)
        if not _candidates_own(thing):
            refuse(f"setattr {name}")
        change(thing, name, value)

    kind = _Kind()
    return space | {"getattr": guarded_getattr, "hasattr": guarded_hasattr, "setattr": guarded_setattr, "type": kind}


def _foreign(thing: Any) -> bool:
    """Whether it is a module that the text could not import, or makes classes."""
    if isinstance(thing, ModuleType):
        return thing.__name__.partition(".")[0] not in (*PURE, "torch", "triton", CANDIDATE)
    return isinstance(thing, type) and issubclass(thing, type)


class _Kind:
    """``type`` for the candidate: it says what something is an instance of, and makes no classes."""

    def __call__(self, thing: Any) -> type:
        found = type(thing)
        if issubclass(found, type):
            _enclosure.refuse("type of a class")
        return found

    def __instancecheck__(self, thing: Any) -> bool:
        return isinstance(thing, type)

    def __getitem__(self, kind: Any) -> Any:
        return type[kind]

    def __or__(self, other: Any) -> Any:
        return type | other

    def __ror__(self, other: Any) -> Any:
        return other | type


def of_library(kind: type) -> bool:
    """Whether a class is found where it says it is, in a module that is not the candidate's."""
    home = sys.modules.get(kind.__module__)
    return kind.__module__ != CANDIDATE and getattr(home, kind.__qualname__, None) is kind


def _candidates_own(thing: Any) -> bool:
    """Whether a candidate may set attributes of it: its own classes and their instances, modules, contexts."""
    kind = thing if isinstance(thing, type) else type(thing)
    if kind.__module__ == CANDIDATE:
        return True
    return not isinstance(thing, type) and isinstance(thing, torch.nn.Module | torch.autograd.function.FunctionCtx)


def _import(name: str, space: Any = None, local: Any = None, members: Sequence[str] | None = (), level: int = 0) -> Any:
    if isinstance(members, list):  # not a statement: torch's C++ imports with the builtins of whoever called it
        return __import__(name, space, local, members, level)
    for asked in [f"{name}.{member}" for member in members or ()] or [name]:
        objection = object_to_import(asked)
        if level or objection:
            _enclosure.refuse(f"import {asked}")
    if name in STAND_INS:
        return STAND_INS[name]
    return __import__(name, space, local, members or (), level)


class Snapshot:
    """Which object stood under which name, in every namespace that a candidate could reach and must not change."""

    def __init__(self) -> None:
        self._held = [(label, space, dict(space)) for label, space in _namespaces()]
        self._spaces = Watched([_inside(space) for _, space, _ in self._held])
        self._settings = _settings()
        libraries = (space for label, space, _ in self._held if not label.startswith("kdata"))  # we keep accounts
        boxes = [(box, _shallow(box)) for box in _boxes(libraries)]
        self._maps = [(box, before) for box, before in boxes if isinstance(box, dict)]
        self._others = [(box, list(box), before) for box, before in boxes if not isinstance(box, dict)]
        self._watched = Watched([box for box, _ in self._maps])

    def settle(self) -> None:
        """Torch's switches are in order as they are now."""
        self._settings = _settings()

    def added(self) -> list[Any]:
        """What stands in the libraries' public containers, functions and classes, and did not stand there before."""
        changed = [self._maps[place] for place in self._watched.changed()]
        changed += [(box, before) for box, members, before in self._others if not _alike(list(box), members)]
        found = [part for box, before in changed for part in _other(_shallow(box), before)]
        for _, space, before in map(self._held.__getitem__, self._spaces.changed()):
            if len(space) != len(before):
                found += [part for name in space.keys() - before.keys() for part in (name, space[name])]
        return found

    def change(self) -> str:
        """The first name whose object is another now; "" if there is none."""
        for label, space, before in map(self._held.__getitem__, self._spaces.changed()):
            for name in [*before, *(n for n in space if n not in before)]:
                if _tampered(label, before.get(name, MISSING), space.get(name, MISSING)):
                    return f"{label}.{name}"
        now = _settings()
        return next((f"torch's {name}" for name in now if now[name] != self._settings[name]), "")


def _inside(space: Any) -> Namespace:
    """The dictionary that a class's read-only view of its names shows; a module's as it is."""
    inner: Namespace = space if isinstance(space, dict) else gc.get_referents(space)[0]
    return inner


def _boxes(spaces: Iterator[Namespace]) -> Iterator[Any]:
    seen: set[int] = set()
    for space in spaces:
        for name, value in list(space.items()):
            box = vars(value) if type(value) is FunctionType else value
            if type(box) in (dict, list, set) and not name.startswith("_") and name != KERNELS and id(box) not in seen:
                seen.add(id(box))
                yield box


def _shallow(box: Any) -> Namespace:
    """What a container holds, by key, by place, or by member."""
    if isinstance(box, list):
        return {str(place): value for place, value in enumerate(box)}
    return dict(box) if isinstance(box, dict) else {repr(member): member for member in box}


def _other(now: Namespace, before: Namespace) -> list[Any]:
    return [part for key, value in now.items() if before.get(key, MISSING) is not value for part in (key, value)]


def _alike(now: Sequence[Any], before: Sequence[Any]) -> bool:
    """Whether these are the same objects in the same order."""
    return len(now) == len(before) and all(map(is_, now, before))


def _namespaces() -> Iterator[tuple[str, Any]]:
    seen: set[int] = set()
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] not in WATCHED or not isinstance(module, ModuleType):
            continue
        yield name, vars(module)
        classes = [v for v in vars(module).values() if issubclass(type(v), type) and id(v) not in seen]
        for value in classes:
            seen.add(id(value))
            if value.__module__.partition(".")[0] in WATCHED:
                yield f"{value.__module__}.{value.__qualname__}", vars(value)


def _tampered(label: str, before: Any, now: Any) -> bool:
    """Whether a change is a candidate's.

    Libraries fill caches and import parts of themselves late, and Triton's interpreter puts its own functions into the
    language.
    """
    if before is now:
        return False
    home = getattr(now, "__module__", "") or ""
    if before is MISSING:
        return home == CANDIDATE or _candidates_code(now)
    late = isinstance(now, ModuleType) or (isinstance(home, str) and home.partition(".")[0] in ("torch", "triton"))
    replaced = callable(before) or isinstance(before, type | property)
    return replaced and (label.startswith("kdata") or not late or _candidates_code(now))


def _candidates_code(thing: Any) -> bool:
    """Whether a function's globals are the candidate's: other than ``__module__``, nothing can claim otherwise."""
    return isinstance(thing, FunctionType) and thing.__globals__.get("__name__") == CANDIDATE


def _settings() -> dict[str, Any]:
    """Torch's switches, which the reference would feel."""
    return {
        "default dtype": torch.get_default_dtype(), "threads": torch.get_num_threads(),
        "deterministic algorithms": torch.are_deterministic_algorithms_enabled(),
        "matmul precision": torch.get_float32_matmul_precision(), "default device": str(torch.get_default_device()),
        "tf32": (torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32),
        "cudnn": (torch.backends.cudnn.enabled, torch.backends.cudnn.benchmark, torch.backends.cudnn.deterministic,
                  torch.backends.cudnn.benchmark_limit),
        "reduced precision": (torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction,
                              torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction),
        "gradients": (torch.is_grad_enabled(), torch.is_inference_mode_enabled()),
        "hooks on every module": [len(hooks) for hooks in GLOBAL_HOOKS],
    }  # fmt: skip
