"""Inputs by what is done with their values: words that are counted, sides of maps, classes, what is left of a pooling."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from sources.infer.constructor import configs
from sources.infer.constructor.constructions import Constructions, Told
from sources.infer.forward.asserted import wishes
from sources.infer.forward.failure import Failure
from sources.infer.forward.input_guesses import guesses
from sources.infer.forward.repairs import repairs
from sources.infer.inputs import Many, Plain, Tensor, all_tensors
from sources.infer.running.check import UnfitError, check
from sources.infer.running.progress import Budget, Progress
from sources.infer.running.worth import OUT_OF_RANGE, flaw
from sources.infer.search import Solution, solve
from sources.isolation import isolated
from sources.mine import replacements
from sources.probe import infer

HEAD = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n\n\n"


def loaded(text: str, folder: Path) -> dict[str, Any]:
    path = folder / "cut.py"
    path.write_text(HEAD + text)
    namespace: dict[str, Any] = {"nn": nn, "torch": torch, "__file__": str(path)}
    exec(compile(HEAD + text, str(path), "exec"), namespace)
    return namespace


def solved(text: str, folder: Path) -> Solution:
    namespace = loaded(text, folder)
    found = solve(namespace["Net"], namespace, HEAD + text)
    assert isinstance(found, Solution), found
    return found


def shapes(solution: Solution) -> list[tuple[int, ...]]:
    return [t.shape for _, t in all_tensors(solution.specs)]


WORDS = """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(40, 8)

    def forward(self, tokens):
        rows, _ = tokens.shape
        return self.table(tokens[tokens != 2].view(rows, -1))
"""


def test_words_that_are_taken_out_are_not_among_the_inputs(tmp_path: Path) -> None:
    (words,) = solved(WORDS, tmp_path).specs
    assert isinstance(words, Tensor)
    assert (words.kind, words.low) == ("int", 4)
    cut = {"name": "Net", "source": HEAD + WORDS, "told": {"sites": [], "defaults": {}}, "header": []}
    found = isolated(lambda: infer(cut, 20, tmp_path), 20)
    assert "torch.randint(4, " in found["source"]


def test_all_words_are_plain_where_rows_of_weights_differ() -> None:
    tokens = Tensor((4, 16), "int", 32)
    message = "ValueError: expected sequence of length 30 at dim 1 (got 27)"
    (_, first), *_ = repairs(Failure((tokens, tokens, Tensor((4, 16), "int", 2)), message, nn.Identity(), "tensor"))
    assert [t.low for _, t in all_tensors(first)] == [4, 4, 0]


MAPS = """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.line = nn.Linear(64, 64)

    def forward(self, query, flat, sides):
        length = flat.shape[1]
        assert (sides[:, 0] * sides[:, 1]).sum() == length
        first = flat[:, : int(sides[0].prod())].mean(1, keepdim=True)
        return self.line(query) * first + flat.mean()
"""


def test_maps_that_are_laid_end_to_end_are_as_long_as_their_sides_say(tmp_path: Path) -> None:
    solution = solved(MAPS.replace("sides", "spatial_shapes"), tmp_path)
    assert solution.specs[2] == Tensor((4, 2), "full", 8)
    assert shapes(solution)[1][1] == 4 * 8 * 8


def test_a_test_of_values_wishes_for_values_and_a_size(tmp_path: Path) -> None:
    namespace = loaded(MAPS, tmp_path)
    specs = (Tensor((4, 48, 64)), Tensor((4, 20, 64)), Tensor((3, 2)))
    with pytest.raises(AssertionError) as caught:
        namespace["Net"]()(*(torch.ones(t.shape) for t in specs))
    found = list(wishes(caught.value, namespace["__file__"], specs, namespace["Net"]()))
    assert (Tensor((4, 48, 64)), Tensor((4, 192, 64)), Tensor((3, 2), "full", 8)) in found


def test_attention_to_points_of_maps_weighs_their_corners() -> None:
    space: dict[str, Any] = {}
    exec(replacements()["MultiScaleDeformableAttention"], space)
    sides, heads, width = [(3, 5), (2, 4)], 2, 3
    value = torch.randn(2, 23, heads, width)
    places, weights = torch.rand(2, 7, heads, 2, 4, 2) * 1.2 - 0.1, torch.rand(2, 7, heads, 2, 4)
    starts = torch.tensor([0, 15])
    found = space["ms_deform_attn_forward"](value, torch.tensor(sides), starts, places, weights, 64)
    assert found.shape == (2, 7, heads * width)

    def point(n: int, head: int, level: int, across: float, down: float) -> torch.Tensor:
        high, wide = sides[level]
        y, x = down * high - 0.5, across * wide - 0.5
        corners = [(int(y // 1) + i, int(x // 1) + j) for i in (0, 1) for j in (0, 1)]
        inside = [(i, j) for i, j in corners if 0 <= i < high and 0 <= j < wide]
        parts = [
            value[n, int(starts[level]) + i * wide + j, head] * (1 - abs(y - i)) * (1 - abs(x - j)) for i, j in inside
        ]
        return sum(parts, torch.zeros(width))

    for n, query, head in [(0, 0, 0), (1, 6, 1), (0, 3, 1)]:
        every = [(level, p) for level in (0, 1) for p in range(4)]
        seen = [
            point(n, head, lv, *places[n, query, head, lv, p].tolist()) * weights[n, query, head, lv, p]
            for lv, p in every
        ]
        torch.testing.assert_close(found[n, query, head * width : (head + 1) * width], sum(seen, torch.zeros(width)))


ATARI = """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.main = nn.Sequential(
            nn.Conv2d(64, 32, 8, 4), nn.ReLU(), nn.Conv2d(32, 64, 4, 2), nn.ReLU(), nn.Conv2d(64, 32, 3), nn.ReLU(),
            nn.Flatten(), nn.Linear(32 * 7 * 7, 64))

    def forward(self, x):
        return self.main(x / 255.0)
"""
POOLED = """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.pool, self.last = nn.MaxPool1d(32), nn.Linear(24, 4)
        self.table = nn.Embedding(40, 24)

    def forward(self, tokens):
        return self.last(self.pool(self.table(tokens).permute(0, 2, 1)).squeeze())
"""


@pytest.mark.parametrize("text", [ATARI, POOLED], ids=["side", "rest"])
def test_sizes_before_a_layer_over_all_that_is_left(text: str, tmp_path: Path) -> None:
    (shape,) = shapes(solved(text, tmp_path))
    assert shape[-1] in (84, 85, 86, 87, 32)


def test_what_is_too_large_is_tried_with_one_in_place_of_many() -> None:
    x, weight = torch.ones(4, 128), torch.ones(512, 1568)
    message = "RuntimeError: mat1 and mat2 shapes cannot be multiplied (4x128 and 1568x512)"
    failure = Failure((Tensor((4, 64, 48, 48)), Tensor((4, 8))), message, nn.Identity(), "linear", (x, weight))
    assert (Tensor((1, 64, 168, 168)), Tensor((1, 8))) in [specs for _, specs in repairs(failure)]


FOCAL = """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.gamma = 2

    def forward(self, output, target):
        rows = output.flatten(2).transpose(1, 2).flatten(0, 1)
        return F.cross_entropy(rows ** self.gamma, target.reshape(-1))
"""


def test_classes_of_flattened_maps_are_one_for_each_place(tmp_path: Path) -> None:
    output, target = solved(FOCAL, tmp_path).specs
    assert isinstance(output, Tensor)
    assert isinstance(target, Tensor)
    assert (target.shape, target.kind) == ((output.shape[0], *output.shape[2:]), "int")


def test_a_message_tells_how_many_classes_there_are() -> None:
    message = "RuntimeError: index 8 is out of bounds for dimension 1 with size 3"
    (_, first), *_ = repairs(Failure((Tensor((4,), "int", 16),), message, nn.Identity(), "scatter_"))
    assert first == (Tensor((4,), "int", 3),)


class Marked(nn.Module):
    def __init__(self, count: int) -> None:
        super().__init__()
        self.count = count

    def forward(self, target: torch.Tensor) -> torch.Tensor:
        return torch.zeros(len(target), self.count).scatter(1, target[:, None], 1.0)


def test_places_that_were_lucky_are_no_solution() -> None:
    torch.manual_seed(0)
    lucky = int(torch.randint(0, 64, (4,)).max()) + 1
    assert lucky < 64
    for count, said in ((lucky, OUT_OF_RANGE), (64, "")):
        module = Marked(count)
        assert flaw(module, (Tensor((4,), "int", 64),), module(torch.arange(4)), Budget()) == said


def test_places_among_features_are_whole_numbers() -> None:
    class Loss(nn.Module):
        def forward(self, feat: Any, ind: Any) -> Any: ...

    feat, ind = guesses(Loss())
    assert isinstance(feat[0], Tensor)
    assert isinstance(ind[0], Tensor)
    assert (feat[0].kind, ind[0].kind) == ("float", "int")


LOSS = """class Net(nn.Module):
    def forward(self, inputs, predictions):
        (
            mel,
            _,
            pitch,
        ) = inputs[2:]
        found, heard = predictions
        return (mel - found).abs().mean() + (pitch - heard).abs().mean()
"""


def test_what_is_unpacked_behind_others_is_given_behind_them(tmp_path: Path) -> None:
    inputs, predictions = solved(LOSS, tmp_path).specs
    assert isinstance(inputs, Many)
    assert [isinstance(item, Tensor) for item in inputs.items] == [False, False, True, False, True]
    assert inputs.items[3] == Plain(None)
    assert isinstance(predictions, Many)
    assert len(predictions.items) == 2


def test_vectors_of_words_are_as_wide_as_a_configuration_says() -> None:
    class Net(nn.Module):
        def __init__(self, embedding_matrix: Any, opt: Any) -> None:
            super().__init__()
            self.table = nn.Embedding.from_pretrained(torch.as_tensor(embedding_matrix))
            self.line = nn.Linear(opt.embed_dim, 4)

    told = Told((), {"embed_dim": "300"})
    arguments, module = next(iter(Constructions(Net, {"nn": nn, "torch": torch}, "", Budget(), told)))
    assert arguments["embedding_matrix"].startswith("torch.randn(1024, 300)")
    assert [tuple(p.shape) for p in module.parameters()] == [(1024, 300), (4, 300), (4,)]


WRAPPED = """class Net(nn.Module):
    def __init__(self, dim, norm_layer):
        super().__init__()
        self.body = nn.Sequential(nn.ReflectionPad2d(1), norm_layer(nn.Conv2d(dim, dim, 3)))

    def forward(self, x):
        return x + self.body(x)
"""


def test_what_is_called_with_a_layer_gives_one_like_it(tmp_path: Path) -> None:
    assert solved(WRAPPED, tmp_path).arguments["norm_layer"] == "nn.Sequential"


CHOSEN = (
    HEAD
    + """class Model(nn.Module):
    def forward(self, x, kinds):
        assert kinds.sum() == 32
        return x * {}


def get_init_inputs():
    return []


def get_inputs():
    return [torch.randn(4, 8), torch.full((4,), 8)]
"""
)


def test_values_with_which_a_test_fails_are_read() -> None:
    found = check(CHOSEN.format("kinds.max()"), "Model", 20)
    assert [i["shape"] for i in found["inputs"]] == [[4, 8], [4]]
    with pytest.raises(UnfitError):
        check(CHOSEN.replace("assert kinds.sum() == 32", "kinds.sum()").format("2"), "Model", 20)


NUMBERED = """class Net(nn.Module):
    def forward(self, batch_size, x):
        return torch.zeros(batch_size, x.shape[1], 2).sum(2) + x.sum(2)
"""


def test_a_number_of_rows_is_one_and_that_of_the_rows(tmp_path: Path) -> None:
    number, x = solved(NUMBERED, tmp_path).specs
    assert isinstance(number, Plain)
    assert isinstance(x, Tensor)
    assert number.value == x.shape[0]
    message = "The size of tensor a (6) must match the size of tensor b (4) at non-singleton dimension 0"
    assert (Plain(4), x) in [specs for _, specs in repairs(Failure((Plain(6), x), message, nn.Identity(), "add"))]


class Heard(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.image, self.line = nn.Conv2d(1, 4, 3, padding=1), nn.Linear(4 * 20, 48)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        """Answers to sounds.

        Args:
            inputs (torch.Tensor): spectra of shape (batch, time, dim)
        """
        found: torch.Tensor = self.line(self.image(inputs[:, None]).transpose(1, 2).flatten(2))
        return found


def test_a_sequence_of_which_an_image_is_made_is_as_wide_as_was_told() -> None:
    assert guesses(Heard(), {"input_dim": 20})[0][0] == Tensor((4, 64, 20))
    assert guesses(Heard())[0][0] != Tensor((4, 64, 20))


class Decoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(48, 8)

    def forward(self, targets: torch.Tensor) -> Any:
        """Answers to words.

        Args:
            targets (torch.Tensor): of shape (batch, length)
        """
        return self.step(targets).relu()

    def step(self, targets: torch.Tensor) -> Any:
        return self.words(targets)


def test_targets_of_what_looks_words_up_are_words() -> None:
    first = guesses(Decoder())[0][0]
    assert isinstance(first, Tensor)
    assert (first.kind, first.high, len(first.shape)) == ("int", 48, 2)


def test_views_of_more_than_there_is_are_no_work() -> None:
    budget = Budget()
    with Progress(budget) as progress:
        torch.ones(1, 1, 8).expand(1 << 12, 1 << 12, 8)
    assert progress.elements > 1 << 26
    assert Budget().left - budget.left < 2


def test_a_test_of_values_that_tensors_cannot_answer_wishes_for_nothing(tmp_path: Path) -> None:
    namespace = loaded(MAPS.replace("(sides[:, 0] * sides[:, 1]).sum()", "sides.unheard_of()"), tmp_path)
    specs = (Tensor((4, 48, 64)), Tensor((4, 20, 64)), Tensor((3, 2)))
    given = [torch.ones(t.shape) for t in specs]
    given[2].unheard_of = lambda: 3  # type: ignore[attr-defined]
    with pytest.raises(AssertionError) as caught:
        namespace["Net"]()(*given)
    found = list(wishes(caught.value, namespace["__file__"], specs, namespace["Net"]()))
    assert all(t.kind != "full" for specs in found for _, t in all_tensors(specs))


def test_inputs_that_are_joined_grow_together() -> None:
    message = "Expected size for first two dimensions of batch2 tensor to be: [4, 192] but got: [4, 1800]."
    failure = Failure((Plain(4), Tensor((4, 9, 64)), Tensor((4, 7, 64))), message, nn.Identity(), "matmul")
    assert (Plain(4), Tensor((4, 9, 600)), Tensor((4, 7, 600))) in [specs for _, specs in repairs(failure)]


def test_inputs_are_as_long_as_the_program_says_they_must_be() -> None:
    message = "ValueError: Input length (32) must be larger than largest FFT size (64)."
    found = repairs(Failure((Tensor((4, 32, 32)), Tensor((4, 3, 32))), message, nn.Identity(), "size"))
    assert found[0][1] == (Tensor((4, 32, 128)), Tensor((4, 3, 128)))


def test_what_is_subscripted_over_several_lines_is_a_mapping() -> None:
    source = 'level = config["pitch"][\n    "feature"\n]\n'
    fields = {"config.pitch": "<config>", "config.pitch.feature": "'frame'"}
    assert configs.text("config", fields, source).count(configs.NAME) == 2
    assert configs.text("config.pitch", fields, "level = config.pitch.feature\n").startswith("SimpleNamespace")
