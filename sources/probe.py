"""What runs inside the sandbox to turn cuts into tasks that run.

A job covers many definitions; each is tried in a fork of its own, see ``sources.isolation``.
"""

from __future__ import annotations

import functools
import itertools
import json
import re
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import torch

from kdata.record import digest
from sources.cut.pruning import pruned
from sources.cut.slicer import ABSENT
from sources.cut.unreached import LONG, MAX_SOURCE
from sources.infer import warming
from sources.infer.constructor.constructions import Told, build
from sources.infer.constructor.trouble import Trouble
from sources.infer.forward.failure import NO_TENSOR
from sources.infer.input_search import TOO_LONG, feed
from sources.infer.rewritten.adapters import spared
from sources.infer.rewritten.drawn import NOTE, drawn, drawn_at_last
from sources.infer.rewritten.makers import run_made
from sources.infer.running.calls import call, forget, has_tensor
from sources.infer.running.check import IGNORES, MODULE, TOO_LARGE, UnfitError, Work, check
from sources.infer.running.initial import cheapen, quicken
from sources.infer.running.memory import bounded, without_compiler
from sources.infer.running.progress import BUDGET, Budget, Progress
from sources.infer.running.properties import reveal
from sources.infer.running.vanishing import REASON as NOTHING
from sources.infer.running.worth import CONSTANT, NOT_FINITE, RANDOM
from sources.infer.search import Solution, beginning, lightens, solve
from sources.isolation import BEYOND, allowance, extend, isolated
from sources.loading import load
from sources.other_cuts import tried_otherwise
from sources.searches import LEAST, Searches, failure
from sources.text.danger import touches_system
from sources.text.on_cpu import OnOne, without_weights
from sources.watch.capture import decoded, encoded, install, unwatched_forwards
from sources.watch.reach import shortened
from sources.watch.seen import as_seen
from sources.written import written

USER_BUDGET, USER_TRIES = 2_000, 24  # of the search for what uses a class, and of its constructor
SEEN_BUDGET = 4_000  # of the search for a class that was seen with arguments and inputs that do not do
# What weights that start as zeros, or as what happened to be in memory, may be the reason of.
DRAWN_FOR = (NOTHING, CONSTANT, IGNORES, NOT_FINITE, RANDOM)
DEAR = (TOO_LARGE, "timeout", "crash")  # how a check ends that takes more than there is: kernels without memory crash
MAX_IGNORED = 3  # inputs of one class that it takes and does not use
MAX_FAILURES = 40  # of a search, that are tried again
INFER_SECONDS, CHECK_SECONDS = 5, 10  # CPU seconds of one definition
MOST_WAYS = 6  # in which one is tried beyond the first: other cuts, users that are watched, teachers
LAST_BEGUN = 60  # CPU seconds of one after which it is tried in no other way, however few there were
# Bytes of address space that one of its forks may take: most weights of the largest modules are never touched. How
# much of that is in memory is bounded where weights are filled and where modules are called.
MEMORY = 7 << 27


def warm() -> None:
    """Called once before any fork: what is imported now takes no fork's time."""
    without_compiler()
    reveal()
    with Work():
        torch.nn.Linear(2, 2)(torch.ones(1, 2))
    # Rules look for an input's name in many ways: of so many patterns none would be kept until it is needed again.
    vars(re)["_MAXCACHE"] = 1 << 13
    warming.warm()
    # Numpy imports its generators when they are first asked for: each fork would, and begin with other numbers.
    np.random.seed(0)
    # What prints a large tensor in its error is not to take longer than what it computes.
    torch.set_printoptions(threshold=100, edgeitems=1)
    # Torch's own keeps the stack of each call for devices that are not here: a tenth of a search's time.
    torch.manual_seed = torch.default_generator.manual_seed


def attempt(payload: dict[str, Any], scratch: Path) -> list[dict[str, Any]]:
    """Infer and check the cuts of ``cuts``; an outcome has ``reason`` ("" for a task) and ``detail``.

    A task may have so many ``operators`` that compute.  There are no more outcomes when there are ``enough`` tasks.
    What is ``solved`` of one says with which text, arguments and inputs, before these were made to vary.
    """
    seen: dict[str, Any] = {}
    return until_enough(payload, lambda cut: attempt_one(cut, payload["operators"], scratch, seen))


def until_enough(
    payload: dict[str, Any], outcome_of: Callable[[dict[str, Any]], dict[str, Any]]
) -> list[dict[str, Any]]:
    """Outcomes of the payload's cuts, in order, until there are enough tasks."""
    outcomes: list[dict[str, Any]] = []
    for cut in payload["cuts"]:
        if sum(not outcome["reason"] for outcome in outcomes) >= payload["enough"]:
            break
        outcomes.append(outcome_of(cut))
    return outcomes


def attempt_one(
    cut: dict[str, Any], operators: int, scratch: Path, seen: dict[str, Any] | None = None
) -> dict[str, Any]:
    """The outcome of one cut, or of another of the same class that makes a task where this one makes none in time.

    ``seen`` keeps what users of classes showed, by the digest of their name and source.
    """
    allowed, searches = allowance(MOST_WAYS, LAST_BEGUN), Searches()
    cut = cut | {"searches": searches}

    def may() -> bool:
        return not searches.spent() and allowed()

    outcome = _tried(cut, operators, scratch, seen, may)
    if outcome["reason"] in ("", "timeout"):
        return outcome
    best, again = tried_otherwise(cut, outcome, lambda c, before: _tried(c, operators, scratch, seen, may, before), may)
    for _ in range(MAX_IGNORED):
        if again["reason"] != IGNORES or not again.get("spare"):
            break
        again = _without_ignored(best, again, operators, scratch)
    return outcome if again["reason"] and best is not cut else again


def _without_ignored(cut: dict[str, Any], outcome: dict[str, Any], operators: int, scratch: Path) -> dict[str, Any]:
    """What comes of a class that ignored one of its inputs, where zeros stand for that one."""

    def job() -> dict[str, Any]:
        spare = outcome["spare"]
        namespace, known = load(spare["source"], scratch), cut | {k: spare[k] for k in ("source", "name", "header")}
        cheapen()
        made = spared(known, namespace, decoded(spare["answer"]), outcome["ignored"])
        return outcome if made is None else _written(made[0], namespace, made[1], operators)

    inferred = isolated(job, INFER_SECONDS, MEMORY)
    return outcome | {"spare": None} if inferred["reason"] else _settled(inferred, operators)


def _tried(
    cut: dict[str, Any], operators: int, scratch: Path, seen: dict[str, Any] | None, may: Callable[[], bool],
    before: dict[str, Any] | None = None,
) -> dict[str, Any]:  # fmt: skip
    """The outcome of one text; ``before`` is that of another one of the same class, which may fail like this one.

    ``may`` tells whether yet another user of the class is to be watched.
    """
    inferred = before if before and _fails_likewise(cut, before, scratch) else None
    inferred = inferred or _inferred(cut, operators, scratch)
    if inferred["reason"] in (*BEYOND, TOO_LARGE):  # of what was begun with, one call was too much, perhaps
        inferred = _inferred(cut | {"lighter": inferred}, operators, scratch)
    known = {} if seen is None else seen
    hopeless = inferred["reason"] in ("", TOO_LONG) or _lacking(inferred, cut)
    for user in cut["told"].get("users", []) if not hopeless else []:
        key = digest(user["name"], user["source"])
        if key not in known:
            if not may():
                break
            known[key] = _seen(user, scratch)
        solution = known[key].get(user["wanted"])
        if solution is None:
            continue
        written = isolated(
            functools.partial(write_seen, user, solution, cut, operators, scratch), INFER_SECONDS, MEMORY
        )
        if not written["reason"]:
            inferred = written
            break
    if inferred["reason"]:
        return _blamed(inferred, cut)
    outcome, source = _settled(inferred, operators), inferred["source"]
    if outcome["reason"] not in DEAR or cut.get("lighter"):
        return outcome
    # What ran while a search had its weights for nothing takes more than there is: a smaller one, perhaps, does not.
    smaller = _inferred(cut | {"lighter": inferred}, operators, scratch)
    same = smaller["reason"] == "" and smaller["source"] == source  # it is as large as that
    return outcome if smaller["reason"] or same else _settled(smaller, operators)


def _inferred(cut: dict[str, Any], operators: int, scratch: Path) -> dict[str, Any]:
    """What ``infer`` comes to in a fork, which counts among the searches for its class."""
    searches: Searches = cut.get("searches") or Searches()
    return searches.note(isolated(lambda: infer(cut, operators, scratch), INFER_SECONDS, MEMORY))


def _settled(inferred: dict[str, Any], operators: int) -> dict[str, Any]:
    """The outcome of a text that was written."""
    source, small = inferred["source"], inferred["small"]
    checked = _checked(source, inferred["name"], operators, small)
    for draw in (drawn, functools.partial(drawn_at_last, name=inferred["name"])):
        if checked["reason"] in DRAWN_FOR and (other := draw(inferred["source"])) != inferred["source"]:
            source = f"# {NOTE}\n{other}"
            again = _checked(source, inferred["name"], operators, small)
            checked = again if not again["reason"] or checked["reason"] == NOTHING else checked
    if not checked["reason"] and len(source) > LONG:
        source, checked = _shortened(source, checked, inferred, operators)
    if checked["reason"]:
        ignored = re.fullmatch(r"input (\d+)", checked["detail"])
        names = [i["name"] for i in inferred["inputs"]]
        at = int(ignored[1]) if ignored else len(names)
        return checked | {"solved": inferred["solved"], "spare": inferred["spare"],
                          "ignored": names[at] if at < len(names) else ""}  # fmt: skip
    described = [i | more for i, more in zip(checked["inputs"], inferred["inputs"], strict=False)]
    return {"reason": "", "source": source, "name": inferred["name"], "inputs": described, "detail": checked["mode"],
            "solved": inferred["solved"]}  # fmt: skip


def _shortened(
    source: str, checked: dict[str, Any], inferred: dict[str, Any], operators: int
) -> tuple[str, dict[str, Any]]:
    """A long task without what it does not reach, as far as that holds what the whole does; and what was checked."""
    name, small = inferred["name"], inferred["small"]

    def job() -> dict[str, Any]:
        quicken()
        return shortened(source, name, small)

    short = isolated(job, CHECK_SECONDS, MEMORY)
    again = _checked(short["source"], name, operators, small) if not short["reason"] else short
    if not again["reason"] and again["inputs"] == checked["inputs"] and len(short["source"]) <= MAX_SOURCE:
        return short["source"], again
    if len(source) <= MAX_SOURCE:
        return source, checked
    why = again["detail"] if again["reason"] else f"{len(short['source'])} of what it reaches"
    return source, {"reason": TOO_LARGE, "detail": f"{len(source)} characters; {why}"}


def _fails_likewise(cut: dict[str, Any], before: dict[str, Any], scratch: Path) -> bool:
    """Whether all that failed with another text fails with this one as it did: a search would be the same."""
    failures = before.get("failures")
    if not failures or len(failures) > MAX_FAILURES:
        return False
    again = isolated(lambda: {"reason": "", "alike": fail_likewise(cut, failures, scratch)}, INFER_SECONDS, MEMORY)
    return again.get("alike", False) is True


def fail_likewise(cut: dict[str, Any], failures: list[Any], scratch: Path) -> bool:
    """Whether each of some arguments, and inputs where constructing does not fail, fails with its message."""
    namespace = load(cut["source"], scratch)
    kind, file = namespace[cut["name"]], str(namespace["__file__"])
    cheapen()
    for arguments, alike in itertools.groupby(failures, key=lambda failed: failed[0]):
        try:
            module = build(kind, dict(arguments), namespace, Budget(), cut["told"]["defaults"])
        except Exception as error:  # noqa: BLE001 - that is the question
            message = Trouble.of(error, program=file).message
            if any(specs is not None or message != before for _, specs, before in alike):
                return False
            continue
        if any(specs is None or _message(module, file, specs) != before for _, specs, before in alike):
            return False
    return True


def _message(module: torch.nn.Module, file: str, specs: list[Any]) -> str:
    """The message with which a call fails; "" where it does not."""
    _, result, error = call(module, decoded([{}, specs]).specs, Budget())
    if error is None:
        return "" if has_tensor(result) else NO_TENSOR
    message = Trouble.of(error, file).message
    forget(error)
    return message


def _checked(source: str, entry: str, operators: int, small: dict[str, int]) -> dict[str, Any]:
    def job() -> dict[str, Any]:
        quicken()
        return check(source, entry, operators, small) | {"reason": ""}

    return isolated(job, CHECK_SECONDS, MEMORY)


def _blamed(outcome: dict[str, Any], cut: dict[str, Any]) -> dict[str, Any]:
    """A failure on one of the names that stand for what is absent is that package's."""
    if _lacking(outcome, cut):
        return outcome | {"reason": ABSENT, "detail": ", ".join(cut["lacks"]) + ": " + outcome["detail"]}
    return outcome


def _lacking(outcome: dict[str, Any], cut: dict[str, Any]) -> bool:
    """Whether a failure is on one of the names that stand for what is absent: whoever uses the class lacks it, too."""
    names = "|".join(re.escape(lacking.split(".")[-1]) for lacking in cut["lacks"])
    return bool(names) and re.search(rf"NoneType|\b(?:{names})\b", outcome["detail"]) is not None


def infer(cut: dict[str, Any], operators: int, scratch: Path) -> dict[str, Any]:
    """Find arguments and inputs for a cut and write the task: from smaller models on where ``lighter`` came of others.

    Raises:
        UnfitError: it has too many operators.
    """
    namespace = load(cut["source"], scratch)
    kind = namespace[cut["name"]]
    cheapen()
    sites, lighter = [*cut["told"]["sites"]], cut.get("lighter", False)
    if (seen := cut["told"].get("seen")) and not lighter:
        if (known := as_seen(kind, namespace, seen, operators)) is not None:
            return _written(cut, namespace, known, operators)
        sites.insert(0, {"positional": [], "named": seen["arguments"]})
    told = Told(tuple(sites), cut["told"]["defaults"])
    if lighter and not seen and not lightens(kind, namespace, cut["source"], told):
        return {k: v for k, v in lighter.items() if k != "work"}  # which was counted
    budget = SEEN_BUDGET if seen and seen["specs"] is not None and not seen.get("own") else BUDGET
    start = decoded([{}, seen["specs"]]).specs if seen and seen["specs"] is not None else None
    begins = functools.partial(beginning, kind, namespace, cut["source"], told, budget, start, bool(lighter))
    searches: Searches = cut.get("searches") or Searches()
    failed = searches.known(begins)
    try:
        if failed is None:
            outcome = solve(kind, namespace, cut["source"], told, operators, budget, seen=start, lighter=bool(lighter))
            if isinstance(outcome, Solution):
                return _written(cut, namespace, outcome, operators) | {"work": outcome.work}
            failed = failure(outcome) | ({"begins": begins()} if outcome.work > LEAST else {})
    except UnfitError as error:
        failed = {"reason": error.reason, "detail": str(error)}
    # What was seen told nothing: for its weights, perhaps.
    known = as_seen(kind, namespace, seen, operators, telling=False) if seen and not lighter else None
    return failed if known is None else _written(cut, namespace, known, operators)


def _seen(user: dict[str, Any], scratch: Path) -> dict[str, Any]:
    """What a user shows of its classes, by name: first without computing, then truly where that tells too little."""
    light: dict[str, Any] = {}
    if not re.search(rf"(?m)^class {user['name']}\b", user["source"]):  # a class needs a search, which needs values
        light = isolated(functools.partial(watch, user, scratch, "meta"), INFER_SECONDS, MEMORY).get("seen", {})
    if user["wanted"] in light and '"int"' not in json.dumps(light[user["wanted"]]):
        return {**light}
    return {**light, **isolated(functools.partial(watch, user, scratch), INFER_SECONDS, MEMORY).get("seen", {})}


def watch(user: dict[str, Any], scratch: Path, device: str = "cpu") -> dict[str, Any]:
    """Run what uses classes for as long as it may, and tell with what each of its classes was called."""
    namespace = load(user["source"], scratch)
    cheapen()
    without_weights()
    known, found = dict(namespace), dict[str, Solution]()
    own = {v: n for n, v in known.items() if isinstance(v, type) and v.__module__ == MODULE}
    entry = namespace[user["name"]]
    makes = "defaults" in user  # see ``sources.hints.makers``
    # a search must see where errors are
    watching = functools.partial(install, own, known, found, forwards=not isinstance(entry, type))
    if not makes:
        watching()
    try:
        with torch.device(device), OnOne(torch.device(device)):
            if makes:
                told = Told((), user["defaults"])
                run_made(entry, namespace, user["source"], told, USER_TRIES, watching)
            elif isinstance(entry, type) and device == "cpu":
                solve(entry, namespace, user["source"], work=USER_BUDGET, constructed=USER_TRIES)
            elif not isinstance(entry, type):
                # what one function takes is counted when it has been taken, and is to be no more than there is
                with bounded(), Progress(Budget()) if device == "cpu" else nullcontext():
                    made = entry()
                if isinstance(made, torch.nn.Module) and device == "cpu":  # it makes a network, which nothing calls
                    unwatched_forwards(own)
                    feed(made, Budget(USER_BUDGET))
    except BaseException as error:  # noqa: BLE001 - however it ends, what was seen before counts
        ended = type(error).__name__
    else:
        ended = ""
    return {"reason": "", "detail": ended, "seen": {n: encoded(s) for n, s in found.items()}}


def write_seen(
    user: dict[str, Any], answer: list[Any], cut: dict[str, Any], operators: int, scratch: Path
) -> dict[str, Any]:
    """The task of a class as its user was seen to call it.

    Raises:
        UnfitError: it has too many operators.
    """
    namespace, solution = load(user["source"], scratch), decoded(answer)
    cheapen()
    source = pruned(user["source"], [user["wanted"], *solution.arguments.values()])
    if misuse := touches_system(source):
        return {"reason": "touches the system", "detail": misuse}
    written = _written(cut | {"source": source, "name": user["wanted"]}, namespace, solution, operators)
    return written | {"solved": None}  # the names in a user's text are not those of the cut


def _written(cut: dict[str, Any], namespace: dict[str, Any], outcome: Solution, operators: int) -> dict[str, Any]:
    """As ``written``, with what it was before its sizes were made to vary; it has time of its own."""
    extend(INFER_SECONDS)
    solved = {"source": cut["source"], "name": cut["name"], "answer": encoded(outcome)}
    again = functools.partial(load, scratch=Path(namespace["__file__"]).parent)
    return written(cut, namespace, outcome, operators, again) | {"solved": solved}
