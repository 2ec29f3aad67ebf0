"""Tensors of the graph that are neither input nor parameter nor buffer.

These are made of numbers by forward, or held by the module or by the task's text.  A single number stays a number of
the graph.  Every other constant becomes an argument that the new forward makes: of its values, or where the reference
has it (``self.window``, ``MEAN``), on the device of the inputs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch import nn
from torch._subclasses.fake_tensor import unset_fake_temporarily

from kdata.align.attributes import held
from kdata.align.errors import AlignError
from kdata.align.naming import identifier, unique

aten = torch.ops.aten
LARGEST = 64  # numbers of a constant that a person would still write down
CHECKS = ("_assert", "_functional_assert", "sym_constrain_range", "_functional_sym_constrain_range")


def drop_checks(graph: torch.fx.GraphModule) -> None:
    """Remove what only raises: assertions about values, and what is computed for them."""
    for node in reversed(graph.graph.nodes):
        if isinstance(node.target, torch._ops.OpOverload) and node.target.overloadpacket.__name__.startswith(CHECKS):
            node.replace_all_uses_with(None)  # their results are tokens that nothing reads
            graph.graph.erase_node(node)
    graph.graph.eliminate_dead_code()


def place_constants(
    graph: torch.fx.GraphModule, module: nn.Module, namespace: Mapping[str, Any], taken: set[str]
) -> list[tuple[str, str, Any]]:
    """Make placeholders of the constants: for each its name, the text that makes it up to a device, its fake value.

    Raises:
        AlignError: a constant is too large to be written down, or there is nothing beside constants.
    """
    known = list(_held(module, namespace))
    placed: dict[str, tuple[torch.fx.Node, str, Any]] = {}
    given = [n for n in graph.graph.nodes if n.op == "placeholder"]
    if not given:
        raise AlignError("no tensors", "neither inputs nor parameters: nothing says on which device to compute")
    last = given[-1]
    for node in [n for n in graph.graph.nodes if n.op == "get_attr"]:
        value = getattr(graph, node.target)
        fake = node.meta["val"]
        made, said = _text(value, known)
        if made not in placed and not _is_number(value):
            with graph.graph.inserting_after(last):
                last = graph.graph.placeholder(unique(identifier(said), taken))
            last.meta["val"] = fake
            placed[made] = last, made, fake
        _replace(graph, node, placed[made][0] if made in placed else _number(graph, node, value))
    graph.recompile()
    return [(node.name, made, fake) for node, made, fake in placed.values()]


def _is_number(value: torch.Tensor) -> bool:
    return type(value) is torch.Tensor and value.numel() == 1


def _number(graph: torch.fx.GraphModule, node: torch.fx.Node, value: torch.Tensor) -> torch.fx.Node:
    with graph.graph.inserting_before(node), unset_fake_temporarily():
        options: Any = {"dtype": value.dtype, "device": value.device, "pin_memory": False}
        full = graph.graph.call_function(aten.full.default, (list(value.shape), value.item()), options)
    full.meta["val"] = node.meta["val"]
    return full


def _replace(graph: torch.fx.GraphModule, node: torch.fx.Node, new: torch.fx.Node) -> None:
    for user in [u for u in node.users if u.target is aten.lift_fresh_copy.default]:
        user.replace_all_uses_with(new)
        graph.graph.erase_node(user)
    node.replace_all_uses_with(new)
    graph.graph.erase_node(node)


def _text(value: torch.Tensor, held: list[tuple[str, Any]]) -> tuple[str, str]:
    """The text that makes a constant, up to the device, and a name for it."""
    for path, tensor in held:
        if tensor is value:
            return f"{path}.to(", path.removeprefix("self.").rpartition(".")[2]
    if type(value) is not torch.Tensor or value.numel() > LARGEST:
        raise AlignError("large constant", f"forward makes a tensor of {value.numel()} numbers")
    with unset_fake_temporarily():
        return f"torch.tensor({value.tolist()}, dtype={value.dtype}, device=", "constant"


def _held(module: nn.Module, namespace: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Tensors that are attributes of modules, or names of the text, also inside lists, tuples and dictionaries."""
    for said, value in held(module):
        yield from _inside(said, value)
    for name, value in namespace.items():
        if name != "__builtins__":  # Python's own, which hold themselves where somebody ran a text in them
            yield from _inside(name, value)


def _inside(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    match value:
        case torch.Tensor():
            yield path, value
        case list() | tuple():
            for index, element in enumerate(value):
                yield from _inside(f"{path}[{index}]", element)
        case dict():
            for key, element in value.items():
                yield from _inside(f"{path}[{key!r}]", element)
