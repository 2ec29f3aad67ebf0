"""From an ATen graph to Inductor's Triton source, as if on a GPU."""

from __future__ import annotations

from typing import Any
from unittest import mock

import torch
import torch._inductor.config as inductor_config
from torch._guards import TracingContext, tracing
from torch._inductor import ir
from torch._inductor.compile_fx import _recursive_post_grad_passes
from torch._inductor.debug import DebugContext
from torch._inductor.fx_passes import post_grad
from torch._inductor.graph import GraphLowering
from torch._inductor.virtualized import V
from torch.utils._pytree import tree_map

from kdata.align.device import present
from kdata.align.trace import Traced

CUDA = torch.device("cuda", 0)
# What makes Inductor's output a program for people: no reuse of buffers (each kernel is a function of tensors to
# tensors), no checks that a wrapper can do once, no tricks that trade clarity for a few per cent.
SETTINGS: dict[str, Any] = {
    "triton.native_matmul": True,
    "triton.divisible_by_16": False,  # a hint that takes proofs; Triton sees it at launch
    "triton.descriptive_names": "original_aten",
    "triton.mix_order_reduction": False,
    "fx_graph_cache": False,
    "allow_buffer_reuse": False,
    "inplace_buffers": False,
    "size_asserts": False,
    "alignment_asserts": False,
    "assert_indirect_indexing": False,
    "online_softmax": False,
    "layout_optimization": False,
    "comment_origin": False,
}


def lower(traced: Traced) -> str:
    """Inductor's output module for the graph, which is changed on the way."""
    graph, fake = traced.graph, traced.fake
    known = {name: value for name, value in SETTINGS.items() if name in inductor_config._config}  # type: ignore[attr-defined]
    with torch.no_grad(), inductor_config.patch(known):
        _move_to_gpu(graph, fake)
        arguments = [n.meta["val"] for n in graph.graph.nodes if n.op == "placeholder"]
        with (
            present(),
            DebugContext(),
            V.set_debug_handler(DebugContext()),
            tracing(TracingContext(fake)),
            V.set_fake_mode(fake),
        ):
            with mock.patch.object(post_grad, "reinplace_inplaceable_ops", _keep_functional):
                _recursive_post_grad_passes(graph, is_inference=True)
            lowering = _Lowering(graph, example_inputs=arguments, shape_env=traced.environment, is_inference=True)
            with V.set_graph_handler(lowering):
                lowering.run(*arguments)
                code, _ = lowering.codegen()
                traced.shapes.update(_shapes(lowering))
    return str(getattr(code, "value", code))


class _Lowering(GraphLowering):
    """Rounds what the model's own casts ask for: Inductor alone keeps half precision in fp32 within a kernel.

    That is what a cast to a narrower type gives, and what a cast from one is given.
    """

    def run_node(self, n: torch.fx.Node) -> Any:
        rounded = any(_is_cast(node) for node in (n, *n.users))
        if rounded and not _is_cast(n):
            n.meta["low_precision_pointwise_barrier"] = True  # rounds what an operator of half precision gives
        with inductor_config.patch(emulate_precision_casts=rounded):
            return super().run_node(n)


def _is_cast(node: torch.fx.Node) -> bool:
    """Whether the model's text has it, not the decomposition of another operator."""
    return str(node.meta.get("original_aten")) == "aten._to_copy.default"


def _shapes(lowering: GraphLowering) -> dict[str, tuple[Any, torch.dtype]]:
    """Shape and type of what operators made that were kept whole: the wrapper's text does not say them."""
    made: dict[str, ir.Buffer] = {}
    for buffer in lowering.buffers:
        if isinstance(buffer, ir.MultiOutput):
            made[buffer.inputs[0].get_name()] = buffer  # type: ignore[union-attr]
        elif isinstance(buffer, ir.FallbackKernel) and isinstance(buffer.layout, ir.Layout):
            made[buffer.get_name()] = buffer  # from torch 2.14 on, where there is one output
    return {name: (tuple(buffer.get_size()), buffer.get_dtype()) for name, buffer in made.items()}


def _keep_functional(*_: Any) -> None:
    """In place of the pass that updates in place: it runs on the absent device, and kernels are functions."""


def _move_to_gpu(graph: torch.fx.GraphModule, fake: Any) -> None:
    """Re-type every fake tensor of the graph, and every device argument, to the GPU."""

    def move(value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            return value
        return torch.empty_strided(value.shape, value.stride(), dtype=value.dtype, device=CUDA)

    with fake:
        for node in graph.graph.nodes:
            if "val" in node.meta:
                node.meta["val"] = tree_map(move, node.meta["val"])
            if "device" in node.kwargs:
                node.kwargs = {**node.kwargs, "device": CUDA}
