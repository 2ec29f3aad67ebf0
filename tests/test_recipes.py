"""What recipes of kernels may name, and what the cutting makes of how libraries say things."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
import torch

from sources.pairs import job, reduce
from sources.pairs.recipe import Recipe, importable, read
from sources.pairs.reduce import reduced

KERNEL = """
import torch
import triton
import triton.language as tl


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x, y = tl.load(x_ptr + offs, mask=offs < n), tl.load(y_ptr + offs, mask=offs < n)
    tl.store(out_ptr + offs, {}, mask=offs < n)


def add(x, y):
    out = torch.empty_like(x)
    assert x.device == DEVICE and out.device == DEVICE
    add_kernel[(triton.cdiv(x.numel(), 64),)](x, y, out, x.numel(), BLOCK=64)
    return out
"""
SUM = KERNEL.format("x + y")
TUTORIAL = f"""{SUM}

DEVICE = triton.runtime.driver.active.get_active_torch_device()
print(add(torch.rand(9, device=DEVICE), torch.rand(9, device=DEVICE)))
"""
INPUTS = {"x": "torch.randn(64)", "y": "torch.randn(64)"}
LAUNCH = """
out = torch.empty_like(x)
python.tutorials.01-vector-add:add_kernel[(triton.cdiv(x.numel(), 64),)](x, y, out, x.numel(), BLOCK=64)
out"""


def cut(files: dict[str, str], *kernels: str, folders: tuple[str, ...] = ()) -> dict[str, Any]:
    recipes = [asdict(Recipe(f"pair_{i}", kernel, "x + y", INPUTS)) for i, kernel in enumerate(kernels)]
    payload = {"files": files, "library": "triton", "recipes": recipes, "folders": list(folders), "replacements": {}}
    return job.cut(payload, Path())


def test_a_file_that_no_statement_can_import_is_cut_by_its_own_name() -> None:
    path = "python/tutorials/01-vector-add.py"
    found = cut({path: TUTORIAL}, "python.tutorials.01-vector-add:add(x, y)", LAUNCH)
    assert [(p["path"], p["symbol"]) for p in found["pairs"]] == [(path, "add"), (path, "add_kernel")]
    called, launched = (p["candidate"] for p in found["pairs"])
    assert "DEVICE" not in called and "print" not in called
    assert "def add(" not in launched and "add_kernel[" in launched
    rest = cut({path: TUTORIAL}, folders=("python/tutorials",))["kernels"]
    assert [(k["path"], k["symbol"]) for k in rest] == [(path, "add")]
    absent = cut({path: TUTORIAL}, "python.tutorials.02-fused-softmax:softmax(x)")["refused"]
    assert [r["reason"] for r in absent] == [job.ABSENT]


def test_a_name_that_can_be_imported_stays() -> None:
    assert importable("fla.modules.l2norm") == "fla.modules.l2norm"
    assert importable("a-b/01-c.d/2.py") == "a_b/_01_c.d/_2.py"
    found = cut({"lib/a_b.py": SUM, "lib/a-b.py": "", "lib/__init__.py": ""}, "lib.a_b:add(x, y)")
    assert [p["path"] for p in found["pairs"]] == ["lib/a_b.py"]


def test_only_the_files_that_a_recipe_needs_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []

    def seeing(text: str) -> str:
        seen.append(text)
        return reduced(text)

    monkeypatch.setattr(reduce, "reduced", seeing)
    files = {"lib/__init__.py": "", "lib/add.py": SUM, **{f"lib/other{i}.py": f"{SUM}# {i}" for i in range(5)}}
    assert len(cut(files, "lib.add:add(x, y)")["pairs"]) == 1
    assert seen == [SUM]


def test_libdevice_is_said_in_tritons_language_however_it_is_asked_for() -> None:
    head = "import torch\nimport triton\nimport triton.language as tl\nfrom lib.find import libdevice_find\n"
    find = "import importlib\n\n\ndef libdevice_find(name):\n    return importlib.import_module(name)\n"
    named = KERNEL.format("tl.extra.cuda.libdevice.round(x)")
    asked = f"{head}root = libdevice_find('rsqrt')\n{KERNEL.format('root(x)')}"
    files = {"lib/__init__.py": "", "lib/find.py": find, "lib/named.py": named, "lib/asked.py": asked}
    pairs = cut(files, "lib.named:add(x, y)", "lib.asked:add(x, y)")["pairs"]
    rounding, root = (p["candidate"] for p in pairs)
    assert "libdevice" not in rounding and "def round(" in rounding
    assert "libdevice" not in root and "tl.rsqrt(" in root


@pytest.mark.parametrize(
    ("said", "plain"),
    [
        ("torch.library.wrap_triton(kernel)[grid](x)", "kernel[grid](x)"),
        ("block = 1 if guard_or_true(rows < 9) else 2", "block = 1 if (rows < 9) else 2"),
        ("ok = x.is_cuda and x.ndim == 2 and y.is_cuda", "ok = (x.ndim == 2)"),
        ("if x.device.type != 'cuda' or x.ndim != 2:\n    raise ValueError", "if (x.ndim != 2):\n    raise ValueError"),
        ("ok = x.is_cuda and (a or b) and c", "ok = ((a or b) and c)"),
        ("if not (x.is_cuda and y.is_cuda):\n    raise ValueError\nout = x", "out = x"),
        ("if _TRITON_AVAILABLE:\n    def f(x):\n        return x", "def f(x):\n    return x"),
        ("if current_platform.is_rocm():\n    f = 1\nelse:\n    f = 2", "f = 2"),
        ("with torch.get_device_module(x.device).device(x.device):\n    f(x)", "f(x)"),
        ("assert get_accelerator().on_accelerator(x)\nout = x", "out = x"),
        ("if HAS_TRITON:\n    path = find_libdevice('/usr/lib')", "path = find_libdevice('/usr/lib')"),
        ("if HAS_TRITON:\n    f = wrap_triton()", "f = wrap_triton()"),
    ],
)
def test_what_only_the_machine_or_torch_compile_is_asked_is_answered(said: str, plain: str) -> None:
    assert reduced(f"{said}\n").strip() == plain


def test_configurations_that_are_tried_are_a_decorator() -> None:
    said = (
        "@triton.jit\ndef kernel(x):\n    pass\n\n\n"
        "try:\n    kernel = triton.autotune(\n        configs=CONFIGS, key=['n']\n    )(kernel)\n"
        "except RuntimeError:\n    pass\n"
    )
    assert reduced(said).strip() == (
        "@triton.autotune(\n        configs=CONFIGS, key=['n']\n    )\n@triton.jit\ndef kernel(x):\n    pass"
    )


@pytest.mark.parametrize("library", [p.stem for p in sorted((Path(job.__file__).parent / "recipes").glob("*.toml"))])
def test_recipes_are_expressions_and_draw_their_inputs(library: str) -> None:
    for recipe in read(library):
        if recipe.kernel:
            compile(recipe.glue(True), recipe.name, "exec")
        if recipe.reference:
            compile(recipe.glue(False), recipe.name, "exec")
        if recipe.sizes:
            names: dict[str, Any] = {"torch": torch}
            exec(recipe.makers(), names)
            assert len(names["get_inputs"]()) == len(recipe.inputs)
