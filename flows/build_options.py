"""The parameters of the flow ``build-kernelbook``: command line, form in Prefect and saved configuration at once."""

from __future__ import annotations

import os
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator

from kdata.sandbox import isolation

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
        "git:URL@COMMIT), a part of The Stack (stack-v3:Python?limit=2000), PyTorch's own operators "
        "(ops:torch?chains=100) or a folder (./mylib). Repeat the option, "
        "or separate by commas.",
    )
    out: str = Field("out/kernelbook", description="Folder (or fsspec URL) of the shards, the dataset and the report.")
    limit: int = Field(77, ge=1, description="At most this many tasks of one source.")
    total: int | None = Field(None, ge=1, description="At most this many tasks of all sources, in even shares.")
    targets: list[str] = Field(
        ["sm_90", "gfx942"], description="GPUs to compile for; none need be here: sm_80, sm_90, sm_100, gfx942."
    )
    seeds: int = Field(2, ge=1, le=16, description="Draws of weights and inputs for each shape.")
    seed: int = Field(0, description="Decides which definitions are taken when there are more than the limit.")
    inline: bool = Field(
        True,
        description="Fetch packages that definitions need and that are absent, as source, and inline what is "
        "needed of them; nothing of them is installed or run. Only where a source gives less than the limit.",
    )
    problems: str | None = Field(
        None,
        description="Folder or parquet file of KernelBench problems, checkout of TritonBench; several by commas. Pairs "
        "that leak them are dropped.",
    )
    cache: str = Field("out/cache", description="Folder (or fsspec URL) of what builds share: the problems' operators.")
    per_repository: int = Field(500, ge=0, description="At most this many pairs of one repository; 0 for any number.")
    per_family: int = Field(500, ge=0, description="At most this many pairs of one operator family; 0 for any number.")
    shard_size: int = Field(10, ge=1, description="Tasks of one shard, about: the unit of work and of resume.")
    workers: int | None = Field(None, ge=1, description="Shards in work at once. Default: the number of cores.")
    runner: Literal["threads", "ray"] = Field("threads", description="Where shards are worked on.")
    ray_address: str | None = Field(None, description="Address of a Ray cluster; without one a local cluster starts.")
    require_isolation: str | None = Field(None, description=isolation.HELP)
    publish_to: str | None = Field(None, description="Hugging Face dataset repository, as owner/name; needs HF_TOKEN.")

    @field_validator("sources", "targets", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        """Also take ``a,b`` for ``a`` and ``b``."""
        items = value if isinstance(value, list | tuple) else [value]
        parts = [part for item in items for part in (item.split(",") if isinstance(item, str) else [item]) if part]
        return list(dict.fromkeys(parts))

    @field_validator("require_isolation")
    @classmethod
    def _known(cls, value: str | None) -> str | None:
        """Refuse guards that there are not."""
        return "+".join(isolation.parse(value)) or None

    @field_validator("ray_address")
    @classmethod
    def _of_ray(cls, value: str | None, given: ValidationInfo) -> str | None:
        """Refuse a cluster that nothing would run on."""
        if value and given.data.get("runner") != "ray":
            raise ValueError("a cluster is used by --runner ray only")
        return value

    @property
    def parallel(self) -> int:
        """Shards in work at once."""
        return self.workers or os.cpu_count() or 1

    def limit_of(self, source: str) -> int:
        """How many tasks a source may give: the limit, or its even share of the total if that is less."""
        if self.total is None:
            return self.limit
        count = len(self.sources)
        return min(self.limit, self.total // count + (self.sources.index(source) < self.total % count))

    def part_limits(self, source: str) -> list[int]:
        """How many tasks each mining part of a source may give."""
        return shares(self.limit_of(source), self.shard_size)


def shares(limit: int, size: int) -> list[int]:
    """A limit in parts of about ``size``.

    They depend on no machine, so that a resumed or distributed run has the same shards.
    """
    parts = max(1, round(limit / size))
    return [limit // parts + (part < limit % parts) for part in range(parts)]
