"""What a program does with constructor arguments, and what it says that they lack."""

from __future__ import annotations

import ast
import re
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from sources.emit import emit
from sources.hints.guesses import values
from sources.hints.mappings import gone_through
from sources.hints.uses import Uses, arrays, uses
from sources.infer.constructor.configs import COUNTED
from sources.infer.constructor.constructions import MAX_TOO_MUCH, Constructions, Told
from sources.infer.constructor.nested import completed
from sources.infer.forward.failure import Failure
from sources.infer.forward.repairs import repairs
from sources.infer.inputs import Tensor
from sources.infer.running.progress import Budget, TooMuchError
from sources.infer.search import Solution
from sources.text.danger import touches_system
from sources.text.weights import loading
from tests.attempts import attempted

SKELETON = """
class Inner(nn.Module):
    def __init__(self, dim, A):
        super().__init__()
        self.count = A.shape[0]
        self.graph = nn.Parameter(torch.from_numpy(A.astype(np.float32)))
        self.layers = nn.ModuleList(nn.Conv2d(dim, dim, 1) for _ in range(self.count))

    def forward(self, x):
        n, c, t, v = x.size()
        found = 0
        for i in range(self.count):
            found = found + self.layers[i](torch.matmul(x.view(n, c * t, v), self.graph[i]).view(n, c, t, v))
        return found


class Net(nn.Module):
    def __init__(self, dim, A):
        super().__init__()
        self.inner = Inner(dim, A)

    def forward(self, x):
        return torch.relu(self.inner(x) + x)
"""

SPECTRA = """
class Net(nn.Module):
    def forward(self, x):
        return torch.view_as_complex(x).abs().log1p()
"""

SOUNDS = """
class Net(nn.Module):
    def __init__(self, n_fft=256):
        super().__init__()
        self.n_fft = n_fft
        self.register_buffer("window", torch.hann_window(n_fft))

    def forward(self, spectrum):
        return torch.istft(torch.view_as_complex(spectrum), self.n_fft, window=self.window)
"""

ROWS = """
class Net(nn.Module):
    def forward(self, x):
        (n,) = x.shape
        return torch.istft(torch.view_as_complex(x.reshape(8, -1, 2)), 16, window=torch.hann_window(16))
"""

LOADS = """
def load(model, path):
    missing, extra = model.load_state_dict(torch.load(path), strict=False)

    def without(module):
        nonlocal missing
        missing = [k for k in missing if k not in module.known]

    without(model)
    if extra or missing:
        raise RuntimeError(missing)
    return model.eval()
"""


def test_the_graph_of_a_skeleton_is_one_matrix_for_each_kind_of_neighbours(tmp_path: Path) -> None:
    outcome = attempted(SKELETON, tmp_path)
    assert not outcome["reason"], outcome["detail"]
    assert re.search(r"torch\.rand\((\w+), (\w+), \2\)", outcome["source"].split("get_init_inputs")[1])


@pytest.mark.parametrize("text", [SKELETON, SKELETON.replace("A", "adj").replace("shape[0]", "size(0)")])
def test_what_a_class_hands_on_is_used_as_by_the_constructor_that_asks_for_its_shape(text: str) -> None:
    name = "A" if text == SKELETON else "adj"
    _, outer = (n for n in ast.parse(text).body if isinstance(n, ast.ClassDef))
    assert name not in uses(outer)
    found = arrays(ast.parse(text), {name, "dim"})
    assert found.keys() == {name} and found[name].stacked
    made = [eval(value) for value in values(name, "", found[name])[:2]]
    assert [(type(m), m.shape) for m in made] == [(np.ndarray, (3, 64, 64)), (np.ndarray, (64, 64))]


def test_how_many_rows_a_graph_has_makes_it_no_stack() -> None:
    kind = ast.parse(
        "class Net:\n    def __init__(self, adj, A):\n        self.nodes, self.n = adj.shape[0], A.size(0)"
    )
    for name, use in uses(kind.body[0]).items():  # type: ignore[arg-type]
        assert not use.stacked
        assert name not in ("adj", "A") or eval(values(name, "", use)[0]).shape == (64, 64)
    assert values("A", "", Uses()) == values("other", "", Uses())  # any capital may be a size


def test_a_mapping_that_is_gone_through_in_order_is_one() -> None:
    text = "for head in sorted(self.heads):\n    self.add(head, nn.Conv2d(64, self.heads[head], 1))\n"
    assert eval(gone_through(ast.parse(text))["heads"]) == {"a": 64, "b": 64}
    assert gone_through(ast.parse(text.replace("sorted", "list"))) == gone_through(ast.parse(text))


def test_records_of_a_type_hint_get_what_they_lack_and_are_told_apart() -> None:
    message = "TypeError: Table.__init__() missing 2 required positional arguments: 'name' and 'width'"
    found = completed({"tables": "[Table(), Table()]", "dim": "4"}, message, {"width": "32"})
    assert found == {"tables": "[Table(name='name_0', width=32), Table(name='name_1', width=32)]", "dim": "4"}
    assert completed(found, "TypeError: other", {}) == found


def test_complex_numbers_have_two_parts_in_a_dimension_of_their_own(tmp_path: Path) -> None:
    outcome = attempted(SPECTRA, tmp_path)
    assert not outcome["reason"], outcome["detail"]
    assert outcome["inputs"][0]["shape"][-1] == 2


def test_a_spectrum_has_as_many_frequencies_as_half_a_window(tmp_path: Path) -> None:
    outcome = attempted(SOUNDS, tmp_path)
    assert not outcome["reason"], outcome["detail"]
    assert outcome["inputs"][0]["shape"][-3] == 129


def test_a_spectrum_is_searched_for_in_what_has_its_frequencies_only(tmp_path: Path) -> None:
    outcome = attempted(ROWS, tmp_path)
    assert outcome["reason"] != "does not run alone" and "IndexError" not in outcome["detail"]


@pytest.mark.parametrize(
    ("shape", "wanted"),
    [
        ((4, 10, 30), (4, 9, 30)),
        ((4, 30, 10), (4, 9, 10)),
        ((4, 10, 10), (4, 9, 10)),
        ((4, 10, 30, 2), (4, 9, 30, 2)),
        ((60,), None),
        ((10,), None),
        ((4, 6, 10, 2), (4, 6, 9, 2)),
    ],
)
def test_frequencies_stand_before_the_steps(shape: tuple[int, ...], wanted: tuple[int, ...] | None) -> None:
    told = "RuntimeError: istft(CPUFloatType, n_fft=16) : expected the frequency dimension (3rd to the last) of the "
    told += "input tensor to match n_fft / 2 + 1 when onesided=True, but got 10"
    x = torch.zeros(10, 6)
    failure = Failure((Tensor(shape),), told, nn.Identity(), "istft", (x,), (x.untyped_storage().data_ptr(),))
    found = [new for cost, (new,) in repairs(failure) if cost == 0]
    assert found == ([Tensor(wanted)] if wanted else [])


def test_what_names_a_kind_of_path_touches_nothing() -> None:
    assert not touches_system("import os\nfrom typing import Union\n\nPathType = Union[os.PathLike, str]\n")
    assert touches_system("import os\n\n\ndef gone(path):\n    os.remove(path)\n")


def test_what_logs_to_the_screen_touches_nothing_and_what_takes_the_screens_place_does() -> None:
    assert not touches_system("import sys\n\n\ndef handler(kind):\n    return kind(sys.stdout)\n")
    assert touches_system("import sys\n\n\ndef silence(into):\n    sys.stdout = into\n")


def test_an_inner_function_goes_with_what_it_shares() -> None:
    (function,) = ast.parse(LOADS).body
    assert isinstance(function, ast.FunctionDef)
    gone = {id(s) for s in loading(function)}
    assert [ast.unparse(s) for s in function.body if id(s) not in gone] == ["return model.eval()"]


def test_a_module_that_is_made_again_is_not_kept_beside_the_next_one(tmp_path: Path) -> None:
    made: list[weakref.ref[nn.Module]] = []

    class Net(nn.Module):
        def __init__(self, weights_matrix: Any, emb_dim: int) -> None:
            super().__init__()
            assert not any(module() is not None for module in made)
            made.append(weakref.ref(self))

    path, text = tmp_path / "cut.py", "class Net(nn.Module): ..."
    path.write_text(text)
    told = Told(({"positional": [], "named": {"emb_dim": "32"}},))
    every = Constructions(Net, {"__file__": str(path), "torch": torch, "nn": nn}, text, Budget(), told)
    arguments, _ = next(iter(every))
    assert arguments == {"weights_matrix": "torch.randn(1024, 32)", "emb_dim": "32"}
    assert len(made) == 2


def test_what_is_too_much_at_the_same_place_is_not_made_for_ever(tmp_path: Path) -> None:
    tried: list[object] = []

    class Net(nn.Module):
        def __init__(self, heads: Any) -> None:
            super().__init__()
            tried.append(heads)
            raise TooMuchError("can't allocate memory")

    path, text = tmp_path / "cut.py", "class Net(nn.Module): ..."
    path.write_text(text)
    every = Constructions(Net, {"__file__": str(path), "torch": torch, "nn": nn}, text, Budget())
    assert list(every) == []
    assert len(tried) == MAX_TOO_MUCH


def test_a_program_s_own_class_is_meant_where_a_stand_in_has_its_name() -> None:
    source = f"class {COUNTED}:\n    pass\n\n\nclass Net:\n    pass\n"
    arguments = {"words": f"{COUNTED}()"}
    assert emit(source, Solution(arguments, ()), [], None).count(f"class {COUNTED}") == 1
    assert emit("class Net:\n    pass\n", Solution(arguments, ()), [], None).count(f"class {COUNTED}") == 1


@pytest.mark.parametrize("holder", ["ModuleList", "ModuleDict", "Sequential"])
def test_a_holder_that_a_type_hint_names_holds_layers(holder: str) -> None:
    made = eval(values("parts", f"torch.nn.{holder}", Uses())[0], {"nn": nn})
    assert type(made) is getattr(nn, holder)
    assert len(made) == 2
