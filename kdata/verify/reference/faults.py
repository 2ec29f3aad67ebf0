"""What is wrong with a task before any candidate is looked at. In the reference's child."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from kdata.task import TaskError
from kdata.verify import reasons
from kdata.verify.exchange.telling import line
from kdata.verify.reference.probe import Prober
from kdata.verify.reference.unchecked import checked

LIGHT = 1 << 20  # elements from which on a reference that fails may lack the memory only


class TaskFaultError(Exception):
    """The task is at fault: a reason and a detail."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(reason, detail)
        self.reason, self.detail = reason, detail


def answered(run: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """What the run returns; ``{"fault": [reason, detail]}`` where the task is at fault."""
    try:
        with checked():
            return run()
    except TaskFaultError as fault:
        return {"fault": [fault.reason, fault.detail]}
    except TaskError as error:
        return {"fault": [reasons.BAD_TASK, str(error)]}


def demand_runnable(prober: Prober, entry_point: str) -> None:
    """Say clearly what keeps the task from running at all, where it is not its size.

    Raises:
        TaskFaultError: its text, its class or its reference is at fault.
        kdata.task.TaskError: it is no task.
    """
    try:
        program = prober.program({})
    except TaskError:
        raise
    except Exception as error:
        raise TaskFaultError(reasons.BAD_TASK, f"its text raises {line(error)}") from error
    made = program.namespace[entry_point]
    if not (isinstance(made, type) and issubclass(made, nn.Module)):
        raise TaskFaultError(reasons.BAD_TASK, f"{entry_point} is no nn.Module class")
    shapes = prober.shapes({})
    if (shapes is None or shapes.elements < LIGHT) and prober.forward({}) is None:
        with torch.no_grad():
            try:
                program.build()(*program.inputs())
            except Exception as error:
                raise TaskFaultError(reasons.BAD_TASK, f"the reference raises {line(error)}") from error
