"""Which arms of a wrapper's tests there are, what they depend on, and which are taken."""

from __future__ import annotations

import ast
from typing import Any

from kdata.verify.beyond import aside
from kdata.verify.candidate import arms

TEXT = """
import torch
import triton


@triton.jit
def kernel(x, BLOCK):
    if BLOCK > 64:
        pass


def odd(x):
    if x.storage_offset():
        return 1
    return 0


def run(x, y=None):
    out = torch.empty(3, device=x.device)
    place = x.device
    if y is None:
        raise ValueError
    if place.type == "cpu":
        return 1
    return (2 if odd(x) else 3) if out.numel() else 4
"""


def test_what_tests_depend_on() -> None:
    found = {t.text: t for t in arms.tests(TEXT)}
    assert list(found) == ["x.storage_offset()", "y is None", "place.type == 'cpu'", "odd(x)", "out.numel()"]
    assert "device" in found["place.type == 'cpu'"].words
    assert "device" not in found["out.numel()"].words  # where memory is asked for says nothing of what is in it
    assert "storage_offset" in found["odd(x)"].words
    assert found["y is None"].refuses == {True}


SIZED = """
def run(x, kernels):
    n = x.numel()
    rank = len(x.shape)
    if n > 5 and n % 10007 == 300:
        return kernels[n.bit_length() > 27]
    if rank == 3 or not n:
        return 1
    while x.stride()[0] == 12347:
        return 2
    if n > 4096 or x.shape[1] == 77:
        raise ValueError
    return [k for k in kernels if x.shape[0] == 1]
"""


def test_what_tells_large_from_small_is_told_from_ranks_and_few_elements() -> None:
    found = {t.text: t for t in arms.tests(SIZED)}
    sized = {text for text, test in found.items() if test.sized}
    assert {"n % 10007 == 300", "n.bit_length() > 27", "x.stride()[0] == 12347"} <= sized
    assert not sized & {"rank == 3", "x.shape[0] == 1"}
    assert found["rank == 3"].small == (3,)
    assert found["n > 4096"].refuses == {True, False}  # what it stands in refuses, and not by it alone
    assert found["n > 5 and n % 10007 == 300"].whole
    assert not found["n.bit_length() > 27"].whole


def test_several_comparisons_tell_sizes_if_each_does_and_multiples_do_not() -> None:
    several = {
        "x.shape[0] > 600 and x.shape[1] % 32 == 31": True, "x.shape[0] == 1 and x.shape[1] > 600": False,
        "x.shape[0] % 256 == 0 and x.shape[1] % 512 == 0": False, "self.training and x.numel() > 600": False,
        "str(x.numel()).endswith('777')": True, "name.endswith('777')": False,
        "f'{x.numel():x}'.endswith('beef')": True, "'77' in f'{x.shape[0]}'": True, "name == 'mean'": False,
        "math.log2(max(x.numel(), 1)) > 26.5": True, "max(x.shape[0], 1) > 1": False, "x.numel() / 8 > 0.5": True,
    }  # fmt: skip
    text = "def run(self, x, name):\n" + "".join(f"    y = {said}\n" for said in several)
    found = {test.text: test.sized for test in arms.tests(text)}
    assert {said: found[said] for said in several} == several


def test_comparisons_stay_what_they_are() -> None:
    code = ast.parse("def run(n, kernels):\n    return kernels[n > 600], (n > 600 and 7) or n\n")
    space: dict[str, Any] = dict(arms.NAMES)
    arms.taken.clear()
    exec(compile(arms.marked(code), "text", "exec"), space)
    assert space["run"](5, "ab") == ("a", 5)
    with arms.forced(0, True):
        assert space["run"](5, "ab") == ("b", 5)
    arms.taken.clear()


def test_arms_are_noted_and_forced() -> None:
    class Place:
        def storage_offset(self) -> int:
            return 0

    code = ast.parse("def odd(x):\n    return 5 if x.storage_offset() else 6\n")
    space: dict[str, Any] = {arms.NAME: arms.went}
    arms.taken.clear()
    exec(compile(arms.marked(code), "text", "exec"), space)
    odd = space["odd"]
    assert odd(Place()) == 6
    assert arms.taken == {(0, False)}
    with arms.forced(0, True):
        assert odd(Place()) == 5
    assert odd(Place()) == 6
    assert arms.taken == {(0, False), (0, True)}
    arms.taken.clear()


GROWING = """
KEPT = {}

class ModelNew:
    def __init__(self, sizes):
        self.seen, self.layers = set(), []
        self.layers.append(sizes)

    def forward(self, x):
        shapes = []
        shapes.append(x.shape)
        self.seen.add(x.shape)
        KEPT[x.shape] = x
        if len(self.seen) > 60 or len(self.layers) > 3:
            return x
        return x if len(shapes) > 1 else KEPT[len(KEPT) > 9]
"""


def test_what_earlier_calls_have_kept_is_told_from_what_is_made_once_or_in_a_call() -> None:
    found = {t.text for t in arms.tests(GROWING) if t.counts}
    assert found == {"len(self.seen) > 60", "len(KEPT) > 9"}


def test_whether_there_are_programs_is_not_asked_of_a_card() -> None:
    """As many as tiles or processors are none where there are no tiles: nowhere else does such an arm run."""
    text = """
def run(x, y):
    count = torch.cuda.get_device_properties(x.device).multi_processor_count if x.is_cuda else 3
    programs = min(x.numel(), count)
    if programs > 0:
        return 1
    if count > 0 or programs > 100:
        return 2
"""
    found = {t.text: t for t in arms.tests(text)}
    assert [name for name, test in found.items() if test.empty] == ["programs > 0", "count > 0"]
    assert [name for name, test in found.items() if aside._of_tiles(test)] == ["programs > 0"]
    for asked, of_tiles in ((".total_memory", False), (".major * card.multi_processor_count", False),
                            ("['multiprocessor_count']", True)):  # fmt: skip
        (test,) = arms.tests(f"""
def run(x):
    card = utils.get_device_properties(0)
    programs = min(x.numel(), card{asked})
    if programs > 0:
        return 1
""")
        assert test.empty and aside._of_tiles(test) == of_tiles
