"""A fine-tuned model: what its card is rendered from, and the way to the Hub."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kdata import hub
from kdata.publish import PublishError


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """What a training run made. It holds no date and no path of a machine."""

    base: str  # Hub id, or the name of a file or folder
    base_revision: str
    method: str  # "full", "lora", "qlora"
    engine: str
    steps: int  # done
    planned: int  # asked for: more than done where training stopped early
    epochs: float
    tokens: int  # that went through the model, prompts included
    loss_first: float
    loss_last: float
    held_out_before: float | None
    held_out_best: float | None
    best_step: int | None
    tokens_per_second: float  # median step, all devices together
    mfu: float | None  # median step; None where the device's peak is not known
    device: str
    data: dict[str, Any]  # as sft.data.summary: sources with revision and digest, rows, refused rows by reason
    options: dict[str, Any]
    versions: tuple[str, ...]
    example: str  # the question of one example, shortened


def push_model(folder: Path, repo_id: str, token: str | None, endpoint: str | None = None) -> str:
    """Upload a model folder to the Hugging Face Hub and return its address. Unchanged files make no commit.

    Raises:
        PublishError: there is no token, no model in the folder, or the Hub refuses or does not answer.
    """
    if not token:
        raise PublishError(f"publishing to {repo_id} needs a token: set HF_TOKEN")
    if not (folder / "README.md").exists():
        raise PublishError(f"{folder} is no finished model: it has no README.md")
    from huggingface_hub import HfApi

    api = HfApi(endpoint=endpoint, token=token)
    try:
        address = api.create_repo(repo_id, repo_type="model", exist_ok=True)
        api.upload_folder(folder_path=folder, repo_id=repo_id, repo_type="model", commit_message="Publish the model")
    except hub.errors() as error:
        reason = " ".join(str(error).split())[:300] or type(error).__name__
        raise PublishError(f"the Hub did not take {repo_id}: {reason}") from error
    return str(address)
