"""What is tried next: other calls of a package, longer sequences, flags, narrower texts, fewer names."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import nn

from sources.cut.cutting import cut_package
from sources.hints.guesses import values
from sources.hints.uses import Uses
from sources.infer.constructor.constructions import Told
from sources.infer.constructor.counted import in_lists
from sources.infer.constructor.parts import holding
from sources.infer.forward.asserted import wishes
from sources.infer.forward.failure import Failure
from sources.infer.forward.influence import differing
from sources.infer.forward.repairs import repairs
from sources.infer.forward.variants import narrower
from sources.infer.input_search import NOT_INFERRED, InputSearch, Tried
from sources.infer.inputs import Tensor
from sources.infer.running.check import TOO_LARGE
from sources.infer.running.progress import Budget, Progress, TooMuchError
from sources.infer.running.worth import NOT_FINITE, RANDOM
from sources.infer.search import NOT_CONSTRUCTED, Solution, solve
from sources.other_cuts import other_cuts
from sources.probe import load
from sources.text.narrower import NOTE
from tests.cuts import HEAD


def test_a_sequence_of_one_step_that_has_no_deviation_is_given_many() -> None:
    failure = Failure((Tensor((4, 1, 40)), Tensor((4, 1, 4))), NOT_FINITE, nn.Identity())
    costs = {specs: cost for cost, specs in repairs(failure)}
    assert costs[(Tensor((4, 64, 40)), Tensor((4, 64, 4)))] < costs[(Tensor((4, 1, 64)), Tensor((4, 1, 4)))]


def test_what_mends_a_flaw_has_its_turn_before_smaller_inputs_in_place_of_too_large_ones() -> None:
    search, large, small = InputSearch(nn.Identity(), {}, Budget(), None, 9, -1), (Tensor((4, 9)),), (Tensor((1, 9)),)
    search.seen[large], search.best = 2.0, Tried((Tensor((2, 2)),), NOT_FINITE)
    search._ended(large, [small], Progress(Budget()), None, TooMuchError())
    assert search.seen[small] == search.seen[large]
    search.best = Tried()
    search._ended(large, [small], Progress(Budget()), None, TooMuchError())
    assert search.seen[small] < 0


CALLED = """
class Net(nn.Module):
    def __init__(self, code=1, width=8):
        super().__init__()
        self.code, self.line = code, nn.Linear(8, width)

    def forward(self, x):
        if hash((self.code,)) != hash((1001,)):
            raise RuntimeError("unlucky")
        return self.line(x)
"""


def test_another_call_of_the_package_is_tried_where_what_mends_the_first_comes_no_further(tmp_path: Path) -> None:
    namespace = load(HEAD + CALLED, tmp_path)
    sites = [{"positional": [code, "4"], "named": {}} for code in ("3", "1001")]
    found = solve(namespace["Net"], namespace, HEAD + CALLED, Told((*sites,)))
    assert isinstance(found, Solution)
    assert found.arguments == {"code": "1001", "width": "4"}


@pytest.mark.parametrize(
    ("given", "kind", "wanted"),
    [("(1, 1)", "tuple", ["[1, 1]"]), ("(3,)", "tuple", ["[3]"]), ("2", "int", ["[2, 2]", "[2]"]), ("[1]", "int", [])],
)
def test_a_list_is_given_where_one_is_added_to(given: str, kind: str, wanted: list[str]) -> None:
    assert in_lists(given, f'TypeError: can only concatenate list (not "{kind}") to list') == wanted


def test_convolutions_are_listed_by_channels_window_and_stride() -> None:
    assert values("conv_layers", "List[Tuple[int, int, int]]", Uses())[0] == "[(32, 3, 2), (32, 3, 2)]"
    assert values("sizes", "Sequence[typing.Tuple[int, int]]", Uses())[0] == "[(64, 64), (64, 64)]"


def test_a_setting_of_a_part_that_is_only_tested_is_a_flag() -> None:
    lacks = "AttributeError: 'StubModule' object has no attribute 'conditioned'"
    line = "assert not model.conditioned"
    found = [f"StubModule(nn.Identity(), conditioned={flag})" for flag in ("False", "True")]
    assert holding("StubModule(nn.Identity())", lacks, line, {"conditioned"}) == found
    assert holding("StubModule(nn.Identity())", lacks, line) != found


def test_states_of_a_recurrent_layer_tell_two_sizes() -> None:
    assert differing("RuntimeError: Expected hidden[0] size (4, 64, 300), got [2, 64, 300]") == (4, 2)


def test_the_inner_width_of_attention_is_halved() -> None:
    assert narrower({"d_ff": "2048", "dim_feedforward": "512"}) == {"d_ff": "1024", "dim_feedforward": "256"}


ASSERTED = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.channels, self.size = 4, 24

    def forward(self, x):
        assert x.shape[1:] == (self.channels, self.size, self.size)
        return x.sin()
"""


def test_sizes_that_a_module_holds_one_by_one_are_asserted_of_a_shape(tmp_path: Path) -> None:
    namespace = load(HEAD + ASSERTED, tmp_path)
    module, specs = namespace["Net"](), (Tensor((2, 64, 32, 32)),)
    with pytest.raises(AssertionError) as error:
        module(torch.zeros(2, 64, 32, 32))
    assert (Tensor((2, 4, 24, 24)),) in [*wishes(error.value, namespace["__file__"], specs, module)]


@pytest.mark.parametrize(
    "detail", ["TooMuchError: can't allocate memory for more weights", "more than 570 MiB in memory"]
)
def test_widths_that_a_text_says_are_halved_where_there_is_no_memory_for_them(detail: str) -> None:
    source = HEAD + "class Net(nn.Module):\n    def __init__(self):\n        self.line = nn.Linear(4096, 4096)\n"
    cut = {"name": "Net", "source": source, "told": {"sites": [], "defaults": {}}, "header": []}
    found = [other for other, _ in other_cuts(cut, {"reason": TOO_LARGE, "detail": detail, "solved": {}})]
    assert [NOTE in other["header"] and "nn.Linear(2048, 2048)" in other["source"] for other in found][:1] == [True]


def test_a_class_that_an_argument_names_stays_where_another_one_is_no_part_of_a_task(tmp_path: Path) -> None:
    parts = (
        "class Settings:\n    size = 4\nclass Words:\n    def __init__(self):\n        self.text = open('x').read()\n"
    )
    net = (
        "from parts import Settings, Words\nclass Net(nn.Module):\n    def __init__(self, settings, words):\n"
        "        super().__init__()\n        self.line = nn.Linear(8, settings.size)\n"
        "    def forward(self, x):\n        return self.line(x)\ndef make():\n    return Net(Settings(), Words())\n"
    )
    payload = {"files": {"net.py": HEAD + net, "parts.py": parts}, "replacements": {}, "cut_points": {}, "part": 0,
               "parts": 1, "seed": 0, "enough": 9, "only": ["Net"]}  # fmt: skip
    (found,) = cut_package(payload, tmp_path)["cuts"]
    assert "open" not in found["source"]
    assert found["told"]["sites"][0]["positional"] == ["Settings()", None]


@pytest.mark.parametrize(("specs", "reason", "again"), [([], NOT_INFERRED, True), (None, NOT_INFERRED, False),
                         (None, NOT_CONSTRUCTED, False), (None, RANDOM, True)])  # fmt: skip
def test_arguments_alone_that_a_search_tried_among_others_are_not_taken_from_it(
    specs: list[object] | None, reason: str, again: bool
) -> None:
    told = {"sites": [], "defaults": {}, "seen": {"arguments": {"p": "1"}, "specs": specs}}
    cut = {"source": HEAD, "name": "Net", "lacks": [], "told": told}
    others = other_cuts(cut, {"reason": reason, "detail": ""})
    assert again == any(other["told"]["seen"] is None and other["source"] == HEAD for other, _ in others)
