"""Library code without what other machines and other callers need: choices of device and vendor, logging, names.

Text goes in and text comes out, so that layout and comments stay.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator

from sources.text.rewrite import BLOCKS, Edits, Text

# Contexts that only choose the device that the arguments are on already.
DEVICE = re.compile(
    r"^(torch\.cuda\.device|torch\.get_device_module\([^()]*\)\.device|torch_device_fn\.device|"
    r"torch\.accelerator\.device_index|\w*\.?device_context|"
    r"torch_gpu_device|device_guard|torch\.cuda\._DeviceGuard|custom_device_ctx|\w*torch_device_ctx|"
    r"torch_accelerator_device|\w+\.custom_device_ctx)\("
)
# What is asked of the machine, as an H100 answers: vendors that it is not of, its multiprocessors, its capability.
FALSE = re.compile(
    r"(\w+\.)*_?(is_hip|is_npu_available|is_xpu_available|is_hip_runtime|is_amd|is_cdna|is_rdna|is_ascend|is_cpu|is_rocm|"
    r"is_npu|is_xpu|IS_AMD|IS_NPU|is_amd_cdna)(\(\))?|torch\.version\.hip|torch\.compiler\.is_compiling\(\)|"
    r"(get_device_type\(\)|DEVICE_TYPE) == '(xpu|hip|npu)'|Version\((triton|torch)\.__version__\) < .*|"
    r"(\w+\.)*current_platform\.is_(tpu|out_of_tree)\(\)|"
    r"isinstance\(\w+, (\w+\.)*FakeTensor\)|\w+(\.\w+)*\.device\.type (!= 'cuda'|== '(cpu|xpu|hip|npu)')"
)
TRUE = re.compile(
    r"(\w+\.)*(is_cuda_available|is_nvidia|IS_NVIDIA)(\(\))?|\w+(\.\w+)*\.is_cuda|triton\.__version__ >= .*|"
    r"compare_version\(.triton., operator\.g[et], .*\)|Version\((triton|torch)\.__version__\) >= .*|"
    r"(\w+\.)*_?(has_triton|is_triton_available)\(\)|(\w+\.)*_?(HAS_TRITON|TRITON_AVAILABLE)|"
    r"torch_version_at_least\(.*\)|(\w+\.)*current_platform\.is_cuda(_alike)?\(\)|\w+(\.\w+)*\.device\.type == 'cuda'"
)
LOGGING = re.compile(
    r"(?:\w*logg(?:er|ing)\w*)\.(?:debug|info|warning|warning_once|error)\(|print\(|self\._check_input_dim\(|"
    r"torch\._assert_async\(",
    re.I,
)
ANSWERS = (
    (re.compile(r".*\.multi_processor_count|.*\['multiprocessor_count'\]|.*\bget_sm_count\(\)|.*num_sms\(\)"), "132"),
    (re.compile(r"(\w+\.)*num_compute_units\(.*\)"), "132"),
    (re.compile(r"getattr\(torch\.cuda\.get_device_properties\(.*\), 'warp_size', \d+\)"), "32"),
    (re.compile(r"(torch\.cuda|(\w+\.)*current_platform)\.get_device_capability\(.*\)"), "(9, 0)"),
    (re.compile(r"randint\(0, 65535\)"), "0"),  # the seed of a dropout, which no pair has
    (re.compile(r"(get_available_device|infer_device|get_device_type)\(\)"), "'cuda'"),
    (re.compile(r"is_arch_support_pdl\(\)"), "False"),  # early launches, which the interpreter has not
    (re.compile(r"infer_device_arch\(\)"), "'hopper'"),
    (re.compile(r"torch\.compiler\.is_compiling\(\)|(\w+\.)*current_platform\.is_(rocm|xpu|tpu|cpu)\(\)"), "False"),
    (re.compile(r"(\w+\.)*current_platform\.is_cuda(_alike)?\(\)"), "True"),
    (re.compile(r"(\w+\.)*current_platform\.fp8_dtype\(\)"), "torch.float8_e4m3fn"),
    (re.compile(r"philox_\w*seed_offset\(.*\)"), "(0, 0)"),
)
# Where tensors are is not for a kernel to ask.
PLACE = re.compile(r"\.device\b|\.is_cuda\b|\b(is_cuda|on_accelerator)\(")
# Calls that give back what they are given, which they tell torch.compile of: a kernel, a question about sizes.
WRAPPED = re.compile(r"(torch\.library\.)?wrap_triton|(\w+\.)*guard_(or_true|or_false|size_oblivious)")
MAKERS = ("triton.jit", "triton.heuristics(", "triton.autotune(")  # of a kernel, of a function or a kernel
ASKED_LIBDEVICE = re.compile(r"(^|\.)\w*libdevice\w*$")  # a function that looks for one of libdevice's by name
UNWANTED = re.compile(r",\s*\*\*autotune_cache_kwargs|,\s*prune_configs_by=\{[^{}]*\}(?=,?\s*\)\s*\n@)")
ROUNDS = 8
Change = tuple[int, int, str]  # as ``Edits.replace`` takes it


def plainly(_: str, text: str) -> str:
    """A file's text, ``reduced`` if it may have to do with kernels."""
    return reduced(text) if "triton" in text.lower() or "logger" in text else text


def reduced(text: str) -> str:
    """The text without contexts of a device, branches for others, and logging.

    Text that does not parse stays as it is.
    """
    text = UNWANTED.sub("", text)
    for _ in range(ROUNDS):
        changed = _once(text)
        if changed is None or changed == text:
            break
        text = changed
    return text


def _once(text: str) -> str | None:
    """The text after one round; None where that does not parse."""
    edits = Edits(Text.of(text))
    try:
        for change in _changes(edits.text, ast.parse(text)):
            edits.replace(*change)
        changed = edits.whole()
        ast.parse(changed)
    except (SyntaxError, ValueError, RecursionError):
        return None
    return changed


def _changes(text: Text, tree: ast.Module) -> Iterator[Change]:
    yield from _decorated(text, tree)
    for node in ast.walk(tree):
        for block in (b for b in (getattr(node, name, None) for name in BLOCKS) if isinstance(b, list)):
            emptied = all(isinstance(s, ast.stmt) and _is_idle(s) for s in block)
            for number, statement in enumerate(block):
                yield from _statement(text, statement, len(block) == 1 or emptied and not number)
        if isinstance(node, ast.FunctionDef) and any("jit" in ast.unparse(d) for d in node.decorator_list):
            yield from _masks(text, node)
        elif isinstance(node, ast.expr):
            yield from ((text.start(node), text.end(node), new) for new in _plainer(text, node))


def _plainer(text: Text, node: ast.expr) -> Iterator[str]:
    """What may stand in an expression's place; the first counts."""
    if isinstance(node, ast.IfExp) and (value := decided(node.test)) is not None:
        yield _said(text, node.body if value else node.orelse)
    elif isinstance(node, ast.BoolOp) and (left := _undecided(node)):
        yield _joined(text, node.op, left)
    elif isinstance(node, ast.Attribute | ast.Call | ast.Subscript):
        if isinstance(node, ast.Call) and node.args and WRAPPED.fullmatch(ast.unparse(node.func)):
            yield _part(text, node.args[0])
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "namedtuple":
            yield "lambda **named: tuple(named.values())"
        said = ast.unparse(node) if node.end_lineno == node.lineno or _asks(node) else ""
        yield from (new for asked, new in ANSWERS if asked.fullmatch(said))


def _decorated(text: Text, tree: ast.Module) -> Iterator[Change]:
    """``f = triton.jit(f)`` after ``def f`` as a decorator of it, also where it is tried and may fail."""
    functions = {s.name: s for s in tree.body if isinstance(s, ast.FunctionDef)}
    above: dict[str, list[str]] = {}
    for whole in tree.body:
        statement = whole.body[0] if isinstance(whole, ast.Try) and len(whole.body) == 1 else whole
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=how, args=[ast.Name(id=given)])):
                if ast.unparse(how).startswith(MAKERS) and name == given and name in functions:
                    above.setdefault(name, []).insert(0, f"@{_said(text, how)}\n")
                    yield text.start(whole), text.end(whole), ""
    for name, lines in above.items():
        first = min([functions[name].lineno, *(d.lineno for d in functions[name].decorator_list)])
        yield text.lines[first], text.lines[first], "".join(lines)


def _asks(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "multi_processor_count"


def _statement(text: Text, node: ast.stmt, alone: bool) -> Iterator[Change]:
    if isinstance(node, ast.With) and all(DEVICE.match(ast.unparse(i.context_expr)) for i in node.items):
        yield _spliced(text, node, node.body, alone)
    elif isinstance(node, ast.If) and (value := decided(node.test)) is not None:
        yield _spliced(text, node, node.body if value else node.orelse, alone)
    elif _is_idle(node):
        yield _spliced(text, node, [], alone)
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=how, args=[ast.Constant(value=str(asked))])):
            if asked.isidentifier() and ASKED_LIBDEVICE.search(ast.unparse(how)):
                said = f"from triton.language.extra.libdevice import {asked} as {name}"
                yield text.start(node), text.end(node), said


def _is_idle(node: ast.stmt) -> bool:
    """Whether it only tells of something, or asks where tensors are."""
    if isinstance(node, ast.Assert):
        return PLACE.search(ast.unparse(node.test)) is not None
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and bool(LOGGING.match(ast.unparse(node)))


def _said(text: Text, node: ast.expr) -> str:
    return text.data[text.start(node) : text.end(node)].decode()


def _masks(text: Text, kernel: ast.FunctionDef) -> Iterator[Change]:
    """``a and b`` of blocks, which compiles with a warning and is not interpreted, as ``(a) & (b)``."""
    tests = {id(n.test) for n in ast.walk(kernel) if isinstance(n, ast.If | ast.IfExp | ast.While | ast.Assert)}
    inside = {id(n) for t in ast.walk(kernel) if id(t) in tests for n in ast.walk(t)}
    for node in ast.walk(kernel):
        if isinstance(node, ast.BoolOp) and id(node) not in inside:
            sign = " & " if isinstance(node.op, ast.And) else " | "
            yield text.start(node), text.end(node), f"({sign.join(f'({_said(text, v)})' for v in node.values)})"
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not) and id(node) not in inside:
            yield text.start(node), text.end(node), f"(({_said(text, node.operand)}) == 0)"


def _undecided(test: ast.BoolOp) -> list[ast.expr]:
    """What is left to ask where some parts are answered and do not decide; nothing where none is, or all are."""
    kept = [v for v in test.values if decided(v) is None]
    return kept if len(kept) < len(test.values) and decided(test) is None else []


def _joined(text: Text, sign: ast.boolop, values: list[ast.expr]) -> str:
    parts = [_part(text, v) for v in values]
    return parts[0] if len(parts) == 1 else f"({(' and ' if isinstance(sign, ast.And) else ' or ').join(parts)})"


def _part(text: Text, node: ast.expr) -> str:
    """An expression as it stands in any other: its own parentheses are no part of a node."""
    whole = isinstance(node, ast.Name | ast.Attribute | ast.Call | ast.Subscript | ast.Constant)
    return _said(text, node) if whole else f"({_said(text, node)})"


def decided(test: ast.expr) -> bool | None:
    """The outcome of a test about the machine, None for any other."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = decided(test.operand)
        return None if inner is None else not inner
    if isinstance(test, ast.BoolOp):
        values = [decided(v) for v in test.values]
        decisive = isinstance(test.op, ast.Or)
        if decisive in values:
            return decisive
        return (not decisive) if None not in values else None
    said = ast.unparse(test)
    return False if FALSE.fullmatch(said) else True if TRUE.fullmatch(said) else None


def _spliced(text: Text, node: ast.stmt, block: list[ast.stmt], alone: bool) -> Change:
    """The statement's lines replaced by those of a block of it, at its own indentation."""
    start = text.lines[node.lineno]
    indent = " " * node.col_offset
    end = text.line_end(text.end(node)) + 1
    if text.data[text.start(node) :].startswith(b"elif"):
        return _elif(text, node, block, start, end, indent)
    if not block:
        return start, end, f"{indent}pass\n" if alone else ""
    first = text.lines[block[0].lineno]
    for decorator in getattr(block[0], "decorator_list", []):
        first = min(first, text.lines[decorator.lineno])
    body = text.data[first : text.line_end(text.end(block[-1])) + 1].decode()
    kept = textwrap.dedent(body).removeprefix("el") if body.lstrip().startswith("elif ") else textwrap.dedent(body)
    return start, end, textwrap.indent(kept, indent, _any)


def _elif(text: Text, node: ast.stmt, block: list[ast.stmt], start: int, end: int, indent: str) -> Change:
    """The same for an ``elif``: what is left of it is the chain's ``else``, or the rest of the chain, or nothing."""
    assert isinstance(node, ast.If)
    if not block:
        return start, end, ""
    if block is node.orelse:
        rest = text.lines[block[0].lineno]
        if not text.data[rest:].lstrip().startswith(b"elif"):
            rest = text.data.rfind(b"\n", 0, text.data.rfind(b"else", 0, rest)) + 1
        return start, rest, ""
    body = text.data[text.lines[block[0].lineno] : text.line_end(text.end(block[-1])) + 1].decode()
    return start, end, f"{indent}else:\n{body}"


def _any(line: str) -> bool:
    return bool(line.strip())
