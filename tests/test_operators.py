"""PyTorch's own operators as tasks: what is written, what it computes, and that each holds what a task promises."""

from __future__ import annotations

import ast
import inspect
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
import torch

from kdata.record import Definition, Dropped, Origin, SourceFile, Task
from kdata.task import execute, find_entry_point, sizes
from sources import mine, operators, repositories
from sources.aten import chains, elementwise, job, layers, reductions, running, samples, words
from sources.aten.form import Drawn, Form
from sources.collect import SourceError, collect, is_remote

SPEC = "ops:torch?kinds=products&kinds=chains&chains=12"


@pytest.fixture(scope="module")
def found() -> list[SourceFile | Dropped]:
    return collect(SPEC)


@pytest.fixture(scope="module")
def op_db() -> list[Any]:
    from torch.testing._internal.common_methods_invocations import op_db

    return op_db


def _files(found: list[SourceFile | Dropped]) -> list[SourceFile]:
    return [f for f in found if isinstance(f, SourceFile)]


def test_collected_programs_stand_alone(found: list[SourceFile | Dropped]) -> None:
    files = _files(found)
    assert len({f.text for f in files}) == len({f.origin.path for f in files}) == len(files) > 90
    for file in files:
        name = find_entry_point(file.text)
        assert operators.is_one(file) and file.origin.path.endswith(f"/{name}{operators.ENDING}")
        assert file.origin.licenses == ("BSD-3-Clause",) and torch.__version__.startswith(file.origin.revision)


def test_chains_say_that_they_were_drawn(found: list[SourceFile | Dropped]) -> None:
    drawn = [f for f in _files(found) if f.origin.path.startswith("chains/")]
    assert len(drawn) == 12 and {f.origin.repository for f in drawn} == {"torch-chains"}
    assert all("a chain of PyTorch's operators drawn with seed 0" in f.text.splitlines()[0] for f in drawn)


def test_same_spec_gives_same_bytes_and_another_seed_other_chains(found: list[SourceFile | Dropped]) -> None:
    again, other = collect(SPEC), collect("ops:torch?kinds=chains&chains=12&seed=1")
    assert again == found
    assert not {f.text for f in _files(other)} & {f.text for f in _files(found)}


def test_limit_drops_the_rest_with_a_reason(found: list[SourceFile | Dropped]) -> None:
    few = collect(f"{SPEC}&limit=5")
    assert _files(few) == _files(found)[:5]
    assert Counter(d.reason for d in few if isinstance(d, Dropped))["limit reached"] == len(_files(found)) - 5


def test_few_tasks_are_cut_of_few_programs_and_what_they_cost_is_counted(found: list[SourceFile | Dropped]) -> None:
    files, meter = _files(found), mine.Meter()
    cut = list(repositories.cut_step(2).function(files))
    whole = [d for d in repositories.cut_step().function(files) if isinstance(d, Definition)]
    assert [d for d in cut if isinstance(d, Definition)] == whole[: 2 * mine.CUTS_PER_TASK]
    assert Counter(d.reason for d in cut if isinstance(d, Dropped)) == {"limit reached": len(files) - 6}
    made = list(repositories.step(1, meter=meter).function(whole[:2]))
    assert isinstance(made[0], Task) and meter.seconds > 0 and meter.memory > 100 << 20


def test_tasks_are_checked(found: list[SourceFile | Dropped]) -> None:
    files = [f for f in _files(found) if "linear" in f.origin.path or "chains/" in f.origin.path][:12]
    made = _mined(list(repositories.cut_step().function(files)))
    tasks = [t for t in made if isinstance(t, Task)]
    assert len(made) == len(files) == 12 and len(tasks) >= 10
    assert all(d.reason == "output ignores an input" for d in made if isinstance(d, Dropped))  # drowned by the others
    for task in tasks:
        assert task.entry_point == find_entry_point(task.source)
        program = execute(task.source, task.entry_point)
        shapes = [tuple(t.shape) for t in program.inputs()]
        assert [i.shape for i in task.inputs] == shapes and all(any(i.free) for i in task.inputs)


def _mined(definitions: list[Any], **more: Any) -> list[Task | Dropped]:
    return list(repositories.step(**more).function(definitions))


def _definition(forward: str, drawn: str = "torch.randn(n)") -> Definition:
    text = (
        "import os\nimport torch\nimport torch.nn as nn\n\n\nclass Odd(nn.Module):\n    def forward(self, x):\n"
        f"        {forward}\n\n\nn = 64\n\n\ndef get_inputs():\n    return [{drawn}]\n\n\n"
        "def get_init_inputs():\n    return []\n"
    )
    origin = Origin("ops", "torch", "0", f"samples/torch.odd/0/Odd{operators.ENDING}", ("BSD-3-Clause",))
    return Definition(origin, "torch.odd", "Odd", text, operators.TOLD)


@pytest.mark.parametrize(
    ("forward", "reason"),
    [
        ("return x.view(8, 8)", "computes nothing"),
        ("return x * 0", "output constant"),
        ("return torch.log(x)", "not finite"),
        ("return x + torch.randn(64)", "nondeterministic"),
        ("raise KeyError(1)", "does not run alone"),
        ("os._exit(3)", "crash"),
    ],
)
def test_what_is_no_task_is_dropped_and_its_neighbours_are_not(forward: str, reason: str) -> None:
    good = _definition("return torch.sin(x)")
    outcomes = _mined([good, _definition(forward), replace(good, symbol="torch.sin")])
    assert [getattr(o, "reason", "") for o in outcomes] == ["", reason, ""]


def test_limit_of_tasks() -> None:
    outcomes = _mined([_definition(f"return x * {n}.5") for n in range(4)], limit=2)
    assert [getattr(o, "reason", "") for o in outcomes] == ["", "", "limit reached", "limit reached"]


def test_each_function_comes_in_four_ranks(op_db: list[Any]) -> None:
    forms = [f for f, _ in elementwise.unary([o for o in op_db if o.name in ("sin", "nn.functional.relu")])]
    assert Counter(f.symbol for f in forms) == {"torch.sin": 4, "torch.nn.functional.relu": 4}
    assert sorted(len(f.inputs[0].shape) for f in forms) == [1, 1, 2, 2, 3, 3, 4, 4]


def test_inputs_suit_the_domain(op_db: list[Any]) -> None:
    forms = elementwise.unary([o for o in op_db if o.name in ("log", "acos", "acosh")])
    for form, reason in running.distinct(forms):
        assert not reason, form.text("")
        assert all(bool(torch.isfinite(t).all()) for t in running.run(form, seed=3))


def test_broadcasting_is_written_out(op_db: list[Any]) -> None:
    forms = [f for f, _ in elementwise.binary([o for o in op_db if o.name == "add"])]
    assert any(f.family == "broadcasting" and "1" in f.inputs[1].shape for f in forms)
    assert all(running.settled(f) or running.shrunk(f) for f in forms)


def test_ties_and_bounds_are_found_by_trying(op_db: list[Any]) -> None:
    forms = [f for f, _ in samples.operators([o for o in op_db if o.name in ("gather", "nn.functional.cross_entropy")])]
    gathered = [f for f in forms if f.symbol == "torch.gather" and len(f.inputs[0].shape) == 2]
    assert gathered
    for form in gathered:
        x, index = form.inputs
        dim = ast.literal_eval(form.body[0].split(", ")[1])
        assert index.draw == f"below {x.shape[dim]}"
    assert any(f.symbol.endswith("cross_entropy") for f in forms)


def test_samples_of_an_operator_come_out_of_their_process_whole(op_db: list[Any]) -> None:
    op = next(o for o in op_db if o.name == "sort")
    inside = [form for form, _ in samples.operators([op])]
    outside = [form for form, _ in job._apart(samples.operators, op)]
    assert outside and outside == inside
    assert any(not reason for _, reason in running.distinct((form, ()) for form in outside))


def test_reductions_reach_every_dimension() -> None:
    sums = (running.settled(f) for f, _ in reductions.along() if f.symbol == "torch.sum")
    dims = {(len(found[0].inputs[0].shape), found[0].text("")) for found in sums if found}
    said = {rank: " ".join(text for r, text in dims if r == rank) for rank in (2, 3, 4)}
    assert all(f"dim={d}" in said[2] or f"[{d}" in said[2] for d in (0, 1))
    assert "keepdim" in said[3] and "(1, 2)" in " ".join(said.values())


def test_equal_computations_are_kept_once() -> None:
    one = Form(
        "torch.sum", "Sum", "reduction", (Drawn("x", ("a", "b")),), ("return torch.sum(x, dim=1)",), {"a": 64, "b": 32}
    )
    same = replace(one, body=("return x.sum(dim=1)",), sizes={"a": 128, "b": 16})
    other = replace(one, body=("return x.sum(dim=0)",))
    assert [reason for _, reason in running.distinct((f, ()) for f in (one, same, other))] == [
        "", "same computation as another", ""
    ]  # fmt: skip


def test_layers_have_their_own_parameters_with_defaults() -> None:
    """What is called leaves out what has a default, and gives by position what comes before what it must say."""
    every = {form.text(""): form for form, _ in layers.layers()}
    spelled = {text: form for text, form in every.items() if form.defaults}
    assert len(every) / 4 < len(spelled) < len(every)
    left_out = 0
    for text, form in spelled.items():
        namespace: dict[str, Any] = {}
        exec(compile(text, "<form>", "exec", dont_inherit=True), namespace)
        given = inspect.signature(namespace[form.name]).bind(*namespace["get_init_inputs"]())
        left_out += len(given.arguments) < len(form.arguments | form.defaults)
    assert left_out > len(spelled) / 2


def test_long_signatures_have_a_line_for_each_parameter() -> None:
    names = {f"parameter_{n}": str(n) for n in range(10)}
    form = Form("x", "X", "layer", (Drawn("x", ("a",)),), ("return x",), {"a": 64}, ("pass",), {}, names)
    assert max(map(len, form.text("").splitlines())) <= 110
    assert "\n        parameter_9=9,\n    ):\n" in form.text("")


def test_sizes_are_realistic_and_named() -> None:
    stream = chains.chains(3)
    for form in (next(stream)[0] for _ in range(60)):
        text = form.text("")
        found = {s.name: s.value for s in sizes(text)}
        assert all(name in found for drawn in form.inputs for name in drawn.shape if not name.isdigit()), text
        total = max(words.elements(d.shape, form.sizes) for d in form.inputs)
        assert words.LEAST <= total <= words.MOST, text
        assert 2 <= len(form.symbol.split(", ")) <= 4


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("ops:numpy", "ops:torch"),
        ("ops:torch?kinds=views", "views"),
        ("ops:torch?chains=many", "whole number"),
        ("ops:torch?limit=0", "limit"),
        ("ops:torch?colour=red", "colour"),
    ],
)
def test_bad_specs(spec: str, message: str) -> None:
    with pytest.raises(SourceError, match=message):
        collect(spec)


def test_nothing_is_fetched() -> None:
    assert not is_remote("ops:torch")
