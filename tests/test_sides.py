"""Images of the sides that a module was made for."""

from __future__ import annotations

import torch
from torch import nn

from sources.infer.input_guesses import guesses
from sources.infer.inputs import Tensor
from sources.infer.starts import starts


class Persons(nn.Module):
    """Takes images that are twice as high as they are wide, and says so where no message of an error does."""

    def __init__(self, img_size: tuple[int, int] = (64, 32), hidden: int = 48) -> None:
        super().__init__()
        self.img_size = img_size
        self.first = nn.Conv2d(3, 8, 4, stride=4)
        self.steps = nn.LSTM(hidden, hidden)
        self.head = nn.Linear(8 * img_size[0] * img_size[1] // 16, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = self.head(self.first(x).flatten(1))
        return y


class Doubled(nn.Module):
    """Answers with images of two sides; of which it is given is not said."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.last = nn.Conv2d(3, 8, 3), nn.Upsample(size=(64, 16))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = self.last(self.first(x))
        return y


def test_height_and_width_are_as_the_module_holds_them() -> None:
    first = starts(Persons())[0][0]
    assert isinstance(first, Tensor)
    assert first.shape[1:] == (3, 64, 32)
    Persons()(torch.ones(first.shape))


def test_what_layers_of_torch_hold_says_nothing_of_inputs() -> None:
    first = guesses(Doubled())[0][0]
    assert isinstance(first, Tensor)
    assert first.shape[1:] == (3, 32, 32)
