"""Data for training: read, mixed, kept clean of leaks and of held-out tasks, tokenised, packed and put in order."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from factories import pairs
from sft_models import make_tiny

from cards import dataset as card
from kdata.publish import write_dataset
from kdata.record import Candidate, Dropped, Pair
from sft import data, order
from sft.base import load_tokenizer, resolve
from sft.chat import answer
from sft.encode import IGNORED, Encoded, Encoder, encode
from sft.options import SftOptions
from sft.plan import make_plan
from sft.plot import loss_curves


def write(folder: Path, made: list[Pair], dropped: list[Dropped] | None = None, **more: Any) -> str:
    write_dataset(made, dropped or [], str(folder), card.render, **more)
    return str(folder)


def options(*sources: str, **more: Any) -> SftOptions:
    return SftOptions(data=list(sources), **more)


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = make_tiny(tmp_path_factory.mktemp("models") / "tiny", [answer(p) for p in pairs()])
    return load_tokenizer(resolve(str(folder)))


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("out/x", data.Source("out/x")),
        ("owner/name:traces@v1.0=0.25", data.Source("owner/name", "traces", "v1.0", 0.25)),
        ("a b/c=3", data.Source("a b/c", weight=3)),
    ],
)
def test_sources_are_read(text: str, source: data.Source) -> None:
    assert data.parse_source(text) == source


@pytest.mark.parametrize("text", ["x=0", "x=1.2.3", "=2", "x@a@b"])
def test_bad_sources_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="--data"):
        data.parse_source(text)


def test_the_test_split_is_held_out_and_no_kernel_of_its_tasks_is_trained_on(tmp_path: Path) -> None:
    made = list(pairs()[:30])
    first = write(tmp_path / "first", made)
    corpus = data.load(options(first))
    trained, tested = ({e.task_id for e in part} for part in (corpus.train, corpus.held_out))
    assert tested and trained and not trained & tested
    again = replace(made[0].candidate, source=made[0].candidate.source + "# another\n")
    others = [
        Pair(Candidate.make(p.task, p.candidate.source + "\nx = 1\n", "triton", "library"), p.receipt) for p in made
    ]
    assert again.task.id == made[0].task.id
    second = write(tmp_path / "second", others, seed=3)
    mixed = data.load(options(first, second))
    assert not {e.task_id for e in mixed.train} & {e.task_id for e in mixed.held_out}
    assert {e.task_id for e in mixed.held_out} > tested


def test_weights_repeat_rows(tmp_path: Path) -> None:
    first, second = write(tmp_path / "a", list(pairs()[:12])), write(tmp_path / "b", list(pairs()[20:40]))
    chosen = options(f"{first}=2", f"{second}=0.5", held_out=0)
    once = {name: {e.id for e in data.load(options(name, held_out=0)).train} for name in (first, second)}
    counts = Counter(e.id for e in data.load(chosen).train)
    assert {counts[i] for i in once[first]} == {2}
    assert sum(counts[i] for i in once[second]) == round(0.5 * len(once[second]))
    assert data.load(chosen) == data.load(chosen)
    assert data.load(chosen).id != data.load(chosen.model_copy(update={"seed": 1})).id


def test_rows_that_a_leakage_report_names_are_refused(tmp_path: Path) -> None:
    made = list(pairs()[:20])
    flagged, named = made[0].id, made[1].id
    report = [Dropped("leakage", named, "benchmark problem, same program"), Dropped("dedup", made[2].id, "duplicate")]
    leaky = write(tmp_path / "leaky", made, overlaps={flagged: "level1/19_ReLU"})
    clean = write(tmp_path / "clean", list(pairs()[30:40]), report)
    corpus = data.load(options(leaky, leakage=[clean]))
    seen = {e.id for e in (*corpus.train, *corpus.held_out)}
    assert not {flagged, named} & seen and made[2].id in seen
    assert corpus.refused == {"a benchmark's problem": 2}
    told = data.load(options(leaky, leakage=[clean], allow_leaks=True))
    assert {flagged, named} <= {e.id for e in (*told.train, *told.held_out)}


def test_rows_of_others_and_conversations(tmp_path: Path) -> None:
    path = tmp_path / "talk.jsonl"
    turns = [{"role": "user", "content": "kernel?"}, {"role": "assistant", "content": "```python\n```"}]
    path.write_text(
        "".join(json.dumps({"messages": [{**turns[0], "content": f"kernel {i}?"}, turns[1]]}) + "\n" for i in range(3))
    )
    corpus = data.load(options(str(path), held_out=0.3))
    assert (len(corpus.train), len(corpus.held_out)) == (2, 1)
    row = {"python_code": "class A: pass", "triton_code": "class ANew: pass", "entry_point": "A"}
    assert "ModelNew = ANew" in data.to_example(row).answer
    with pytest.raises(ValueError, match="they lack entry_point"):
        data.to_example(row | {"entry_point": None})
    with pytest.raises(ValueError, match="assistant's turn"):
        data.to_example({"messages": turns[:1]})


def test_a_row_is_asked_for_in_the_language_of_its_text() -> None:
    given = pairs()[0]
    row = {"python_code": given.task.source, "entry_point": given.task.entry_point}
    for head, language in (("", "CUDA C++"), ("import triton\n", "Triton")):
        text = f"{head}from torch.utils.cpp_extension import load_inline\nclass ModelNew:\n    pass\n"
        (asked,) = data.to_example(row | {"triton_code": text}).messages
        assert asked["content"].startswith(f"Rewrite this PyTorch program with {language} kernels.")


def test_bad_data_is_told_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "text.parquet").write_text("no parquet")
    for path in ("empty", "text.parquet"):
        with pytest.raises((ValueError, FileNotFoundError)):
            data.load(options(str(tmp_path / path)))
    pq.write_table(
        pq.read_table(write(tmp_path / "x", list(pairs()[:4])) + "/data").select(["id"]), tmp_path / "ids.parquet"
    )
    with pytest.raises(ValueError, match="neither pairs nor conversations"):
        data.load(options(str(tmp_path / "ids.parquet")))
    for name, text, words in (
        ("none.jsonl", "", "none.jsonl cannot be read"),
        ("table.csv", "a,b\n", "table.csv cannot be read as a dataset: neither a folder nor a file .parquet"),
        ("broken.jsonl", '{"messages": ', "broken.jsonl cannot be read"),
        ("text.jsonl", '{"messages": "hello"}', "a list of turns"),
        (
            "silent.jsonl",
            '{"messages": [{"role": "user"}, {"role": "assistant", "content": "x"}]}',
            "a role and a content",
        ),
    ):
        (tmp_path / name).write_text(text)
        with pytest.raises(ValueError, match=words):
            data.load(options(str(tmp_path / name)))


def test_bases(tmp_path: Path) -> None:
    assert resolve("qwen").path == "Qwen/Qwen2.5-Coder-1.5B-Instruct"
    assert resolve("llama:8b").path == "meta-llama/Llama-3.1-8B-Instruct"
    assert resolve("me/mine@v2") == type(resolve("qwen"))("me/mine", "me/mine", "v2")
    for wrong in ("qwen:9b", "nothing", str(tmp_path)):
        with pytest.raises(ValueError, match="--base"):
            resolve(wrong)


def test_a_wrong_base_is_told_before_the_data_is_read(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="--base"):
        make_plan(options(str(tmp_path / "nowhere"), base="qwen:9b"))


def examples() -> list[data.Example]:
    return [data.to_example({"python_code": p.task.source, "triton_code": p.candidate.source, "entry_point": p.task.entry_point})
            for p in pairs()[:12]]  # fmt: skip


def test_only_the_answer_is_learnt_and_the_prompt_is_what_generation_sees(tokenizer: Any) -> None:
    example = examples()[0]
    found = Encoder(tokenizer)(example)
    asked = tokenizer.apply_chat_template(list(example.messages), add_generation_prompt=True, return_dict=True)[
        "input_ids"
    ]
    assert found.ids[: len(asked)] == asked
    assert found.labels == [IGNORED] * len(asked) + found.ids[len(asked) :]
    assert tokenizer.decode(found.ids[len(asked) :]) == example.answer + "<|im_end|>"
    assert found.learnt == len(found.ids) - len(asked)


def test_a_model_without_a_template_gets_one(tmp_path: Path) -> None:
    plain = load_tokenizer(resolve(str(make_tiny(tmp_path, [answer(p) for p in pairs()[:3]], chat_template=None))))
    found = Encoder(plain)(examples()[0])
    assert plain.decode(found.ids).startswith("Rewrite this PyTorch program")
    assert found.ids[-1] == plain.eos_token_id


def test_a_text_begins_as_the_base_was_pretrained(tmp_path: Path) -> None:
    from tokenizers.processors import TemplateProcessing

    plain = load_tokenizer(resolve(str(make_tiny(tmp_path, [answer(p) for p in pairs()[:3]], chat_template=None))))
    plain.bos_token = "<|im_start|>"
    assert "<|im_start|>" not in plain.decode(Encoder(plain)(examples()[0]).ids)  # such a base never saw it
    plain.chat_template = None
    plain._tokenizer.post_processor = TemplateProcessing(
        single="<|im_start|> $A", special_tokens=[("<|im_start|>", plain.bos_token_id)]
    )
    found = Encoder(plain)(examples()[0]).ids
    assert found[0] == plain.bos_token_id and found.count(plain.bos_token_id) == 1


def test_examples_that_are_too_long_are_left_out_whole(tokenizer: Any) -> None:
    lengths = sorted(len(e.ids) for e in encode(examples(), Encoder(tokenizer), 10_000)[0])
    kept, long = encode(examples(), Encoder(tokenizer), lengths[5])
    assert sorted(len(e.ids) for e in kept) == [n for n in lengths if n <= lengths[5]]
    assert len(kept) + long == len(lengths)


def numbered(lengths: list[int]) -> list[Encoded]:
    return [Encoded([i + 1] * n, [IGNORED] * (n // 2) + [i + 1] * (n - n // 2)) for i, n in enumerate(lengths)]


def test_packing_loses_nothing_and_is_denser_than_padding() -> None:
    made = numbered([7, 30, 12, 25, 3, 18, 9, 31, 5, 20])
    rows, parts = order.pack(made, order.stages(made, False, 0), 32)
    assert sorted(t for r in rows for t in r["input_ids"]) == sorted(t for e in made for t in e.ids)
    assert all(len(r["input_ids"]) == sum(r["seq_lengths"]) <= 32 for r in rows)
    assert len(rows) == 6  # 160 tokens: no fewer than 5 rows of 32; padded they would be 10
    assert parts == [[0, 1, 2, 3, 4, 5]]


def test_packed_examples_do_not_see_each_other(tokenizer: Any) -> None:
    import torch
    from transformers import AutoModelForCausalLM
    from trl.trainer.sft_trainer import DataCollatorForLanguageModeling

    made, _ = encode(examples()[:4], Encoder(tokenizer), 10_000)
    rows, _ = order.pack(made, [[0, 1, 2, 3]], sum(len(e.ids) for e in made))
    assert len(rows) == 1
    batch = DataCollatorForLanguageModeling(pad_token_id=tokenizer.pad_token_id, padding_free=True)([rows[0]])
    model = AutoModelForCausalLM.from_pretrained(tokenizer.name_or_path).eval()
    with torch.no_grad():
        together = model(**batch, use_cache=False).logits[0]  # as the trainer calls it
        start = 0
        for length in rows[0]["seq_lengths"]:
            alone = model(input_ids=batch["input_ids"][:, start : start + length]).logits[0]
            assert torch.allclose(together[start : start + length], alone, atol=1e-4)
            start += length
        blind = model(input_ids=batch["input_ids"]).logits[0]
    assert not torch.allclose(blind, together, atol=1e-2)  # without positions they would see each other
    learnt = (batch["labels"] != IGNORED).sum().item()
    assert learnt == sum(e.learnt for e in made)


def test_every_epoch_has_each_row_once_in_another_order_that_the_seed_decides() -> None:
    rows = order.shuffled([list(range(50))], 3, seed=1)
    epochs = [rows[i : i + 50] for i in (0, 50, 100)]
    assert all(sorted(e) == list(range(50)) for e in epochs)
    assert epochs[0] != epochs[1] != epochs[2]
    assert rows == order.shuffled([list(range(50))], 3, seed=1) != order.shuffled([list(range(50))], 3, seed=2)


def test_buckets_hold_rows_of_like_lengths() -> None:
    lengths = [(37 * i) % 101 + 1 for i in range(96)]
    rows = order.bucketed([list(range(96))], lengths, 8, 2, seed=0)
    for epoch in (rows[:96], rows[96:]):
        assert sorted(epoch) == list(range(96))
        batches = [[lengths[r] for r in epoch[i : i + 8]] for i in range(0, 96, 8)]
        padded = sum(max(b) * len(b) for b in batches)
        assert padded < 1.15 * sum(lengths)
    assert rows[:96] != rows[96:]


def test_a_batch_that_is_not_full_comes_last() -> None:
    lengths = list(range(1, 14))
    rows = order.bucketed([list(range(13))], lengths, 4, 1, seed=5)
    assert all(max(b) - min(b) <= 3 for b in (rows[0:4], rows[4:8], rows[8:12]))


def test_a_curriculum_goes_from_short_answers_to_long_ones() -> None:
    made = numbered([(37 * i) % 101 + 4 for i in range(40)])
    parts = order.stages(made, True, 0)
    assert [len(p) for p in parts] == [10, 10, 10, 10]
    ranges = [(min(made[i].learnt for i in p), max(made[i].learnt for i in p)) for p in parts]
    assert all(a[1] <= b[0] for a, b in pairwise(ranges))


def test_a_batch_must_be_shared_out_evenly() -> None:
    assert options("x", batch_size=16).accumulation(4) == 4
    assert options("x", batch_size=16, batching="bucketed").accumulation(2) == 1
    with pytest.raises(ValueError, match="no multiple of 3"):
        options("x", batch_size=16).accumulation(3)


def test_the_plot_shows_both_curves_and_survives_a_diverged_run() -> None:
    lines = [{"step": 1, "loss": 2.0}, {"step": 2, "loss": float("nan")}, {"step": 2, "eval_loss": 1.5}]
    assert loss_curves(lines).count("<polyline") == 2
    assert "nan" not in loss_curves(lines)
    assert loss_curves([]) == ""
