"""Kernels that ask where their tensors lie. In the host's child.

What a kernel computes follows from what is in memory, not from where: of two pointers as numbers it could tell whether
one tensor was given twice, or who runs it. That numbers from a table become pointers is another thing.
"""

from __future__ import annotations

from typing import Any

from triton.runtime import interpreter

from kdata.verify.candidate.enclosure import refuse


def refuse_as_numbers() -> None:
    """Refuse it, once a process."""
    builder: Any = interpreter.InterpreterBuilder

    def create_ptr_to_int(_builder: Any, *_arguments: Any) -> Any:
        """Nothing comes of it.

        Raises:
            ForbiddenError: always.
        """
        return refuse("a pointer as a number")

    builder.create_ptr_to_int = create_ptr_to_int
