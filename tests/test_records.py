"""Modules that are constructed with lists of their program's own records."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

from sources.infer.constructor.records import lists
from sources.infer.inputs import Many, Tensor
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
    two, one_of_each, *_ = lists(ast.parse(COLUMNS), namespace, namespace["Net"].__module__)
    assert two == "[Sparse(name='sparse_0', vocabulary_size=1024), Sparse(name='sparse_1', vocabulary_size=1024)]"
    assert one_of_each == "[Sparse(name='sparse_0', vocabulary_size=1024), Dense(name='dense_0', dimension=64)]"
    found = solve(namespace["Net"], namespace | {"__file__": str(path)}, COLUMNS)
    assert isinstance(found, Solution), found
    assert found.arguments["columns"] == one_of_each


BATCH = """import torch
import torch.nn as nn


class Sparse:
    def __init__(self, name, vocab_size):
        self.name, self.vocab_size = name, vocab_size


class Dense:
    def __init__(self, name):
        self.name = name


class Tables(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.tables = nn.ModuleDict({f.name: nn.Embedding(f.vocab_size, 8) for f in features if isinstance(f, Sparse)})

    def forward(self, x, features):
        found, dense = [], []
        for f in features:
            if isinstance(f, Sparse):
                found.append(self.tables[f.name](x[f.name].long()).unsqueeze(1))
            elif isinstance(f, Dense):
                dense.append(x[f.name].float().mean(1, keepdim=True))
        return torch.cat(found, dim=1)


class Net(nn.Module):
    def __init__(self, user_features, item_features):
        super().__init__()
        self.user_features, self.item_features = user_features, item_features
        self.dims = 8 * len(user_features + item_features)
        self.embedding = Tables(user_features + item_features)
        self.line = nn.Linear(self.dims, 4)

    def forward(self, x):
        user, item = self.embedding(x, self.user_features), self.embedding(x, self.item_features)
        flat = torch.cat([user, item], dim=1).squeeze(2)
        b, n, d = flat.shape
        return self.line(flat.reshape(b, n * d))
"""


def test_columns_of_a_batch_go_by_the_names_of_records_and_have_one_number_a_row(tmp_path: Path) -> None:
    path, namespace = tmp_path / "cut.py", dict[str, Any]()
    path.write_text(BATCH)
    exec(compile(BATCH, str(path), "exec"), namespace)
    found = solve(namespace["Net"], namespace | {"__file__": str(path)}, BATCH)
    assert isinstance(found, Solution), found
    assert found.arguments["user_features"] == found.arguments["item_features"]
    (batch,) = found.specs
    assert isinstance(batch, Many)
    assert batch.keys == ("sparse_0", "sparse_1")
    assert all(isinstance(t, Tensor) and t.kind == "int" for t in batch.items)
