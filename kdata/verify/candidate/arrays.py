"""Numpy for candidates: arithmetic of numbers, and tables of constants. What is handed out is for children only.

Constructors of many networks compute sizes and tables so (``np.sqrt(dim)``, ``np.prod(shape)``, ``np.hanning(7)``), and
honest answers keep these lines.  Nothing here reads files, addresses or memory that nobody wrote, or draws numbers.  No
array shares its memory with a tensor (``candidate.allowed`` sees to it): what a kernel has written cannot be computed
with here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

CONSTANTS = "e inf nan newaxis pi"
TYPES = (
    "bool_ finfo float16 float32 float64 floating iinfo int16 int32 int64 int8 integer issubdtype ndarray number "
    "uint16 uint32 uint64 uint8"
)
MADE = (
    "arange array asarray bartlett blackman diag eye full full_like geomspace hamming hanning identity indices kaiser "
    "linspace logspace meshgrid ones ones_like tri vander zeros zeros_like"
)
COMPUTED = (
    "abs absolute add all allclose any arccos arcsin arctan arctan2 argmax argmin argsort array_equal cbrt ceil clip "
    "convolve cos cosh cross cumprod cumsum deg2rad degrees diff divide dot einsum equal exp exp2 expm1 fabs floor "
    "floor_divide fmod gcd hypot interp isfinite isinf isnan isscalar kron lcm log log10 log1p log2 matmul max maximum "
    "mean median min minimum mod multiply ndim negative outer percentile power prod rad2deg radians reciprocal rint "
    "round searchsorted shape sign sin sinc sinh size sort sqrt square std subtract sum tan tanh tensordot trace tril "
    "triu trunc unique unravel_index var where"
)
ARRANGED = (
    "atleast_1d atleast_2d broadcast_to column_stack concatenate diagonal expand_dims flip fliplr flipud hstack "
    "moveaxis nonzero pad ravel repeat reshape roll rot90 split squeeze stack swapaxes tile transpose vstack"
)
MEMBERS = frozenset(f"{CONSTANTS} {TYPES} {MADE} {COMPUTED} {ARRANGED}".split())


class Arrays:
    """The module, as far as candidates have it."""

    __slots__ = ()
    refuse: ClassVar[Callable[[str], Any]]  # the enclosure's

    def __repr__(self) -> str:
        return "<numpy>"

    def __getattr__(self, name: str) -> Any:
        """One of its members.

        Raises:
            ForbiddenError: candidates do not have it.
            AttributeError: the real module does not have it either.
        """
        if name in MEMBERS or not hasattr(np, name):
            return getattr(np, name)
        return Arrays.refuse(f"numpy.{name}")


ARRAYS = Arrays()
