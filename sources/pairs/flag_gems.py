"""FlagGems' own ways, said in plain Triton: its tables of configurations, its generator for pointwise kernels.

Its registry maps every ATen operator to the function that implements it, so the operator is the reference.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from sources.pairs.reduce import Change, plainly
from sources.text.rewrite import Edits, Text

LIBRARY = "flag-gems"
ROOT = "src/flag_gems"
BACKEND = f"{ROOT}/runtime/backend/_nvidia"
TUNED, HEURISTICS = f"{BACKEND}/tune_configs.yaml", f"{BACKEND}/heuristics_config_utils.py"
CONFIGS = 4  # of an autotuner's table that a candidate keeps
NAMED = "HEURISTICS_OF_{}"
STANDS_FOR = {
    f"{ROOT}/runtime/__init__.py": (
        "import torch.cuda as torch_device_fn\n\n\nclass device:\n    name = 'cuda'\n    vendor_name = 'nvidia'\n"
    ),
    f"{ROOT}/utils/triton_lang_helper.py": "import kdata_libdevice as tl_extra_shim\n",
}
DROPPED = ("libentry(", "use_tl_extra")
# The output's element type for each promotion method, of the tensors' common one.
DTYPES = {
    "ALWAYS_BOOL": "torch.bool",
    "INT_TO_FLOAT": "dtype if dtype.is_floating_point else torch.float32",
    "BOOL_TO_LONG": "torch.int64 if dtype == torch.bool else dtype",
}


def plain(texts: Mapping[str, str]) -> Callable[[str, str], str]:
    """What says a Python file, by path and text, without what only runs inside the library, whose tables it reads."""
    tuned = _tuned(texts.get(TUNED, ""))

    def said(path: str, text: str) -> str:
        if path in STANDS_FOR:
            return STANDS_FOR[path]
        text = plainly(path, text)
        if path == HEURISTICS:
            return _named_heuristics(text)
        return _plain(text, tuned) if path.startswith(ROOT) and "/runtime/" not in path else text

    return said


def _tuned(table: str) -> dict[str, list[str]]:
    """For each name of the table, expressions of some of its configurations, the first and the last among them."""
    import yaml

    found: dict[str, Any] = yaml.safe_load(table) or {}
    return {name: _some([_config(c) for entry in entries for c in _spread(entry)]) for name, entries in found.items()}


def _some(configs: list[str]) -> list[str]:
    configs = list(dict.fromkeys(configs))
    if len(configs) <= CONFIGS:
        return configs
    return [configs[i * (len(configs) - 1) // (CONFIGS - 1)] for i in range(CONFIGS)]


def _spread(entry: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """One configuration, or all that an entry with ``gen`` stands for."""
    if not entry.get("gen"):
        yield dict(entry)
        return
    places = {k: v for k, v in entry["param_map"].items() if k != "META"}
    meta: dict[str, Any] | str = entry["param_map"]["META"]  # or the name of a list of whole ones
    named = [meta] if isinstance(meta, str) else [*meta.values()]
    axes = [n for n in dict.fromkeys([*named, *places.values()]) if isinstance(entry.get(n), list)]
    for values in itertools.product(*(entry[a] for a in axes)):
        chosen = dict(zip(axes, values, strict=True))
        made = {k: chosen.get(str(v), entry.get(v, v)) for k, v in places.items()}
        if isinstance(meta, str):
            yield {"META": chosen[meta], **made}
        else:
            yield {"META": {k: chosen.get(str(v), entry.get(v, v)) for k, v in meta.items()}, **made}


def _config(entry: Mapping[str, Any]) -> str:
    options = "".join(f", {k}={entry[k]}" for k in ("num_warps", "num_stages", "num_ctas") if k in entry)
    return f"triton.Config({entry.get('META', {})!r}{options})"


def _named_heuristics(text: str) -> str:
    """The file with a constant for each entry of its dictionary, so that a kernel needs but its own."""
    tree = ast.parse(text)
    for statement in tree.body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "HEURISTICS_CONFIGS":
            assert isinstance(statement.value, ast.Dict)
            entries = zip(statement.value.keys, statement.value.values, strict=True)
            named = [f"{NAMED.format(ast.literal_eval(k).upper())} = {ast.unparse(v)}" for k, v in entries if k]
            return "\n".join([text, *named, ""])
    return text


def _plain(text: str, tuned: Mapping[str, list[str]]) -> str:
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return text
    if "triton" not in text:
        return text
    edits, needed = Edits(Text.of(text)), set[str]()
    changes = [c for node in ast.walk(tree) for c in _changes(edits.text, node, tuned, needed)]
    changes += [c for s in tree.body if isinstance(s, ast.FunctionDef) for c in _pointwise(edits.text, s)]
    changes += [c for s in tree.body for c in _shim(edits.text, s)]
    for change in changes:
        edits.replace(*change)
    module = "flag_gems.runtime.backend._nvidia.heuristics_config_utils"
    imports = "".join(f"from {module} import {name}\n" for name in sorted(needed))
    return f"{edits.whole()}\nimport torch\nimport triton\nimport triton.language as tl\n{imports}"


def _changes(text: Text, node: ast.AST, tuned: Mapping[str, list[str]], needed: set[str]) -> Iterator[Change]:
    if isinstance(node, ast.FunctionDef):
        for decorator in node.decorator_list:
            if ast.unparse(decorator).startswith(DROPPED):
                yield text.lines[decorator.lineno], text.line_end(text.end(decorator)) + 1, ""
    if not isinstance(node, ast.Call):
        return
    called = ast.unparse(node.func)
    if called in ("libtuner", "autotune"):
        kept = [k for k in node.keywords if k.arg in ("configs", "key")]
        parts = [f"{k.arg}={_value(k.value, tuned)}" for k in kept]
        yield text.start(node), text.end(node), f"triton.autotune({', '.join(parts)})"
    elif called.endswith("get_tuned_config"):
        yield text.start(node), text.end(node), _value(node, tuned)
    elif called.endswith("get_heuristic_config") and isinstance(node.args[0], ast.Constant):
        name = NAMED.format(str(node.args[0].value).upper())
        needed.add(name)
        yield text.start(node), text.end(node), name


def _value(node: ast.expr, tuned: Mapping[str, list[str]]) -> str:
    if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("get_tuned_config"):
        name = ast.literal_eval(node.args[0])
        return f"[{', '.join(tuned.get(name, []))}]"
    return ast.unparse(node)


def _shim(text: Text, statement: ast.stmt) -> Iterator[Change]:
    """``erf = tl_extra_shim.erf`` is an import, and so is what the extension takes from libdevice."""
    if isinstance(statement, ast.Assign) and ast.unparse(statement.value).startswith("tl_extra_shim."):
        name, value = ast.unparse(statement.targets[0]), ast.unparse(statement.value).partition(".")[2]
        yield text.start(statement), text.end(statement), f"from kdata_libdevice import {value} as {name}"
    if isinstance(statement, ast.FunctionDef) and "use_tl_extra" in map(ast.unparse, statement.decorator_list):
        start = text.lines[statement.decorator_list[0].lineno]
        yield start, text.end(statement), f"from kdata_libdevice import {statement.name}"


def _pointwise(text: Text, function: ast.FunctionDef) -> Iterator[Change]:
    """A scalar function under ``@pointwise_dynamic``, with the kernel and the launcher that this makes of it."""
    calls = [d for d in function.decorator_list if isinstance(d, ast.Call)]
    found = [d for d in calls if ast.unparse(d.func) == "pointwise_dynamic"]
    if not found:
        return
    given = {k.arg: k.value for k in found[0].keywords}
    methods = ast.literal_eval(given["promotion_methods"])
    names = [a.arg for a in function.args.args]
    flags = ast.literal_eval(given["is_tensor"]) if "is_tensor" in given else [True] * len(names)
    tensors = [n for n, tensor in zip(names, flags, strict=True) if tensor]
    start = text.lines[found[0].lineno]
    yield start, text.line_end(text.end(found[0])) + 1, ""
    at = text.start(function) + len("def ")
    yield at, at + len(function.name), f"elementwise_{function.name}"
    fixed = {a.arg for a in function.args.args if a.annotation and "constexpr" in ast.unparse(a.annotation)}
    yield text.end(function), text.end(function), _launcher(function.name, names, tensors, methods, fixed)


def _launcher(
    name: str, names: list[str], tensors: list[str], methods: list[tuple[Any, ...]], fixed: set[str]
) -> str:  # fmt: skip
    outs = [f"out{i}" for i in range(len(methods))]
    loads = [f"    {n} = tl.load({n}_ptr + offsets, mask=mask)" for n in tensors]
    pointers = [f"{n}_ptr" if n in tensors else f"{n}: tl.constexpr" if n in fixed else n for n in names]
    stores = [f"    tl.store({o}_ptr + offsets, {o}, mask=mask)" for o in outs]
    numbers = [n for n in names if n not in tensors and n not in fixed]  # 1 must not become a constant
    several = len(tensors) > 1
    spread = [f"    {', '.join(tensors)} = torch.broadcast_tensors({', '.join(tensors)})"] if several else []
    spread += [f"    {n} = {n}.contiguous()" for n in tensors]
    made = []
    for out, (*said, method) in zip(outs, methods, strict=True):
        places = said[0] if isinstance(said[0], tuple | list) else said
        chosen = [names[i] for i in dict.fromkeys(places) if names[i] in tensors]
        made.append(f"    dtype = {_common(chosen or tensors)}")
        made += [f"    dtype = {DTYPES[method]}"] if method in DTYPES else []
        made.append(f"    made_{out} = torch.empty({tensors[0]}.shape, dtype=dtype, device={tensors[0]}.device)")
    return "\n".join([
        "", "", "", f"@triton.jit(do_not_specialize={numbers!r})" if numbers else "@triton.jit",
        f"def {name}_kernel({', '.join([*pointers, *(f'{o}_ptr' for o in outs)])}, numel, BLOCK_SIZE: tl.constexpr):",
        "    offsets = tl.program_id(0).to(tl.int64) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)",
        "    mask = offsets < numel", *loads,
        f"    {', '.join(outs)} = elementwise_{name}({', '.join(names)})", *stores,
        "", "", f"def {name}({', '.join([*names, *(f'{o}=None' for o in outs)])}):", *spread, *made,
        f"    numel = {tensors[0]}.numel()", "    grid = (triton.cdiv(numel, 1024),)",
        f"    {name}_kernel[grid]({', '.join([*names, *(f'made_{o}' for o in outs)])}, numel, "
        "BLOCK_SIZE=1024)",
        *(f"    {o} = made_{o} if {o} is None else {o}.copy_(made_{o})" for o in outs),
        f"    return {', '.join(outs)}", "",
    ])  # fmt: skip


def _common(names: list[str]) -> str:
    said = f"{names[0]}.dtype"
    for other in names[1:]:
        said = f"torch.promote_types({said}, {other}.dtype)"
    return said
