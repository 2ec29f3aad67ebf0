"""Is the kernel short enough to learn from?"""

from __future__ import annotations

from kdata.record import Pair
from kdata.statistics import lines

MAX_LINES = 600  # unrolled or generated code beyond this; a hand-written attention kernel has about 300
MAX_CHARACTERS = 40_000  # about 12,000 tokens: with its task it still fits a 16k context


def check(pair: Pair, max_lines: int = MAX_LINES, max_characters: int = MAX_CHARACTERS) -> str | None:
    """A reason where the candidate has too many non-blank lines, or too many characters."""
    source = pair.candidate.source
    if (count := lines(source)) > max_lines:
        return f"kernel too long: {count} lines, at most {max_lines}"
    if len(source) > max_characters:
        return f"kernel too long: {len(source)} characters, at most {max_characters}"
    return None
