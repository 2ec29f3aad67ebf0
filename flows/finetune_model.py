"""The flow ``finetune-model``: from a dataset to a model on the Hub whose card tells what it scores."""

from __future__ import annotations

from prefect import flow, get_run_logger, task
from prefect.artifacts import create_link_artifact, create_markdown_artifact
from prefect.cache_policies import NO_CACHE

from cards.scores import render
from flows import finetune
from flows.finetune_options import FinetuneOptions


@flow(name="finetune-model", flow_run_name="fine-tune {options.training.out}", persist_result=False)
def finetune_model(options: FinetuneOptions) -> str:
    """Fine-tune a model, score it, write its card, publish it. Return its folder, or its address on the Hub.

    The same run again goes on where it was stopped: training from its last checkpoint, scoring from its last shard.
    """
    finetune.check(options)
    plain = {"persist_result": False, "cache_policy": NO_CACHE}  # the run's folders are the cache
    model = task(finetune.fine_tune, **plain)(options)
    summary = task(finetune.score, **plain)(options, model)
    task(finetune.tell, **plain)(model, summary)
    create_markdown_artifact(render(summary), key="finetune-scores")
    address = task(finetune.publish, **plain)(options, model)
    if address:
        create_link_artifact(address, link_text=options.publish_to or "", key="finetune-model")
    get_run_logger().info("%s: %s", address or model, summary["mode"])
    return address or str(model)
