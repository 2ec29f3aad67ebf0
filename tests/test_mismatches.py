"""What messages tell of inputs that were cut in two, kept by shape, laid out by sides, or are maps in a list."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from sources.infer.forward.consumers import extents
from sources.infer.forward.failure import Failure
from sources.infer.forward.repairs import repairs
from sources.infer.inputs import Many, Plain, Specs, Tensor

APART = "The size of tensor a ({}) must match the size of tensor b ({}) at non-singleton dimension 3"


def proposed(specs: Specs, message: str) -> list[Specs]:
    return [other for _, other in repairs(Failure(specs, message, nn.Identity()))]


def test_maps_of_one_size_in_a_list_change_together() -> None:
    maps, other = Many((Tensor((4, 64, 32, 32)),) * 2), Tensor((4, 64, 16, 16))
    assert (Many((Tensor((4, 64, 16, 16)),) * 2), other) in proposed((maps, other), APART.format(16, 32))


def test_what_all_went_to_the_first_half_of_is_twice_as_long() -> None:
    assert (Tensor((4, 64)),) in proposed((Tensor((4, 32)),), APART.format(0, 32))


@pytest.mark.parametrize("message", ["KeyError: 'torch.Size([4, 2, 8, 8])'", "KeyError: (4, 2, 8, 8)"])
def test_what_is_looked_up_by_its_shape_has_the_one_that_is_left(message: str) -> None:
    image, flow = Tensor((4, 3, 8, 8)), Tensor((4, 64, 8, 8))
    assert (image, Tensor((4, 2, 8, 8))) in proposed((image, flow), message)[:2]


def test_sides_are_those_of_the_sequence_that_is_laid_out_by_them() -> None:
    message = "RuntimeError: shape '[8, 8, 4, 256]' is invalid for input of size 4096"
    assert (Tensor((4, 4, 256)), Plain((2, 2))) in proposed((Tensor((4, 4, 256)), Plain((8, 8))), message)
    uneven = proposed((Tensor((4, 5, 256)), Plain((8, 8))), message.replace("4096", "5120"))
    assert all(plain == Plain((8, 8)) for specs in uneven for plain in specs if isinstance(plain, Plain))


def test_what_tokens_are_laid_out_by_is_two_sides() -> None:
    assert extents("hw_shape", "def forward(self, x, hw_shape):\n    return self.down(x, hw_shape)\n", 3)[0] == Plain(
        (8, 8)
    )
    assert extents("x_size", "def forward(self, x, x_size):\n    return x / x_size.max()\n", 3) == []


def test_a_mask_that_is_resized_to_maps_is_one_of_the_image() -> None:
    message = "Input and output must have the same number of spatial dimensions, but got input with spatial dimensions of [64] and output size of torch.Size([8, 8])."
    image = Tensor((4, 3, 32, 32))
    assert (image, Tensor((4, 32, 32), "bool")) in proposed((image, Tensor((4, 64), "bool")), message)


def test_what_leaves_one_pixel_too_few_is_given_more() -> None:
    found = proposed((Tensor((4, 3, 32, 32)),), "ZeroDivisionError: float division by zero")
    assert (Tensor((4, 3, 64, 64)),) in found


def test_maps_that_are_laid_out_as_rows_have_as_many_places_as_positions() -> None:
    message = APART.format(1024, 400).replace("dimension 3", "dimension 0")
    maps = Many(tuple(Tensor((4, n, 32, 32)) for n in (8, 16)))
    assert (Many(tuple(Tensor((4, n, 20, 20)) for n in (8, 16))),) in proposed((maps,), message)
    assert (Tensor((4, 8, 20, 20)),) in proposed((Tensor((4, 8, 32, 32)),), message)


def test_an_operand_that_is_an_input_gets_the_size_of_the_other_at_their_dimension() -> None:
    target, other = torch.ones(4, 64, 32), torch.ones(4, 64, 8)
    specs, message = (
        (Tensor((4, 64, 32)), Tensor((4, 8, 8, 64))),
        APART.format(8, 32).replace("dimension 3", "dimension 2"),
    )
    found = repairs(Failure(specs, message, nn.Identity(), "mul", (other, target)))
    assert (Tensor((4, 64, 8)), specs[1]) in [other for cost, other in found if cost < 0.5]


def test_what_is_stacked_is_of_one_shape() -> None:
    message = (
        "RuntimeError: stack expects each tensor to be equal size, but got [64, 128] at entry 0 and [4, 128] at entry 1"
    )
    rows, times = Tensor((4, 128)), Tensor((64,))
    assert (rows, Tensor((4,))) in proposed((rows, times), message)
