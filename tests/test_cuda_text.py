"""Texts of candidates in CUDA C++: how they name the compiler, what is refused, and what language a text is."""

from __future__ import annotations

from pathlib import Path

import pytest

from kdata import folders, kernelbook
from kdata.record import Origin
from kdata.verify import reasons
from kdata.verify.candidate.source import task_part
from kdata.verify.cuda import text as cuda_text

GPU = Path(__file__).parent / "kernels" / "gpu"
FILES = sorted(GPU.glob("*cuda*.py"))


def wrapper(head: str, call: str) -> str:
    return f"import torch\n{head}\nclass ModelNew(torch.nn.Module):\n    pass\nX = {call}('x', '', '__global__ void k() {{}}')\n"


FORMS = {
    "from torch.utils.cpp_extension import load_inline": "load_inline",
    "from torch.utils.cpp_extension import load_inline as compile_it": "compile_it",
    "import torch.utils.cpp_extension": "torch.utils.cpp_extension.load_inline",
    "import torch.utils.cpp_extension as ext": "ext.load_inline",
    "from torch.utils import cpp_extension": "cpp_extension.load_inline",
    "from torch.utils import cpp_extension as ext": "ext.load_inline",
}


@pytest.mark.parametrize("head", FORMS)
def test_every_way_to_name_the_compiler_is_the_judges(head: str) -> None:
    python = cuda_text.python_part(wrapper(head, FORMS[head]))
    assert "X = load_inline('x'" in python
    assert "cpp_extension" not in python
    assert cuda_text.object_to_text(wrapper(head, FORMS[head])) is None


def test_what_only_chooses_a_compiler_is_ours_to_choose() -> None:
    head = "import os\nimport math\nos.environ['TORCH_CUDA_ARCH_LIST'] = '8.9'\n"
    text = head + wrapper("from torch.utils.cpp_extension import load_inline", "load_inline")
    assert cuda_text.object_to_text(text) is None
    assert "import os" not in cuda_text.python_part(text)
    for other in ("os.environ['LD_PRELOAD'] = 'x.so'\n", "x = os.getcwd()\n", "os.environ['CC'] = input()\n"):
        objection = cuda_text.object_to_text(text + other)
        assert objection is not None
        assert objection.reason == reasons.FORBIDDEN_IMPORT


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("def f(:", reasons.NOT_PYTHON),
        ("x = 1\n" * 200_000, reasons.TOO_LONG),
        ("from torch.utils.cpp_extension import load_inline\nload_inline('x', '')\n", reasons.NO_MODEL_NEW),
        ("class ModelNew:\n    pass\n", reasons.NO_KERNEL),
        (wrapper("from torch.utils.cpp_extension import load", "load"), reasons.FORBIDDEN_IMPORT),
        (wrapper("from torch.utils import cpp_extension", "cpp_extension.load"), reasons.NO_KERNEL),
        (wrapper("import sys\nfrom torch.utils.cpp_extension import load_inline", "load_inline"), reasons.FORBIDDEN_IMPORT),
        (wrapper("import cupy\nfrom torch.utils.cpp_extension import load_inline", "load_inline"), reasons.ABSENT_PACKAGE),
    ],
)  # fmt: skip
def test_the_python_part_keeps_to_the_rules_of_wrappers(text: str, reason: str) -> None:
    objection = cuda_text.object_to_text(text)
    assert objection is not None
    assert objection.reason == reason


@pytest.mark.parametrize(
    ("text", "reason", "words"),
    [
        ("#include <cublas_v2.h>", reasons.ATEN, "cublas_v2.h"),
        ("# include <cudnn.h>", reasons.ATEN, "cudnn.h"),
        ("#include <thrust/sort.h>", reasons.ATEN, "thrust/sort.h"),
        ("#include <sys/socket.h>", reasons.BEHIND, "sys/socket.h"),
        ("#include <thread>", reasons.BEHIND, "thread"),
        ('void f() { std::system("rm -r /"); }', reasons.BEHIND, "system"),
        ("void* f() { return dlsym(0, name); }", reasons.BEHIND, "dlsym"),
        ("c10::impl::ExcludeDispatchKeyGuard g(k);", reasons.BEHIND, "ExcludeDispatchKeyGuard"),
        ("extern int __real_cudaLaunchKernel();", reasons.BEHIND, "__real_cudaLaunchKernel"),
        ("TORCH_LIBRARY(mine, m) {}", reasons.BEHIND, "TORCH_LIBRARY"),
        ("#inc\\\nlude <cublas_v2.h>", reasons.ATEN, "cublas_v2.h"),
        ("%:include <cublas_v2.h>", reasons.ATEN, "cublas_v2.h"),
        ("%: undef __sync\\ \nthreads", reasons.BEHIND, "undef __syncthreads"),
        ('auto url = "//"; kdata_begin(0, 0);', reasons.BEHIND, "kdata_begin"),
        ("auto a = L'\"'; kdata_begin(0, 0); auto b = '\"';", reasons.BEHIND, "kdata_begin"),
        ('auto a = R"(")"; kdata_begin(0, 0); auto b = R"(")";', reasons.BEHIND, "kdata_begin"),
    ],
)
def test_objections_to_the_cpp_name_what_they_object_to(text: str, reason: str, words: str) -> None:
    kernel = "__global__ void k(float* x) { x[0] = 1; }\n"
    objection = cuda_text.object_to_sources([kernel + text])
    assert objection is not None
    assert objection.reason == reason
    assert words in objection.detail
    harmless = kernel + "// " + text.replace("\n", " ") + f"\n/* {text} */\n"
    assert cuda_text.object_to_sources([harmless]) is None


def test_cpp_that_is_no_kernel_is_refused_and_honest_kernels_are_not() -> None:
    objection = cuda_text.object_to_sources(["// __global__ void k() {}\nint f() { return 1; }"])
    assert objection is not None
    assert objection.reason == reasons.NO_KERNEL
    honest = (
        '#include <cuda_fp16.h>\n#include <cub/block/block_reduce.cuh>\n__global__ void k() { printf("system(x)"); }\n'
        "void f(at::Tensor x) { file_system(x); x.system(); k<<<1, 1, 0, at::cuda::getCurrentCUDAStream()>>>(); }"
    )
    assert cuda_text.object_to_sources([honest]) is None


def test_kernels_are_found_by_name() -> None:
    text = """
    template <int N> __global__ void __launch_bounds__(N, (N / 2)) one(float* x) {}
    __global__ __launch_bounds__(256) static void two (int n);
    extern "C" __global__ void three(const float* __restrict__ x) { helper(x); }
    /* __global__ void four() {} */ __device__ float five(float x) { return x; }
    """
    assert cuda_text.kernel_names([text]) == {"one", "two", "three"}


def test_numbers_that_kernels_name_are_among_the_inputs() -> None:
    text = (
        'X = """__global__ void k(float x) { if (x > 2.5f) y = 1e-3; int i = 77; /* 9.5 */ }"""\nY = 6.5\nZ = "8.5"\n'
    )
    assert cuda_text.values_named(text) == (1e-3, 2.5, (1e-3 + 2.5) / 2)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ((GPU / "good_cuda_affine.py").read_text(), "cuda"),
        ((GPU / "good_rms_norm.py").read_text(), "triton"),
        ((GPU.parent / "cheat_stream_cpp.py").read_text(), "triton"),  # both: judged as what it imports
        ("# not triton\nfrom torch.utils import cpp_extension\n", "cuda"),
        ("class ModelNew: pass\n", "triton"),
        ("no Python: __global__ void f() {", "cuda"),
    ],
)
def test_a_text_says_its_language(text: str, language: str) -> None:
    origin = Origin("folder", "", "", "x.py")
    assert folders.make("", text, origin, "file").language == language
    row = {"python_code": "", "triton_code": text, "entry_point": "Model"}
    assert kernelbook.candidate(row).language == language


def test_a_task_beside_cuda_needs_no_compiler() -> None:
    assert not any("cpp_extension" in task_part(file.read_text()) for file in FILES)
