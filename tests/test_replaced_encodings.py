"""Compiled encodings of positions, and what is built of them, against what they are said to compute."""

from __future__ import annotations

import itertools
import math
import sys
from types import ModuleType
from typing import Any

import pytest
import torch
from torch import nn

from sources import mine

NAMES = ("_freqencoder", "_shencoder", "_gridencoder", "_ffmlp", "tinycudann")
PRIMES = (1, 2654435761, 805459861)
HASH_GRID = {"otype": "HashGrid", "n_levels": 3, "n_features_per_level": 2, "log2_hashmap_size": 6,
             "base_resolution": 3, "per_level_scale": 2.0}  # fmt: skip


@pytest.fixture(scope="module")
def modules() -> Any:
    known = mine.replacements()
    with pytest.MonkeyPatch.context() as importable:
        for name in NAMES:
            importable.setitem(sys.modules, name, ModuleType(name))
            exec(known[name], vars(sys.modules[name]))
        yield {name: sys.modules[name] for name in NAMES}


def test_frequencies_are_sines_and_cosines_of_powers_of_two(modules: Any) -> None:
    x, out = torch.randn(5, 3), torch.empty(5, 15)
    modules["_freqencoder"].freq_encode_forward(x, 5, 3, 2, 15, out)
    torch.testing.assert_close(out, torch.cat([x, x.sin(), x.cos(), (2 * x).sin(), (2 * x).cos()], dim=1))


def test_harmonics_have_their_known_polynomials_and_are_orthonormal(modules: Any) -> None:
    direction = nn.functional.normalize(torch.randn(200_000, 3, dtype=torch.float64, generator=torch.manual_seed(0)))
    out = torch.empty(len(direction), 25, dtype=torch.float64)
    modules["_shencoder"].sh_encode_forward(direction, out, len(direction), 3, 5)
    x, y, z = direction.unbind(1)
    expected = {0: 0.28209479177387814, 1: -0.48860251190291987 * y, 5: -1.0925484305920792 * y * z,
                6: 0.94617469575756 * z * z - 0.31539156525252, 8: 0.5462742152960396 * (x * x - y * y),
                15: 0.5900435899266435 * x * (3 * y * y - x * x), 17: 1.77013076977993 * y * z * (y * y - 3 * x * x)}  # fmt: skip
    for column, values in expected.items():
        torch.testing.assert_close(out[:, column], torch.as_tensor(values).expand(len(x)).double())
    products = 4 * math.pi * out.T @ out / len(out)
    torch.testing.assert_close(products, torch.eye(25, dtype=torch.float64), atol=0.05, rtol=0)


def looked_up(point: list[float], table: torch.Tensor, scale: float, side: int, hashed: bool, moved: float) -> Any:
    """The features of one point of a level, corner by corner."""
    total = torch.zeros(table.shape[1])
    places = [p * scale + moved for p in point]
    for corner in itertools.product((0, 1), repeat=len(point)):
        at = [int(p // 1) + c for p, c in zip(places, corner, strict=True)]
        weight = math.prod(p % 1 if c else 1 - p % 1 for p, c in zip(places, corner, strict=True))
        row = sum(a * side**i for i, a in enumerate(at))
        if hashed and side ** len(point) > len(table):
            row = 0
            for a, prime in zip(at, PRIMES, strict=False):
                row ^= a * prime % 2**32
        total += weight * table[row % 2**32 % len(table)]
    return total


@pytest.mark.parametrize(("hashed", "aligned"), [(True, False), (True, True), (False, False)])
def test_a_grid_interpolates_between_corners_in_order_or_at_their_hashes(
    modules: Any, hashed: bool, aligned: bool
) -> None:
    sizes, table = [64, 64], torch.randn(128, 2)
    x, out = torch.rand(7, 3), torch.empty(2, 7, 2)
    x[6] = torch.tensor([0.5, 0.5, 1.1])  # outside
    starts = torch.tensor([0, *itertools.accumulate(sizes)], dtype=torch.int32)
    modules["_gridencoder"].grid_encode_forward(
        x, table, starts, out, 7, 3, 2, 2, 1.0, 3, None, 0 if hashed else 1, aligned, 0
    )
    for level, scale in enumerate((2.0, 5.0)):
        rows = table[64 * level : 64 * level + 64]
        for n in range(6):
            side, moved = (int(scale) + 1, 0.0) if aligned else (int(scale) + 2, 0.5)
            torch.testing.assert_close(out[level, n], looked_up(x[n].tolist(), rows, scale, side, hashed, moved))
    assert not out[:, 6].any()


def test_a_perceptron_lies_in_one_vector(modules: Any) -> None:
    shapes = [(16, 32), (16, 16), (16, 16)]
    layers = [torch.randn(shape) for shape in shapes]
    weights, x, out = torch.cat([w.flatten() for w in layers]), torch.randn(4, 32), torch.empty(4, 16)
    modules["_ffmlp"].ffmlp_forward(x, weights, 4, 32, 16, 16, 2, 0, 6, None, out)
    torch.testing.assert_close(out, torch.relu(torch.relu(x @ layers[0].T) @ layers[1].T) @ layers[2].T)
    torch.testing.assert_close(modules["_ffmlp"].squareplus(x), (10 * x + (100 * x * x + 4).sqrt()) / 20)


def test_an_encoded_network_is_its_encoding_and_its_layers(modules: Any) -> None:
    network = {"otype": "FullyFusedMLP", "n_neurons": 16, "n_hidden_layers": 2, "activation": "ReLU"}
    whole = modules["tinycudann"].NetworkWithInputEncoding(3, 5, HASH_GRID, network)
    x, encoding = torch.rand(9, 3), whole.encoding
    found = encoding(x)
    assert found.shape == (9, encoding.n_output_dims) == (9, 6)
    table = encoding.params.detach().view(-1, 2)
    assert encoding.starts.tolist() == [0, 32, 96, 160]  # 27 corners fit, those of 6 and 12 cells a side do not
    torch.testing.assert_close(found[2, :2].detach(), looked_up(x[2].tolist(), table[:32], 2.0, 3, True, 0.5))
    torch.testing.assert_close(found[2, 4:].detach(), looked_up(x[2].tolist(), table[96:], 11.0, 12, True, 0.5))
    first, second, last = (w.view(s) for w, s in zip(
        whole.network.params.split([96, 256, 80]), [(16, 6), (16, 16), (5, 16)], strict=True))  # fmt: skip
    torch.testing.assert_close(whole(x), ((found @ first.T).relu() @ second.T).relu() @ last.T)


@pytest.mark.parametrize(("config", "starts"), [
    ({"otype": "Grid"}, [0, 32, 96, 160]), ({"otype": "TiledGrid"}, [0, 27, 54, 81]),
    ({"otype": "Grid", "type": "Dense"}, [0, 32, 248, 1976]),
    ({"otype": "DenseGrid", "per_level_scale": None}, [0, 32, 21984, 16799200]),
])  # fmt: skip
def test_a_grid_is_as_large_as_what_stores_it(modules: Any, config: dict[str, Any], starts: list[int]) -> None:
    config = {key: value for key, value in (HASH_GRID | config).items() if value is not None}
    assert modules["tinycudann"].Encoding(3, config).starts.tolist() == starts


def test_grids_go_on_outside_of_the_unit_cube(modules: Any) -> None:
    encoding = modules["tinycudann"].Encoding(3, HASH_GRID)
    table, x = encoding.params.detach().view(-1, 2), torch.tensor([[0.25, 1.25, -0.75]])
    torch.testing.assert_close(encoding(x)[0, 2:4].detach(), looked_up(x[0].tolist(), table[32:96], 5.0, 6, True, 0.5))


@pytest.mark.parametrize(("config", "width"), [({"otype": "SphericalHarmonics", "degree": 3}, 9),
                                               ({"otype": "Frequency", "n_frequencies": 4}, 24),
                                               ({"otype": "Identity"}, 3)])  # fmt: skip
def test_encodings_tell_how_wide_they_are(modules: Any, config: dict[str, Any], width: int) -> None:
    encoding = modules["tinycudann"].Encoding(3, config)
    assert encoding(torch.rand(6, 3)).shape == (6, width) == (6, encoding.n_output_dims)
    with pytest.raises(ValueError, match="Triangles"):
        modules["tinycudann"].Encoding(3, {"otype": "Triangles"})
    with pytest.raises(ValueError, match="Nearest"):
        modules["tinycudann"].Encoding(3, HASH_GRID | {"interpolation": "Nearest"})
