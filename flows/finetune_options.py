"""The parameters of the flow ``finetune-model``: form in Prefect and saved configuration at once."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from sft.eval_options import EvalSettings
from sft.options import SftOptions


class FinetuneOptions(BaseModel):
    """What to train, what to ask the model then, and where to publish it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    training: SftOptions = Field(description="As of `kdata sft`; its push_to is not used here.")
    evaluation: EvalSettings = Field(description="As of `kdata eval`.")
    publish_to: str | None = Field(None, description="Hugging Face model repository, as owner/name; needs HF_TOKEN.")
