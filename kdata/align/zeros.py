"""What is computed of zeros, as recurrent layers do of the state they begin with: nothing is left of it to compute."""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import Node

aten = torch.ops.aten
PRODUCTS = frozenset({aten.mm.default, aten.bmm.default, aten.mul.Tensor})
# What shows the same numbers, or some of them, in another shape; ``getitem`` is what takes them out of a list.
SHOWN = frozenset(
    "view reshape _unsafe_view permute transpose t expand unsqueeze squeeze alias slice select clone unbind split "
    "split_with_sizes getitem".split()
)


def drop_zeros(graph: torch.fx.GraphModule) -> None:
    """Make products with zeros zeros: sums with these are written without them, see ``simplify``.

    Where the other factor is infinite or NaN the product was NaN: weights of such are no case that a kernel is for.
    """
    for node in list(graph.graph.nodes):
        if node.target in PRODUCTS and any(map(_is_zero, node.args)):
            _replace(graph, node, _zeros(graph, node))
    graph.graph.eliminate_dead_code()


def _is_zero(value: Any) -> bool:
    """Whether a node is nothing but zeros, by how it is made."""
    while isinstance(value, Node) and value.args and _name(value) in SHOWN:
        value = value.args[0]
    return isinstance(value, Node) and value.target is aten.full.default and bool(value.args[1] == 0)


def _name(node: Node) -> str:
    target = getattr(node.target, "overloadpacket", node.target)
    return str(getattr(target, "__name__", target))


def _zeros(graph: torch.fx.GraphModule, node: Node) -> Node:
    """Zeros of a node's shape, whose sizes are read off its arguments."""
    value = node.meta["val"]
    with graph.graph.inserting_before(node):
        sizes = [_size(graph, node, size) for size in value.shape]
        made = graph.graph.call_function(
            aten.full.default, (sizes, 0), {"dtype": value.dtype, "device": value.device, "pin_memory": False}
        )
    made.meta = dict(node.meta)
    return made


def _size(graph: torch.fx.GraphModule, node: Node, size: Any) -> Any:
    if isinstance(size, int):
        return size
    for argument in node.all_input_nodes:
        value = argument.meta["val"]
        for axis, other in enumerate(value.shape if isinstance(value, torch.Tensor) else ()):
            if str(other) == str(size):
                made = graph.graph.call_function(aten.sym_size.int, (argument, axis))
                made.meta = {"val": size}
                return made
    raise AssertionError(f"no argument of {node} has its size {size}")


def _replace(graph: torch.fx.GraphModule, node: Node, other: Any) -> None:
    node.replace_all_uses_with(other)
    graph.graph.erase_node(node)
