"""The rooms' walls: imports go one way, in no circle, and nothing of a machine or a workplace is in the tree."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
ENGINE, DOOR = "kdata", "kdata.cli"
ROOMS = ("sources", "filters", "sft", "cards")
FLOWS = "flows"
HEAVY = {"torch", "triton", "transformers", "datasets", "prefect", "ray", "datasketch", "numpy", "pandas", "pyarrow"}


@cache
def modules() -> dict[str, Path]:
    """All modules of the product, by name."""
    files = [p for top in (ENGINE, *ROOMS, FLOWS) for p in sorted((ROOT / top).rglob("*.py"))]
    return {name(p): p for p in files}


def name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def imported(module: str, lazy: bool = True) -> frozenset[str]:
    """Dotted names that a module imports; without ``lazy`` only those imported when it is."""
    tree = ast.parse(modules()[module].read_text())
    nodes = list(ast.walk(tree)) if lazy else list(_eager(tree))
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{module} imports relatively"
            found |= {f"{node.module}.{alias.name}" for alias in node.names} | {str(node.module)}
    return frozenset(found)


def _eager(node: ast.AST) -> list[ast.AST]:
    """Statements that run at import: not those of functions, nor of ``if TYPE_CHECKING``."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        return []
    if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
        return []
    return [node, *(inner for child in ast.iter_child_nodes(node) for inner in _eager(child))]


def edges(module: str) -> set[str]:
    """Modules of the product that a module imports, lazily or not."""
    return {n for n in imported(module) if n in modules() and n != module}


def top(module: str) -> str:
    return module.partition(".")[0]


def test_rooms_within_inference_are_built_upon_each_other_in_one_way() -> None:
    inside = [m for m in modules() if m.count(".") > 2 and m.startswith("sources.infer.")]
    assert len(inside) > 40
    rooms: dict[str, set[str]] = {}
    for module in inside:
        room = module.rpartition(".")[0]
        rooms.setdefault(room, set()).update(n.rpartition(".")[0] for n in edges(module) if n in inside)
    TopologicalSorter({room: below - {room} for room, below in rooms.items()}).prepare()  # raises for a circle


def test_there_are_modules() -> None:
    assert len(modules()) > 30


@pytest.mark.parametrize("module", sorted(modules()))
def test_imports_go_one_way(module: str) -> None:
    reached = {top(n) for n in edges(module)} - {top(module)}
    allowed = {ENGINE: set(), FLOWS: {ENGINE, *ROOMS}}.get(top(module), {ENGINE})
    if module == DOOR:
        allowed = {FLOWS, *ROOMS}
    assert reached <= allowed, f"{module} imports {sorted(reached - allowed)}"


@pytest.mark.parametrize("module", sorted(set(modules()) - {"kdata.__main__"}))  # which opens it
def test_nobody_imports_the_front_door(module: str) -> None:
    assert DOOR not in edges(module)


def test_no_circles() -> None:
    graph = {m: {n for n in edges(m) if modules()[n].name != "__init__.py"} for m in modules()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(f"circular imports: {' -> '.join(error.args[1])}")


@pytest.mark.parametrize("module", sorted(m for m, p in modules().items() if p.name == "__init__.py"))
def test_package_faces_hold_a_docstring_only(module: str) -> None:
    body = ast.parse(modules()[module].read_text()).body
    assert len(body) == 1, f"{module} holds more than a docstring"
    assert ast.get_docstring(ast.Module(body, []))


def loaded_by(module: str) -> set[str]:
    """Packages and modules at the top that a fresh process has, once it has imported this one."""
    code = f"import sys, {module}; print(*sorted({{m.partition('.')[0] for m in sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_the_command_line_starts_without_heavy_imports() -> None:
    assert not HEAVY & loaded_by(DOOR)


@pytest.mark.parametrize("step", ["kdata.verify.step", "sources.mine", "kdata.align.step"])
def test_a_step_leaves_torch_to_its_workers(step: str) -> None:
    assert not {"torch", "triton"} & loaded_by(step)


def tracked() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode != 0:
        pytest.skip("not a git checkout")
    return [ROOT / n for n in listed.stdout.split("\0") if n and (ROOT / n).is_file()]


def test_no_path_of_a_machine_is_in_the_tree() -> None:
    # A home folder, a temporary folder, or a folder at the root that only some machine has.
    pattern = re.compile(r"""(?<![\w.~/}-])/(?:home/\w+|root|Users/\w+|tmp|work|opt/\w+|mnt/\w+)/[\w.]""")
    found = []
    for path in tracked():
        try:
            text = path.read_text()
        except UnicodeDecodeError:
            continue
        lines = (f"{path.relative_to(ROOT)}:{i}: {line.strip()[:100]}" for i, line in enumerate(text.splitlines(), 1)
                 if pattern.search(line) and "kdata: allow path" not in line)  # fmt: skip
        found += list(lines)
    assert not found, "\n".join(found)


def test_generated_files_are_not_tracked() -> None:
    generated = re.compile(r"\.(parquet|pyc|so|safetensors|gguf|whl)$|__pycache__|\.egg-info")
    assert not [p for p in tracked() if generated.search(str(p.relative_to(ROOT)))]
