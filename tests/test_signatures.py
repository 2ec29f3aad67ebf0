"""What a constructor takes beside its own parameters."""

from __future__ import annotations

from typing import Any

import pytest
from torch import nn

from sources.infer.constructor.signatures import parameters_of


class Pair(nn.Module):
    def __init__(self, encoder: Any, decoder: Any, width: int = 3) -> None:
        super().__init__()


class Named(Pair):
    def __init__(self, name: str = "resnet", **parameters: Any) -> None:
        super().__init__(nn.Linear(3, 3, **parameters), None)


class Half(Pair):
    def __init__(self, name: str = "resnet", **parameters: Any) -> None:
        Pair.__init__(self, nn.Identity(), width=5, **{"decoder": None, **parameters})


class Whole(Half):
    def __init__(self, *args: Any, **parameters: Any) -> None:
        super().__init__(*args, **parameters)


@pytest.mark.parametrize(("kind", "names"), [
    (Named, ["name"]), (Half, ["name", "decoder"]), (Whole, ["name", "decoder"]), (Pair, ["encoder", "decoder", "width"]),
])  # fmt: skip
def test_what_a_base_takes_is_a_parameter_where_keywords_are_handed_to_it_and_it_is_not_given(
    kind: type[nn.Module], names: list[str]
) -> None:
    assert [p.name for p in parameters_of(kind)] == names
