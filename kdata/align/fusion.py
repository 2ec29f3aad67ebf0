"""What Inductor splits and fuses, so that an operator along a dimension is one kernel.

A reduction is one loop of one program, never two kernels with a number of chunks between them: nothing in a task's text
says that number.  What is computed from its result is written by the same program, whichever dimension is reduced.

Uses private interfaces of torch 2.11 to 2.13.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch._inductor import ir
from torch._inductor.dependencies import MemoryDep
from torch._inductor.scheduler import Scheduler
from torch._inductor.virtualized import V

aten = torch.ops.aten
EXTREMES = {aten.max.dim: aten.amax.default, aten.min.dim: aten.amin.default}


def drop_unread_indices(graph: torch.fx.GraphModule) -> None:
    """``torch.max(x, dim)[0]`` is ``torch.amax(x, dim)``, which looks for no index."""
    for node in list(graph.graph.nodes):
        if node.target not in EXTREMES or not all(user.args[1] == 0 for user in node.users):
            continue
        x, dim, *keepdim = node.args
        for user in list(node.users):
            with graph.graph.inserting_before(user):
                made = graph.graph.call_function(EXTREMES[node.target], (x, [dim], *keepdim))
            made.meta = {"original_aten": node.target, **user.meta}
            user.replace_all_uses_with(made)
            graph.graph.erase_node(user)
        graph.graph.erase_node(node)


def install() -> None:
    """Teach this process's Inductor to split nothing, and to fuse along any dimension."""
    ir.Reduction.num_splits = staticmethod(_unsplit(ir.Reduction.num_splits))  # type: ignore[method-assign]
    Scheduler.shared_data_after_reordering_loop = _reordered(Scheduler.shared_data_after_reordering_loop)  # type: ignore[method-assign]
    MemoryDep.decide_loop_order_to_match = _order_of_loops  # type: ignore[method-assign]


def _unsplit(choose: Callable[..., tuple[Any, Any]]) -> Callable[..., tuple[Any, Any]]:
    """Reductions and scans of any length in one part."""

    def num_splits(*arguments: Any, **keywords: Any) -> tuple[Any, Any]:
        hint, split = choose(*arguments, **keywords)
        return hint, min(split, 1)

    return num_splits


def _reordered(share: Callable[..., int]) -> Callable[..., int]:
    """How much two nodes share once the loops of one have the other's order; -1 if that cannot be had.

    Torch looks at the tensor that one writes and the other reads first.  A reduction's result has fewer dimensions than
    what follows, so that it says nothing of the order; what both read does.
    """

    def shared(self: Scheduler, node1: Any, node2: Any) -> int:
        score = share(self, node1, node2)
        if score >= 0 or node1.is_reduction() == node2.is_reduction():
            return score
        pointwise, reduction = (node2, node1) if node1.is_reduction() else (node1, node2)
        reads = {dep.name: dep for dep in reduction.read_writes.reads if isinstance(dep, MemoryDep)}
        for dep in pointwise.read_writes.reads:
            other = reads.get(dep.name)
            if isinstance(dep, MemoryDep) and other is not None and pointwise.reorder_loops_by_dep_pair(dep, other):
                return self.score_fusion_memory(node1, node2)
        return -1

    return shared


def _order_of_loops(self: MemoryDep, other: MemoryDep) -> list[int] | None:
    """The order in which this access's loops step through the tensor as the other's do; None if there is none.

    Torch's own counts the symbols of an index, sizes among them, and so never knows for symbolic shapes.
    """
    mine, theirs = (V.graph.sizevars.stride_hints(dep.index, dep.var_names) for dep in (self, other))
    told = all(len(set(strides)) == len(strides) and 0 not in strides for strides in (mine, theirs))
    return [mine.index(stride) for stride in theirs] if told and set(mine) == set(theirs) else None
