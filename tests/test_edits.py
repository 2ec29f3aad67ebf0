"""Edits of a text: what is put at its very end, and what is done about edits that leave no Python."""

from __future__ import annotations

from sources.text.masks import of_truth
from sources.text.rewrite import Edits, Text

SAID = "kept = 1 - mask"  # without a line's end


def test_what_is_put_behind_the_last_byte_counts() -> None:
    edits = Edits(Text.of(SAID))
    edits.replace(len(SAID), len(SAID), "\n")
    assert edits.whole() == f"{SAID}\n"
    assert of_truth(SAID) == "kept = torch.logical_not(mask)"


def test_edits_that_leave_no_python_leave_the_text() -> None:
    edits = Edits(Text.of(SAID))
    edits.replace(0, len("kept"), "masks")
    assert edits.parsed() == SAID.replace("kept", "masks")
    edits.replace(len(SAID), len(SAID), ")")
    assert edits.parsed() == SAID
