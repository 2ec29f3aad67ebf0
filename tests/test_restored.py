"""State that a forward changes, put back before each call at a task's own sizes."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from kdata.verify.gpu.restored import Restored


class Steps(nn.Module):
    """Counts calls, keeps a sum in place, and puts another tensor in one's place."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(3))
        self.register_buffer("count", torch.zeros(()))
        self.register_buffer("kept", torch.zeros(1))
        self.register_buffer("still", torch.ones(2))

    def forward(self, x: Tensor) -> Tensor:
        self.count += 1
        self.kept = torch.cat([self.kept, x[:1]])
        with torch.no_grad():
            self.weight += x
        return self.weight * self.count


def test_state_is_what_it_was_before_each_call() -> None:
    module, x = Steps(), torch.arange(3.0)
    weight = module.weight
    answer, restore = Restored.after(module, lambda: module(x).detach().clone())
    assert restore.names == ["count", "kept", "weight"]
    for _ in range(2):
        assert torch.equal(module(x), answer)
        restore()
    assert module.weight is weight and module.kept.shape == (1,)


def test_the_names_of_one_module_are_put_back_in_another() -> None:
    module = Steps()
    restore = Restored(module, ["count", "another"])
    module(torch.ones(3))
    restore()
    assert float(module.count) == 0 and float(module.weight[0]) == 2
