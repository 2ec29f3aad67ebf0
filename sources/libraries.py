"""The operator libraries of the field: where they live, under what licence, where kernels and references are.

Folders are those of the repositories in summer 2026; a library that has moved its files gives fewer rows, and none is
told of.  Licences are the repositories' own; what single files say of themselves goes before, and folders under
other terms are left out.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Library:
    """One library."""

    repository: str  # on GitHub
    license: str  # SPDX identifier of the whole
    kernels: tuple[str, ...]  # folders that hold hand-written kernels
    references: tuple[str, ...] = ()  # tests and modules with PyTorch references and tolerances
    package: str = ""  # on the Python package index, where it has the sources
    excluded: tuple[str, ...] = ()  # folders of kernels under terms that forbid to pass them on, or not its own
    note: str = ""

    @property
    def url(self) -> str:
        """Where git fetches it."""
        return f"https://github.com/{self.repository}.git"


LIBRARIES: dict[str, Library] = {
    "cutlass": Library(
        "NVIDIA/cutlass", "BSD-3-Clause", ("include", "examples", "tools/util/include", "tools/library"),
        ("test/unit",), excluded=("python", "cutlass_compiler"),
        note="CuTe DSL itself (python/) is under NVIDIA's own licence; its examples are BSD.",
    ),
    "flash-attention": Library(
        "Dao-AILab/flash-attention", "BSD-3-Clause", ("csrc", "hopper", "flash_attn"), ("tests", "hopper"),
        "flash-attn", excluded=("csrc/cutlass", "csrc/composable_kernel"),
    ),
    "flag-attention": Library(
        "FlagOpen/FlagAttention", "Apache-2.0", ("src/flag_attn",), ("src/flag_attn/testing", "tests"),
        note="PyTorch references beside the kernels, in testing/.",
    ),
    "aotriton": Library(
        "ROCm/aotriton", "MIT", ("modules", "tritonsrc"), ("modules/flash/tests", "tritonsrc", "test"),
    ),
    "xformers": Library(
        "facebookresearch/xformers", "BSD-3-Clause", ("xformers/csrc", "xformers/ops", "xformers/triton"), ("tests",),
        "xformers",
    ),
    "liger-kernel": Library(
        "linkedin/Liger-Kernel", "BSD-2-Clause", ("src/liger_kernel/ops", "liger_cute_kernels"),
        ("test/transformers", "test/chunked_loss"), "liger-kernel",
        note="Some files are taken from others: licenses/ names whose.",
    ),
    "flag-gems": Library(
        "FlagOpen/FlagGems", "Apache-2.0", ("src/flag_gems",), ("tests",), "flag-gems",
        note="Tests name the torch operator. Three kernels in four are variants for other vendors.",
    ),
    "bitsandbytes": Library(
        "bitsandbytes-foundation/bitsandbytes", "MIT", ("csrc", "bitsandbytes/backends"),
        ("bitsandbytes/backends/default", "tests"), "bitsandbytes", note="backends/default is a twin in PyTorch.",
    ),
    "gemlite": Library("mobiusml/gemlite", "Apache-2.0", ("gemlite",), ("tests",), "gemlite"),
    "flashinfer": Library(
        "flashinfer-ai/flashinfer", "Apache-2.0", ("include", "csrc", "flashinfer"), ("tests",), "flashinfer-python",
    ),
    "fbgemm": Library(
        "pytorch/FBGEMM", "BSD-3-Clause", ("fbgemm_gpu/src", "fbgemm_gpu/include", "fbgemm_gpu/codegen",
        "fbgemm_gpu/experimental", "fbgemm_gpu/fbgemm_gpu"), ("fbgemm_gpu/test",),
    ),
    "transformer-engine": Library(
        "NVIDIA/TransformerEngine", "Apache-2.0", ("transformer_engine/common", "transformer_engine/pytorch"),
        ("tests/pytorch", "tests/cpp"), "transformer-engine",
    ),
    "aten": Library(
        "pytorch/pytorch", "BSD-3-Clause", ("aten/src/ATen/native/cuda", "aten/src/ATen/cuda",
        "aten/src/ATen/native/transformers/cuda", "torch/csrc/inductor", "torch/_inductor/kernel"),
        ("torch/_refs", "test/test_ops.py"), note="torch/_refs says every operator in simpler ones.",
    ),
    "vllm": Library(
        "vllm-project/vllm", "Apache-2.0", ("csrc", "vllm"), ("tests/kernels",), "vllm",
        excluded=("vllm/third_party",),
    ),
    "sglang": Library(
        "sgl-project/sglang", "Apache-2.0", ("sgl-kernel", "python/sglang/kernels", "python/sglang/srt",
        "python/sglang/jit_kernel"), ("sgl-kernel/tests", "test"), "sglang",
    ),
    "llama.cpp": Library(
        "ggml-org/llama.cpp", "MIT", ("ggml/src/ggml-cuda", "ggml/src/ggml-hip"), ("tests/test-backend-ops.cpp",),
    ),
    "tensorrt-llm": Library(
        "NVIDIA/TensorRT-LLM", "Apache-2.0", ("cpp/tensorrt_llm/kernels", "cpp/tensorrt_llm/common", "cpp/kernels",
        "tensorrt_llm/_torch"), ("cpp/tests/unit_tests/kernels", "tests/unittest"),
    ),
    "deepspeed": Library(
        "deepspeedai/DeepSpeed", "Apache-2.0", ("csrc", "deepspeed/ops", "deepspeed/inference"), ("tests/unit/ops",),
        "deepspeed",
    ),
    "triton": Library(
        "triton-lang/triton", "MIT", ("python/tutorials", "python/triton_kernels", "python/examples"),
        ("python/tutorials", "python/triton_kernels/tests"), note="Tutorials compare with PyTorch in place.",
    ),
    "tilelang": Library(
        "tile-ai/tilelang", "MIT", ("examples", "src/tl_templates", "benchmark", "tilelang"), ("examples", "testing"),
        "tilelang",
    ),
    "cutile": Library("NVIDIA/cutile-python", "Apache-2.0", ("samples", "test/kernels", "experimental"), ("test",)),
    "flash-linear-attention": Library(
        "fla-org/flash-linear-attention", "MIT", ("fla/ops", "fla/modules"), ("fla/ops", "tests/ops"), "fla-core",
        note="References are the naive.py beside the kernels. The package flash-linear-attention has no kernels.",
    ),
    "torchao": Library("pytorch/ao", "BSD-3-Clause", ("torchao",), ("test",), "torchao"),
    "unsloth": Library(
        "unslothai/unsloth", "Apache-2.0", ("unsloth/kernels",), ("tests",), "unsloth",
        excluded=("unsloth/kernels/moe",), note="kernels/moe has a licence of its own.",
    ),
    "conch": Library(
        "stackav-oss/conch", "Apache-2.0", ("conch/kernels", "conch_cuda_ext"), ("conch/reference", "tests"),
        "conch-triton-kernels",
    ),
    "attorch": Library("BobMcDear/attorch", "MIT", ("attorch",), ("tests",), note="Its layers are PyTorch's by name."),
    "helion": Library("pytorch/helion", "BSD-3-Clause", ("examples", "benchmarks"), ("test", "examples"), "helion"),
}  # fmt: skip
