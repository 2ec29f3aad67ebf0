"""First guesses of inputs by what a module holds and says: the sides of its images, the ranks of its documentation."""

from __future__ import annotations

import torch
from torch import nn

from sources.infer.forward.input_guesses import guesses
from sources.infer.forward.starts import starts
from sources.infer.inputs import Many, Tensor


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


class Scaled(nn.Module):
    """Rows of features, of which no layer says that they are no sequences."""

    def __init__(self, width: int = 24) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(8))
        self.late, self.first = nn.Linear(8, 8), nn.Linear(width, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Scale.

        Args:
            x (torch.Tensor): Input tensor of shape (batch_size, width).
        """
        y: torch.Tensor = self.late(self.scale * self.first(x))
        return y


class Shifted(Scaled):
    """The same, of which no rank is said."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Shift."""
        y: torch.Tensor = self.late(self.scale + self.first(x))
        return y


def test_an_input_has_the_rank_that_is_documented_and_the_width_of_the_layer_that_takes_it() -> None:
    assert [len(s.shape) for s in guesses(Scaled())[0][:2] if isinstance(s, Tensor)] == [2, 3]
    assert [len(s.shape) for s in guesses(Shifted())[0][:2] if isinstance(s, Tensor)] == [3, 2]
    first = guesses(Scaled())[0][0]
    assert isinstance(first, Tensor)
    assert first.shape[-1] == 24


class Windowed(nn.Module):
    """A series of one variable, of a batch that goes by keys."""

    def __init__(self, steps: int = 16) -> None:
        super().__init__()
        self.line = nn.Linear(steps, 4)

    def forward(self, batch: dict[str, torch.Tensor]) -> torch.Tensor:
        series = batch["series"].squeeze(-1)
        batch_size = len(series)
        y: torch.Tensor = self.line(series).reshape(batch_size, 4, 1)
        return y


def test_what_is_squeezed_away_is_one_and_what_tells_the_batch_is_no_list() -> None:
    first = guesses(Windowed())[0][0]
    assert isinstance(first, Many)
    assert first.keys == ("series",)
    (series,) = first.items
    assert isinstance(series, Tensor)
    assert series.shape[-1] == 1
