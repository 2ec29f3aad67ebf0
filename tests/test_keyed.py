"""Batches as dictionaries, and lists with a dictionary for each image."""

from __future__ import annotations

from pathlib import Path

import pytest

from sources.hints.layouts import told
from sources.infer.forward.keyed import OBJECTS, keyed, of_each, with_key
from sources.infer.inputs import BATCH, Many, Tensor
from tests.attempts import attempted

MATCHER = '''
class Net(nn.Module):
    """Matches."""

    def forward(self, outputs, targets):
        """
        outputs: a dict that contains these entries:
            "pred_logits": Tensor of dim [batch_size, num_queries, num_classes] with the logits
            "pred_boxes": Tensor of dim [batch_size, num_queries, 4] with the boxes
        """
        bs, queries = outputs["pred_logits"].shape[:2]
        boxes = torch.cat([v["boxes"] for v in targets])
        given = outputs["pred_boxes"].flatten(0, 1)
        assert (given >= 0).all()
        cost = torch.cdist(given, boxes) - outputs["pred_logits"].flatten(0, 1).sigmoid()[:, self.labels(targets)]
        return cost.view(bs, queries, -1)

    def labels(self, targets):
        return torch.cat([t["labels"] for t in targets])
'''


def test_a_matcher_of_boxes_gets_a_dictionary_for_each_image(tmp_path: Path) -> None:
    outcome = attempted(MATCHER, tmp_path)
    assert not outcome["reason"], outcome["detail"]
    shapes = [i["shape"] for i in outcome["inputs"]]
    assert shapes[1][-1] == 4 and shapes.count([OBJECTS, 4]) == shapes.count([OBJECTS]) == BATCH


@pytest.mark.parametrize(
    "loop",
    ["[t['boxes'] for t in targets]", "[t['boxes'] for i, t in enumerate(targets)]",
     "[t['boxes'] for t, (_, i) in zip(targets, indices)]", "[t['boxes'] for i, t in zip(indices, targets)]"],
)  # fmt: skip
def test_what_is_taken_out_of_each_is_found(loop: str) -> None:
    (found,) = of_each("targets", f"def forward(self, targets):\n    return {loop}\n")
    assert isinstance(found, Many) and found.items[0] == Many((Tensor((OBJECTS, 4), "unit"),), "dict", ("boxes",))
    assert of_each("indices", f"def forward(self, targets):\n    return {loop}\n") == []


def test_each_gets_a_further_key() -> None:
    each = Many((Many((Tensor((3,)),), "dict", ("a",)),) * 2)
    more = with_key(each, "labels")
    assert more is not None and all(isinstance(i, Many) and i.keys == ("a", "labels") for i in more.items)
    assert with_key(each, "a") is None and with_key(Many((Tensor((3,)),)), "a") is None


def test_shapes_are_told_of_what_goes_by_a_key_in_quotes() -> None:
    text = 'batch:\n  \'x\': Tensor [B, C, 4]\n  "y": Tensor of dim [n]\n  "z": [B, 2]\n'
    assert told("x", text, "") == [("B", "C", "4")]
    assert told("y", text, "") == []


def test_what_is_only_gone_through_is_given_what_the_class_takes_out_of_it() -> None:
    forward = "def forward(self, outputs):\n    main = {k: v for k, v in outputs.items() if k != 'extra'}\n"
    text = (
        f"{forward}    if 'extra' in outputs:\n        return self.one(outputs['extra'])\n    return self.one(main)\n"
    )
    whole = f"class Net:\n{text}\ndef one(self, outputs):\n    assert 'x' in outputs\n    return outputs['x']\n"
    guess = {"x": Tensor((2,)), "extra": Tensor((3,))}
    (found,) = keyed("outputs", text, lambda key, _: guess[key], lambda: whole)
    assert found == Many((guess["x"],), "dict", ("x",))
    assert keyed("outputs", "def forward(self, outputs):\n    return outputs + 1\n", lambda *_: guess["x"]) == []


SINE = """
class Net(nn.Module):
    def forward(self, tensor_list):
        x, mask = tensor_list.tensors, tensor_list.mask
        at = (~mask).cumsum(1, dtype=torch.float32)
        return (at[:, :, :, None] / torch.arange(1, 5, device=x.device)).sin()
"""


def test_what_a_record_holds_and_is_not_used_is_no_input(tmp_path: Path) -> None:
    outcome = attempted(SINE, tmp_path)
    assert not outcome["reason"], outcome["detail"]
    assert [i["name"] for i in outcome["inputs"]] == ["mask"]


@pytest.mark.parametrize("key", ["0", "class"])
def test_a_key_need_not_be_a_name(key: str, tmp_path: Path) -> None:
    text = f"""
class Net(nn.Module):
    def forward(self, features):
        return features["{key}"].sigmoid().mean(dim=1)
"""
    outcome = attempted(text, tmp_path)
    assert not outcome["reason"], outcome["detail"]
    assert f"{{'{key}': torch." in outcome["source"]
