"""The dataset card: README.md of a published folder, with the YAML that the Hub and ``datasets`` read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa

from kdata import rows
from kdata.publish import DatasetInfo
from kdata.record import Dropped, schema

TEMPLATE = "dataset.md.j2"
# Of licences that may be published those that the Hub has a name for: https://huggingface.co/docs/hub/repositories-licenses
HUB_LICENSES = frozenset(
    "afl-3.0 apache-2.0 artistic-2.0 bsd-2-clause bsd-3-clause bsd-3-clause-clear bsl-1.0 cc0-1.0 ecl-2.0 isc mit ncsa "
    "postgresql unlicense wtfpl zlib".split()
)
SIZES = ((10**3, "n<1K"), (10**4, "1K<n<10K"), (10**5, "10K<n<100K"), (10**6, "100K<n<1M"), (10**7, "1M<n<10M"))


def render(info: DatasetInfo) -> str:
    """The card's text. It holds no date and no path: the same set gives the same card."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(  # noqa: S701 - Markdown, not HTML
        loader=FileSystemLoader(Path(__file__).parent),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "thousands": "{:,}".format,
        "small": "{:.2g}".format,
        "cell": _cell,
        "plain": "{:.0f}".format,
    }
    return environment.get_template(TEMPLATE).render(info=info, facts=info.statistics, metadata=_metadata(info))


def _metadata(info: DatasetInfo) -> str:
    """The YAML block: licence, size, configs and features."""
    from datasets import DatasetInfo as Described
    from datasets import Features
    from datasets.info import DatasetInfosDict
    from huggingface_hub import DatasetCardData

    data = DatasetCardData(
        language=["en"], pretty_name="PyTorch-Triton pairs with receipts", task_categories=["text-generation"],
        tags=["code", "triton", "pytorch", "gpu-kernels", "kernel-generation", "verified", "synthetic"],
        annotations_creators=["machine-generated"], source_datasets=["original"],
        size_categories=[_size(info.train + info.test)], configs=_configs(info), **_license(info),
    )  # fmt: skip
    dropped = pa.schema([schema(Dropped).field(name) for name in rows.DROPPED])
    schemas = {"default": rows.columns()} | ({"dropped": dropped} if info.dropped else {})
    described = {
        name: Described(features=Features.from_arrow_schema(s), config_name=name) for name, s in schemas.items()
    }
    DatasetInfosDict(described).to_dataset_card_data(data)
    return str(data.to_yaml()).strip()


def _configs(info: DatasetInfo) -> list[dict[str, Any]]:
    splits = [{"split": name, "path": f"data/{name}-*"} for name in ("train", "test") if getattr(info, name)]
    configs: list[dict[str, Any]] = [{"config_name": "default", "data_files": splits, "default": True}]
    if info.dropped:
        configs.append({"config_name": "dropped", "data_files": [{"split": "train", "path": "dropped/train-*"}]})
    return configs


def _license(info: DatasetInfo) -> dict[str, Any]:
    """The Hub knows one licence a set; of several, the manifest tells."""
    found = {str(line["license"]).lower() for line in info.licenses}
    if len(found) == 1 and found <= HUB_LICENSES:
        return {"license": found.pop()}
    return {"license": "other", "license_name": "per-row", "license_link": "LICENSES.jsonl"}


def _size(count: int) -> str:
    return next((name for limit, name in SIZES if count < limit), "10M<n<100M")


def _cell(text: str) -> str:
    """Text that may stand in a Markdown table."""
    return " ".join(str(text).split()).replace("|", "\\|")
