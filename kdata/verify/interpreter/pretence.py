"""A GPU that is not here, as a candidate's wrapper sees it: tensors say they are on it, and questions are answered.

Honest wrappers insist on a GPU or size their grids by it; others would be right only where there is none, which is
where they are judged.  Kernels run in the interpreter on the CPU's memory all the same.  In the host's child, and where
kernels are compiled: text may ask on import.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from triton.backends.compiler import GPUTarget
from triton.backends.driver import DriverBase
from triton.runtime import JITFunction, driver, interpreter

from kdata.verify.candidate.enclosure import refuse
from kdata.verify.interpreter import streams
from kdata.verify.interpreter.streams import GPU

HERE, NOWHERE = torch.device("cpu"), torch.device("meta")
SEED = 67280421310721  # what torch starts with
MEMORY, FREE, USED = 141 << 30, 139 << 30, 1 << 30  # bytes
H200 = SimpleNamespace(
    name="NVIDIA H200", major=9, minor=0, total_memory=MEMORY, multi_processor_count=132, warp_size=32,
    regs_per_multiprocessor=65536, max_threads_per_multi_processor=2048, max_threads_per_block=1024,
    L2_cache_size=60 << 20, shared_memory_per_block=49152, shared_memory_per_block_optin=232448,
    shared_memory_per_multiprocessor=233472, gcnArchName="", is_integrated=0, is_multi_gpu_board=0,
    clock_rate=1980000, memory_clock_rate=3201000, memory_bus_width=6144, pci_bus_id=25, pci_device_id=0,
    pci_domain_id=0, uuid="6d1f3c1e-3a52-7b0e-9c41-0a1e5d2f8b64",
)  # fmt: skip
PROPERTIES = {"max_shared_mem": 232448, "max_num_regs": 65536, "multiprocessor_count": 132, "warpSize": 32,
              "sm_clock_rate": 1980000, "mem_clock_rate": 3201000, "mem_bus_width": 6144}  # fmt: skip
DRAWING = ("uniform_", "normal_", "random_", "exponential_", "bernoulli_", "log_normal_", "cauchy_", "geometric_")
SECOND, FEWER = torch.device("cuda", 1), 33  # another card and its multiprocessors
_present = False
_card = GPU  # what all is on
_blank = False  # weights are made that have no memory
_computing = False  # torch itself computes with these, whose rules for what has no memory ask where it is
_apart = False  # whether only what has no memory is on the GPU


class Place:
    """``torch.cuda.device``: there is one only."""

    __module__ = "torch.cuda"

    def __init__(self, *_args: Any, **_more: Any) -> None:
        pass

    def __enter__(self) -> Place:
        return self

    def __exit__(self, *_error: object) -> None:
        pass


class AbsentLibrary(SimpleNamespace):
    """The part of the driver that is compiled code."""

    __module__ = "triton.backends.nvidia.driver"

    def __getattr__(self, name: str) -> Any:
        """All else would show that nothing runs there.

        Raises:
            ForbiddenError: always.
        """
        return refuse(f"what Triton's driver can: {name}")


class AbsentDriver(DriverBase):  # type: ignore[misc]
    """What Triton's driver says of the GPU."""

    def __init__(self) -> None:
        """Unlike a real driver, loads no library."""
        self.utils = AbsentLibrary(get_device_properties=lambda _device: dict(PROPERTIES))
        self.get_device_capability = lambda *_device: (9, 0)
        self.target = GPUTarget("cuda", 90, 32)

    @classmethod
    def is_active(cls) -> bool:
        return True

    def map_python_to_cpp_type(self, ty: str) -> str:
        return ty

    def get_current_target(self) -> GPUTarget:
        return self.target

    def get_active_torch_device(self) -> torch.device:
        return GPU

    def get_benchmarker(self) -> Callable[..., list[float]]:
        return lambda *_args, **_more: [1.0, 1.0, 1.0]

    def get_device_interface(self) -> Any:
        return torch.cuda

    def get_current_device(self) -> int:
        return 0

    def get_current_stream(self, _device: int | None = None) -> int:
        return streams.current().cuda_stream


AbsentLibrary.__name__ = AbsentLibrary.__qualname__ = "CudaUtils"  # what a text may ask
AbsentDriver.__name__ = AbsentDriver.__qualname__ = "CudaDriver"
AbsentDriver.__module__ = AbsentLibrary.__module__
_driver = AbsentDriver()


@contextlib.contextmanager
def compiling_for(target: GPUTarget) -> Iterator[None]:
    """Where kernels that ask which GPU they are compiled for are told this one."""
    before, _driver.target = _driver.target, target
    try:
        yield
    finally:
        _driver.target = before


def install(moving: Callable[[], bool]) -> None:
    """Answer as a machine with a GPU would, where ``presented``; once a process.

    ``moving``: whether it is the harness that asks.
    """
    driver.set_active(_driver)
    _describe_tensors(moving)
    _answer_for_cuda()
    torch.initial_seed = lambda: SEED
    kernel: Any = interpreter.InterpretedFunction
    kernel.__getattr__ = _of_compiled
    kernel.__name__ = kernel.__qualname__ = "JITFunction"
    kernel.__module__ = "triton.runtime.jit"
    kernel.__repr__ = lambda self: f"JITFunction({self.fn.__module__}:{self.fn.__qualname__})"


def _of_compiled(self: Any, name: str) -> Any:
    """What a compiled kernel would answer that is asked for what an interpreted one does not have.

    Raises:
        AttributeError: neither has it.
    """
    if name.startswith("_") or "fn" not in vars(self):
        raise AttributeError(name)
    return getattr(JITFunction(self.fn), name)


@contextlib.contextmanager
def presented() -> Iterator[None]:
    """Where tensors are on the GPU, and what is made on the GPU is made here."""
    global _present
    rnn: Any = torch.nn.RNNBase
    before = _present, rnn.flatten_parameters
    _present, rnn.flatten_parameters = True, lambda _: None  # which lays weights side by side for cuDNN
    try:
        with _Elsewhere():
            yield
    finally:
        _present, rnn.flatten_parameters = before


@contextlib.contextmanager
def unfilled() -> Iterator[None]:
    """Where what is made has no memory, which nothing about it shows."""
    global HERE
    tensor: Any = torch.Tensor
    before, HERE, meta = HERE, NOWHERE, tensor.is_meta
    tensor.is_meta = property(lambda _: False)
    try:
        with NOWHERE:
            yield
    finally:
        HERE, tensor.is_meta = before, meta


@contextlib.contextmanager
def apart() -> Iterator[None]:
    """Where what is said to be on the GPU has no memory, and all else is on the host and says so."""
    global HERE, _apart
    tensor: Any = torch.Tensor
    before, meta = (HERE, _apart), tensor.is_meta
    HERE, _apart, tensor.is_meta = NOWHERE, True, property(lambda _: False)
    try:
        yield
    finally:
        (HERE, _apart), tensor.is_meta = before, meta


def is_presented() -> bool:
    """Whether tensors are said to be on a GPU that is not here."""
    return _present


@contextlib.contextmanager
def on_another_card() -> Iterator[None]:
    """Where all is on the second of two cards, which has another number of multiprocessors."""
    global _card
    before = H200.multi_processor_count
    _card, H200.multi_processor_count = SECOND, FEWER
    PROPERTIES["multiprocessor_count"] = H200.multi_processor_count
    try:
        yield
    finally:
        _card, H200.multi_processor_count = GPU, before
        PROPERTIES["multiprocessor_count"] = before


@contextlib.contextmanager
def left_blank() -> Iterator[None]:
    """Where weights without memory are not drawn: torch would make them where they say they are."""
    global _blank
    tensor: Any = torch.Tensor
    _blank = True
    before = {name: getattr(tensor, name) for name in DRAWING}
    for name in DRAWING:
        setattr(tensor, name, lambda self, *_args, **_more: self)
    try:
        yield
    finally:
        _blank = False
        for name, original in before.items():
            setattr(tensor, name, original)


class _Elsewhere(TorchFunctionMode):
    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        global _computing
        before, asks = _computing, getattr(function, "__name__", "") in ("__get__", "get_device")
        _computing = _blank and not asks
        try:
            return function(*map(_here, args), **{name: _here(value) for name, value in (kwargs or {}).items()})
        finally:
            _computing = before


def _here(value: Any) -> Any:
    if isinstance(value, torch.device):
        return HERE if value.type == "cuda" else value
    return HERE.type if isinstance(value, str) and value.partition(":")[0] == "cuda" else value


def _describe_tensors(moving: Callable[[], bool]) -> None:
    tensor: Any = torch.Tensor
    device, index, on_cpu = tensor.device.__get__, tensor.get_device, tensor.is_cpu.__get__

    def seen(self: Any) -> bool:
        return _present and not (_computing or moving() or (_apart and on_cpu(self)))

    tensor.device = property(lambda self: _card if seen(self) else device(self))
    tensor.get_device = lambda self: _card.index if seen(self) else index(self)
    tensor.is_cpu = property(lambda self: not seen(self) and on_cpu(self))
    tensor.is_cuda = property(lambda self: not (_apart and on_cpu(self)))
    tensor.cuda = lambda self, *_args, **_more: self.to(NOWHERE) if _apart else self
    tensor.record_stream = lambda _self, _stream: None


def _answer_for_cuda() -> None:
    cuda: Any = torch.cuda
    for name in ("init", "empty_cache", "set_device", "reset_peak_memory_stats", "manual_seed", "manual_seed_all"):
        setattr(cuda, name, lambda *_args, **_more: None)
    cuda.synchronize, cuda.set_stream = streams.synchronize, streams.choose
    cuda.current_device = lambda: _card.index
    for name in ("memory_allocated", "max_memory_allocated", "memory_reserved", "max_memory_reserved",
                 "memory_cached", "max_memory_cached"):  # fmt: skip
        setattr(cuda, name, lambda *_args, **_more: USED)
    for name in ("is_available", "is_bf16_supported", "is_initialized"):
        setattr(cuda, name, lambda *_args, **_more: True)
    for name, kind in (("device", Place), ("device_of", Place), ("stream", streams.Chosen)):
        setattr(cuda, name, type(name, (kind,), {"__module__": "torch.cuda"}))
    cuda.device_count = lambda: _card.index + 1
    cuda.get_device_properties = lambda _device=None: H200
    cuda.get_device_capability = lambda _device=None: (H200.major, H200.minor)
    cuda.get_device_name = lambda _device=None: H200.name
    cuda.mem_get_info = lambda _device=None: (FREE, MEMORY)
    cuda.get_arch_list = lambda: ["sm_90"]
    cuda.get_gencode_flags = lambda: "-gencode compute=compute_90,code=sm_90"
    cuda.current_stream = lambda _device=None: streams.current()
    cuda.default_stream = lambda _device=None: streams.DEFAULT
    cuda.Stream, cuda.Event = streams.Stream, streams.Event
    version: Any = torch.version
    version.cuda = version.cuda or "13.0"
    built = torch.__version__.partition("+")[0] + "+cu" + version.cuda.replace(".", "")
    torch.__version__ = version.__version__ = torch.torch_version.TorchVersion(built)
    backends: Any = torch.backends
    backends.cuda.is_built = backends.cudnn.is_available = backends.cudnn.is_acceptable = lambda *_args: True
    backends.cudnn.version = lambda: 91002
