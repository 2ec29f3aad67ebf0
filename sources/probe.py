"""What runs inside the sandbox: cutting a package, and turning cuts into tasks that run.

No hostile text is parsed or executed outside.

A job covers many definitions; each is tried in a fork of its own under a CPU-time limit, so that one that crashes,
hangs or patches torch harms no other.
"""

from __future__ import annotations

import ast
import functools
import inspect
import json
import os
import re
import resource
import select
import signal
import sys
import time
import types
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from kdata.record import digest
from sources.capture import CapturedError, install
from sources.check import UnfitError, Work, check
from sources.emit import emit
from sources.hints import Hints
from sources.inputs import all_tensors, parameters
from sources.modules import Candidate, candidates
from sources.scope import reads
from sources.search import Budget, Progress, Solution, Told, Unsolved, build, call, halved, has_tensor, of_one, solve
from sources.sizes import bounded, named, slots, tied
from sources.slicer import ABSENT, SliceError, Slicer
from sources.symbols import Here, Package
from sources.writer import Cut, pruned
from sources.writer import cut as write_cut

INFER_SECONDS, CHECK_SECONDS = 5, 10  # CPU seconds of one definition
WALL_FACTOR = 10  # a loaded machine may take this much longer on the clock
MAX_USER = 40_000  # characters of a text that is run to see a class at work
MAX_SOURCE = 100_000  # characters of a task
SMALL = 80  # lines of a building block: these are tried before whole networks
DANGEROUS = {"open", "exec", "eval", "input", "compile", "breakpoint", "__import__", "exit", "quit"}
SUSPECT = re.compile(rf"\b(?:os|sys|{'|'.join(sorted(DANGEROUS))})\b")
HARMLESS = {"environ", "getenv", "path", "version_info", "maxsize", "float_info", "platform"}  # of os and sys
LIGHT = 0.2  # of the work that a task may have: larger inputs are made smaller
MAX_HALVINGS = 6
TIES_BUDGET = 6_000  # work spent on finding which sizes belong together, see ``search.Budget``


def cut_package(payload: dict[str, Any], scratch: Path) -> dict[str, Any]:
    """Cut the definitions of one part of a package.

    ``payload`` holds ``files``, ``replacements``, ``part``, ``parts``, ``seed``, and ``enough``, the number of cuts
    after which the rest is left alone; with ``only``, just the definitions of these names count.  Returns cuts in the
    order in which they are to be tried, the refused with reasons, and files that do not parse.
    """
    package = Package(payload["files"], payload["replacements"])
    wanted = payload.get("only")
    every = [c for c in candidates(package) if wanted is None or c.symbol in wanted]
    for path in payload["files"] if payload["part"] == 0 else ():
        package.file(path)  # so that every file that does not parse is known
    first: dict[str, Candidate] = {}
    for candidate in every:
        first.setdefault(candidate.shape, candidate)
    mixed = sorted(every, key=lambda c: (c.lines > SMALL, digest(str(payload["seed"]), c.path, c.symbol)))
    slicer, hints = Slicer(package), Hints(package)
    # Watching others use a class is dear: it is for packages where every class counts.
    watch = len(first) <= payload["enough"]
    cuts: list[dict[str, Any]] = []
    refused: list[dict[str, str]] = []
    for candidate in mixed[payload["part"] :: payload["parts"]]:
        original = first[candidate.shape]
        if candidate.refused:
            refused.append(_refused(candidate, candidate.refused, ""))
        elif original is not candidate:
            refused.append(_refused(candidate, "duplicate", f"of {original.path}:{original.symbol}"))
        elif len(cuts) >= payload["enough"]:
            refused.append(_refused(candidate, "limit reached", ""))
        else:
            try:
                cuts.append(_cut(slicer, hints, candidate, watch))
            except SliceError as error:
                refused.append(_refused(candidate, error.reason, str(error)))
            except SyntaxError as error:  # one cut gone wrong is not the package's end
                refused.append(_refused(candidate, "not sliceable", f"the cut does not parse: {error}"))
    return {"cuts": cuts, "refused": refused, "broken": package.broken}


def _refused(candidate: Candidate, reason: str, detail: str) -> dict[str, str]:
    return {"path": candidate.path, "symbol": candidate.symbol, "reason": reason, "detail": detail}


def _cut(slicer: Slicer, hints: Hints, candidate: Candidate, watch: bool) -> dict[str, Any]:
    sites = hints.sites(Here(candidate.path, candidate.symbol)) if candidate.kind == "module" else []
    try:
        cut = write_cut(slicer, candidate.path, candidate.symbol, sorted({h for s in sites for h in s.needs}, key=str))
    except SliceError:
        cut = write_cut(slicer, candidate.path, candidate.symbol)
    if candidate.kind == "function":
        cut = _wrapped(cut)
    if misuse := _touches_system(cut.source):
        raise SliceError("touches the system", misuse)
    if len(cut.source) > MAX_SOURCE:
        raise SliceError("too large", f"{len(cut.source)} characters")
    users = _users(slicer, hints, candidate) if watch and candidate.kind == "module" else []
    told = {"users": users, "sites": [site.spelled(cut.names.get) for site in sites],
            "defaults": hints.defaults(re.findall(r"[^\W\d]\w*", cut.source))}  # fmt: skip
    return {"source": cut.source, "name": cut.name, "path": cut.path, "symbol": cut.symbol, "lacks": list(cut.lacks),
            "told": told}  # fmt: skip


def _users(slicer: Slicer, hints: Hints, candidate: Candidate) -> list[dict[str, str]]:
    """Cuts of what uses a class, to be run where its arguments and inputs cannot be guessed."""
    found = []
    key = Here(candidate.path, candidate.symbol)
    for user in hints.users(key):
        try:
            cut = write_cut(slicer, user.file, user.name, [key])
        except SliceError:
            continue
        if len(cut.source) <= MAX_USER:
            found.append({"source": cut.source, "name": cut.name, "wanted": cut.names[key]})
    return found


def _touches_system(source: str) -> str:
    """What a task has no business with: strangers will run it. Only what shows; the sandbox does the rest."""
    if not SUSPECT.search(source):
        return ""
    tree = ast.parse(source)
    fine = {id(n.value) for n in ast.walk(tree) if isinstance(n, ast.Attribute) and n.attr in HARMLESS}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module in ("os", "sys"):
            return node.module
    named = (n for n in reads(tree).names if n.id in DANGEROUS or (n.id in ("os", "sys") and id(n) not in fine))
    return next((n.id for n in named), "")


def _wrapped(cut: Cut) -> Cut:
    """The cut of a function, with a module class whose forward calls it."""
    tree = ast.parse(cut.source)
    function = next(n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == cut.name)
    arguments = [*function.args.posonlyargs, *function.args.args]
    needed = [a.arg for a in arguments[: len(arguments) - len(function.args.defaults)]] or [arguments[0].arg]
    taken = {n.name for n in tree.body if isinstance(n, ast.FunctionDef | ast.ClassDef)}
    name = "".join(word[:1].upper() + word[1:] for word in cut.name.split("_"))
    name = name if name not in taken else f"{name}Module"
    base = "nn.Module" if "\nimport torch.nn as nn\n" in cut.source else "torch.nn.Module"
    given = ", ".join(needed)
    text = f"\n\nclass {name}({base}):\n    def forward(self, {given}):\n        return {cut.name}({given})\n"
    return replace(cut, source=cut.source + text, name=name)


def warm() -> None:
    """Called once before any fork: the first use of a dispatch mode imports the compiler, which takes seconds."""
    import torch

    with Work():
        torch.nn.Linear(2, 2)(torch.ones(1, 2))


def attempt(payload: dict[str, Any], scratch: Path) -> list[dict[str, Any]]:
    """Infer and check every cut of ``cuts``; an outcome has ``reason`` ("" for a task) and ``detail``.

    A task may have so many ``operators`` that compute.
    """
    return [_attempt(cut, payload["operators"], scratch) for cut in payload["cuts"]]


def _attempt(cut: dict[str, Any], operators: int, scratch: Path) -> dict[str, Any]:
    inferred = isolated(lambda: infer(cut, scratch), INFER_SECONDS)
    entry = cut["name"]
    for user in cut["told"].get("users", []) if inferred["reason"] else []:
        seen = isolated(functools.partial(watch, user, cut, scratch), INFER_SECONDS)
        if not seen["reason"]:
            inferred, entry = seen, user["wanted"]
            break
    if inferred["reason"]:
        return _blamed(inferred, cut)

    def checking() -> dict[str, Any]:
        return check(inferred["source"], entry, operators) | {"reason": ""}

    checked = isolated(checking, CHECK_SECONDS)
    if checked["reason"] == "too large" and (smaller := shrunk(inferred["source"])):
        inferred["source"] = smaller
        checked = isolated(checking, CHECK_SECONDS)
    if checked["reason"]:
        return checked
    described = [i | more for i, more in zip(checked["inputs"], inferred["inputs"], strict=False)]
    return {"reason": "", "source": inferred["source"], "name": entry, "inputs": described, "detail": checked["mode"]}


def _blamed(outcome: dict[str, Any], cut: dict[str, Any]) -> dict[str, Any]:
    """A failure on one of the names that stand for what is absent is that package's."""
    if cut["lacks"] and "NoneType" in outcome["detail"]:
        return outcome | {"reason": ABSENT, "detail": ", ".join(cut["lacks"]) + ": " + outcome["detail"]}
    return outcome


def shrunk(source: str) -> str:
    """The task with fewer layers, "" if there is nothing to shrink."""
    pattern = re.compile(r"^(depth|num_layers|n_layers?|num_blocks|n_blocks|layers) = (\d+)$", re.M)
    text = pattern.sub(lambda m: f"{m[1]} = {max(1, int(m[2]) // 2)}", source)
    return text if text != source else ""


class _OutOfTime(BaseException):
    """Raised by the profiling timer: no ``except Exception`` of a module's catches it."""


def isolated(job: Callable[[], dict[str, Any]], seconds: int) -> dict[str, Any]:
    """Run a job in a fork under a CPU-time limit. Whatever happens to it, the answer has a ``reason``."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        os.setsid()
        _answer(job, writing, seconds)
    os.close(writing)
    text, ended = _read(reading, seconds * WALL_FACTOR)
    os.close(reading)
    for kill in (os.killpg, os.kill):
        try:
            kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue  # it has ended by itself
    _, status = os.waitpid(pid, 0)
    try:
        answer: dict[str, Any] = json.loads(text)
        return answer
    except ValueError:
        late = not ended or os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU
        return {"reason": "timeout" if late else "crash", "detail": f"status {status}" if ended and not late else ""}


def _answer(job: Callable[[], dict[str, Any]], writing: int, seconds: int) -> None:
    """In the fork: run the job, write what came out, end."""

    def out_of_time(*_: object) -> None:
        raise _OutOfTime

    signal.signal(signal.SIGPROF, out_of_time)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    resource.setrlimit(resource.RLIMIT_CPU, (seconds + 2, seconds + 3))
    try:
        answer = job()
    except _OutOfTime:
        answer = {"reason": "timeout", "detail": f"{seconds} s of CPU time"}
    except UnfitError as error:
        answer = {"reason": error.reason, "detail": str(error)}
    except BaseException as error:  # noqa: BLE001 - whatever a module raises is its outcome
        answer = {"reason": "does not run alone", "detail": f"{type(error).__name__}: {error}"[:500]}
    signal.setitimer(signal.ITIMER_PROF, 0)
    with os.fdopen(writing, "w") as file:
        file.write(json.dumps(answer) + "\n")
    os._exit(0)


def _read(pipe: int, seconds: float) -> tuple[str, bool]:
    """A line that comes through a pipe, and whether it came, or the pipe closed, before the time was up.

    Processes that a module left behind may hold the pipe open.
    """
    ends, parts = time.monotonic() + seconds, list[bytes]()
    while (left := ends - time.monotonic()) > 0:
        ready, _, _ = select.select([pipe], [], [], left)
        data = os.read(pipe, 1 << 16) if ready else b""
        if not data:
            return b"".join(parts).decode("utf-8", "replace"), bool(ready)
        parts.append(data)
        if data.endswith(b"\n"):
            return b"".join(parts).decode("utf-8", "replace"), True
    return b"".join(parts).decode("utf-8", "replace"), False


def infer(cut: dict[str, Any], scratch: Path) -> dict[str, Any]:
    """Find arguments and inputs for a cut and write the task."""
    namespace = load(cut["source"], scratch)
    kind = namespace[cut["name"]]
    _skip_initialisation()
    told = Told(tuple(cut["told"]["sites"]), cut["told"]["defaults"])
    outcome = solve(kind, namespace, cut["source"], told)
    if isinstance(outcome, Unsolved):
        return {"reason": outcome.reason, "detail": outcome.detail[:500]}
    return _written(cut, namespace, outcome)


def watch(user: dict[str, str], cut: dict[str, Any], scratch: Path) -> dict[str, Any]:
    """Run what uses a class until that is called, and write the task from what was seen."""
    namespace = load(user["source"], scratch)
    _skip_initialisation()
    known = dict(namespace)
    install(known[user["wanted"]], known)
    entry = namespace[user["name"]]
    try:
        if isinstance(entry, type):
            if isinstance(outcome := solve(entry, namespace, user["source"]), Unsolved):
                return {"reason": outcome.reason, "detail": outcome.detail[:500]}
        else:
            with Progress(Budget()):
                entry()
    except CapturedError as captured:
        seen = captured.solution
    else:
        return {"reason": "inputs not inferred", "detail": f"{user['name']} does not use it"}
    source = pruned(user["source"], [user["wanted"], *seen.arguments.values()])
    if misuse := _touches_system(source):
        return {"reason": "touches the system", "detail": misuse}
    return _written(cut | {"source": source, "name": user["wanted"]}, known, seen)


def _written(cut: dict[str, Any], namespace: dict[str, Any], outcome: Solution) -> dict[str, Any]:
    """The task of a solution: named sizes, which of them vary, inputs no heavier than need be."""
    kind = namespace[cut["name"]]
    names = [p.name for p in parameters(kind.forward)[1:]] or ["x"]
    runs = _Runs(kind, namespace)
    outcome = bounded(lightened(outcome, runs), runs)
    groups = tied(outcome, slots(outcome, names), runs)
    sizes = named(groups, outcome, set(namespace))
    free = {slot for size in sizes if size.free for slot in size.slots}
    described = [
        {"name": slot_name, "free": [any(s.kind == "input" and s.path == path and s.index == i for s in free)
                                     for i in range(rank)]}
        for slot_name, path, rank in _tensors(outcome, names)
    ]  # fmt: skip
    try:
        signature = inspect.signature(kind)
    except (TypeError, ValueError):
        signature = None
    source = pruned(cut["source"], [cut["name"], *outcome.arguments.values()])
    text = _header(cut) + emit(source, outcome, sizes, signature)
    return {"reason": "", "source": text, "inputs": described}


def _tensors(solution: Solution, names: list[str]) -> list[tuple[str, tuple[int, ...], int]]:
    return [(names[min(p[0], len(names) - 1)], p, len(t.shape)) for p, t in all_tensors(solution.specs)]


def _header(cut: dict[str, Any]) -> str:
    return "".join(f"# {line}\n" for line in cut.get("header", []))


def lightened(solution: Solution, runs: _Runs) -> Solution:
    """The solution with smaller inputs, while it is heavy and smaller ones run."""
    for _ in range(MAX_HALVINGS):
        if not runs.heavy(solution):
            return solution
        smaller = (Solution(solution.arguments, s) for s in (halved(solution.specs), of_one(solution.specs)))
        fitting = next((s for s in smaller if s != solution and runs(s)), None)
        if fitting is None:
            return solution
        solution = fitting
    return solution


class _Runs:
    """Whether a module runs with other sizes, as long as the budget lasts."""

    def __init__(self, kind: Any, namespace: dict[str, Any]) -> None:
        self._kind, self._namespace, self._budget = kind, namespace, Budget(TIES_BUDGET)

    def __call__(self, solution: Solution) -> bool:
        if self._budget.left < 0:
            return False
        try:
            module = build(self._kind, dict(solution.arguments), self._namespace, self._budget)
        except Exception:  # noqa: BLE001 - it does not run, whatever the reason
            return False
        _, result, error = call(module, solution.specs, self._budget)
        return error is None and has_tensor(result)

    def heavy(self, solution: Solution) -> bool:
        """Whether one call takes more than a part of the work that a task may have."""
        module = build(self._kind, dict(solution.arguments), self._namespace, Budget())
        work = Work(1 << 30, LIGHT)
        with work:
            _, _, error = call(module, solution.specs, Budget())
        return isinstance(error, UnfitError)


def load(source: str, scratch: Path) -> dict[str, Any]:
    """Execute a cut as a module that ``inspect`` can read, with the names that arguments are written with."""
    import torch
    from torch.nn import functional

    path = scratch / f"cut_{os.getpid()}.py"
    path.write_text(source)
    module = types.ModuleType("task")
    module.__file__ = str(path)
    sys.modules["task"] = module
    # dont_inherit: else this file's own future import would hide what a type hint of the cut lacks
    exec(compile(source, str(path), "exec", dont_inherit=True), module.__dict__)  # noqa: S102 - in the sandbox
    given = {"torch": torch, "nn": torch.nn, "F": functional, "functools": functools,
             "SimpleNamespace": types.SimpleNamespace}  # fmt: skip
    return given | module.__dict__


def _skip_initialisation() -> None:
    """Random initial weights do not matter to shapes, and take most of the time of large layers."""
    import torch

    def skip(tensor: Any = None, *_: Any, **named: Any) -> Any:
        return named.get("tensor", tensor)

    for name in dir(torch.nn.init):
        if name.endswith("_") and not name.startswith("_"):
            setattr(torch.nn.init, name, skip)
