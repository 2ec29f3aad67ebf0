"""Operator libraries as the package index has them: other folders than the repository's, and newer tables."""

from __future__ import annotations

from pathlib import Path

import pytest

from kdata.shards import Manifest, Store
from sources import each_library
from sources.fetch import pypi
from sources.fetch.texts import SourceError
from sources.pairs import flag_gems, job, step
from sources.pairs.package import KernelPackage
from sources.pairs.recipe import read
from sources.pairs.reduce import reduced
from tests.wheels import wheel

KERNEL = """
import torch
import triton
import triton.language as tl


@triton.jit
def twice_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offs, 2 * tl.load(x_ptr + offs, mask=offs < n), mask=offs < n)


def twice(x):
    out = torch.empty_like(x)
    twice_kernel[(triton.cdiv(x.numel(), 64),)](x, out, x.numel(), BLOCK=64)
    return out
"""


@pytest.mark.parametrize(
    ("library", "package", "path", "terms"),
    [
        ("liger-kernel", "liger_kernel", "liger_kernel/ops/twice.py", "BSD-2-Clause"),  # src/ of its repository
        ("sglang", "sglang", "sglang/kernels/twice.py", "Apache-2.0"),  # python/
    ],
)
def test_a_package_without_its_repositorys_folder_gives_its_kernels(
    library: str, package: str, path: str, terms: str, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    data = wheel({f"{package}/__init__.py": "", path: KERNEL})
    monkeypatch.setattr(pypi, "archive", lambda wanted, most: (f"{wanted.name}-1.0-py3-none-any.whl", data))
    found = [f for f in step.collect(f"{library}=pypi:{package}") if isinstance(f, step.LibraryKernel)]
    assert [(f.symbol, f.origin.path, f.origin.licenses) for f in found] == [("twice", path, (terms,))]
    told = capsys.readouterr().err.splitlines()
    assert told[0] == f"{library}: 2 files read, {len(read(library))} recipes; cutting"
    assert told[1] == f"{library}: 0 pairs cut, 1 kernels more; tracing the pairs"


@pytest.mark.parametrize("home", ["rotary", "rotary/ops", "norm/rotary"])
def test_what_a_recipe_names_is_found_where_a_version_has_moved_it(home: str) -> None:
    twin = KERNEL.replace("triton.cdiv(x.numel(), 64)", "1").replace("twice_kernel", "other")
    files = {"fla/__init__.py": "", f"fla/modules/{home}.py": KERNEL, "fla/modules/rotary_quant.py": twin}
    found = job._home(KernelPackage(files), "fla.modules.rotary", "twice")
    assert found == f"fla.modules.{home.replace('/', '.')}"
    both = KernelPackage({**files, "fla/modules/a/rotary.py": twin, "fla/modules/b/rotary.py": twin})
    where = job._home(both, "fla.modules.rotary", "twice")
    assert where == "fla.modules.rotary"  # which of several it was is not known: the pair is dropped, with its reason


def test_what_only_asks_about_values_is_no_part_of_a_kernel() -> None:
    text = KERNEL.replace("    out = ", "    torch._assert_async(\n        (x > 0).all(),\n    )\n    out = ")
    assert "_assert_async" not in reduced(text) and "out = torch.empty_like(x)" in reduced(text)


def test_whole_configurations_are_chosen_by_the_name_of_their_list() -> None:
    entry = {"gen": True, "param_map": {"META": "metas", "num_warps": "warps"}, "warps": [4, 8],
             "metas": [{"BLOCK": 32}, {"BLOCK": 64}]}  # fmt: skip
    assert [(c["META"]["BLOCK"], c["num_warps"]) for c in flag_gems._spread(entry)] == [
        (32, 4), (32, 8), (64, 4), (64, 8),
    ]  # fmt: skip


def test_a_library_that_cannot_be_had_ends_no_other(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def make(store: Store, name: str) -> list[Manifest]:
        if name == "gone":
            raise SourceError("gone: no such repository")
        return [Manifest(f"pairs/{name}", "pairs", "Candidate", 3, 0, {}, [], {}, 0.0)]

    with pytest.raises(SourceError, match=r"^1 of 3 failed: gone$"):
        each_library.make_each(["one", "gone", "two"], str(tmp_path), make)
    told = capsys.readouterr()
    assert told.out.splitlines() == ["one: pairs: 3 kept, 0 dropped", "two: pairs: 3 kept, 0 dropped"]
    assert "kdata: gone: no such repository" in told.err.splitlines()
