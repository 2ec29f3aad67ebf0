"""What compiled code calls, and which kernels it holds, as its symbols say: other than text, they hide behind no macro.

Names are demangled; what a linker resolves is all that code can reach without loading more, which is refused, too.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from kdata.verify import reasons
from kdata.verify.candidate.operators import ALLOWED
from kdata.verify.candidate.source import Objection

LIBRARIES = re.compile(r"cublas|cudnn|cusparse|cusolver|cufft|curand[A-Z]|cutensor|cusparselt|nccl|nvshmem")
COMPUTE = re.compile(r"at::_ops::(\w+)::call\(")
# By which code could tell whether it is looked at.
ASKS = re.compile(
    r"TorchDispatchModeTLS|PythonDispatcherTLS|torch::(autograd::)?profiler|[Kk]ineto|RecordFunction|hasCallbacks"
    r"|tls_is_dispatch|c10::impl::tls_set|profilerEnabled"
)
# Compute that the dispatcher, and so the judge, would not see.
UNSEEN = re.compile(r"at::(native|cpu|meta|compositeexplicitautograd\w*|compositeimplicitautograd)::|at::cuda::blas::"
                    r"|at::cuda::\w+\(.*at::Tensor|at::_ops::\w+::redispatch|c10::Dispatcher::|torch::(jit|Library)\b"
                    r"|at::(internal|launch|parallel|intraop)")  # fmt: skip
RUNTIME = re.compile(
    r"cu(Launch|Module|Library|Link|GetProcAddress|Graph|Mem|Func|Kernel|Ctx|Pointer)\w*|nvrtc\w*|nvJitLink\w*|cupti\w*"
    r"|cuda(Graph|Host|MallocHost|MallocManaged|MallocPitch|Malloc3D|MallocArray|Memcpy(2D|3D|From|Peer|Batch|ToArray)"
    r"|Launch(HostFunc|CooperativeKernelMulti)|StreamBeginCapture|StreamAddCallback|Library|Ipc|Import|External"
    r"|GetDriverEntryPoint|Device(Reset|SetLimit|EnablePeer)|StreamSetAttribute|CtxResetPersisting|UserObject|Profiler"
    r"|GetExportTable|MemPool)\w*"
)
SYSTEM = re.compile(
    r"(v?fork|clone\d?|exec[vl]\w*|fexecve|posix_spawn\w*|system|popen|socket\w*|connect|bind|listen|accept\d?|send\w*|recv\w*"
    r"|open(at)?(64)?|creat(64)?|f(re|d)?open(64)?|mmap(64)?|mprotect|mremap|munmap|ptrace|process_vm_\w+|syscall|dlopen|dlsym"
    r"|dlmopen|dlvsym|dladdr\d?|dl_iterate_phdr|kill|raise|signal|sigaction|sigprocmask|setenv|putenv|unsetenv|secure_getenv"
    r"|getenv|pthread_create|pthread_atfork|unlink(at)?|rename(at)?|remove|chmod|mkdir|opendir|memfd_create|shm_open"
    r"|backtrace|getcontext|on_exit|PyRun_\w+|Py_CompileString\w*|PyEval_EvalCode\w*|PySys_\w+|PyFrame_\w+"
    r"|__(real|wrap)_\w+|kdata_\w+)(@\w+)?"
)
STREAMS = re.compile(r"std::(thread\b|__future_base|basic_(i|o)?f(stream|ilebuf)|filesystem|random_device|this_thread)")
KEPT = re.compile(
    r"PySys_(GetObject|WriteStderr)|PyFrame_(GetCode|GetBack|GetLineNumber|FastToLocals\w*)|PyGILState_\w+"
)
HOMES = re.compile(r"(at|c10|torch|caffe2|cub|thrust|cuda|cutlass|std|pybind11|cooperative_groups)::")


def object_to(symbols: Iterable[str]) -> Objection | None:
    """The first reason not to run code that needs these symbols, demangled; None if there is none."""
    for symbol in symbols:
        name = symbol.partition("@")[0]
        if LIBRARIES.match(name):
            return Objection(reasons.ATEN, f"calls {name}"[:200])
        if ASKS.search(name) and not name.startswith(("typeinfo", "vtable")):
            return Objection(reasons.BEHIND, f"calls {name}"[:200])
        if UNSEEN.search(name) and not name.startswith(("typeinfo", "vtable")):
            return Objection(reasons.ATEN, f"calls {name}, past the dispatcher"[:200])
        if KEPT.fullmatch(name):  # pybind11 and torch's headers
            continue
        if RUNTIME.fullmatch(name) or SYSTEM.fullmatch(name) or STREAMS.search(name):
            return Objection(reasons.BEHIND, f"calls {name}"[:200])
    return None


def computes(symbols: Iterable[str]) -> list[str]:
    """The operators that code may call which are not among those that a wrapper may leave to torch."""
    called = (match[1] for symbol in symbols if (match := COMPUTE.match(symbol)))
    return sorted({name for name in called if not _left_to_torch(name)})


def _left_to_torch(name: str) -> bool:
    """Whether an operator is one of those; its overload stands behind its name: ``select_int``."""
    if name.endswith(("_scatter", "_backward")):
        return False
    parts = name.split("_")
    return any("_".join(parts[:n]) in ALLOWED for n in range(1, len(parts) + 1))


def base(name: str) -> str:
    """A function's qualified name without return type, template arguments and parameters.

    ``void ns::scale<float>(float*, int)`` is ``ns::scale``; a name in C is itself.
    """
    plain = name.replace("(anonymous namespace)", "{anonymous}")
    kept, depth = [], 0
    for letter in plain.replace("operator()", "operator"):
        depth += letter in "<("
        if not depth:
            kept.append(letter)
        depth -= letter in ">)"
    words = "".join(kept).split()
    return words[-1].lstrip("*&") if words and "(" in plain else plain


class Kernels:
    """The kernels of a candidate's own text among those that a device has run: those that were compiled from it."""

    def __init__(self, compiled: Collection[str]) -> None:
        self.names = frozenset(found for name in compiled if not HOMES.match(found := base(name)))

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and base(name) in self.names
