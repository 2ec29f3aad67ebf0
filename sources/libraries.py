"""The operator libraries of the field: where they live, under what licence, where their kernels are.

Folders are those of the repositories in summer 2026; a library that has moved its files gives fewer rows, and none is
told of.  Licences are the repositories' own; what single files say of themselves goes before, and folders under
other terms are left out.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kdata.shards import Manifest, Store
from kdata.verbs import summary
from sources.fetch.texts import SourceError
from sources.pairs.recipe import read


@dataclass(frozen=True, slots=True)
class Library:
    """One library."""

    repository: str  # on GitHub
    license: str  # SPDX identifier of the whole
    kernels: tuple[str, ...]  # folders that hold hand-written kernels
    package: str = ""  # on the Python package index, where it has the sources
    excluded: tuple[str, ...] = ()  # folders of kernels under terms that forbid to pass them on, or not its own

    @property
    def url(self) -> str:
        """Where git fetches it."""
        return f"https://github.com/{self.repository}.git"


LIBRARIES: dict[str, Library] = {
    # CuTe DSL itself (python/) is under NVIDIA's own licence; its examples are BSD.
    "cutlass": Library(
        "NVIDIA/cutlass", "BSD-3-Clause", ("include", "examples", "tools/util/include", "tools/library"),
        excluded=("python", "cutlass_compiler"),
    ),
    "flash-attention": Library(
        "Dao-AILab/flash-attention", "BSD-3-Clause", ("csrc", "hopper", "flash_attn"), "flash-attn",
        excluded=("csrc/cutlass", "csrc/composable_kernel"),
    ),
    "flag-attention": Library("FlagOpen/FlagAttention", "Apache-2.0", ("src/flag_attn",)),
    "aotriton": Library("ROCm/aotriton", "MIT", ("modules", "tritonsrc")),
    "xformers": Library(
        "facebookresearch/xformers", "BSD-3-Clause", ("xformers/csrc", "xformers/ops", "xformers/triton"), "xformers",
    ),
    # Some files are taken from others: licenses/ names whose.
    "liger-kernel": Library(
        "linkedin/Liger-Kernel", "BSD-2-Clause", ("src/liger_kernel/ops", "liger_cute_kernels"), "liger-kernel",
    ),
    # Three kernels in four are variants for other vendors.
    "flag-gems": Library("FlagOpen/FlagGems", "Apache-2.0", ("src/flag_gems",), "flag-gems"),
    "bitsandbytes": Library(
        "bitsandbytes-foundation/bitsandbytes", "MIT", ("csrc", "bitsandbytes/backends"), "bitsandbytes",
    ),
    "gemlite": Library("mobiusml/gemlite", "Apache-2.0", ("gemlite",), "gemlite"),
    "flashinfer": Library(
        "flashinfer-ai/flashinfer", "Apache-2.0", ("include", "csrc", "flashinfer"), "flashinfer-python",
    ),
    "fbgemm": Library(
        "pytorch/FBGEMM", "BSD-3-Clause", ("fbgemm_gpu/src", "fbgemm_gpu/include", "fbgemm_gpu/codegen",
        "fbgemm_gpu/experimental", "fbgemm_gpu/fbgemm_gpu"),
    ),
    "transformer-engine": Library(
        "NVIDIA/TransformerEngine", "Apache-2.0", ("transformer_engine/common", "transformer_engine/pytorch"),
    ),
    "aten": Library(
        "pytorch/pytorch", "BSD-3-Clause", ("aten/src/ATen/native/cuda", "aten/src/ATen/cuda",
        "aten/src/ATen/native/transformers/cuda", "torch/csrc/inductor", "torch/_inductor/kernel"),
    ),
    "vllm": Library("vllm-project/vllm", "Apache-2.0", ("csrc", "vllm"), "vllm", excluded=("vllm/third_party",)),
    "sglang": Library(
        "sgl-project/sglang", "Apache-2.0", ("sgl-kernel", "python/sglang/srt", "python/sglang/jit_kernel"), "sglang",
    ),
    "llama.cpp": Library("ggml-org/llama.cpp", "MIT", ("ggml/src/ggml-cuda", "ggml/src/ggml-hip")),
    "tensorrt-llm": Library(
        "NVIDIA/TensorRT-LLM", "Apache-2.0", ("cpp/tensorrt_llm/kernels", "cpp/tensorrt_llm/common", "cpp/kernels",
        "tensorrt_llm/_torch"),
    ),
    "deepspeed": Library(
        "deepspeedai/DeepSpeed", "Apache-2.0", ("csrc", "deepspeed/ops", "deepspeed/inference"), "deepspeed",
    ),
    "triton": Library("triton-lang/triton", "MIT", ("python/tutorials", "python/triton_kernels", "python/examples")),
    "tilelang": Library(
        "tile-ai/tilelang", "MIT", ("examples", "src/tl_templates", "benchmark", "tilelang"), "tilelang",
    ),
    "cutile": Library("NVIDIA/cutile-python", "Apache-2.0", ("samples", "test/kernels", "experimental")),
    # The package flash-linear-attention has no kernels.
    "flash-linear-attention": Library("fla-org/flash-linear-attention", "MIT", ("fla/ops", "fla/modules"), "fla-core"),
    "torchao": Library("pytorch/ao", "BSD-3-Clause", ("torchao",), "torchao"),
    # kernels/moe has a licence of its own.
    "unsloth": Library(
        "unslothai/unsloth", "Apache-2.0", ("unsloth/kernels",), "unsloth", excluded=("unsloth/kernels/moe",),
    ),
    "conch": Library("stackav-oss/conch", "Apache-2.0", ("conch/kernels", "conch_cuda_ext"), "conch-triton-kernels"),
    "attorch": Library("BobMcDear/attorch", "MIT", ("attorch",)),
    "helion": Library("pytorch/helion", "BSD-3-Clause", ("examples", "benchmarks"), "helion"),
}  # fmt: skip


def make_each(names: Sequence[str], out: str, make: Callable[[Store, str], list[Manifest]]) -> None:
    """Make the shards of each library in the folder ``out``, and tell of each; one that cannot be had ends no other.

    Without names it lists the libraries: licence, whether there are recipes for pairs, package, repository.

    Raises:
        SourceError: some could not be had; each was told of.
        ValueError: no folder is named.
    """
    if not names:
        for key, library in LIBRARIES.items():
            package = f"pypi:{library.package}" if library.package else ""
            print(f"{key:24} {library.license:14} {'pairs' if read(key) else '':6} {package:27} {library.url}")
        return
    if not out:
        raise ValueError("name a folder for the shards with --out")
    failed = []
    for name in names:
        print(f"kdata: collecting {name}", file=sys.stderr, flush=True)
        try:
            made = make(Store(out), name)
        except SourceError as error:
            failed.append(name)
            print(f"kdata: {error}", file=sys.stderr, flush=True)
            continue
        for manifest in made:
            print(summary([manifest], f"{name}: {manifest.stage}"), flush=True)
    if failed:
        raise SourceError(f"{len(failed)} of {len(names)} failed: {', '.join(failed)}; the same command tries again")
