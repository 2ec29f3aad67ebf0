"""Candidates in CUDA C++ without a GPU: compilers' command lines, what is compiled, and what libraries do."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from kdata.record import Candidate, Origin, Task
from kdata.sandbox.guard import Limits
from kdata.sandbox.pool import lease
from kdata.sandbox.worker import ROOT
from kdata.verify import reasons
from kdata.verify.candidate.source import task_part
from kdata.verify.cuda import build as cuda_build
from kdata.verify.cuda import calls as cuda_calls
from kdata.verify.cuda import candidate as cuda
from kdata.verify.cuda import shim as cuda_shim
from kdata.verify.cuda import symbols as cuda_symbols
from kdata.verify.cuda import text as cuda_text
from kdata.verify.cuda.build import Toolkit
from kdata.verify.cuda.host import Library
from kdata.verify.evidence.findings import Findings, RejectedError
from kdata.verify.exchange.scratch import LIBRARIES
from kdata.verify.gpu.cards import Card
from kdata.verify.judge import judge, judge_files
from kdata.verify.options import Level, Options
from kdata.verify.step import rule

GPU = Path(__file__).parent / "kernels" / "gpu"
TOOLKIT = Toolkit(Path("/usr/local/cuda"), "90")
ON_GPU = Options(device="cuda", targets=())
CPP = """
#include <pybind11/pybind11.h>
long add(long address, int n);
void fetch(long address, int bytes);
int count() { static int calls = 0; return ++calls; }
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("add", add); m.def("fetch", fetch); m.def("count", count); }
"""
CUDA = """
#include <cuda_runtime.h>
#define KERNEL __global__
template <typename T> KERNEL void add_kernel(T* y, T by) { __shared__ T s[32]; s[threadIdx.x] = by; __syncthreads(); *y += s[0]; }
namespace inner { __global__ void other() {} }
long add(long address, int n) {
  if (n) add_kernel<float><<<n, 32>>>((float*)address, 1.0f);
  if (n) inner::other<<<dim3(1, 2, 3), 64>>>();
  return n;
}
void fetch(long address, int bytes) { char here[512]; cudaMemcpy(here, (void*)address, bytes, cudaMemcpyDeviceToHost); }
"""
ARGUMENTS: dict[str, Any] = {"name": "x", "cpp_sources": CPP, "cuda_sources": CUDA, "no_implicit_headers": True}
WITH_NVCC = pytest.mark.skipif(cuda.toolkit() is None, reason="needs nvcc")


def candidate(text: str, task: str = "") -> Candidate:
    source = task or task_part((GPU / "good_cuda_affine.py").read_text())
    return Candidate.make(Task.make(source, "Model", Origin("local", "tests", "", "t")), text, "cuda", "test")


def test_what_a_call_is_named_makes_no_other_library() -> None:
    one = cuda_calls.read("a", "x", ["y"], functions=["f"], verbose=True)
    other = cuda_calls.read(name="b", cpp_sources=["x"], cuda_sources="y", functions="f", build_directory="/b")
    assert one.key == other.key != cuda_calls.read("a", "x", "z", functions=["f"]).key
    assert cuda_calls.of(json.loads(json.dumps(asdict(one)))) == one
    with pytest.raises(ValueError, match="characters of C"):
        cuda_calls.of(asdict(replace(one, cpp=("x" * cuda_calls.LONGEST,))))
    with pytest.raises(TypeError):
        cuda_calls.of(asdict(one) | {"cpp": 3})
    with pytest.raises(ValueError, match="is_python_module"):
        cuda_calls.read("a", "x", is_python_module=False)
    with pytest.raises(TypeError, match="takes texts"):
        cuda_calls.read("a", 3)


def test_command_lines_have_the_flags_of_torch_and_those_that_a_kernel_may_choose() -> None:
    call = cuda_calls.read("a", "", "", extra_cflags=["-O3 -std=c++17", ""], extra_ldflags=["", "-lcudart -lm"], extra_cuda_cflags=[
        "-O3", "--use_fast_math", "-gencode", "arch=compute_70,code=sm_70", "-gencode=arch=compute_80,code=sm_80",
        "-Xptxas", "-v", "-Xcompiler", "-O2,-fno-exceptions", "--maxrregcount", "64", "-arch=sm_75", "-lineinfo",
    ])  # fmt: skip
    host, device, shim = cuda_build.compilations(call, TOOLKIT)
    assert host[:5] == ["g++", "-c", "main.cpp", "-o", "main.o"]
    assert host[-2:] == ["-std=c++20", "-O3"]
    assert device[0] == "/usr/local/cuda/bin/nvcc"
    own = ["-O3", "--use_fast_math", "-Xcompiler", "-O2,-fno-exceptions", "--maxrregcount=64"]
    assert device[-len(own) - 3 :] == [*own, "-std=c++20", "-Xptxas", "-v"]
    assert [flag for flag in device if "arch=" in flag] == ["-gencode=arch=compute_90,code=[sm_90,compute_90]"]
    assert "-D__CUDA_NO_HALF_OPERATORS__" in device
    assert "shim.cpp" in shim
    linked = cuda_build.linking(call, TOOLKIT)
    assert {f"-Wl,--wrap={name}" for name in cuda_shim.WRAPPED} <= set(linked)
    assert all(f"__wrap_{n}" in cuda_shim.TEXT or f"({n}" in cuda_shim.TEXT for n in cuda_shim.WRAPPED)
    plain = cuda_calls.read("a", "")
    assert len(cuda_build.compilations(plain, TOOLKIT)) == 1
    assert not [flag for flag in cuda_build.linking(plain, TOOLKIT) if "wrap" in flag]


@pytest.mark.parametrize(
    "flags",
    [{"extra_cflags": ["-fplugin=x.so"]}, {"extra_cflags": ["-I/etc"]}, {"extra_cuda_cflags": ["-Xcompiler", "-fplugin=x"]},
     {"extra_cuda_cflags": ["--pre-include", "/etc/passwd"]}, {"extra_cuda_cflags": ["-Xptxas", "--opt-x=/etc"]},
     {"extra_ldflags": ["-lcublas"]}, {"extra_ldflags": ["-Wl,--no-wrap"]}],
)  # fmt: skip
def test_flags_that_no_kernel_needs_are_refused(flags: dict[str, list[str]]) -> None:
    call = cuda_calls.read("a", "", "", **flags)
    with pytest.raises(cuda_build.RefusedError):
        [*cuda_build.compilations(call, TOOLKIT), cuda_build.linking(call, TOOLKIT)]


def test_texts_are_laid_out_as_load_inline_does(tmp_path: Path) -> None:
    cuda_build.lay(cuda_calls.read("a", "int f();", "int f() { return 1; }", functions={"f": "one"}), tmp_path)
    main = (tmp_path / "main.cpp").read_text()
    assert main.startswith("#include <torch/extension.h>\nint f();\nPYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {")
    assert 'm.def("f", torch::wrap_pybind_function(f), "one");' in main
    assert (tmp_path / "cuda.cu").read_text().startswith("#include <torch/types.h>\n#include <cuda.h>\n")


def test_the_first_error_and_what_ptxas_tells_are_read() -> None:
    log = "In file included from x\n/scratch/abc/cuda.cu(4): error: expected an expression\n1 error detected\n"
    assert cuda_build.first_error(log) == "cuda.cu(4): error: expected an expression"
    warned = "main.cpp:3: warning: unused variable 'error'\n/a/main.cpp:5:3: error: expected ';'\n"
    assert cuda_build.first_error(warned) == "main.cpp:5:3: error: expected ';'"
    assert cuda_build.first_error("nvcc fatal   : Unknown option\n") == "nvcc fatal   : Unknown option"
    assert cuda_build.first_error("") == "it says nothing"
    told = (
        "ptxas info    : 0 bytes gmem\nptxas info    : Compiling entry function '_Z1kPf' for 'sm_90'\n"
        "ptxas info    : Function properties for _Z1kPf\n    8 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads\n"
        "ptxas info    : Used 40 registers, used 1 barriers, 4224 bytes smem, 400 bytes cmem[0]\n"
        "ptxas info    : Compiling entry function 'c' for 'sm_90'\nptxas info    : Used 8 registers, used 0 barriers\n"
    )
    one, other = cuda_build.kernels(told)
    assert one == {"kernel": "_Z1kPf", "target": "sm_90", "registers": 40, "spills": 4, "shared": 4224}
    assert (other["kernel"], other["registers"], other["shared"]) == ("c", 8, 0)


@pytest.mark.parametrize(
    ("symbol", "reason"),
    [
        ("cublasSgemm_v2", reasons.ATEN), ("cudnnConvolutionForward", reasons.ATEN),
        ("at::native::relu(at::Tensor const&)", reasons.ATEN), ("at::cuda::mm(at::Tensor const&, at::Tensor const&)", reasons.ATEN),
        ("pthread_create@GLIBC_2.34", reasons.BEHIND), ("system", reasons.BEHIND), ("dlopen", reasons.BEHIND),
        ("c10::impl::TorchDispatchModeTLS::any_modes_set(bool)", reasons.BEHIND),
        ("torch::autograd::profiler::profilerEnabled()", reasons.BEHIND), ("cuLaunchKernel", reasons.BEHIND), ("cudaGraphLaunch", reasons.BEHIND), ("cudaMallocManaged", reasons.BEHIND),
        ("__real_cudaLaunchKernel", reasons.BEHIND), ("kdata_begin", reasons.BEHIND), ("PyRun_SimpleStringFlags", reasons.BEHIND),
        ("std::basic_ifstream<char, std::char_traits<char> >::basic_ifstream()", reasons.BEHIND),
        ("std::thread::_M_start_thread(std::unique_ptr<std::thread::_State>)", reasons.BEHIND),
        ("c10::cuda::getCurrentCUDAStream(signed char)", ""), ("at::_ops::empty_like::call(at::Tensor const&)", ""),
        ("cudaLaunchKernel", ""), ("__cudaLaunchKernel", ""), ("cudaGetLastError", ""), ("cudaMalloc", ""),
        ("PyErr_SetString", ""), ("PyGILState_Check", ""), ("strlen@GLIBC_2.2.5", ""), ("at::cuda::getCurrentDeviceProperties()", ""),
        ("c10::impl::ExcludeDispatchKeyGuard::ExcludeDispatchKeyGuard(c10::DispatchKeySet)", ""),
    ],
)  # fmt: skip
def test_symbols_say_what_code_reaches(symbol: str, reason: str) -> None:
    objection = cuda_symbols.object_to(["malloc", symbol])
    assert (objection.reason if objection else "") == reason


def test_operators_that_code_could_call_are_told() -> None:
    symbols = ["at::_ops::empty_like::call(at::Tensor const&)", "at::_ops::relu::call(at::Tensor const&)", "malloc",
               "at::_ops::zeros::call(c10::ArrayRef<c10::SymInt>)", "at::_ops::mul__Scalar::call(at::Tensor&)",
               "at::_ops::empty_memory_format::call(x)", "at::_ops::select_int::call(x)", "at::_ops::to_dtype_layout::call(x)",
               "at::_ops::fill__Scalar::call(x)", "at::_ops::select_scatter::call(x)"]  # fmt: skip
    assert cuda_symbols.computes(symbols) == ["mul__Scalar", "relu", "select_scatter"]


def test_a_devices_kernels_are_told_from_torchs() -> None:
    own = cuda_symbols.Kernels(
        ["void ns::scale<float>(float*, int)", "plain", "(anonymous namespace)::hidden(int)",
         "void at::native::vectorized_elementwise_kernel<4, lambda>(int)", "void cub::DeviceReduceKernel<x>(int)"]
    )  # fmt: skip
    assert own.names == {"ns::scale", "plain", "{anonymous}::hidden"}
    for name in ("void ns::scale<double>(double*, int)", "plain", "(anonymous namespace)::hidden(int)"):
        assert name in own
    for name in ("void at::native::vectorized_elementwise_kernel<4, x>(int)", "sm90_xmma_gemm_f32", "Memset (Device)",
                 "void cub::DeviceReduceKernel<x>(int)", "scale"):  # fmt: skip
        assert name not in own


class Answers:
    """A candidate's process that says this."""

    def __init__(self, **said: Any) -> None:
        self.said: dict[str, Any] = {"watch": {}, "follow": {"follows": True}} | said

    def ask(self, question: dict[str, Any], _seconds: float = 0.0) -> dict[str, Any]:
        answer: dict[str, Any] = self.said[question["do"]]
        return answer


@pytest.mark.parametrize(
    ("kernels", "called", "reason", "words"),
    [
        (["void own<float>(float*)", "Memset (Device)"], [], "", ""),
        (["own(float*)", "void at::native::x<at::native::FillFunctor<float> >(int)"], [], "", ""),
        (["own(float*)", "sm90_xmma_gemm_f32f32"], [], reasons.ATEN, "sm90_xmma_gemm"),
        (["own(float*)", "void at::native::vectorized_elementwise_kernel<4, Add, LoadWithCast<1> >(int)"], [], reasons.ATEN,
         "vectorized"),
        (["Memcpy DtoD (Device -> Device)"], [], reasons.NOT_LAUNCHED, "profiler"),
        (["own(float*)"], ["aten.mm"], reasons.ATEN, "aten.mm"),
    ],
)  # fmt: skip
def test_at_its_own_sizes_a_device_runs_its_own_kernels_only(
    kernels: list[str], called: list[str], reason: str, words: str
) -> None:
    own = cuda_symbols.Kernels(["void own<float>(float*)"])
    events = [[1, name, 7, 0, 10] for name in kernels]
    full: Any = Answers(watch={"aten": called}, profile={"kernels": events})
    if not reason:
        cuda.look(full, own)
        return
    with pytest.raises(RejectedError) as rejection:
        cuda.look(full, own)
    assert rejection.value.reason == reason
    assert words in rejection.value.detail


def test_what_makes_no_sense_is_a_crash_and_the_stream_is_told() -> None:
    answers: tuple[Any, ...] = (None, "x", [3], [[]])
    for nonsense in answers:
        full: Any = Answers(profile={"kernels": nonsense})
        with pytest.raises(RejectedError) as rejection:
            cuda.look(full, cuda_symbols.Kernels([]))
        assert rejection.value.reason == reasons.CRASH
    for said in (True, False):
        found = Findings()
        told: Any = Answers(follow={"follows": said})
        cuda.follow(told, found)
        assert [(c.name, c.passed) for c in found.checks] == [(cuda.STREAM, said)]


def test_a_text_is_asked_once_what_it_compiles() -> None:
    (call,) = cuda._gather(*_gathered((GPU / "good_cuda_affine.py").read_text()))
    assert call.functions == (("affine", "affine"),)
    assert call.cuda_cflags == ("-O3",)
    assert "__global__ void affine_kernel" in call.cuda[0]
    (call,) = cuda._gather(*_gathered((GPU / "good_cuda_rms_norm.py").read_text()))  # by its constructor
    assert call.functions == (("rms_norm", "rms_norm"),)
    two = cuda._gather(*_gathered((GPU / "good_cuda_two_libraries.py").read_text()))  # one has bindings of its own
    assert [call.functions for call in two] == [(), (("scale", "scale"),)]
    never = (
        "class ModelNew:\n    def forward(self, x):\n        return load_inline('x', '', '__global__ void k() {}')\n"
    )
    for text, reason, words in (
        (never, reasons.NO_KERNEL, "neither on import nor by the constructor"),
        ("raise KeyError('gone')", reasons.RAISES, "on import: KeyError"),
        ("load_inline('x', 3)", reasons.RAISES, "takes texts"),
        ("import os\nos._exit(3)", reasons.CRASH, "exit status 3"),
    ):
        with pytest.raises(RejectedError) as rejection:
            cuda._gather(*_gathered(text))
        assert rejection.value.reason == reason
        assert words in rejection.value.detail


def _gathered(text: str) -> tuple[Candidate, str, Options]:
    task = task_part((GPU / "good_cuda_rms_norm.py").read_text()) if "rms_norm" in text else ""
    return candidate(text, task), cuda_text.python_part(text), Options(timeout=30.0)


def test_without_a_gpu_or_a_compiler_one_line_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    file = GPU / "good_cuda_affine.py"
    levels: tuple[Level, ...] = ("screen", "kernelbench")
    for level in levels:
        receipt = judge_files(file, file, Options(level=level), rule(level))
        assert (receipt.verdict, receipt.reason) == ("unverified", reasons.NO_GPU)
        assert "--device cuda" in receipt.detail
    monkeypatch.setattr(cuda, "cards", lambda: (Card("GPU-1", "a GPU", "1", "/dev/nvidia0"),))
    assert cuda.lacking(Options()) is not None
    monkeypatch.setattr(cuda, "toolkit", lambda: None)
    missing = cuda.lacking(ON_GPU)
    assert missing is not None
    assert missing[0] == reasons.NO_COMPILER
    assert "CUDA_HOME" in missing[1]
    monkeypatch.setattr(cuda, "toolkit", lambda: Path("/usr/local/cuda"))
    monkeypatch.setattr(shutil, "which", lambda name: None if name == "nm" else f"/usr/bin/{name}")
    missing = cuda.lacking(ON_GPU)
    assert missing is not None
    assert "no nm" in missing[1]


def test_other_languages_are_not_judged() -> None:
    other = replace(candidate("fn main() {}"), language="rust")
    receipt = judge(other.task, other, Options(targets=()))
    assert (receipt.verdict, receipt.reason) == ("unverified", reasons.NO_GPU)


@pytest.fixture(scope="module")
def built() -> tuple[dict[str, Any], Mapping[str, bytes]]:
    return cuda._build(cuda_calls.read(**ARGUMENTS), "90")


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
def test_what_is_bound_weakly_is_needed_too(tmp_path: Path) -> None:
    (tmp_path / "weak.cpp").write_text(
        "#define PASTED(a, b) a##b\n"
        'extern "C" __attribute__((weak)) void* PASTED(dlo, pen)(const char*, int);\n'
        "void* reach() { return PASTED(dlo, pen)(nullptr, 0); }\n"
    )
    subprocess.run(["g++", "-c", "weak.cpp"], cwd=tmp_path, check=True)
    listed = subprocess.run(
        ["nm", "--undefined-only", "weak.o"], cwd=tmp_path, check=True, capture_output=True, text=True
    )
    needed = list(cuda_build._named(listed.stdout))
    assert "dlopen" in needed
    assert (objection := cuda_symbols.object_to(needed)) and objection.reason == reasons.BEHIND


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
def test_two_libraries_are_two_modules(tmp_path: Path) -> None:
    found = [Library(_library(tmp_path, function)) for function in ("one", "other")]
    assert [sorted(library.functions) for library in found] == [["one"], ["other"]]


def _library(folder: Path, function: str) -> Path:
    """A library of one function."""
    module = f'PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {{ m.def("{function}", [] {{}}); }}'
    (folder / f"{function}.cpp").write_text(f"#include <pybind11/pybind11.h>\n{module}\n")
    headers = [part for path in cuda_build.includes(folder) for part in ("-isystem", path)]
    command = ["g++", "-shared", "-fPIC", "-std=c++20", f"-DTORCH_EXTENSION_NAME={cuda_build.NAME}", *headers]
    subprocess.run([*command, f"{function}.cpp", "-o", f"{function}.so"], cwd=folder, check=True)
    return folder / f"{function}.so"


@WITH_NVCC
def test_where_warps_wait_the_part_of_the_host_is_not_compiled_again(
    built: tuple[dict[str, Any], Mapping[str, bytes]],
) -> None:
    answer, files = built
    waits, others = cuda._build(cuda_calls.read(**ARGUMENTS), "90", files[cuda_build.HOST_OBJECT])
    assert [b["kernel"] for b in waits["builds"]] == [b["kernel"] for b in answer["builds"]]
    assert others[cuda_build.HOST_OBJECT] == files[cuda_build.HOST_OBJECT]
    assert others[cuda_build.LIBRARY] != files[cuda_build.LIBRARY]


@WITH_NVCC
def test_compilers_run_in_the_sandbox(built: tuple[dict[str, Any], Mapping[str, bytes]]) -> None:
    answer, files = built
    assert files[cuda_build.LIBRARY].startswith(b"\x7fELF")
    kernels = {b["kernel"]: b for b in answer["builds"]}
    assert set(kernels) == {"void add_kernel<float>(float*, float)", "inner::other()"}
    assert kernels["void add_kernel<float>(float*, float)"]["shared"] == 128
    assert all(b["target"] == "sm_90" and b["registers"] > 0 and b["spills"] == 0 for b in answer["builds"])
    assert cuda_symbols.object_to(answer["symbols"]) is None


@WITH_NVCC
def test_what_does_not_compile_is_rejected_with_the_first_error() -> None:
    for change, reason, words in (
        (
            {"cuda_sources": CUDA.replace("*y +=", "*y += =")},
            f"{reasons.NO_COMPILE} sm_90",
            "cuda.cu(4): error: expected",
        ),
        ({"cpp_sources": '#include "/etc/shadow"\n' + CPP}, f"{reasons.NO_COMPILE} sm_90", "/etc/shadow"),
        ({"extra_ldflags": ["-lcublas"]}, reasons.ATEN, "-lcublas"),
        ({"extra_cflags": ["-fplugin=x.so"]}, reasons.BEHIND, "-fplugin=x.so"),
    ):
        with pytest.raises(RejectedError) as rejection:
            cuda._build(cuda_calls.read(**ARGUMENTS | change), "90")
        assert rejection.value.reason == reason
        assert words in rejection.value.detail
        assert "/tmp" not in rejection.value.detail


@WITH_NVCC
def test_launches_are_noted_and_held_back_and_what_a_library_keeps_is_seen(
    built: tuple[dict[str, Any], Mapping[str, bytes]],
) -> None:
    home, key = cuda.toolkit(), cuda_calls.read(**ARGUMENTS).key
    files = {LIBRARIES: json.dumps({key: "0.so"}).encode(), "0.so": built[1][cuda_build.LIBRARY]}
    path = f"{ROOT}{os.pathsep}{ROOT / 'tests'}"
    with lease("torch", PYTHONPATH=path, LD_LIBRARY_PATH=f"{home}/lib64:{home}/lib") as worker:
        found = worker.call("cuda_jobs:look", ARGUMENTS, Limits(wall=60, cpu=60), files).value
    assert found["skipped"] == 3  # a launch that is held back says that all is well
    launch = {"arguments": {}, "options": {}, "elsewhere": False}
    assert found["launches"] == [
        {"kernel": "add_kernel", "grid": [3, 1, 1], "block": [32, 1, 1], **launch},
        {"kernel": "inner::other", "grid": [1, 2, 3], "block": [64, 1, 1], **launch},
    ]
    assert found["failing"] == "InjectedError: injected: this launch failed"
    assert found["quiet"]
    assert found["counts"]
    assert found["said"] == ["cudaMemcpy of 256 bytes to the host"]
    assert found["attribute"].startswith("ForbiddenError")
    assert "not what was compiled" in found["unknown"]
