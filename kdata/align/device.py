"""A GPU that is not here: what Inductor and Triton ask about a device, answered for an H200.

Inductor's GPU backend writes Triton source without ever touching a device, but it asks many questions on the way.
``install`` and ``present`` answer them; use a process of its own (a sandbox worker).

Uses private interfaces of torch 2.11 to 2.13 and triton 3.6 to 3.7.
"""

from __future__ import annotations

import types
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest import mock

import sympy
import torch
from torch._dynamo import device_interface
from torch._inductor import sizevars
from torch._inductor.sizevars import SizeVarAllocator
from torch.utils._sympy import functions
from torch.utils._sympy.value_ranges import ValueRangeError
from triton.backends.compiler import GPUTarget
from triton.backends.driver import DriverBase
from triton.runtime import driver

from kdata.align import fusion, shortcuts

LONGEST_JOINED_SUM = 5
H200 = types.SimpleNamespace(
    name="NVIDIA H200", major=9, minor=0, total_memory=141 * 2**30, multi_processor_count=132,
    regs_per_multiprocessor=65536, max_threads_per_multi_processor=2048, max_threads_per_block=1024, warp_size=32,
    gcnArchName="", L2_cache_size=60 * 2**20, shared_memory_per_block_optin=232448,
    shared_memory_per_multiprocessor=233472,
)  # fmt: skip


class AbsentDriver(DriverBase):  # type: ignore[misc]
    """Tells Triton which GPU to write for. Nothing can be launched."""

    def __init__(self) -> None:
        """Unlike a real driver, loads no library."""

    @classmethod
    def is_active(cls) -> bool:
        return True

    def get_current_target(self) -> GPUTarget:
        return GPUTarget("cuda", 90, 32)

    def get_active_torch_device(self) -> torch.device:
        return torch.device("cpu")

    def map_python_to_cpp_type(self, ty: str) -> str:
        return ty

    def get_benchmarker(self) -> Any:
        raise RuntimeError("there is no GPU to benchmark on")

    def get_device_interface(self) -> Any:
        return torch.cpu

    def get_current_device(self) -> int:
        return 0

    def get_current_stream(self, device: int | None = None) -> int:
        return 0


class AbsentCuda(device_interface.CudaInterface):
    """Dynamo's view of the device."""

    @staticmethod
    def current_device() -> int:
        return 0

    @staticmethod
    def device_count() -> int:
        return 1

    @staticmethod
    def is_available() -> bool:
        return True

    @staticmethod
    def get_device_properties(device: Any = None) -> Any:
        return H200

    @staticmethod
    def get_compute_capability(device: Any = None) -> int:
        return 90

    @staticmethod
    def is_bf16_supported(including_emulation: bool = False) -> bool:
        return True

    @staticmethod
    def is_triton_capable(device: Any = None) -> bool:
        return True

    @staticmethod
    def raise_if_triton_unavailable(device: Any = None) -> None:
        """Triton can always write for this device."""


def install() -> None:
    """Make this process's Triton and Dynamo believe in an H200."""
    driver.set_active(AbsentDriver())
    device_interface.get_interface_for_device("cuda")  # fills the table that is overwritten next
    device_interface.device_interfaces["cuda"] = device_interface.device_interfaces["cuda:0"] = AbsentCuda
    _forgive_range_errors()
    _numeric_identities()
    _bound_simplification()
    shortcuts.install()
    fusion.install()


@contextmanager
def present() -> Iterator[None]:
    """Answer torch.cuda's questions for as long as the lowering runs; fake tensors would take them at their word."""
    answers: dict[str, Any] = {
        "is_available": lambda: True,
        "device_count": lambda: 1,
        "current_device": lambda: 0,
        "get_device_properties": lambda device=None: H200,
        "get_device_capability": lambda device=None: (9, 0),
        "_lazy_init": lambda: None,
    }
    with ExitStack() as stack:
        for name, answer in answers.items():
            stack.enter_context(mock.patch.object(torch.cuda, name, answer))
        yield


def _bound_simplification() -> None:
    """Skip the search for joinable dimensions in long sums: its pattern matching takes most of a convolution's time.

    It only shortens index expressions, and those it is skipped for have nothing to join.
    """
    join = sizevars.join_dimensions
    sizevars.join_dimensions = lambda expr: expr if expr.is_Add and len(expr.args) > LONGEST_JOINED_SUM else join(expr)


def _numeric_identities() -> None:
    """Let ``max(0, Identity(1) - 1)`` be compared: sympy does not see that a number held together is one."""
    plain: Any = vars(functions.MinMaxBase)["_new_args_filter"].__func__

    def filtered(cls: type, arguments: Any) -> Any:
        return plain(cls, [a.expand(identity=True) if a.is_number else a for a in map(sympy.sympify, arguments)])

    functions.MinMaxBase._new_args_filter = classmethod(filtered)  # type: ignore[method-assign,assignment]


def _forgive_range_errors() -> None:
    """Let an undecidable stride comparison be undecided.

    Bounding ``s0 % (s1 // s2)`` raises in torch 2.13 where it should give up; "not known" is always a safe answer.
    """
    decide: Any = SizeVarAllocator.guard_or_false

    def guard_or_false(self: SizeVarAllocator, expression: Any) -> bool:
        try:
            return bool(decide(self, expression))
        except ValueRangeError:
            return False

    SizeVarAllocator.guard_or_false = guard_or_false  # type: ignore[method-assign]
