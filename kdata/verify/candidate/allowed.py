"""What a wrapper may ask of torch: memory, views, copies for layout. All else is compute and must be a kernel's.

Which operators that is: ``kdata.verify.candidate.operators``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map_only

from kdata.verify.candidate.launches import Ledger
from kdata.verify.candidate.moves import Layout
from kdata.verify.candidate.operators import ALLOWED, COPIES, EMPTY, READS
from kdata.verify.exchange.guards import guarded, intact
from kdata.verify.interpreter import streams

SCALARS = 8  # reads of single numbers (``item``) in one forward: more would be arithmetic in Python
WHOLE = (torch.int64, torch.int32)
DROPOUTS = ("dropout", "alpha_dropout", "feature_dropout", "feature_alpha_dropout")
HIDDEN = ("numpy", "tolist", "__array__", "__dlpack__", "untyped_storage", "storage", "apply_", "map_")
IN_PLACE = ("copy_", "fill_")  # which put something else where there was something
SHARED = ("numpy", "__array__")  # of these, arrays on the memory of the tensor
SHARING = ("from_numpy", "as_tensor", "asarray", "frombuffer", "from_dlpack")  # of torch: on the memory they are given


class Watch(TorchDispatchMode):
    """Notes the operators that a candidate calls, and gives it poisoned, guarded memory."""

    def __init__(self, ledger: Ledger) -> None:
        super().__init__()
        self._ledger = ledger
        self.called: dict[str, None] = {}  # compute, in order of first call
        self.scalars = 0
        self.made: list[torch.Tensor] = []
        self._counters: list[torch.Tensor] = []
        self.layout: Layout | None = None  # where moving elements is the task's work

    def let_count(self, model: torch.nn.Module) -> None:
        """Let a module count its calls in buffers of one integer, as normalisation layers count batches.

        In those only that its state holds, for that is compared with the reference's.
        """
        self._counters = [t for t in _kept_buffers(model) if t.ndim == 0 and t.dtype in WHOLE]

    def _counts(self, name: str, args: Any) -> bool:
        return name in ("add", "add_") and type(args[1]) is int and any(args[0] is t for t in self._counters)

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if self._ledger.moving:
            return function(*args, **kwargs)
        namespace, _, name = str(function).partition(".")
        name = name.partition(".")[0]
        if namespace == "aten" and name in READS:
            self.scalars += 1
            streams.current().synchronize()  # it waits for the number
        allowed = name in ALLOWED or self._counts(name, args) or _drops_nothing(name, args, kwargs)
        if namespace != "aten" or not allowed or self.scalars > SCALARS:
            self.called[f"{namespace}.{name}"] = None
        if name == "resize_":
            self.called["aten.resize_"] = None
        result = function(*args, **kwargs)
        if name in COPIES and isinstance(result, torch.Tensor) and self._truncates(args, result):
            self.called[f"aten.{name} to {str(result.dtype)[6:]}"] = None
        if self.layout and self._ledger.calling and name in COPIES and isinstance(result, torch.Tensor):
            self.called |= dict.fromkeys([done] if (done := self.layout.done_by(name, args, result)) else [])
        if (
            self._ledger.native
            and self._ledger.calling
            and isinstance(result, torch.Tensor)
            and _on_host(name, args, kwargs, result)
        ):
            self.called[f"aten.{name} to the host"] = None
        if self._ledger.made and name in (*COPIES, *IN_PLACE) and isinstance(result, torch.Tensor):
            self._ledger.made.copied([t for t in args if isinstance(t, torch.Tensor)], result, name in IN_PLACE)
        return tree_map_only(torch.Tensor, self._poisoned, result) if name in EMPTY else result

    def _truncates(self, args: Any, result: torch.Tensor) -> bool:
        """Whether a copy to another dtype has made integers of what were none."""
        source = next((t for t in reversed(args) if isinstance(t, torch.Tensor)), result)
        if not source.is_floating_point() or result.is_floating_point() or result.is_complex():
            return False
        with self._ledger.move():
            return not torch.equal(result.to(source.dtype), source.expand_as(result))

    def out_of_bounds(self) -> bool:
        """Whether anything was written outside the memory this gave out."""
        with self._ledger.move():
            return not all(intact(t) for t in self.made)

    def _poisoned(self, tensor: torch.Tensor) -> torch.Tensor:
        if tensor.layout is not torch.strided or tensor.numel() == 0 or tensor.device.type not in ("cpu", "cuda"):
            return tensor
        with self._ledger.move():
            made = guarded(tensor.shape, tensor.stride(), tensor.dtype, tensor.device)
        self.made.append(made)
        return made


def _drops_nothing(name: str, args: Any, kwargs: Any) -> bool:
    """Whether it is a dropout in evaluation mode, which inference mode does not take apart before it is seen."""
    return name in DROPOUTS and (args[2] if len(args) > 2 else kwargs.get("train")) is False


def _on_host(name: str, args: Any, kwargs: Any, result: torch.Tensor) -> bool:
    """Whether more than single numbers come to where native code can compute with them: copied, or by a kernel."""
    if result.device.type != "cpu" or result.numel() <= SCALARS:
        return False
    copied = name in COPIES and any(isinstance(t, torch.Tensor) and t.is_cuda for t in args)
    return copied or bool(kwargs.get("pin_memory"))


def _kept_buffers(module: torch.nn.Module) -> Iterator[torch.Tensor]:
    """The buffers that a module's state holds, found without calling it: what a text overrides does not run."""
    parts = vars(module)
    left_out = parts["_non_persistent_buffers_set"]
    yield from (t for n, t in parts["_buffers"].items() if n not in left_out and isinstance(t, torch.Tensor))
    for child in parts["_modules"].values():
        if isinstance(child, torch.nn.Module):
            yield from _kept_buffers(child)


def hide_values(watch: list[Watch], ledger: Ledger) -> None:
    """Note calls that read a tensor's values past the dispatcher, in whatever watch is last in the list.

    Arrays and bytes share no memory with tensors from here on, either way: what a kernel has written could else be
    computed with past the dispatcher. Modules of the judge that need what torch shares have imported it by name.
    """
    for name in HIDDEN:
        setattr(torch.Tensor, name, _noted(name, getattr(torch.Tensor, name), watch, ledger))
    for name in SHARING:
        setattr(torch, name, _copying(getattr(torch, name), ledger))


def _noted(name: str, original: Any, watch: list[Watch], ledger: Ledger) -> Any:
    def method(self: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        if watch and not ledger.moving:
            watch[-1].called[f"Tensor.{name}"] = None
        found = original(self, *args, **kwargs)
        return found.copy() if name in SHARED and not ledger.moving else found

    return method


def _copying(original: Any, ledger: Ledger) -> Any:
    def make(*given: Any, **named: Any) -> torch.Tensor:
        made: torch.Tensor = original(*given, **named)
        if any(isinstance(value, torch.Tensor) for value in (*given, *named.values())):
            return made
        with ledger.move():
            return made.detach().clone().requires_grad_(made.requires_grad)

    return make
