"""A whole run on a tiny model: loss falls, a killed run goes on as if nothing had been, the model loads and answers."""

from __future__ import annotations

import json
import math
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import hub_stub
import pytest
import torch
from factories import pairs
from filelock import FileLock
from sft_models import make_tiny
from transformers import AutoModelForCausalLM

from cards import model as card
from kdata.models import push_model
from kdata.publish import PublishError, write_dataset
from kdata.record import Pair
from sft import engine, train
from sft.chat import answer, parse, prompt
from sft.options import SftOptions
from sft.plan import make_plan

TIMED = {"seconds", "tokens_per_second", "mfu"}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sft")
    made = pairs()[:24]
    write_dataset(made, [], str(folder / "dataset"), lambda info: "")
    make_tiny(folder / "tiny", [answer(p) + prompt(p.task)[0]["content"] for p in made])
    return folder


def options(place: Path, out: str, **more: Any) -> SftOptions:
    chosen = {"max_length": 1536, "batch_size": 2, "epochs": 4, "learning_rate": 0.01, "evaluate_every": 5} | more
    return SftOptions(base=str(place / "tiny"), data=[str(place / "dataset")], out=str(place / out), **chosen)


def run(chosen: SftOptions) -> train.Outcome:
    outcome = train.run(chosen, card.render)
    assert outcome is not None
    return outcome


def curve(out: Path) -> list[dict[str, Any]]:
    lines = (out / "metrics.jsonl").read_text().splitlines()
    return [{k: v for k, v in json.loads(line).items() if k not in TIMED} for line in lines]


@pytest.fixture(scope="module")
def whole(place: Path) -> train.Outcome:
    return run(options(place, "whole"))


def test_loss_falls_and_the_folder_tells_the_run(place: Path, whole: train.Outcome) -> None:
    info = whole.info
    assert info.loss_last < 0.6 * info.loss_first
    assert info.held_out_best is not None and info.held_out_before is not None
    assert info.held_out_best < 0.7 * info.held_out_before
    steps = [m["step"] for m in curve(place / "whole") if "loss" in m]
    assert steps == list(range(1, info.steps + 1))
    assert (place / "whole" / "loss.svg").read_text().count("<polyline") == 2
    assert not (place / "whole" / "checkpoints").exists()
    readme = (whole.model / "README.md").read_text()
    assert f"| {info.steps} |" in readme and info.data["sources"][0]["digest"] in readme
    assert str(place) not in readme


def test_the_held_out_loss_is_the_mean_over_tokens(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "EVAL_BATCH", 1)  # else the few rows would be one batch
    chosen = options(place, "tokens", epochs=1, max_steps=1)
    model = AutoModelForCausalLM.from_pretrained(place / "tiny", dtype=torch.float32).eval()
    losses = []
    for row in make_plan(chosen).held_out:
        ids, labels = torch.tensor([row["input_ids"]]), torch.tensor(row["labels"])
        with torch.no_grad():
            losses.append(
                torch.nn.functional.cross_entropy(model(ids).logits[0, :-1], labels[1:], reduction="none")[
                    labels[1:] != -100
                ]
            )
    by_token, by_row = torch.cat(losses).mean().item(), sum(r.mean().item() for r in losses) / len(losses)
    assert abs(by_token - by_row) > 1e-3
    assert run(chosen).info.held_out_before == pytest.approx(by_token, abs=1e-4)


def test_the_card_says_what_defaults_came_to(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chosen = options(place, "defaults", epochs=1, max_steps=1, max_length=1100, learning_rate=None)
    outcome = run(chosen)
    told = (outcome.model / "README.md").read_text()
    assert "| learning rate | 2e-05 |" in told and "| precision | float32 |" in told and "| rank |" not in told
    left = outcome.info.data["refused"]["longer than max_length"]
    corpus, used = make_plan(chosen).corpus, outcome.info.data
    assert used["train"] + used["held_out"] + left == len(corpus.train) + len(corpus.held_out)
    assert f"1 steps, 1 rows held out; left out: {left} longer than max_length" in capsys.readouterr().err


def test_a_killed_run_goes_on_with_the_same_curve(place: Path, whole: train.Outcome) -> None:
    chosen = options(place, "killed")
    flags = [
        f"--{name.replace('_', '-')}={value}"
        for name, value in chosen.model_dump(exclude_defaults=True).items()
        if name != "data"
    ]
    command = [sys.executable, "-c", "from kdata.cli import main; main()", "sft", *flags, f"--data={chosen.data[0]}"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=os.environ | {"OMP_NUM_THREADS": "1"})
    metrics, deadline = place / "killed" / "metrics.jsonl", time.monotonic() + 120
    while not (metrics.exists() and '"step": 8,' in metrics.read_text()):  # between the checkpoints at 5 and 10
        assert process.poll() is None and time.monotonic() < deadline, process.communicate()
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert not (place / "killed" / "model").exists()
    again = run(chosen)
    assert curve(place / "killed") == curve(place / "whole")
    first, second = ((o.model / "model.safetensors").read_bytes() for o in (whole, again))
    assert first == second


def test_a_finished_run_is_left_alone_and_another_is_refused(place: Path, whole: train.Outcome) -> None:
    before = (whole.model / "model.safetensors").stat().st_mtime_ns
    assert run(options(place, "whole")).info == whole.info
    assert (whole.model / "model.safetensors").stat().st_mtime_ns == before
    with pytest.raises(ValueError, match="other options or other data"):
        train.run(options(place, "whole", seed=1), card.render)


def test_the_model_answers_what_it_learnt_by_heart(place: Path) -> None:
    from transformers import AutoModelForCausalLM, AutoTokenizer

    one: Pair = min(pairs()[:24], key=lambda p: len(p.candidate.source))
    write_dataset([one], [], str(place / "one"), lambda info: "")
    chosen = options(place, "heart", epochs=150, batch_size=1, held_out=0, learning_rate=0.02, evaluate_every=150)
    outcome = run(chosen.model_copy(update={"data": [str(place / "one")]}))
    model = AutoModelForCausalLM.from_pretrained(outcome.model)
    tokenizer = AutoTokenizer.from_pretrained(outcome.model)
    asked = tokenizer.apply_chat_template(
        prompt(one.task), add_generation_prompt=True, return_tensors="pt", return_dict=True
    )
    said = model.generate(**asked, max_new_tokens=1000, do_sample=False)[0, asked["input_ids"].shape[1] :]
    assert parse(tokenizer.decode(said, skip_special_tokens=True)) == one.candidate.source


def test_an_adapter_is_trained_and_merged(place: Path) -> None:
    from transformers import AutoModelForCausalLM

    outcome = run(options(place, "lora", method="lora", rank=4, epochs=1, batching="bucketed", batch_size=4))
    assert outcome.info.loss_last < outcome.info.loss_first
    assert (place / "lora" / "adapter" / "adapter_model.safetensors").exists()
    assert not list((place / "lora").rglob("*.bin"))
    base, made = (AutoModelForCausalLM.from_pretrained(p) for p in (place / "tiny", outcome.model))
    assert not base.model.layers[0].mlp.up_proj.weight.equal(made.model.layers[0].mlp.up_proj.weight)
    assert base.model.embed_tokens.weight.equal(made.model.embed_tokens.weight)


@pytest.mark.parametrize("method", ["full", "lora"])
def test_generation_stops_where_answers_were_taught_to_end(place: Path, tmp_path: Path, method: str) -> None:
    """Qwen2.5's base models have a template that ends turns by a token that is not their end of text."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    base = tmp_path / "base"
    shutil.copytree(place / "tiny", base)
    tokenizer = AutoTokenizer.from_pretrained(base)
    tokenizer.eos_token = "<|endoftext|>"
    tokenizer.save_pretrained(base)
    for name in ("config.json", "generation_config.json"):
        told = json.loads((base / name).read_text())
        (base / name).write_text(json.dumps(told | {"eos_token_id": tokenizer.eos_token_id}))
    chosen = options(place, f"ends_{method}", method=method, rank=2, epochs=1, max_steps=1, held_out=0)
    outcome = run(chosen.model_copy(update={"base": str(base)}))
    model = AutoModelForCausalLM.from_pretrained(outcome.model)
    assert model.generation_config.eos_token_id == [0, 2]
    assert AutoTokenizer.from_pretrained(outcome.model).eos_token == "<|im_end|>"  # vLLM looks there


def test_two_runs_do_not_share_a_folder(place: Path) -> None:
    (place / "taken").mkdir()
    with FileLock(place / "taken" / ".lock"), pytest.raises(ValueError, match="another run is at work"):
        run(options(place, "taken"))


def test_training_stops_when_held_out_loss_falls_no_further(place: Path) -> None:
    outcome = run(options(place, "early", learning_rate=1e-9, evaluate_every=1, patience=2))
    assert outcome.info.steps < outcome.info.planned
    assert math.isclose(outcome.info.loss_first, outcome.info.loss_last, rel_tol=0.1)


def test_a_run_that_diverges_ends_with_an_error(place: Path) -> None:
    with pytest.raises(ValueError, match="training diverged: at step"):
        run(options(place, "diverging", learning_rate=1e30, warmup=0.0))
    assert not (place / "diverging" / "model").exists()


def test_a_missing_tensorboard_is_told_before_training(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "TENSORBOARDS", ("no_such_library",))
    with pytest.raises(ImportError, match="pip install tensorboard"):
        train.run(options(place, "watched", report_to="tensorboard"), card.render)
    assert not (place / "watched").exists()


def test_publishing_says_what_is_missing(place: Path, whole: train.Outcome, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HF_TOKEN", raising=False)
    with pytest.raises(PublishError, match="set HF_TOKEN"):
        train.run(options(place, "pushed", push_to="me/mine"), card.render)
    assert not (place / "pushed").exists()
    with pytest.raises(PublishError, match="no finished model"):
        push_model(place / "tiny", "me/mine", "hf_dummy")
    with pytest.raises(PublishError, match="did not take me/mine"):
        push_model(whole.model, "me/mine", "hf_dummy", "http://127.0.0.1:9")


def test_a_published_model_is_there_and_the_next_run_starts_from_it(
    place: Path, whole: train.Outcome, kdata_command: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_DISABLE_XET", True)
    further = [f"--data={place / 'dataset'}", f"--out={place / 'further'}", "--max-length=1536", "--max-steps=1"]
    with hub_stub.serve() as (address, hub):
        for _ in range(2):
            assert push_model(whole.model, "me/mine", hub_stub.TOKEN, address) == f"{address}/me/mine"
        assert hub.commits == 1, "the second upload changed nothing"
        files = {p.name: p.read_bytes() for p in whole.model.iterdir()}
        assert {k: v for k, v in hub.files["me/mine"].items() if k != ".gitattributes"} == files
        environment = os.environ | {"HF_ENDPOINT": address, "HF_HOME": str(place / "hub"), "OMP_NUM_THREADS": "1"}
        command = [*kdata_command, "sft", "--base=me/mine", *further]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    again = json.loads((place / "further" / "result.json").read_text())
    assert again["base"] == "me/mine"
    assert again["held_out_before"] == pytest.approx(whole.info.held_out_best, rel=1e-3)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"base": "no such base"}, "--base no such base"),
        ({"data": ["no/such/folder/here"]}, "there is no folder no/such/folder/here"),
        ({"max_length": 16}, "longer than --max-length 16"),
        ({"method": "qlora"}, "needs a CUDA device"),
        ({"device_batch": 3}, "no multiple of 3"),
    ],
)
def test_bad_options_are_told_before_training(
    place: Path, wrong: dict[str, Any], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises((ValueError, OSError), match=message):
        train.run(options(place, "bad").model_copy(update=wrong), card.render)
    assert not (place / "bad").exists()
