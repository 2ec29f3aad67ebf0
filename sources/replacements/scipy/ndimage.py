"""scipy's resampling of arrays by factors, along one axis after the other: nearest (order 0) or linear (order 1)."""

import numpy as np


def zoom(input, zoom, output=None, order=1, **kwargs):
    if order not in (0, 1):
        raise NotImplementedError(f"splines of order {order}")
    x = np.asarray(input)
    factors = [zoom] * x.ndim if np.isscalar(zoom) else zoom
    for axis, factor in enumerate(factors):
        size = x.shape[axis]
        wanted = round(float(size * factor))
        at = np.arange(wanted) * ((size - 1) / max(wanted - 1, 1))
        if order == 0:
            x = x.take(np.floor(at + 0.5).astype(int), axis=axis)
        else:
            low = np.floor(at).astype(int).clip(0, max(size - 2, 0))
            share = (at - low).reshape([-1 if d == axis else 1 for d in range(x.ndim)])
            high = np.minimum(low + 1, size - 1)
            x = (x.take(low, axis=axis) * (1 - share) + x.take(high, axis=axis) * share).astype(x.dtype)
    return x
