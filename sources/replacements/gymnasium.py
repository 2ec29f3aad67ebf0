"""gymnasium's spaces: what networks are told of an environment's observations and actions."""

import numpy as np


class Space:
    def __init__(self, shape=(64,), dtype=np.float32, seed=None):
        self.shape, self.dtype = tuple(shape), np.dtype(dtype)


class Box(Space):
    def __init__(self, low=-1.0, high=1.0, shape=(64,), dtype=np.float32, seed=None):
        super().__init__(shape, dtype)
        self.low, self.high = np.full(self.shape, low, self.dtype), np.full(self.shape, high, self.dtype)

    def is_bounded(self, manner="both"):
        return True


class Discrete(Space):
    def __init__(self, n=16, seed=None, start=0):
        super().__init__((), np.int64)
        self.n, self.start = n, start


class MultiDiscrete(Space):
    def __init__(self, nvec=(4, 8), dtype=np.int64, seed=None):
        super().__init__((len(nvec),), dtype)
        self.nvec = np.array(nvec)


class MultiBinary(Space):
    def __init__(self, n=16, seed=None):
        super().__init__((n,), np.int8)
        self.n = n


class Dict(Space):
    def __init__(self, spaces=None, seed=None):
        self.spaces = {"observation": Box()} if spaces is None else dict(spaces)

    def __getitem__(self, key):
        return self.spaces[key]


class Tuple(Space):
    def __init__(self, spaces=(), seed=None):
        self.spaces = tuple(spaces) or (Box(),)


class Env:
    pass
