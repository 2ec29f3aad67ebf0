"""Sparse matrices of graphs, as programs make them with scipy, and FlowNet's compiled operators: what stands in."""

from __future__ import annotations

import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from sources.mine import replacements
from tests.attempts import attempted
from tests.cuts import HEAD, cut

GRAPH = np.array([[0, 2, 0], [2, 0, 1], [0, 1, 0]], dtype=np.float32)
LAPLACIAN = """
import numpy as np
import scipy.sparse as sp
from scipy.sparse import linalg

def scaled(adj):
    adj = sp.coo_matrix(adj)
    degree = np.array(adj.sum(1))
    root = np.power(degree, -0.5).flatten()
    root[np.isinf(root)] = 0.0
    root = sp.diags(root)
    whole = sp.eye(adj.shape[0]) - adj.dot(root).transpose().dot(root).tocoo()
    largest, _ = linalg.eigsh(whole, 1, which="LM")
    return (2 / largest[0] * sp.csr_matrix(whole)) - sp.identity(adj.shape[0], format="csr", dtype=whole.dtype)

class Cell(nn.Module):
    def __init__(self, width, adj_mx):
        super().__init__()
        m = scaled(adj_mx).tocoo()
        places = np.column_stack((m.row, m.col)).T
        self.support = torch.sparse_coo_tensor(torch.from_numpy(places), torch.from_numpy(m.data).float(), m.shape)
        self.mix = nn.Linear(width, width)

    def forward(self, x):
        return torch.sparse.mm(self.support, self.mix(x))
"""


def _stand_in(name: str) -> dict[str, Any]:
    space: dict[str, Any] = {"__name__": "stand_in"}
    exec(replacements()[name], space)
    return space


def test_a_graph_is_normalised_as_its_array_is(monkeypatch: pytest.MonkeyPatch) -> None:
    sparse = types.ModuleType("scipy.sparse")
    sparse.__dict__.update(_stand_in("scipy.sparse"))
    sparse.linalg = types.SimpleNamespace(**_stand_in("scipy.sparse.linalg"))  # type: ignore[attr-defined]
    scipy = types.ModuleType("scipy")
    scipy.sparse = sparse  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "scipy", scipy)
    monkeypatch.setitem(sys.modules, "scipy.sparse", sparse)
    space: dict[str, Any] = {}
    exec(LAPLACIAN.replace("nn.Module", "object"), space | {"torch": torch}, space)
    space["scaled"].__globals__.update(space)
    root = np.diag(GRAPH.sum(1) ** -0.5)
    whole = np.eye(3) - root @ GRAPH @ root
    assert np.allclose(space["scaled"](GRAPH).toarray(), 2 / np.linalg.eigvalsh(whole)[-1] * whole - np.eye(3))


def test_matrices_are_made_of_places_and_taken_apart() -> None:
    sp = _stand_in("scipy.sparse")
    made = sp["coo_matrix"]((np.ones(3), ([0, 0, 1], [1, 1, 2])), shape=(2, 3))
    assert made.toarray().tolist() == [[0, 2, 0], [0, 0, 1]] and made.nnz == 2
    assert (made.row.tolist(), made.col.tolist(), made.data.tolist()) == ([0, 1], [1, 2], [2, 1])
    rows = sp["csr_matrix"]((made.data, made.tocsr().indices, made.tocsr().indptr), shape=(2, 3))
    assert np.array_equal(rows.toarray(), made.toarray()) and np.array_equal(
        (rows * rows.T).toarray(), [[4, 0], [0, 1]]
    )
    columns = made.tocsc()
    again = sp["csc_matrix"]((columns.data, columns.indices, columns.indptr), shape=(2, 3))
    assert np.array_equal(again.toarray(), made.toarray())
    square = sp["bmat"]([[None, made], [made.T, None]])
    assert np.array_equal(square.toarray(), square.T.toarray()) and square.shape == (5, 5)
    more = square < square.T
    both = square + square.T.multiply(more) - square.multiply(more)  # made symmetric
    assert np.array_equal(both.toarray(), square.toarray())
    assert np.array_equal(sp["diags"]([1, 2]).power(2).toarray(), [[1, 0], [0, 4]])
    assert (rows @ np.ones(3)).tolist() == [2, 1] and rows.sum(0).A1.tolist() == [0, 2, 1]


def test_a_cell_over_a_graph_is_cut_and_runs(tmp_path: Path) -> None:
    text = cut({"net.py": HEAD + LAPLACIAN}, "net.py", "Cell")
    assert "def eigsh" in text and "linalg = None" not in text
    outcome = attempted(text.replace("class Cell", "class Net"), tmp_path)
    assert outcome["reason"] == "", outcome["detail"]


def test_maps_are_correlated_and_warped_as_flownet_does() -> None:
    correlation, warp = _stand_in("correlation_cuda")["forward"], _stand_in("resample2d_cuda")["forward"]
    norm = _stand_in("channelnorm_cuda")["forward"]
    one, other, found = torch.randn(2, 3, 6, 7), torch.randn(2, 3, 6, 7), torch.empty(0)
    correlation(one, other, None, None, found, 2, 1, 2, 1, 1, 1)
    assert found.shape == (2, 25, 6, 7)
    torch.testing.assert_close(found[:, 12], (one * other).mean(1))  # where it lies
    torch.testing.assert_close(found[:, 13, :, :-1], (one[..., :-1] * other[..., 1:]).mean(1))  # one to the right
    assert not found[:, 14, :, -2:].any()
    flow, warped = torch.zeros(2, 2, 6, 7), torch.empty_like(one)
    flow[:, 0] = 1.0
    warp(one, flow, warped, 1, True)
    torch.testing.assert_close(warped[..., :-1], one[..., 1:])
    torch.testing.assert_close(warped[..., -1], one[..., -1])
    lengths = torch.empty(2, 1, 6, 7)
    norm(one, lengths, 2)
    torch.testing.assert_close(lengths[:, 0], one.square().sum(1).sqrt())
