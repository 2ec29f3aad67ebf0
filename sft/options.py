"""The parameters of a fine-tuning run: command line and saved configuration at once."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

# Where a run is and how it is watched, not what comes out of it: a run may be resumed with these changed.
COSMETIC = frozenset({"out", "push_to", "report_to"})


class SftOptions(BaseModel):
    """What to train, on what, and how."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    base: str = Field(
        "qwen", description="The model to start from: qwen, llama or smollm, with a size if wanted (qwen:0.5b); "
        "a Hub id (owner/name, owner/name@revision), a folder, or a GGUF file."
    )  # fmt: skip
    data: list[str] = Field(
        min_length=1,
        description="Folder of a build, dataset folder, parquet file or Hub id, as PATH[:CONFIG][@REVISION][=WEIGHT]: "
        "a row of weight 2 is seen twice an epoch. Repeat the option, or separate by commas, to mix.",
    )
    out: str = Field("out/sft", description="Folder of the run: metrics, plot, checkpoints and the model.")
    method: Literal["full", "lora", "qlora"] = Field("full", description="Train all weights, or an adapter.")
    engine: Literal["auto", "trl", "unsloth"] = Field(
        "auto", description="auto: unsloth where it is installed and there is one CUDA device, else TRL."
    )
    rank: int = Field(32, ge=1, description="Rank of the adapter.")
    epochs: int = Field(3, ge=1, description="How often each row is seen.")
    max_steps: int | None = Field(None, ge=1, description="Stop after so many optimizer steps.")
    max_length: int = Field(4096, ge=16, description="Tokens of a packed row; longer examples are left out.")
    batching: Literal["packed", "bucketed"] = Field(
        "packed", description="packed: examples end to end in rows of max_length, blind to each other; bucketed: "
        "examples of like length side by side, padded."
    )  # fmt: skip
    batch_size: int = Field(16, ge=1, description="Rows of an optimizer step, over all devices.")
    device_batch: int | None = Field(
        None, ge=1, description="Rows on a device at once. Default: 1 packed row, or up to 8 padded ones."
    )
    order: Literal["shuffled", "curriculum"] = Field(
        "shuffled", description="curriculum: each epoch goes from short answers to long ones in four stages."
    )
    learning_rate: float | None = Field(
        None, gt=0, description="Peak learning rate. Default: 2e-5, or 2e-4 for an adapter."
    )
    warmup: float = Field(0.05, ge=0, lt=1, description="Share of the steps in which the learning rate rises.")
    held_out: float = Field(
        0.05, ge=0, lt=1, description="Share of the tasks held out where the data has no test split; 0 for none."
    )
    evaluate_every: int | None = Field(
        None, ge=1, description="Steps between held-out evaluations and checkpoints. Default: a tenth of the run."
    )
    patience: int = Field(3, ge=0, description="Stop after so many evaluations without a new best; 0: never.")
    no_reasoning: bool = Field(False, description="Leave out the reasoning that rows may have.")
    leakage: list[str] = Field([], description="More datasets whose leakage report counts.")
    allow_leaks: bool = Field(False, description="Train on rows that a leakage report names, too.")
    precision: Literal["auto", "mixed", "bf16", "float32"] = Field(
        "auto", description="mixed: float32 weights and bf16 arithmetic; bf16: both. Default: mixed for full "
        "fine-tuning and bf16 for adapters, where the device can; else float32."
    )  # fmt: skip
    attention: str = Field("auto", description="auto, or a name that transformers knows: sdpa, flash_attention_2 ...")
    gradient_checkpointing: bool = Field(False, description="Less memory for about a fifth more time.")
    fsdp: bool = Field(False, description="Shard the model over the processes that torchrun or accelerate started.")
    seed: int = Field(
        0, description="Decides the order of the rows, what is held out, and the adapter's first weights."
    )
    report_to: Literal["none", "tensorboard"] = Field("none", description="Also log to this.")
    push_to: str | None = Field(None, description="Hugging Face model repository, as owner/name; needs HF_TOKEN.")

    @field_validator("data", "leakage", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        """Also take ``a,b`` for ``a`` and ``b``."""
        items = value if isinstance(value, list | tuple) else [value]
        return [part for item in items for part in (item.split(",") if isinstance(item, str) else [item]) if part]

    @property
    def peak_learning_rate(self) -> float:
        """The learning rate after the warm-up."""
        return self.learning_rate or (2e-5 if self.method == "full" else 2e-4)

    @property
    def rows_at_once(self) -> int:
        """Rows on a device at once."""
        return self.device_batch or (1 if self.batching == "packed" else min(8, self.batch_size))

    def accumulation(self, processes: int) -> int:
        """Forward and backward passes of one optimizer step, on each of so many processes.

        Raises:
            ValueError: the batch cannot be shared out evenly.
        """
        together = self.rows_at_once * processes
        if self.batch_size % together:
            raise ValueError(
                f"--batch-size {self.batch_size} is no multiple of {together}: {self.rows_at_once} rows at once on "
                f"each of {processes} process(es)"
            )
        return self.batch_size // together
