"""Cutting the definitions of a package, each with what it needs.

Runs inside the sandbox: no hostile text is parsed outside.
"""

from __future__ import annotations

import ast
import itertools
import posixpath
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from kdata.record import digest
from sources.cut.lacking import asks
from sources.cut.modules import NO_FORWARD, Candidate
from sources.cut.records import of_records
from sources.cut.slicer import SliceError, Slicer
from sources.cut.survey import Survey, Whole, quick_parsing
from sources.cut.unreached import MAX_SOURCE
from sources.cut.users import Users
from sources.cut.writer import Cut
from sources.cut.writer import cut as write_cut
from sources.hints.hints import Hints
from sources.text.danger import touches_system
from sources.text.rewrite import Edits, Text, without_docstrings
from sources.text.roots import Roots
from sources.text.scope import nodes
from sources.text.targets import Here
from sources.watch.capture import HERE
from sources.watch.capture_package import Observed, observe

MAX_CUT = 400_000  # characters of a definition with all that it may need: of a task what it reaches counts
SMALL = 80  # lines of a building block: these are tried before whole networks
MAX_NEEDS = 4  # definitions that arguments name which are tried one by one
MAX_USUAL = 3  # registries that hold what looks up another one
# What something is looked up by in a container.
_KEYS = re.compile(
    r"(?:\w|globals\(\))\[(?:\w+\.)*([^\W\d]\w+)\]|\bgetattr\([\w.]+, (?:\w+\.)*([^\W\d]\w+)\)"
    r"|(?:\.(?:get|build|create)|\bmeant_by)\((?:\w+\.)+([^\W\d]\w+)[,)]"
)


def cut_package(payload: dict[str, Any], scratch: Path) -> dict[str, Any]:
    """Cut the definitions of one part of a package.

    ``payload`` holds ``files``, ``replacements``, ``part``, ``parts``, ``seed``, and ``enough``, the number of cuts
    after which the rest is left alone; with ``only``, just the definitions of these names count.  Returns cuts in the
    order in which they are to be tried, the refused with reasons, files that do not parse, and what went wrong when the
    package was run: its ``failure``, and how many files were ``lost`` and how.

    ``roots`` are archives in ``scratch`` of packages that definitions are also cut out of.  With ``asked``, the modules
    that were looked for already, the answer may be nothing but ``asks``: others to look for before it is asked again.
    """
    quick_parsing()
    whole, known = Whole.of(payload, Roots.laid(payload.get("roots", ()), scratch)), payload.get("survey")
    first_slicer = Slicer(whole.symbols())
    if "asked" in payload and (wishes := asks(whole, first_slicer, payload)):
        return {"asks": wishes}
    survey = Survey.decoded(known) if known else Survey.of(whole)
    wanted, enough = payload.get("only"), payload["enough"]
    every = [c for c in survey.candidates if wanted is None or c.symbol in wanted]
    first: dict[str, Candidate] = {}
    for candidate in every:
        first.setdefault(candidate.shape, candidate)
    kinds = _kinds(survey.candidates)
    by_file = bool(whole.framework)
    mixed = _part(_mixed(every, payload["seed"], by_file), payload["part"], payload["parts"], by_file)
    # Watching others use a class is dear: it is for packages where every class counts.
    watch = not whole.framework and len(first) <= enough
    observed = Observed({}, {})
    if whole.framework or watch:
        observed = observe(whole.code, _wanted(mixed, first, enough), scratch)
    cuts, refused = list[dict[str, Any]](), list[dict[str, str]]()
    for paths in whole.groups(_folders(mixed)):
        about = set(paths)
        package, hints = whole.look(paths)
        if whole.framework:
            survey.tell(hints)
        slicer = first_slicer if package is first_slicer.package else Slicer(package)
        users = Users(slicer, hints) if watch else None
        for candidate in (c for c in mixed if c.path in about):
            original = first[candidate.shape]
            if candidate.refused:
                refused.append(_refused(candidate, candidate.refused, ""))
            elif original is not candidate:
                refused.append(_refused(candidate, "duplicate", f"of {original.path}:{original.symbol}"))
            elif len(cuts) >= enough:
                refused.append(_refused(candidate, "limit reached", ""))
            else:
                told = observed.seen.get(candidate.path, {}).get(candidate.symbol)
                try:
                    made = _cut_of(slicer, hints, candidate, users, told)
                    cuts.append(_holding(made, kinds, candidate.takes))
                except SliceError as error:
                    refused.append(_refused(candidate, error.reason, str(error)))
                except Exception as error:  # noqa: BLE001 - one cut gone wrong is not the package's end
                    refused.append(_refused(candidate, "not sliceable", f"{type(error).__name__}: {error}"))
                slicer.forget()
        del package, hints, slicer, users  # two groups at once are not to be in memory
    return {"cuts": cuts, "refused": refused, "broken": survey.broken, "failure": observed.failure,
            "lost": observed.lost, "asks": []}  # fmt: skip


def _mixed(every: list[Candidate], seed: int, by_file: bool) -> list[Candidate]:
    """Candidates in an order that depends on the seed: small ones first, or file by file where these are run whole."""

    def place(c: Candidate) -> tuple[str, str, bool, str]:
        folder = digest(str(seed), posixpath.dirname(c.path)) if by_file else ""
        file = digest(str(seed), c.path) if by_file else ""
        return folder, file, c.lines > SMALL, digest(str(seed), c.path, c.symbol)

    return sorted(every, key=place)


def _part(mixed: list[Candidate], part: int, parts: int, by_file: bool) -> list[Candidate]:
    """One of some parts, of like sizes; by whole folders where files are run whole."""
    if not by_file:
        return mixed[part::parts]
    own = set(_folders(mixed)[part::parts])
    return [c for c in mixed if posixpath.dirname(c.path) in own]


def _folders(mixed: list[Candidate]) -> list[str]:
    return list(dict.fromkeys(posixpath.dirname(c.path) for c in mixed))


def _wanted(mixed: list[Candidate], first: dict[str, Candidate], enough: int) -> dict[str, set[str]]:
    """The classes that will be cut, by file."""
    wanted: dict[str, set[str]] = {}
    chosen = (c for c in mixed if c.kind == "module" and not c.refused and first[c.shape] is c)
    for candidate in itertools.islice(chosen, enough):
        wanted.setdefault(candidate.path, set()).add(candidate.symbol)
    return wanted


def _refused(candidate: Candidate, reason: str, detail: str) -> dict[str, str]:
    return {"path": candidate.path, "symbol": candidate.symbol, "reason": reason, "detail": detail}


def _kinds(every: list[Candidate]) -> dict[str, str]:
    """Of each module class by ``path:symbol``, that of the first class that is equal to it."""
    first: dict[str, str] = {}
    modules = [(c, f"{c.path}:{c.symbol}") for c in every if c.kind == "module"]
    return {key: first.setdefault(c.shape, key) for c, key in modules}


def _holding(cut: dict[str, Any], kinds: dict[str, str], takes: str) -> dict[str, Any]:
    """The cut, told which other classes of the package that may become tasks are in its text, and how they are called.

    And what it ``takes``: of classes that take the same, one's arguments and inputs may do for the other.
    A copy stands for the class that it is a copy of.
    """
    own = f"{cut['path']}:{cut['symbol']}"
    held = {kinds[key]: name for key, name in cut["names"].items() if key in kinds and key != own}
    plain = {k: v for k, v in cut.items() if k != "names"}
    return plain | {"told": cut["told"] | {"holds": held, "takes": takes}}


def _cut_of(
    slicer: Slicer, hints: Hints, candidate: Candidate, users: Users | None, seen: dict[str, Any] | None
) -> dict[str, Any]:
    """The cut of a definition; its ``users`` are asked where running the package did not show its inputs (``seen``)."""
    if candidate.methods:
        return _called_by(slicer, hints, candidate)
    return _cut(slicer, hints, candidate, None if seen and seen["specs"] else users, seen)


def _called_by(slicer: Slicer, hints: Hints, candidate: Candidate) -> dict[str, Any]:
    """The cut of a class without a forward of its own, as one whose forward calls its first method.

    Of the ``others``, more cuts.

    Raises:
        SliceError: by none of them it can be cut.
    """
    found, failure = list[dict[str, Any]](), SliceError(NO_FORWARD, "")
    for method in candidate.methods:
        try:
            found.append(_cut(slicer, hints, candidate, None, None, method))
        except SliceError as error:
            failure = error
    if not found:
        raise failure
    first, *rest = found
    others = [{k: c[k] for k in ("source", "name", "lacks")} for c in rest]
    inlined = list(dict.fromkeys(f for c in found for f in c["inlined"]))
    return first | {"told": first["told"] | {"others": others}, "inlined": inlined}


def _cut(
    slicer: Slicer, hints: Hints, candidate: Candidate, users: Users | None, seen: dict[str, Any] | None,
    method: str = "forward",
) -> dict[str, Any]:  # fmt: skip
    sites = hints.sites(Here(candidate.path, candidate.symbol)) if candidate.kind == "module" else []
    named = {p: Here(*target) for p, target in seen["needs"].items()} if seen else {}
    needs = sorted({h for s in sites for h in s.needs}.union(named.values()), key=str)
    said = sorted({w for s in sites for w in s.words()})
    cut, needs, said = _with_needs(slicer, candidate, needs, said, method)
    seen = seen if {*named.values()} <= {*needs} else None
    cut = _with_usual(slicer, hints, candidate, cut, needs, said, method)
    others = _without_constants(slicer, candidate, needs, cut) if method == "forward" else []
    taking = _of_records(slicer, hints, candidate, cut, needs, said, method)
    if candidate.kind == "function":
        cut = _wrapped(cut)
    elif method != "forward":
        cut = by_method(cut, method)
    if misuse := touches_system(cut.source):
        raise SliceError("touches the system", misuse)
    if len(cut.source) > MAX_SOURCE:
        cut = replace(cut, source=without_docstrings(cut.source))
    if len(cut.source) > MAX_CUT:
        raise SliceError("too large", f"{len(cut.source)} characters")
    watched = users.of(Here(candidate.path, candidate.symbol)) if users and candidate.kind == "module" else []
    told = {"users": watched, "others": others, "sites": [site.spelled(cut.names.get) for site in sites],
            "seen": _spelled(seen, {p: cut.names.get(h, "") for p, h in named.items()}) if seen else None,
            "records": taking,
            "defaults": hints.defaults(re.findall(r"[^\W\d]\w*", cut.source), candidate.symbol)}  # fmt: skip
    roots = slicer.package.roots
    return {"source": cut.source, "name": cut.name, "path": cut.path, "symbol": cut.symbol, "lacks": list(cut.lacks),
            "told": told, "inlined": [roots.inner(f) for f in cut.files if f in roots],
            "names": {f"{h.file}:{h.name}": n for h, n in cut.names.items()}}  # fmt: skip


def _with_needs(
    slicer: Slicer, candidate: Candidate, needs: list[Here], said: list[str], method: str
) -> tuple[Cut, list[Here], list[str]]:
    """The cut with what its arguments name and say, or with as much of it as a task may hold; and what that is.

    A script's own values, such as the data that it trains on, take more than the classes that type hints name.
    """

    def written(wanted: list[Here], words: list[str]) -> Cut | None:
        try:
            made = write_cut(slicer, candidate.path, candidate.symbol, wanted, words, method)
        except SliceError:
            return None
        return None if touches_system(made.source) else made

    if not needs and not said:
        return write_cut(slicer, candidate.path, candidate.symbol, method=method), [], []
    if (cut := written(needs, said)) is not None:
        return cut, needs, said
    kept, best = list[Here](), write_cut(slicer, candidate.path, candidate.symbol, method=method)
    for need in [n for n in needs if not slicer.package.is_value(n)][:MAX_NEEDS]:
        if (cut := written([*kept, need], [])) is not None:
            kept, best = [*kept, need], cut
    return best, kept, []


def _with_usual(
    slicer: Slicer, hints: Hints, candidate: Candidate, cut: Cut, needs: list[Here], said: list[str], method: str
) -> Cut:
    """The cut with what registries hold by the words that the package's settings have for the keys it looks up.

    ``HEADS[cfg.MODEL.HEAD]``, where the settings say ``_C.MODEL.HEAD = "Plain"``.
    """
    for _ in range(MAX_USUAL):
        keys = {n for found in _KEYS.findall(cut.source) for n in found if n}
        usual = hints.defaults(re.findall(r"[^\W\d]\w*", cut.source), candidate.symbol) if keys else {}
        texts = [text[1:-1] for name, text in usual.items() if name.split(".")[-1] in keys and text[:1] in ("'", '"')]
        words = [w for w in dict.fromkeys(texts) if w not in said]
        if not words:
            break
        said = [*said, *words]
        try:
            more = write_cut(slicer, candidate.path, candidate.symbol, needs, said, method)
        except SliceError:
            break
        if more.source == cut.source or touches_system(more.source) or len(more.source) > MAX_CUT:
            break
        cut = more
    return cut


def _without_constants(slicer: Slicer, candidate: Candidate, needs: list[Here], cut: Cut) -> list[dict[str, Any]]:
    """The cut without what its arguments name, where that is a value: making it may take what there is not."""
    if candidate.kind != "module" or not any(map(slicer.package.is_value, needs)):
        return []
    try:
        plain = write_cut(slicer, candidate.path, candidate.symbol)
    except SliceError:
        return []
    fits = plain.source != cut.source and len(plain.source) <= MAX_CUT and not touches_system(plain.source)
    return [{"source": plain.source, "name": plain.name, "lacks": list(plain.lacks)}] if fits else []


def _of_records(
    slicer: Slicer, hints: Hints, candidate: Candidate, cut: Cut, needs: list[Here], said: list[str], method: str
) -> dict[str, Any] | None:
    """The cut with records of tensors made within, where its ``method`` is given such; None where it is not."""
    if candidate.kind != "module":
        return None
    try:
        made = of_records(slicer, hints, cut, needs, said, method)
    except SliceError:
        return None
    fits = made is not None and len(made.source) <= MAX_CUT and not touches_system(made.source)
    return {"source": made.source, "name": made.name, "lacks": list(made.lacks)} if made and fits else None


def _spelled(seen: dict[str, Any], names: dict[str, str]) -> dict[str, Any]:
    """What was seen of a class, with the names that definitions have in its cut."""
    placeholder = re.compile(rf"{HERE}\d+")
    texts = {n: placeholder.sub(lambda m: names[m[0]], text) for n, text in seen["arguments"].items()}
    return {"arguments": texts, "specs": seen["specs"]}


def _wrapped(cut: Cut) -> Cut:
    """The cut of a function, with a module class whose forward calls it.

    Raises:
        SliceError: the name is something else's in the cut: ``try: f = torch.f``, with our own f for want of it.
    """
    tree = ast.parse(cut.source)
    function = next((n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == cut.name), None)
    if function is None:
        raise SliceError("not sliceable", f"{cut.name} is no function of its own")
    needed, given = _needed(function.args, [*function.args.posonlyargs, *function.args.args])
    taken = {n.name for n in tree.body if isinstance(n, ast.FunctionDef | ast.ClassDef)}
    name = _camel(cut.name)
    name = name if name not in taken else f"{name}Module"
    base = "nn.Module" if "\nimport torch.nn as nn\n" in cut.source else "torch.nn.Module"
    taken_in, handed = ", ".join(needed), ", ".join(given)
    text = f"\n\nclass {name}({base}):\n    def forward(self, {taken_in}):\n        return {cut.name}({handed})\n"
    return replace(cut, source=cut.source + text, name=name)


def _needed(arguments: ast.arguments, plain: Sequence[ast.arg]) -> tuple[list[str], list[str]]:
    """What a function must be given, of its ``plain`` arguments and of those by name; and how it is handed on.

    Of one that can do without any it is the first.
    """
    needed = [a.arg for a in plain[: len(plain) - len(arguments.defaults)]]
    named = [a.arg for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if d is None]
    needed = needed or [a.arg for a in plain[:1] if not named]
    return [*needed, *named], [*needed, *(f"{n}={n}" for n in named)]


def by_method(cut: Cut, method: str) -> Cut:
    """The cut of a class, with a subclass whose forward calls one of its methods.

    Raises:
        SliceError: the cut is without the method: it touches the system.
    """
    tree = ast.parse(cut.source)
    classes = {n.name: n for n in tree.body if isinstance(n, ast.ClassDef)}
    stack, found = [cut.name], None
    while stack and found is None:
        node = classes.pop(stack.pop(0), None)
        found = next((s for s in getattr(node, "body", ()) if getattr(s, "name", "") == method), None)
        stack += [b.id for b in getattr(node, "bases", ()) if isinstance(b, ast.Name)]
    if not isinstance(found, ast.FunctionDef):
        raise SliceError("touches the system", f"in {method}")
    arguments, defaults = [a.arg for a in found.args.args[1:]], found.args.defaults
    needed, handed = _needed(found.args, found.args.args[1:])
    left = zip(arguments[::-1], defaults[::-1], strict=False)  # what is None may have to be given all the same
    optional = [n for n, d in left if isinstance(d, ast.Constant) and d.value is None and n not in needed][::-1]
    taken_in = ", ".join([*needed, *(f"{n}=None" for n in optional)])
    given = ", ".join([*handed, *(f"{n}={n}" for n in optional)])
    name, taken = f"{cut.name}{_camel(method)}", {getattr(n, "name", "") for n in tree.body}
    name = name if name not in taken else f"{name}Module"
    text = (
        f"\n\nclass {name}({cut.name}):\n"
        f'    """{cut.name}, called by its method {method}."""\n\n'
        f"    def forward(self, {taken_in}):\n"
        f"        return self.{method}({given})\n"
    )
    return replace(cut, source=_with_tensors(cut.source, found) + text, name=name)


def _with_tensors(source: str, method: ast.FunctionDef) -> str:
    """The source, in which a method answers with tensors where it makes arrays of these: ``return action.numpy()``."""
    edits = Edits(Text.of(source))
    for end in (n.value for n in nodes(method) if isinstance(n, ast.Return) and n.value is not None):
        for value in end.elts if isinstance(end, ast.Tuple) else [end]:
            match value:
                case ast.Call(func=ast.Attribute(value=of, attr="numpy"), args=[], keywords=[]):
                    edits.replace(edits.text.end(of), edits.text.end(value), "")
    return edits.whole()


def _camel(name: str) -> str:
    return "".join(word[:1].upper() + word[1:] for word in name.split("_"))
