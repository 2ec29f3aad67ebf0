"""Gradients of a module's answer, and what a backward of its own does beside."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest
import torch
from torch.overrides import TorchFunctionMode

from kdata.verify.reference.gradients import APART, SCALE, NoGradientError, beyond_rounding, gradients, names


def test_gradients_are_torchs_and_follow_from_the_seed() -> None:
    linear = torch.nn.Linear(4, 3)
    x = torch.randn(2, 4)
    one, same = (gradients(linear, [x], 7, names(linear)).found for _ in range(2))
    assert [g.shape for g in one if g is not None] == [(2, 4), (3, 4), (3,)]
    assert all(a is not None and b is not None and torch.equal(a, b) for a, b in zip(one, same, strict=True))
    vector = torch.randn(2, 3, generator=torch.Generator().manual_seed(7 ^ APART))
    assert one[0] is not None
    assert torch.allclose(one[0], vector @ linear.weight)
    with pytest.raises(NoGradientError):
        gradients(torch.nn.Identity(), [torch.arange(3)], 7, [])


class Normal(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.normalize(x, dim=-1)


def test_vectors_are_not_the_inputs_that_the_same_seed_draws() -> None:
    x = torch.randn(4, 8, generator=torch.Generator().manual_seed(7))
    (found,) = gradients(Normal(), [x], 7, []).found
    assert found is not None and float(found.norm()) > 0.1  # of a norm nothing is left along its input


class Doubled(torch.autograd.Function):
    """Whose backward makes a tensor where another one is, as those of libraries do."""

    @staticmethod
    def forward(_: Any, x: torch.Tensor) -> torch.Tensor:
        return 2 * x

    @staticmethod
    def backward(_: Any, gradient: torch.Tensor) -> torch.Tensor:
        return torch.empty(gradient.shape).copy_(2 * gradient)


class Module(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> Any:
        return Doubled.apply(x)


class Seen(TorchFunctionMode):
    def __init__(self) -> None:
        super().__init__()
        self.functions: list[Any] = []

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.functions.append(function)
        return function(*args, **(kwargs or {}))


def test_a_backward_sees_what_its_forward_sees() -> None:
    with Seen() as seen:
        found = gradients(Module(), [torch.ones(3)], 0, []).found
    assert torch.empty in seen.functions  # else it would ask for memory on a GPU that is pretended only
    assert found[0] is not None and found[0].shape == (3,)


class Scaled(torch.autograd.Function):
    """Keeps what its backward needs for all calls in one place, and writes its answer over what it is given."""

    kept: torch.Tensor

    @staticmethod
    def forward(_: Any, x: torch.Tensor) -> torch.Tensor:
        Scaled.kept = x
        return x * x

    @staticmethod
    def backward(_: Any, gradient: torch.Tensor) -> torch.Tensor:
        return gradient.mul_(2 * Scaled.kept)


class Scaling(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x: torch.Tensor) -> Any:
        self.get_buffer("calls").add_(1)
        return Scaled.apply(x)


def test_of_two_calls_the_earlier_ones_gradient_is_asked_for() -> None:
    module, x = Scaling(), torch.tensor([1.0, 2.0, 5.0])
    one, other = (gradients(module, [x], 7, [], way).found[0] for way in ("gradient", "earlier"))
    assert one is not None and other is not None
    assert torch.allclose(other / one, SCALE * x.flip(0) / x)
    assert int(module.get_buffer("calls")) == 2


def test_a_backward_that_writes_into_what_it_is_given_is_seen() -> None:
    assert gradients(Scaling(), [torch.ones(3)], 0, []).overwrites
    assert not gradients(Module(), [torch.ones(3)], 0, []).overwrites


def test_what_rounding_leaves_of_a_gradient_is_none() -> None:
    usual = [torch.ones(3), torch.ones(3), None]
    assert beyond_rounding([torch.full((3,), 1e-7), torch.full((3,), 0.1), None], usual) == [1]


class Two(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(3), requires_grad=False)

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return x * self.weight, x * y


def test_ways_ask_for_some_of_what_there_is() -> None:
    given = [torch.ones(2, 3), torch.ones(2, 3)]
    there = {way: [g is not None for g in gradients(Two(), given, 0, ["weight"], way).found]
             for way in ("gradient", "sole", "leading", "trailing", "turned")}  # fmt: skip
    assert there == {"gradient": [True, True, False], "sole": [False, True, False], "leading": [True, False, False],
                     "trailing": [True, True, False], "turned": [True, True, False]}  # fmt: skip
    with pytest.raises(NoGradientError):
        gradients(Module(), [torch.ones(3)], 0, [], "leading")  # of one answer there is nothing to choose


class Worn(torch.autograd.Function):
    """Whose backward gives more each time, and tells how what it is given lies in memory."""

    seen: ClassVar[list[tuple[int, ...]]] = []

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        ctx.times = 0
        return x * 1

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:
        Worn.seen.append(gradient.stride())
        ctx.times += 1
        made: torch.Tensor = ctx.times * gradient
        return made


class Wearing(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> Any:
        return Worn.apply(x)


def test_a_graph_is_gone_through_twice() -> None:
    once, again = (gradients(Wearing(), [torch.ones(2, 3)], 0, [], way).found[0] for way in ("gradient", "anew"))
    assert once is not None and again is not None
    assert torch.equal(again, 2 * once)


def test_a_vector_lies_the_other_way_in_memory() -> None:
    Worn.seen.clear()
    one, other = (gradients(Wearing(), [torch.ones(2, 3)], 0, [], way).found[0] for way in ("gradient", "turned"))
    assert one is not None and other is not None and torch.equal(SCALE * one, other)
    assert Worn.seen == [(3, 1), (1, 2)]


class Deaf(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x if self.training else x.detach() + 0 * x


def test_a_module_in_training_has_gradients_in_evaluation_mode_too() -> None:
    usual, evaluated = (gradients(Deaf(), [torch.ones(3)], 0, [], way).found[0] for way in ("gradient", "evaluated"))
    assert usual is not None and evaluated is not None
    assert usual.count_nonzero() == 3 and evaluated.count_nonzero() == 0
    with pytest.raises(NoGradientError):
        gradients(Deaf().eval(), [torch.ones(3)], 0, [], "evaluated")


class Turned(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * 1j


def test_complex_numbers_have_gradients_that_are_conjugate() -> None:
    x = torch.randn(2, 3, dtype=torch.complex64)
    derived = gradients(Turned(), [x], 7, [])
    vector = torch.randn(2, 3, generator=torch.Generator().manual_seed(7 ^ APART), dtype=torch.complex64)
    assert derived.found[0] is not None and torch.allclose(derived.found[0], vector * -1j)
    assert beyond_rounding(derived.found, derived.found) == [0]
    assert len(derived.answers) == 1
