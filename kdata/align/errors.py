"""Why a task has no compiler-made candidate."""

from __future__ import annotations


class AlignError(Exception):
    """The compiler, or our reading of its output, does not cover this task.

    ``reason`` is a short fixed phrase that the funnel groups by; ``detail`` is one line for people.
    """

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason, self.detail = reason, detail
