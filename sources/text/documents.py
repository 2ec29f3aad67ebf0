"""What files beside the Python ones tell of a package: examples in its README, values in its configurations."""

from __future__ import annotations

import ast
import json
import posixpath
import re
import textwrap
from collections.abc import Iterator, Mapping
from typing import Any

import yaml
from markdown_it import MarkdownIt

from sources.text.desugar import MAIN

EXAMPLES, SETTINGS = ".md", (".json", ".yaml", ".yml")
MAX_SETTINGS = 64 << 10  # characters of a configuration: longer ones are data
MAX_EXAMPLES = 200 << 10  # characters of a README: longer ones are lists
MAX_DEPTH = 100  # of a configuration
MAX_VALUES = 20_000  # of a configuration
MAX_FILES = 200  # of each kind that are read
Section = tuple[tuple[str, str], ...]  # names and expressions of one mapping
_PYTHON = re.compile(r"(python|py)\b", re.I)
# In C where it was built: ten times as fast.  It reads ``1e-5`` as a number, as YAML 1.2 does; in 1.1 it is a word.
_LOADER: Any = type("Loader", (getattr(yaml, "CSafeLoader", yaml.SafeLoader),), {})
_LOADER.add_implicit_resolver("tag:yaml.org,2002:float", re.compile(r"[-+]?\d+[eE][-+]?\d+$"), list("-+0123456789"))
_LIKELY = re.compile(r"conf|cfg|option|param|model")  # folders and names of configurations: these are read first
_PROMPT = re.compile(r"^(?:>>>|\.\.\.) ?", re.M)


def split(files: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str], dict[str, str]]:
    """Python files, examples as Python files of their own, and configurations, each by path."""
    code = {p: t for p, t in files.items() if p.endswith(".py")}
    texts = [(p, t) for p, t in sorted(files.items()) if p.endswith(EXAMPLES) and len(t) <= MAX_EXAMPLES][:MAX_FILES]
    shown = {p: t for path, text in texts for p, t in examples(path, text) if p not in code}
    settings = [(p, t) for p, t in sorted(files.items()) if p.endswith(SETTINGS) and len(t) <= MAX_SETTINGS]
    settings.sort(key=lambda s: not _LIKELY.search(s[0].lower()))
    return code, shown, dict(settings[:MAX_FILES])


def examples(path: str, text: str) -> Iterator[tuple[str, str]]:
    """Each block of Python in a text, as a file that imports and defines what it does, and runs the rest in ``MAIN``.

    Blocks that do not parse, or that import nothing, are left out.
    """
    blocks = (b for b in MarkdownIt().parse(text) if b.type == "fence" and _PYTHON.match(b.info))
    for number, block in enumerate(blocks):
        name = re.sub(r"\W", "_", posixpath.basename(path))
        if code := _as_file(_PROMPT.sub("", block.content) if block.content.startswith(">>>") else block.content):
            yield posixpath.join(posixpath.dirname(path), f"{name}_{number}.py"), code


def _as_file(code: str) -> str:
    try:
        body = ast.parse(code).body
        outer = [s for s in body if isinstance(s, ast.Import | ast.ImportFrom | ast.FunctionDef | ast.ClassDef)]
        run = textwrap.indent("\n".join(ast.unparse(s) for s in body if s not in outer), "    ")
        head = "\n".join(map(ast.unparse, outer))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    imports = any(isinstance(s, ast.Import | ast.ImportFrom) for s in outer)
    return f"{head}\n\n\ndef {MAIN}():\n{run}\n" if run and imports else ""


def sections(text: str) -> list[Section]:
    """The mappings of a JSON or YAML configuration, outer ones first: names and values, as expressions.

    None where it cannot be read.  Of several documents in one file, those of all: they are parts of one configuration.
    """
    try:
        whole = json.loads(text) if text.lstrip().startswith(("{", "[")) else _yaml(text)
        return list(_sections(whole))
    except (ValueError, yaml.YAMLError, RecursionError):
        return []


def _yaml(text: str) -> Any:
    """What a text in YAML says: one mapping where all of its documents are mappings, else the list of these.

    A few aliases of aliases mean more values than any machine holds: it may have so many only, aliases read out.  Nor
    may it be so deep that a loader in C runs out of its stack.
    """
    depth = 0
    for event in yaml.parse(text, _LOADER):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > MAX_DEPTH:
            raise yaml.YAMLError("too deep")
    loader, documents = _LOADER(text), list[Any]()
    while loader.check_node():
        root = loader.get_node()
        if _values(root, {})[0] > MAX_VALUES:
            raise yaml.YAMLError("too many values")
        documents.append(loader.construct_document(root))
    parts = [d for d in documents if isinstance(d, dict)]
    return {k: v for d in parts for k, v in d.items()} if parts and len(parts) == len(documents) else documents


def _values(node: yaml.Node | None, known: dict[int, tuple[int, int]]) -> tuple[int, int]:
    """How many values a node of YAML stands for, aliases read out, and how deep they go."""
    if not isinstance(node, yaml.CollectionNode):
        return 1, 0
    if id(node) not in known:
        known[id(node)] = MAX_VALUES + 1, 0  # of what holds itself there is no end
        parts = [_values(n, known) for v in node.value for n in (v if isinstance(v, tuple) else (v,))]
        count, depth = 1 + sum(n for n, _ in parts), 1 + max((d for _, d in parts), default=0)
        known[id(node)] = count if depth <= MAX_DEPTH else MAX_VALUES + 1, depth
    return known[id(node)]


def _sections(node: Any) -> Iterator[Section]:
    if isinstance(node, dict):
        named = ((name, value) for name, value in node.items() if isinstance(name, str) and name.isidentifier())
        yield tuple((name, repr(value)) for name, value in named if _literal(value) and not _made_elsewhere(value))
        node = list(node.values())
    for value in node if isinstance(node, list) else ():
        yield from _sections(value)


def _made_elsewhere(value: Any) -> bool:
    """Whether a value is one of another place, ``${model.width}``, or what a class is made of that is given instead.

    ``???`` says that somebody else has to say it.
    """
    if isinstance(value, dict):
        return "_target_" in value or any(map(_made_elsewhere, value.values()))
    if isinstance(value, str):
        return "${" in value or value == "???"
    return isinstance(value, list) and any(map(_made_elsewhere, value))


def _literal(value: Any) -> bool:
    """Whether a value is plain, or holds plain ones only."""
    if isinstance(value, list | dict):
        return all(map(_literal, [*value, *value.values()] if isinstance(value, dict) else value))
    return value is None or isinstance(value, bool | int | float | str)
