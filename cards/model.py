"""The model card: README.md of a fine-tuned model, with the YAML that the Hub reads."""

from __future__ import annotations

from pathlib import Path

from kdata.models import ModelInfo

TEMPLATE = "model.md.j2"
DECIDING = (
    "method", "rank", "epochs", "max_length", "batching", "batch_size", "order", "learning_rate", "warmup", "precision",
    "seed",
)  # fmt: skip


def render(info: ModelInfo) -> str:
    """The card's text."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(  # noqa: S701 - Markdown, not HTML
        loader=FileSystemLoader(Path(__file__).parent), undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True, keep_trailing_newline=True,
    )  # fmt: skip
    environment.filters |= {"thousands": "{:,}".format, "loss": "{:.4f}".format, "percent": "{:.1%}".format}
    chosen = {name: info.options[name] for name in DECIDING if name != "rank" or info.method != "full"}
    return environment.get_template(TEMPLATE).render(info=info, metadata=_metadata(info), chosen=chosen)


def _metadata(info: ModelInfo) -> str:
    """The YAML block. The base's licence is not known here, so the card names none."""
    from huggingface_hub import ModelCardData

    on_hub = "/" in info.base
    data = ModelCardData(
        language="en", library_name="transformers", pipeline_tag="text-generation",
        tags=["code", "triton", "pytorch", "gpu-kernels", "kernel-generation", "sft"],
        base_model=info.base if on_hub else None,
        datasets=[s["path"] for s in info.data["sources"] if s["revision"]] or None,
    )  # fmt: skip
    return str(data.to_yaml()).strip()
