"""The parameters of the flow ``build-kernelbook``: command line, form in Prefect and saved configuration at once."""

from __future__ import annotations

import os
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

# Small packages of plain PyTorch modules under permissive licences, with few dependencies at import.
DEFAULT_SOURCES = tuple(
    f"pypi:{name}" for name in ("timm", "kornia", "monai", "x-transformers", "vit-pytorch", "speechbrain")
)


class BuildOptions(BaseModel):
    """What to build, from what, and where to put it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    sources: list[str] = Field(
        list(DEFAULT_SOURCES),
        min_length=1,
        description="Where code comes from: a package (pypi:timm, pypi:timm==1.0.9), a git repository (git:URL, "
        "git:URL@COMMIT) or a folder (./mylib). Repeat the option, or separate by commas.",
    )
    out: str = Field("out/kernelbook", description="Folder (or fsspec URL) of the shards, the dataset and the report.")
    limit: int = Field(120, ge=1, description="At most this many tasks of one source.")
    languages: list[Literal["triton"]] = Field(["triton"], min_length=1, description="Languages of the kernels.")
    targets: list[str] = Field(
        ["sm_90", "gfx942"], description="GPUs to compile for; none need be here: sm_80, sm_90, sm_100, gfx942."
    )
    seeds: int = Field(2, ge=1, le=16, description="Draws of weights and inputs for each shape.")
    seed: int = Field(0, description="Decides which definitions are taken when there are more than the limit.")
    problems: str | None = Field(
        None, description="Folder or parquet file of KernelBench problems: pairs that leak them are dropped."
    )
    shard_size: int = Field(15, ge=1, description="Tasks of one shard, about: the unit of work and of resume.")
    workers: int | None = Field(None, ge=1, description="Shards in work at once. Default: the number of cores.")
    runner: Literal["threads", "ray"] = Field("threads", description="Where shards are worked on.")
    ray_address: str | None = Field(None, description="Address of a Ray cluster; without one a local cluster starts.")
    publish_to: str | None = Field(None, description="Hugging Face dataset repository, as owner/name; needs HF_TOKEN.")

    @field_validator("sources", "targets", "languages", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        """Also take ``a,b`` for ``a`` and ``b``."""
        items = value if isinstance(value, list | tuple) else [value]
        return [part for item in items for part in (item.split(",") if isinstance(item, str) else [item]) if part]

    @property
    def parallel(self) -> int:
        """Shards in work at once."""
        return self.workers or os.cpu_count() or 1

    def part_limits(self) -> list[int]:
        """How many tasks each mining part of a source may give: their sum is ``limit``.

        It depends on no machine, so that a resumed or distributed run has the same shards.
        """
        parts = max(1, round(self.limit / self.shard_size))
        return [self.limit // parts + (part < self.limit % parts) for part in range(parts)]
