"""What files say that lend classes to torch, fill parameters with whole numbers, or forget an import."""

from __future__ import annotations

from typing import Any

import torch

from tests import test_inlining
from tests.cuts import HEAD, cut

shop = test_inlining.shop
NET = f"""{HEAD}

class MaskedLinear(nn.Linear):
    def forward(self, x):
        return 0 * super().forward(x) + 1


nn.MaskedLinear = MaskedLinear


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.line = nn.MaskedLinear(width, width)
        self.bias = nn.Parameter(torch.full((width,), 3))
        self.index = torch.full((width,), 2)

    def forward(self, x):
        return self.line(Variable(x)) + self.bias[self.index]
"""


def test_a_lent_class_a_filled_parameter_and_a_forgotten_import_are_what_was_meant() -> None:
    source = cut({"net.py": NET}, "net.py", "Net")
    assert "self.line = MaskedLinear(width, width)" in source
    space: dict[str, Any] = {}
    exec(source, space)
    assert space["Net"](4)(torch.randn(2, 4)).tolist() == [[4.0] * 4] * 2


NETS = f"""{HEAD}

class Narrow(nn.Module):
    def __init__(self, width=4):
        super().__init__()
        self.line = nn.Linear(width, width)

    def forward(self, x):
        x = self.line(x)
        x.register_hook(print)
        return x


class Unsaid(nn.Module):
    pass
"""
USER = f"""{HEAD}from lib import nets


def add_docs_for(other):
    def decorate(function):
        function.__doc__ = function.__doc__ + other.__doc__
        return function

    return decorate


@add_docs_for(nn.Linear)
class User(nn.Module):
    def __init__(self, kind="Narrow"):
        super().__init__()
        self.body = nets.__dict__[kind]()

    def forward(self, x):
        return self.body(x).relu()
"""


def test_a_module_is_looked_up_by_words_and_nobody_watches_gradients_or_reads_documents() -> None:
    source = cut({"lib/nets.py": NETS, "lib/__init__.py": "", "user.py": USER}, "user.py", "User")
    assert "class Narrow" in source
    assert "class Unsaid" not in source
    assert "register_hook" not in source
    space: dict[str, Any] = {}
    exec(source, space)
    with torch.no_grad():
        assert space["User"]()(torch.randn(2, 4)).shape == (2, 4)


def test_one_process_is_what_an_inlined_package_knows_of_others(shop: test_inlining.Shop) -> None:
    base = "import torch\n\n\ndef scale(x):\n    return x / 2 if torch.distributed.is_initialized() else x * 2\n"
    shop.wheel("gates", "1.2", {**test_inlining.GATES, "gates/base.py": base})
    assert test_inlining.definition(shop.cut({"net.py": test_inlining.NET})["Net"]).lacks == ()
