"""Modules that are constructed with lists of their program's own records."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

from sources.infer.records import lists
from sources.infer.search import Solution, solve

COLUMNS = """from collections import namedtuple

import torch
import torch.nn as nn


class Sparse(namedtuple("Sparse", ["name", "vocabulary_size"])):
    pass


class Dense(namedtuple("Dense", ["name", "dimension"])):
    pass


class Net(nn.Module):
    def __init__(self, columns):
        super().__init__()
        self.starts, start = {}, 0
        for column in columns:
            assert column.name not in self.starts
            self.starts[column.name], start = start, start + (1 if isinstance(column, Sparse) else column.dimension)
        sparse = [c for c in columns if isinstance(c, Sparse)]
        self.dense = sum(c.dimension for c in columns if isinstance(c, Dense))
        self.tables = nn.ModuleDict({c.name: nn.Embedding(c.vocabulary_size, 4) for c in sparse})
        self.line = nn.Linear(start - len(sparse), 4)

    def forward(self, x):
        found = [table(x[:, self.starts[name]].long()) for name, table in self.tables.items()]
        return self.line(x[:, -self.dense :]) + sum(found)
"""


def test_records_that_a_program_asks_for_fill_its_lists(tmp_path: Path) -> None:
    path, namespace = tmp_path / "cut.py", dict[str, Any]()
    path.write_text(COLUMNS)
    exec(compile(COLUMNS, str(path), "exec"), namespace)
    one_of_each, *_ = lists(ast.parse(COLUMNS), namespace, namespace["Net"].__module__)
    assert one_of_each == "[Sparse(name='sparse_0', vocabulary_size=1024), Dense(name='dense_0', dimension=64)]"
    found = solve(namespace["Net"], namespace | {"__file__": str(path)}, COLUMNS)
    assert isinstance(found, Solution), found
    assert found.arguments["columns"] == one_of_each
