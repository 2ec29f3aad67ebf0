"""The parameters of an evaluation: command line, form in Prefect and saved configuration at once."""

from __future__ import annotations

import os
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator


class EvalSettings(BaseModel):
    """What to ask a model, how often, and how to judge its answers."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    suite: Literal["kernelbench", "tritonbench", "heldout"] = Field(
        "kernelbench",
        description="kernelbench: KernelBench's problems; tritonbench: those of TritonBench-T that can be judged; "
        "heldout: the test split of a kdata dataset.",
    )
    path: str = Field(
        min_length=1,
        description="The suite's folder, parquet file, or dataset on the Hub, such as ScalingIntelligence/KernelBench; "
        "a checkout of thunlp/TritonBench.",
    )
    level: list[int] = Field(
        [], description="KernelBench levels, or TritonBench-T difficulties; by commas. Default: all that there are."
    )
    problems: int | None = Field(None, ge=1, description="At most this many problems of a level.")
    samples: int = Field(20, ge=1, le=1000, description="Answers to each problem.")
    language: Literal["triton", "cuda"] = Field(
        "triton", description="Language of the kernels. cuda: CUDA C++ by load_inline, on a GPU with nvcc only."
    )
    temperature: float = Field(0.8, ge=0, le=2, description="Of sampling; 0 takes the likeliest token, once a problem.")
    top_p: float = Field(0.95, gt=0, le=1, description="Sample from the likeliest tokens of this total probability.")
    max_tokens: int = Field(4096, ge=1, description="At most this many new tokens an answer.")
    seed: int = Field(0, ge=0, description="Seed of the first sample; the next one has the next.")
    batch: int | None = Field(None, ge=1, description="Prompts at once. Default: as many as suits what generates.")
    generator: Literal["auto", "vllm", "transformers"] = Field(
        "auto", description="What generates from a model on this machine. auto: vLLM where it is installed and can "
        "start, else transformers."
    )  # fmt: skip
    device: Literal["auto", "cpu", "cuda"] = Field(
        "auto", description="Where candidates run. On a CPU: scaled-down shapes in Triton's interpreter, nothing timed."
    )
    timed: bool = Field(True, description="On a GPU: measure speedups; much of the time goes into it.")
    effort: Literal["screen", "trust"] = Field("screen", description="How much the judge tries.")
    targets: list[str] = Field(["sm_90"], description="GPUs that kernels must compile for; none need be here.")
    timeout: float = Field(60.0, gt=0, description="Seconds that a candidate may take on a CPU.")
    workers: int | None = Field(None, ge=1, description="Problems judged at once. Default: the number of cores.")

    @field_validator("level", "targets", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        """Also take ``a,b`` for ``a`` and ``b``."""
        items = value if isinstance(value, list | tuple) else [value]
        parts = [
            part for item in items for part in (item.split(",") if isinstance(item, str) else [item]) if part != ""
        ]
        return list(dict.fromkeys(parts))

    @property
    def parallel(self) -> int:
        """Problems judged at once."""
        return self.workers or os.cpu_count() or 1

    @property
    def seeds(self) -> range:
        """One seed a sample; all greedy samples would be the same one."""
        return range(self.seed, self.seed + (self.samples if self.temperature > 0 else 1))


class EvalOptions(EvalSettings):
    """Which model to ask, and where to put what it says."""

    model: str = Field(
        min_length=1,
        description="A Hugging Face id, a local folder, a GGUF file, or the address of an OpenAI-compatible server "
        "(http://127.0.0.1:8000/v1; its key, if it wants one, in OPENAI_API_KEY), or a .jsonl(.gz) file of answers "
        "made elsewhere, in the fields of sft.answers.Answer.",
    )
    served_model: str | None = Field(None, description="The server's name for the model. Default: its only one.")
    out: str = Field("out/eval", description="Folder (or fsspec URL) of the answers, the verdicts and the results.")
