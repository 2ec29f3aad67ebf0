"""Cutting the pairs of a library. Runs inside the sandbox: no text of others is parsed outside."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from sources.cut.slicer import SliceError
from sources.cut.survey import quick_parsing
from sources.cut.writer import Cut
from sources.cut.writer import cut as write_cut
from sources.pairs import flag_gems, registry
from sources.pairs.package import KernelPackage, KernelSlicer, kernels
from sources.pairs.recipe import SYMBOL, Recipe, importable
from sources.pairs.reduce import plainly
from sources.text.bindings import Imported
from sources.text.targets import Here, Missing

GLUE = "kdata_pairs"
ABSENT = "not in the library"


def cut(payload: dict[str, Any], scratch: Path) -> dict[str, Any]:
    """Cut a library's pairs, and its launchers that no pair takes.

    ``payload``: files, library, recipes (fields of ``Recipe``), folders (of kernels).  Returns ``pairs`` (name, task,
    candidate, path, symbol), ``kernels`` (path, symbol, source) and ``refused`` (name, path, reason, detail).
    """
    quick_parsing()
    texts: dict[str, str] = payload["files"]
    recipes = [Recipe(**r) for r in payload["recipes"]]
    own = {importable(p): p for p in sorted(texts, key=lambda p: p == importable(p)) if p.endswith(".py")}
    python = {p: texts[path] for p, path in own.items()}
    pairs, refused, used = [], list[dict[str, str]](), set[Here]()
    is_gems = payload["library"] == flag_gems.LIBRARY
    package = KernelPackage(python, payload["replacements"], flag_gems.plain(texts) if is_gems else plainly)
    if is_gems:
        recipes, refused = registry.recipes(package, f"{flag_gems.ROOT}/__init__.py", recipes)
    slicer = KernelSlicer(package)
    for recipe in recipes:
        try:
            pair, parts = _pair(slicer, _moved(package, recipe))
        except (SliceError, SyntaxError) as error:
            reason = error.reason if isinstance(error, SliceError) else "not sliceable"
            refused.append({"name": recipe.name, "path": "", "reason": reason, "detail": str(error)})
            continue
        pairs.append(pair | {"path": own.get(pair["path"], pair["path"])})
        used |= parts
    folders = [importable(folder) for folder in payload["folders"]]
    rest, lost = _rest(slicer, [h for h in _launchers(package, folders) if h not in used])
    for told in (*lost, *rest):
        told["path"] = own[told["path"]]
    return {"pairs": pairs, "refused": refused + lost, "kernels": rest}


def _moved(package: KernelPackage, recipe: Recipe) -> Recipe:
    """The recipe with its names where this version of the library has them: files move from one to the next."""

    def said(symbol: re.Match[str]) -> str:
        return f"{_home(package, importable(symbol['module']), symbol['name'])}:{symbol['name']}"

    return replace(recipe, kernel=SYMBOL.sub(said, recipe.kernel), reference=SYMBOL.sub(said, recipe.reference))


def _home(package: KernelPackage, module: str, name: str) -> str:
    """The module of a library's name.

    Where the one that is said lacks it, it is the only other one that defines it among those that are called like that
    one, or lie in a folder called so (``fla.modules.rotary``: ``fla.modules.rotary.ops``).
    """
    if not isinstance(package.resolve(f"{GLUE}/{name}.py", Imported(module, name=name)), Missing):
        return module
    top, last = module.split(".")[0], module.split(".")[-1]
    folders = {p: p.removesuffix(".py").split("/") for p in sorted(package.texts) if name in package.texts[p]}
    alike = [p for p, parts in folders.items() if top in parts and last in parts]
    found = [folders[p] for p in alike if package.lookup(p, name) == Here(p, name)]
    return ".".join(found[0][found[0].index(top) :]) if len(found) == 1 else module


def _pair(slicer: KernelSlicer, recipe: Recipe) -> tuple[dict[str, str], set[Here]]:
    candidate = _cut(slicer, recipe, True)
    task = _cut(slicer, recipe, False)
    named = {f"{importable(m['module'])}.{m['name']}" for m in SYMBOL.finditer(f"{recipe.kernel}\n{recipe.reference}")}
    if absent := sorted(named & {*candidate.lacks, *task.lacks}):
        raise SliceError(ABSENT, ", ".join(absent))
    parts = {key for key in candidate.names if not key.file.startswith(f"{GLUE}/")}
    home = next((k for k in parts if k.name in recipe.kernel), Here("", recipe.name))
    if not any((file := slicer.package.file(k.file)) and k.name in kernels(file) for k in parts):
        raise SliceError("no kernel in it", recipe.kernel)
    return {"name": recipe.name, "task": f"{task.source}\n\n{recipe.makers()}", "candidate": candidate.source,
            "path": home.file, "symbol": home.name}, parts  # fmt: skip


def _cut(slicer: KernelSlicer, recipe: Recipe, kernel: bool) -> Cut:
    path = f"{GLUE}/{recipe.name}_{'kernel' if kernel else 'reference'}.py"  # one each: what is parsed is remembered
    slicer.package.texts[path] = recipe.glue(kernel)
    if slicer.package.file(path) is None:
        raise SliceError("bad recipe", slicer.package.broken[path])
    return write_cut(slicer, path, "ModelNew" if kernel else "Model")


def _launchers(package: KernelPackage, folders: list[str]) -> Iterator[Here]:
    """Functions that launch a kernel, and classes of which a method does."""
    for path in sorted(p for p, text in package.texts.items() if "triton" in text):
        if not any(path == f or path.startswith(f"{f}/") for f in folders) or not (file := package.file(path)):
            continue
        for statement in file.tree.body:
            if isinstance(statement, ast.FunctionDef | ast.ClassDef) and _launches(statement):
                yield Here(path, statement.name)


def _launches(statement: ast.stmt) -> bool:
    """Whether it says ``kernel[grid](...)`` anywhere."""
    calls = (n for n in ast.walk(statement) if isinstance(n, ast.Call) and isinstance(n.func, ast.Subscript))
    return any(isinstance(c.func, ast.Subscript) and isinstance(c.func.value, ast.Name) for c in calls)


def _rest(slicer: KernelSlicer, launchers: list[Here]) -> tuple[list[dict[str, str]], list[dict[str, str]]]:
    """Launchers without a reference, each in a text of its own, and those that cannot be cut."""
    rest, lost, seen = [], [], set[str]()
    for here in launchers:
        try:
            made = write_cut(slicer, here.file, here.name)
        except (SliceError, SyntaxError) as error:
            reason = error.reason if isinstance(error, SliceError) else "not sliceable"
            lost.append({"name": here.name, "path": here.file, "reason": reason, "detail": str(error)})
            continue
        if "triton.jit" in made.source and made.source not in seen:
            seen.add(made.source)
            rest.append({"path": here.file, "symbol": here.name, "source": made.source})
    return rest, lost
