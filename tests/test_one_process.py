"""A task is one process: groups of others, and what is partitioned among these, are what that one holds."""

from __future__ import annotations

from typing import Any

import torch

from sources import mine
from tests.cuts import HEAD, cut

GROUPS = {
    "mpu/initialize.py": "import torch\n\n_GROUP = None\n_OTHER = 3\n\n\ndef initialize(sizes):\n    global _GROUP\n"
    "    _GROUP = torch.distributed.new_group(sizes)\n\n\n"
    'def get_model_parallel_group():\n    """The group."""\n'
    "    assert _GROUP is not None, 'model parallel group is not initialized'\n    return _GROUP\n\n\n"
    "def get_other_group(size):\n    assert size is not None\n    return _OTHER\n\n\n"
    "def get_world_size():\n    return torch.distributed.get_world_size(group=get_model_parallel_group())\n",
    "net.py": HEAD + "from mpu.initialize import get_other_group, get_world_size\nimport deepspeed\n"
    "import deepspeed.runtime.activation_checkpointing.checkpointing as checkpointing\n\n"
    "get_cuda_rng_tracker = checkpointing.get_cuda_rng_tracker\n\n\nclass Net(nn.Module):\n"
    "    def __init__(self, width):\n        super().__init__()\n        with get_cuda_rng_tracker().fork():\n"
    "            self.weight = nn.Parameter(torch.randn(width // get_world_size(), get_other_group(1)))\n\n"
    "    def forward(self, x):\n        return deepspeed.checkpointing.checkpoint(torch.matmul, x, self.weight)\n",
}


def test_a_group_that_nobody_made_is_that_of_the_one_process() -> None:
    source = cut(GROUPS, "net.py", "Net")
    assert "not initialized" not in source and "assert size is not None" in source
    namespace: dict[str, Any] = {}
    exec(compile(source, "cut", "exec"), namespace)
    net, x = namespace["Net"](4), torch.randn(2, 4)
    assert net.weight.shape == (4, 3)
    assert torch.equal(net(x), x @ net.weight)


def test_what_is_scattered_or_exchanged_comes_back() -> None:
    one: dict[str, Any] = {}
    exec(mine.replacements()["torch.distributed"], one)
    x = torch.randn(4, 2)
    for name, given in (("reduce_scatter", [x]), ("reduce_scatter_tensor", x)):
        into = torch.zeros(4, 2)
        one[name](into, given).wait()
        assert torch.equal(into, x)
    exchanged = [torch.zeros(4, 2)]
    one["all_to_all"](exchanged, [x])
    assert torch.equal(exchanged[0], x) and one["get_process_group_ranks"]() == [0]
