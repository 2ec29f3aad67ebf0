"""What was sown into unwritten memory and stands in an answer: see ``kdata.verify.candidate.sowing``. Trusted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kdata.verify.evidence.compare import Tensors, leaves

NEARLY = 1 + 2.0**-21  # times the answer: ulps that rounding in another order would not make everywhere
DTYPES = ("float32", "float64")  # whose ulps are small beside what is allowed
SHARE = 0.25  # of an answer that is just what was sown, and not what it was before


def grown(first: Mapping[str, Any], report: Mapping[str, Any], returned: Tensors) -> float:
    """The largest share of an output that is what was sown, and not what the first call returned."""
    if "outputs" not in first or "outputs" not in report:
        return 0.0
    shares = [0.0]
    for (_, one), (_, other) in zip(leaves(first["outputs"]), leaves(report["outputs"]), strict=False):
        if "tensor" not in one or "tensor" not in other:
            continue
        dtype = returned.entry(one["tensor"])["dtype"]
        was, now = (returned.array(node["tensor"]) for node in (one, other))
        if dtype in DTYPES and was.shape == now.shape and was.size:
            seed = was.astype(dtype) * np.dtype(dtype).type(NEARLY)
            shares.append(float(((now == seed) & (seed != was)).mean()))
    return max(shares)
