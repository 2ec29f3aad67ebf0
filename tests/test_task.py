"""Tasks at other sizes: what is executed is the text with other sizes, with its lines where they were."""

from __future__ import annotations

import pytest
from torch import nn

from kdata import task

SOURCE = '''"""A task of two sizes."""
import torch
from torch import nn

rows = 4 * 2; columns = 3


def decorated(function):
    return function


class Model(nn.Module):
    def forward(self, x):
        raise ValueError("a line")


@decorated
def get_inputs():
    return [torch.zeros(rows, columns)]


"no docstring of anything"


def get_init_inputs():
    return []
'''


def test_a_text_at_other_sizes_is_executed_as_it_is_written() -> None:
    program = task.execute(SOURCE, "Model", values={"rows": 5, "columns": 7})
    assert program.inputs()[0].shape == (5, 7)
    assert program.namespace["__doc__"] == "A task of two sizes."
    whole = task.execute(task.resize(SOURCE, {"rows": 5, "columns": 7}), "Model")
    for name in ("Model", "get_inputs", "get_init_inputs"):
        assert lines(program.namespace[name]) == lines(whole.namespace[name])


def lines(definition: object) -> int:
    """Where a function, or a module's forward, begins."""
    function = definition.forward if isinstance(definition, type) and issubclass(definition, nn.Module) else definition
    return int(function.__code__.co_firstlineno)  # type: ignore[attr-defined]


def test_classes_are_compiled_once_for_all_sizes() -> None:
    one, other = (task.execute(SOURCE, "Model", values={"rows": n}).namespace["Model"] for n in (5, 6))
    assert one is not other
    assert one.forward.__code__ is other.forward.__code__


@pytest.mark.parametrize("values", [{}, {"rows": 5}])
def test_what_decides_how_a_text_is_compiled_decides_for_all_of_it(values: dict[str, int]) -> None:
    source = "from __future__ import annotations\n" + SOURCE.split("\n", 1)[1].replace(
        "(self, x)", "(self, x: Unknown)"
    )
    assert task.execute(source, "Model", values=values).namespace["Model"].forward.__annotations__ == {"x": "Unknown"}


def test_a_task_that_names_a_gpu_runs_on_the_host() -> None:
    text = """
import torch
import torch.nn as nn
device = "cuda" if torch.cuda.is_available() else "cuda:0"
class Model(nn.Module):
    def __init__(self, width, scale=1.0):
        super().__init__()
        self.layer = nn.Linear(width, 3).cuda()
        self.scale = scale
    def forward(self, x):
        return self.layer(x) * self.scale
def get_inputs():
    return [torch.randn(2, 5, device=device).cuda()]
def get_init_inputs():
    return {"width": 5, "scale": 2.0}
"""
    for program in (task.execute(text, "Model"), task.execute(text, "Model", values={})):
        module, (given,) = program.build(), program.inputs()
        assert module.scale == 2.0
        assert {given.device.type, module(given).device.type} == {"cpu"}


def test_a_text_that_asks_where_its_tensors_are_goes_the_hosts_way_and_is_not_refused() -> None:
    text = """
import torch
import torch.nn as nn
class Model(nn.Module):
    def forward(self, x, impl="cuda"):
        assert x.is_cuda and impl in ("ref", "cuda")
        if x.device.type != "cuda":
            raise RuntimeError("needs a GPU")
        if impl == "cuda" and x.device.type == "cuda":
            return compiled(x)
        return x.sin()
def get_inputs():
    return [torch.randn(2, 5, device="cuda")]
def get_init_inputs():
    return []
"""
    program = task.execute(text, "Model")
    (given,) = program.inputs()
    assert program.build()(given).equal(given.sin())


def test_a_factor_of_a_size_that_stands_elsewhere_is_no_size() -> None:
    """Four gates of a width are four times that width; a number that stands nowhere else is one."""
    text = SOURCE.replace(
        "torch.zeros(rows, columns)", "torch.zeros(5, 4 * 1000), torch.zeros(5, 1000), torch.zeros(2 * 96)"
    )
    found = {size.name: size.value for size in task.sizes(text)}
    assert [found[name] for name in sorted(found) if name.startswith(task.INPUTS)] == [5, 5, 1000, 192, 1000]
    assert "torch.zeros(5, 4 * 7)" in task.resize(text, {n: 7 for n, v in found.items() if v == 1000})
