"""The flow finetune-model: its form, and its stages on a tiny model, run twice."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from factories import pairs
from sft_models import make_tiny

from cards.scores import END, START
from flows import finetune
from flows.finetune_options import FinetuneOptions
from kdata.publish import PublishError, write_dataset
from sft.chat import answer, prompt
from sft.eval_options import EvalSettings
from sft.options import SftOptions


@pytest.fixture(scope="module")
def options(tmp_path_factory: pytest.TempPathFactory) -> FinetuneOptions:
    folder = tmp_path_factory.mktemp("finetune")
    made = pairs()[:24]
    write_dataset(made, [], str(folder / "dataset"), lambda info: "")
    make_tiny(folder / "tiny", [answer(p) + prompt(p.task)[0]["content"] for p in made])
    training = SftOptions(base=str(folder / "tiny"), data=[str(folder / "dataset")], out=str(folder / "run"),
                          max_length=1536, batch_size=2, epochs=1, max_steps=2, push_to="some/where")  # fmt: skip
    asked = EvalSettings(
        suite="heldout", path=str(folder / "dataset"), samples=1, max_tokens=8, device="cpu", targets=[]
    )
    return FinetuneOptions(training=training, evaluation=asked)


def test_from_a_dataset_to_a_card_with_scores_and_again(options: FinetuneOptions) -> None:
    finetune.check(options)
    model = finetune.fine_tune(options)
    assert model == Path(options.training.out) / "model"
    summary = finetune.score(options, model)
    text = finetune.tell(model, summary)
    assert json.loads((model.parent / "evaluation" / "results.json").read_text()) == json.loads(json.dumps(summary))
    assert text.startswith("---\n")  # what the training run wrote is still there
    assert text.count(START) == text.count(END) == 1
    assert re.search(r"\| all \| pass@1 \| 0\.0% \(0\.0% to [1-9]\d*\.\d%\) \|", text), "Wilson's: no proof of nought"
    assert "no fenced block" in text and "of the dataset's held-out split" in text
    assert "CPU: shapes scaled down" in text
    assert finetune.publish(options, model) == ""

    made = (model / "model.safetensors").stat().st_mtime_ns
    assert finetune.fine_tune(options) == model
    assert finetune.tell(model, finetune.score(options, model)) == text
    assert (model / "model.safetensors").stat().st_mtime_ns == made


def test_what_is_wrong_is_said_before_training(options: FinetuneOptions, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HF_TOKEN", raising=False)
    with pytest.raises(PublishError, match="HF_TOKEN"):
        finetune.check(options.model_copy(update={"publish_to": "me/model"}))
    nowhere = options.evaluation.model_copy(update={"path": "nowhere"})
    with pytest.raises(ValueError, match="nowhere holds no test split"):
        finetune.check(options.model_copy(update={"evaluation": nowhere}))


@pytest.mark.parametrize(
    "entrypoint", ["flows/finetune_model.py:finetune_model", "flows.finetune_model:finetune_model"]
)
def test_prefect_loads_the_flow_and_its_form(entrypoint: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from prefect.flows import load_flow_from_entrypoint

    monkeypatch.chdir(Path(__file__).parents[1])
    flow = load_flow_from_entrypoint(entrypoint, use_placeholder_flow=False)
    assert flow.name == "finetune-model"
    forms = flow.parameters.model_dump()["definitions"]
    assert set(forms["FinetuneOptions"]["properties"]) == {"training", "evaluation", "publish_to"}
    assert set(forms["EvalSettings"]["properties"]) == set(EvalSettings.model_fields)
    assert set(forms["SftOptions"]["properties"]) == set(SftOptions.model_fields)


def test_serving_the_flow_loads_nothing_that_trains() -> None:
    """`kdata serve` loads all flows, and is to answer at once; what trains is loaded by a run."""
    code = "import sys, flows.finetune_model; print([m for m in ('torch', 'transformers', 'peft') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
