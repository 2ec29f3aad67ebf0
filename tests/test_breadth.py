"""What else a candidate holds for: dtypes, layouts, NaN, gradients; and the distributions behind it."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
import torch

from kdata.record import Receipt
from kdata.verify import reasons
from kdata.verify.judge import judge_files
from kdata.verify.options import Level, Options
from kdata.verify.reference.arguments import changed, powered
from kdata.verify.reference.breadth import OWN_BACKWARD
from kdata.verify.reference.draws import centred_apart, draw

KERNELS = Path(__file__).parent / "kernels"
BACKWARD = """
@triton.jit
def affine_backward_kernel(x_ptr, g_ptr, d_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    g = tl.load(g_ptr + i, mask=i < n)
    tl.store(d_ptr + i, tl.where(tl.load(x_ptr + i, mask=i < n) > 0, g * 2.0, 0.0), mask=i < n)


class Affine(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return affine(x)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        g = g.contiguous()
        d = torch.empty_like(x)
        affine_backward_kernel[(triton.cdiv(x.numel(), 256),)](x, g, d, x.numel(), BLOCK=256)
        return d


class ModelNew("""


def judged(text: str, folder: Path, level: Level = "screen") -> Receipt:
    file = folder / "candidate.py"
    file.write_text(text)
    return judge_files(file, file, Options(targets=(), level=level))


def with_backward() -> str:
    text = (KERNELS / "good_autograd_function.py").read_text()
    before, _, after = text.partition("class Affine(")
    return before + BACKWARD.lstrip() + after.partition("class ModelNew(")[2]


def checks(receipt: Receipt) -> dict[str, tuple[bool, str]]:
    return {c.name: (c.passed, c.detail) for c in receipt.checks}


def test_a_right_backward_is_told(tmp_path: Path) -> None:
    receipt = judged(with_backward(), tmp_path)
    assert receipt.verdict == "verified", receipt.detail
    assert checks(receipt)["gradients"] == (True, "")


def test_a_wrong_backward_is_rejected(tmp_path: Path) -> None:
    receipt = judged(with_backward().replace("g * 2.0", "g * 2.1"), tmp_path)
    assert (receipt.verdict, receipt.reason) == ("rejected", reasons.WRONG_GRADIENT)


def test_a_backward_that_gives_nothing_is_rejected(tmp_path: Path) -> None:
    receipt = judged(with_backward().replace("return d\n", "return None\n"), tmp_path)
    assert (receipt.verdict, receipt.reason) == ("rejected", reasons.WRONG_GRADIENT)


def test_a_backward_that_raises_is_told_only(tmp_path: Path) -> None:
    receipt = judged(with_backward().replace("d = torch.empty_like(x)", "d = x.missing"), tmp_path)
    assert receipt.verdict == "verified", receipt.detail
    passed, detail = checks(receipt)["gradients"]
    assert not passed
    assert reasons.RAISES in detail


def test_a_receipt_tells_the_dtypes_it_holds_for(tmp_path: Path) -> None:
    text = (KERNELS / "good_relu.py").read_text()
    plain = judged(text, tmp_path, "trust")
    narrow = judged(text.replace("torch.empty_like(x)", "torch.empty(x.shape, device=x.device)"), tmp_path, "trust")
    assert (plain.verdict, narrow.verdict) == ("verified", "verified")
    for name in ("float16", "bfloat16"):
        assert checks(plain)[f"holds in {name}"] == (True, "")
        assert any(t.dtype == name and t.passed for t in plain.trials)
        passed, detail = checks(narrow)[f"holds in {name}"]
        assert not passed
        assert reasons.STRUCTURE in detail
        assert not any(t.dtype == name for t in narrow.trials)


def test_a_receipt_tells_what_layouts_and_infinities_do() -> None:
    file = KERNELS / "good_layer_norm.py"
    receipt = judge_files(file, file, Options(targets=(), level="trust"))
    assert receipt.verdict == "verified"
    assert not checks(receipt)["holds for transposed views"][0]
    assert not checks(receipt)["holds for columns, of integers too"][0]
    assert checks(receipt)["spreads NaN and infinity as the reference does"][0]


def generator() -> torch.Generator:
    return torch.Generator().manual_seed(1)


def test_styles_change_what_they_say() -> None:
    given = torch.randn(16, 8, generator=generator())
    mask = torch.arange(4)
    drawn = {s: draw(s, [given, mask], generator()) for s in ("ties", "small", "strided", "nonfinite", "bfloat16")}
    tensors = {style: made[0] for style, made in drawn.items() if made is not None}
    assert len(tensors["ties"].unique()) < 20
    assert bool((tensors["ties"] == 0).any())
    assert torch.allclose(tensors["small"] * 1e4, given)
    assert torch.equal(tensors["strided"], given)
    assert not tensors["strided"].is_contiguous()
    assert int(torch.isnan(tensors["nonfinite"]).sum()) == 1
    assert int(torch.isinf(tensors["nonfinite"]).sum()) == 2
    assert bool(torch.isfinite(given).all())
    assert tensors["bfloat16"].dtype is torch.bfloat16
    assert all(made is not None and torch.equal(made[1], mask) for made in drawn.values())


def test_of_several_inputs_any_two_are_unlike_in_memory() -> None:
    given = [torch.arange(4), *(torch.randn(16, 8, generator=generator()) for _ in range(4))]
    one, two = draw("beside", given, generator()), draw("pairs", given, generator())
    assert one is not None
    assert two is not None
    assert [tensor.is_contiguous() for tensor in one] == [True, False, True, False, True]
    assert [tensor.is_contiguous() for tensor in two] == [True, False, False, True, True]
    assert all(torch.equal(a, b) for a, b in zip(given, one, strict=True))
    assert draw("beside", [given[1], torch.randn(8)], generator()) is None
    assert draw("pairs", given[:3], generator()) is None


def test_rows_of_heads_are_whole_and_lie_in_another_order() -> None:
    given = [torch.randn(2, 3, 4, 8, generator=generator()), torch.randn(3, 4, generator=generator())]
    made = draw("rearranged", given, generator())
    assert made is not None and made[1] is given[1]
    assert torch.equal(made[0], given[0])
    assert made[0].stride() == (96, 8, 24, 1)
    assert draw("rearranged", given[1:], generator()) is None


def test_all_inputs_are_columns_integers_too() -> None:
    given = [torch.randn(3, 4, generator=generator()), torch.arange(5), torch.tensor([True, False]), torch.ones(1), 7]
    made = draw("spaced", given, generator())
    assert made is not None
    assert made[3:] == given[3:]
    assert all(torch.equal(a, b) for a, b in zip(made[:3], given[:3], strict=True))
    assert [t.stride() for t in made[:3]] == [(8, 2), (2,), (2,)]


def test_styles_that_do_not_apply_draw_nothing() -> None:
    assert draw("strided", [torch.randn(5)], generator()) is None
    assert draw("nonfinite", [torch.randn(3)], generator()) is None
    assert draw("float16", [torch.randn(3).half()], generator()) is None
    assert draw("ties", [torch.arange(3)], generator()) is None


def test_inputs_above_zero_are_centred_each_by_itself_where_the_task_bears_it() -> None:
    generator = torch.Generator().manual_seed(0)
    signed, above, labels = torch.randn(64, generator=generator), torch.full((64,), 0.5), torch.ones(64)
    given = [signed, above, labels, above + 1]
    found = centred_apart(given, lambda inputs: bool(inputs[3].min() > 0), generator)
    assert found is not None
    assert [a is b for a, b in zip(found, given, strict=True)] == [True, False, True, True]
    assert float(found[1].min()) < 0
    assert centred_apart([signed, labels], lambda _: True, generator) is None


def test_inputs_of_bools_have_long_runs_of_either_value_and_others_stay() -> None:
    generator = torch.Generator().manual_seed(0)
    floats, bools = torch.randn(40), torch.rand(8, 10, generator=generator) < 0.5
    kept, flat = draw("flat", [floats, bools], generator) or []
    assert kept is floats
    assert not flat[:2].any() and flat[2:4].all() and torch.equal(flat[4:], bools[4:])
    assert draw("flat", [floats], generator) is None
    assert draw("flat", [bools[0, :3]], generator) is None


SUMS = """
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return x.sum(-1) + x.amax(-1)


def get_inputs():
    return [torch.randn(4, 16, dtype=torch.bfloat16)]


def get_init_inputs():
    return []


@triton.jit
def reduce_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    at = x_ptr + tl.program_id(0) * n + i
    total = tl.sum(tl.load(at, mask=i < n, other=0.0), 0)
    tl.store(y_ptr + tl.program_id(0), total + tl.max(tl.load(at, mask=i < n, other=float("-inf")), 0))


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty(x.shape[0], dtype=x.dtype, device=x.device)
        reduce_kernel[(x.shape[0],)](x, y, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
        return y
"""


def test_bfloat16_is_reduced_as_numbers(tmp_path: Path) -> None:
    receipt = judged(SUMS, tmp_path)
    assert receipt.verdict == "verified", receipt.detail
    assert judged(SUMS.replace("total + tl.max", "total * 1.1 + tl.max"), tmp_path).verdict == "rejected"


LEAKY_KERNEL = """
import torch
import triton
import triton.language as tl


@triton.jit
def leaky_kernel(x_ptr, y_ptr, slope, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(y_ptr + i, tl.where(x > 0, x, x * slope), mask=i < n)
"""
LEAKY = (
    LEAKY_KERNEL
    + """

class Model(torch.nn.Module):
    def __init__(self, slope, inplace=False):
        super().__init__()
        self.act = torch.nn.LeakyReLU(slope, inplace)

    def forward(self, x):
        return self.act(x)


def get_inputs():
    return [torch.randn(8, 32)]


def get_init_inputs():
    return [[0.25], {"inplace": False}]


class ModelNew(torch.nn.Module):
    def __init__(self, slope, inplace=False):
        super().__init__()
        self.slope = slope

    def forward(self, x):
        y = torch.empty_like(x)
        leaky_kernel[(triton.cdiv(x.numel(), 256),)](x, y, self.slope, x.numel(), BLOCK=256)
        return y
"""
)


def test_a_receipt_names_arguments_of_the_constructor_that_are_followed_or_not(tmp_path: Path) -> None:
    name = "follows other arguments of its constructor"
    right = judged(LEAKY, tmp_path, "trust")
    assert (right.verdict, checks(right)[name]) == ("verified", (True, "constructed with slope=0.125"))
    baked = judged(LEAKY.replace("y, self.slope", "y, 0.25"), tmp_path, "trust")
    assert baked.verdict == "verified", baked.detail
    passed, detail = checks(baked)[name]
    assert not passed
    assert detail.startswith(f"constructed with slope=0.125: {reasons.WRONG}")


CALLED_WITH = (
    LEAKY_KERNEL
    + """

class Model(torch.nn.Module):
    def forward(self, x, slope):
        return torch.nn.functional.leaky_relu(x, slope)


def get_inputs():
    return [torch.randn(8, 32), 0.25]


class ModelNew(torch.nn.Module):
    def forward(self, x, slope):
        y = torch.empty_like(x)
        leaky_kernel[(triton.cdiv(x.numel(), 256),)](x, y, slope, x.numel(), BLOCK=256)
        return y
"""
)


def test_a_receipt_names_numbers_among_the_inputs_that_are_followed_or_not(tmp_path: Path) -> None:
    name = "follows other numbers among its inputs"
    right = judged(CALLED_WITH, tmp_path, "trust")
    assert (right.verdict, checks(right)[name]) == ("verified", (True, "called with slope=0.125"))
    baked = judged(CALLED_WITH.replace("(x, y, slope", "(x, y, 0.25"), tmp_path, "trust")
    assert baked.verdict == "verified", baked.detail
    passed, detail = checks(baked)[name]
    assert not passed
    assert detail.startswith(f"called with slope=0.125: {reasons.WRONG}")


@pytest.mark.parametrize(("columns", "holds"), [("a.shape[-1]", True), ("a.numel()", False)])
def test_a_receipt_tells_whether_a_batch_of_one_may_be_larger(columns: str, holds: bool, tmp_path: Path) -> None:
    text = (KERNELS / "good_softmax_of_a_batch_of_one.py").read_text()
    receipt = judged(text.replace("columns = a.shape[-1]", f"columns = {columns}"), tmp_path, "trust")
    assert receipt.verdict == "verified", receipt.detail
    assert checks(receipt)["holds for a larger batch"][0] is holds


def test_words_of_constructors_are_others_that_torch_takes_there() -> None:
    def constructor(name: str, approximate: str) -> None: ...

    def answer(given: Any) -> list[torch.Tensor]:
        return [torch.nn.functional.gelu(torch.ones(3), approximate=given[0][1])]

    other = changed((["net", "tanh"], {}), (str,), constructor, answer)
    assert other is not None
    assert other.detail == "approximate='none'"
    reduced = changed((["mean"], {}), (str,), constructor, lambda given: [
        torch.nn.functional.l1_loss(torch.ones(3), torch.zeros(3), reduction=given[0][0])
    ])  # fmt: skip
    assert reduced is not None
    assert reduced.arguments == (["sum"], {})


def test_other_arguments_are_such_as_show() -> None:
    def constructor(eps: float, sizes: list[int], bias: bool, name: str) -> None: ...

    def answer(given: Any) -> list[torch.Tensor]:
        (eps, sizes, bias, _), _ = given
        if sizes[1] % 3:
            raise ValueError("threes only")
        return [torch.ones(3) * (1 + eps) * sizes[1] + bias]

    given: Any = ([1e-5, [5, 3], True, "x"], {})
    floats = changed(given, (float,), constructor, answer)
    assert floats is not None
    assert floats.detail == "eps=1.00001"
    others = changed(given, (int, bool), constructor, answer)
    assert others is not None
    assert others.detail == "sizes[1]=6, bias=False"
    assert others.arguments == ([1e-5, [5, 6], False, "x"], {})
    assert changed(given, (complex,), constructor, answer) is None
    assert changed(given, (str,), constructor, answer) is None
    assert changed(given, (int,), constructor, answer, sizes={3}) is None


def test_products_that_a_backward_leaves_to_torch_are_told(tmp_path: Path) -> None:
    own = judged(with_backward(), tmp_path)
    assert checks(own)[OWN_BACKWARD] == (True, "")
    ones = "d = (d @ torch.eye(d.shape[-1], dtype=d.dtype)).contiguous()\n        return d\n"
    receipt = judged(with_backward().replace("return d\n", ones), tmp_path)
    assert receipt.verdict == "verified", receipt.detail
    assert checks(receipt)[OWN_BACKWARD] == (False, "aten.mm")


def test_floats_that_an_answer_follows_become_powers_of_two() -> None:
    assert powered(([0.05, 3, 1e-6], {"slope": -0.3}), ([0.025, 3, 1e-6], {"slope": 0.7})) == (
        [0.0625, 3, 1e-6],
        {"slope": -0.25},
    )
    assert powered(([0.5], {}), ([0.25], {})) is None
    assert powered(([math.inf, 1.7e308], {}), ([1.0, 1.0], {})) == ([math.inf, 2.0**1023], {})
