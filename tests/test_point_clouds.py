"""The compiled operators of PointNet++, as repositories bring or import them: ours stand in their place, in torch."""

from __future__ import annotations

from typing import Any

import torch

from sources.cut.slicer import Slicer
from sources.cut.writer import cut as write_cut
from sources.infer.forward.variants import shallower
from sources.mine import replacements
from sources.text.symbols import Package

HEAD = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n\n\n"
CLOUDS = HEAD + (
    "try:\n    import pointnet2_ops._ext as _ext\nexcept ImportError:\n"
    "    from torch.utils.cpp_extension import load\n    _ext = load('_ext', ['a.cu'])\n\n\n"
    "class Sampled(nn.Module):\n    def forward(self, xyz, features):\n"
    "        chosen = _ext.furthest_point_sampling(xyz, 3)\n"
    "        centres = _ext.gather_points(xyz.transpose(1, 2).contiguous(), chosen).transpose(1, 2)\n"
    "        near = _ext.ball_query(centres, xyz, 1.5, 2)\n"
    "        squares, three = _ext.three_nn(xyz, centres)\n"
    "        grouped = _ext.group_points(features, near)\n"
    "        spread = _ext.three_interpolate(grouped[..., 0], three, torch.full_like(squares, 1.0))\n"
    "        return chosen, near, squares, grouped, spread\n"
)


def executed(text: str, path: str, symbol: str) -> dict[str, Any]:
    """The names of a cut."""
    namespace: dict[str, Any] = {}
    source = write_cut(Slicer(Package({path: text}, replacements())), path, symbol).source
    exec(compile(source, "cut", "exec"), namespace)
    return namespace


def test_operators_of_point_clouds_are_those_of_the_extension() -> None:
    namespace = executed(CLOUDS, "lib/pointnet2_ops/utils.py", "Sampled")
    xyz = torch.zeros(1, 4, 3)
    xyz[0, :, 0] = torch.tensor([0.0, 1.0, 5.0, 6.0])
    chosen, near, squares, grouped, spread = namespace["Sampled"]()(xyz, torch.arange(4.0).view(1, 1, 4))
    assert chosen.tolist() == [[0, 3, 1]]  # the farthest from the first, then what is farthest from both
    assert near.tolist() == [[[0, 1], [2, 3], [0, 1]]]
    assert squares[0, 2].tolist() == [1.0, 16.0, 25.0]
    assert grouped.tolist() == [[[[0.0, 1.0], [2.0, 3.0], [0.0, 1.0]]]]
    assert spread.tolist() == [[[2.0] * 4]]


def test_a_ball_with_too_few_points_repeats_its_first() -> None:
    query = executed(CLOUDS, "a.py", "Sampled")["ball_query"]
    xyz = torch.tensor([[[0.0, 0.0, 0.0], [9.0, 0.0, 0.0], [9.5, 0.0, 0.0]]])
    assert query(xyz[:, :2], xyz, 1.0, 2).tolist() == [[[0, 0], [1, 2]]]
    assert query(xyz[:, :1] + 50.0, xyz, 1.0, 2).tolist() == [[[0, 0]]]


def test_a_third_party_library_of_point_clouds_is_ours() -> None:
    text = HEAD + (
        "from pointnet2_ops import pointnet2_utils\n\n\nclass Net(nn.Module):\n"
        "    def __init__(self):\n        super().__init__()\n"
        "        self.group = pointnet2_utils.QueryAndGroup(1.0, 4)\n\n"
        "    def forward(self, xyz):\n        return self.group(xyz, xyz[:, :2].contiguous())\n"
    )
    namespace = executed(text, "a.py", "Net")
    assert namespace["Net"]()(torch.rand(2, 8, 3)).shape == (2, 3, 2, 4)


def test_point_clouds_are_grouped_in_place_as_the_older_extension_does() -> None:
    text = HEAD + (
        "import pointnet2_cuda as pointnet2\n\n\nclass Net(nn.Module):\n    def forward(self, xyz):\n"
        "        batch, count, _ = xyz.size()\n        near = torch.zeros(batch, count, 2, dtype=torch.int32)\n"
        "        away = torch.zeros(batch, count, 2)\n"
        "        pointnet2.knn_wrapper(batch, count, count, 2, xyz, xyz, away, near)\n"
        "        out = torch.zeros(batch, 3, count, 2)\n"
        "        pointnet2.group_points_wrapper(batch, 3, count, count, 2, xyz.transpose(1, 2), near, out)\n"
        "        return away, near, out\n"
    )
    namespace = executed(text, "a.py", "Net")
    xyz = torch.tensor([[[0.0, 0.0, 0.0], [3.0, 0.0, 0.0], [1.0, 0.0, 0.0]]])
    away, near, out = namespace["Net"]()(xyz)
    assert near.tolist() == [[[0, 2], [1, 2], [2, 0]]]
    assert away.tolist() == [[[0.0, 1.0], [0.0, 4.0], [0.0, 1.0]]]
    assert out[0, 0].tolist() == [[0.0, 1.0], [3.0, 1.0], [1.0, 0.0]]


def test_clouds_that_lie_end_to_end_have_no_neighbours_in_one_another() -> None:
    text = HEAD + (
        "import pointops_cuda\n\n\nclass Net(nn.Module):\n    def forward(self, xyz, x, offset, some):\n"
        "        near, away = torch.zeros(6, 2, dtype=torch.int), torch.zeros(6, 2)\n"
        "        pointops_cuda.knnquery_cuda(6, 2, xyz, xyz, offset, offset, near, away)\n"
        "        picked = torch.zeros(3, dtype=torch.int)\n"
        "        pointops_cuda.furthestsampling_cuda(2, 4, xyz, offset, some, torch.full((6,), 1e10), picked)\n"
        "        group, less, mixed = torch.zeros(6, 2, 4), torch.zeros(6, 2, 4), torch.zeros(6, 4)\n"
        "        pointops_cuda.grouping_forward_cuda(6, 2, 4, x, near, group)\n"
        "        pointops_cuda.subtraction_forward_cuda(6, 2, 4, x, x, near, less)\n"
        "        pointops_cuda.aggregation_forward_cuda(6, 2, 4, 2, x, less, torch.ones(6, 2, 2), near, mixed)\n"
        "        pointops_cuda.interpolation_forward_cuda(6, 4, 2, x, near, torch.ones(6, 2), x.clone())\n"
        "        return near, picked, group, less, mixed\n"
    )
    namespace = executed(text, "net.py", "Net")
    xyz = torch.tensor([0.0, 1, 5, 9, 2, 3])[:, None] * torch.ones(3)
    near, picked, group, less, mixed = namespace["Net"]()(
        xyz, x := torch.randn(6, 4), torch.tensor([4, 6]), torch.tensor([2, 3])
    )
    assert near.tolist() == [[0, 1], [1, 0], [2, 1], [3, 2], [4, 5], [5, 4]]
    assert picked.tolist() == [0, 3, 4]
    assert torch.equal(group, x[near])
    assert torch.equal(less, x[:, None] - x[near])
    torch.testing.assert_close(mixed, (x[near] + less).sum(1))


def test_the_distance_between_clouds_is_that_to_the_nearest_point() -> None:
    text = HEAD + (
        "import chamfer\nimport chamfer_3D\n\n\nclass Net(nn.Module):\n    def forward(self, one, other):\n"
        "        found = torch.zeros(1, 2), torch.zeros(1, 3), torch.zeros(1, 2).int(), torch.zeros(1, 3).int()\n"
        "        chamfer_3D.forward(one, other, *found)\n        again = chamfer.forward(one, other)\n"
        "        grads = chamfer.backward(one, other, *again[2:], torch.ones(1, 2), torch.ones(1, 3))\n"
        "        return found, again, grads\n"
    )
    one, other = (torch.tensor(at)[None, :, None] * torch.tensor([1.0, 0.0, 0.0]) for at in ([0.0, 4], [1.0, 6, 9]))
    found, again, grads = executed(text, "net.py", "Net")["Net"]()(one, other)
    assert [f.tolist() for f in found] == [[[1.0, 4.0]], [[1.0, 4.0, 25.0]], [[0, 1]], [[0, 1, 1]]]
    assert all(torch.equal(a, b) for a, b in zip(found, again, strict=True))
    one, other = one.requires_grad_(), other.requires_grad_()
    away = torch.cdist(one, other).square()
    wanted = torch.autograd.grad(away.amin(2).sum() + away.amin(1).sum(), (one, other))
    assert all(torch.allclose(g, w) for g, w in zip(grads, wanted, strict=True))


def test_neighbours_come_as_columns_or_as_rows() -> None:
    text = HEAD + (
        "from knn_cuda import KNN\n\n\nclass Net(nn.Module):\n    def __init__(self, rows):\n        super().__init__()\n"
        "        self.knn = KNN(k=2, transpose_mode=rows)\n\n    def forward(self, ref, query):\n"
        "        return self.knn(ref, query)\n"
    )
    kind = executed(text, "net.py", "Net")["Net"]
    ref, query = (torch.tensor(at)[None, :, None] * torch.tensor([1.0, 0.0]) for at in ([0.0, 4, 5], [1.0, 6]))
    away, near = kind(True)(ref, query)
    assert away.tolist() == [[[1.0, 3.0], [1.0, 2.0]]] and near.tolist() == [[[0, 1], [2, 1]]]
    columns = kind(False)(ref.transpose(1, 2), query.transpose(1, 2))
    assert all(
        torch.equal(c, r.transpose(1, 2)) and c.is_contiguous() for c, r in zip(columns, (away, near), strict=True)
    )


def test_fewer_points_are_chosen_where_these_are_too_many() -> None:
    assert shallower({"npoint": "512", "n_points": "64", "width": "64"}) == {
        "npoint": "256", "n_points": "32", "width": "64"
    }  # fmt: skip
