"""gymnasium's spaces: what networks are told of an environment's observations and actions."""

from collections.abc import Mapping, Sequence

import numpy as np


class Space:
    is_np_flattenable = True

    def __init__(self, shape=None, dtype=None, seed=None):
        self.shape = None if shape is None else tuple(int(size) for size in shape)
        self.dtype = None if dtype is None else np.dtype(dtype)
        self.np_random = np.random.default_rng(seed or 0)

    def sample(self, mask=None):
        raise NotImplementedError

    def __contains__(self, x):
        return self.contains(x)

    def contains(self, x):
        return np.shape(x) == self.shape


class Box(Space):
    def __init__(self, low=None, high=None, shape=None, dtype=np.float32, seed=None):
        arrays = [np.shape(bound) for bound in (low, high) if np.ndim(bound)]
        sizes = arrays[0] if arrays else (64,) if low is None else (1,)
        super().__init__(sizes if shape is None else shape, dtype, seed)
        self.low = np.full(self.shape, -1.0 if low is None else low, self.dtype)
        self.high = np.full(self.shape, 1.0 if high is None else high, self.dtype)
        self.bounded_below, self.bounded_above = np.isfinite(self.low), np.isfinite(self.high)

    def is_bounded(self, manner="both"):
        below, above = bool(self.bounded_below.all()), bool(self.bounded_above.all())
        return {"both": below and above, "below": below, "above": above}[manner]

    def sample(self, mask=None):
        bounded = self.bounded_below & self.bounded_above
        even = self.np_random.uniform(np.where(bounded, self.low, 0), np.where(bounded, self.high, 0))
        return np.where(bounded, even, self.np_random.normal(size=self.shape)).astype(self.dtype)


class Discrete(Space):
    def __init__(self, n=16, seed=None, start=0, dtype=np.int64):
        super().__init__((), dtype, seed)
        self.n, self.start = self.dtype.type(n), self.dtype.type(start)

    def sample(self, mask=None, probability=None):
        return self.start + self.np_random.integers(self.n)


class MultiDiscrete(Space):
    def __init__(self, nvec=(4, 8), dtype=np.int64, seed=None, start=None):
        self.nvec = np.array(nvec, dtype)
        super().__init__(self.nvec.shape, dtype, seed)
        self.start = np.zeros_like(self.nvec) if start is None else np.array(start, dtype)

    def sample(self, mask=None, probability=None):
        return self.start + self.np_random.integers(self.nvec).astype(self.dtype)


class MultiBinary(Space):
    def __init__(self, n=16, seed=None):
        self.n = n
        super().__init__((n,) if np.ndim(n) == 0 else n, np.int8, seed)

    def sample(self, mask=None, probability=None):
        return self.np_random.integers(2, size=self.shape, dtype=self.dtype)


class Dict(Space, Mapping):
    def __init__(self, spaces=None, seed=None, **named):
        super().__init__(seed=seed)
        self.spaces = {**dict(spaces or {}), **named}
        if spaces is None and not named:
            self.spaces = {"observation": Box()}

    def __getitem__(self, key):
        return self.spaces[key]

    def __iter__(self):
        return iter(self.spaces)

    def __len__(self):
        return len(self.spaces)

    def contains(self, x):
        return isinstance(x, dict) and x.keys() == self.spaces.keys()

    def sample(self, mask=None, probability=None):
        return {key: space.sample() for key, space in self.spaces.items()}


class Tuple(Space, Sequence):
    def __init__(self, spaces=(), seed=None):
        super().__init__(seed=seed)
        self.spaces = tuple(spaces) or (Box(),)

    def __getitem__(self, index):
        return self.spaces[index]

    def __len__(self):
        return len(self.spaces)

    def sample(self, mask=None, probability=None):
        return tuple(space.sample() for space in self.spaces)


def flatdim(space):
    if isinstance(space, Dict | Tuple):
        return sum(map(flatdim, space.values() if isinstance(space, Dict) else space))
    if isinstance(space, Discrete | MultiDiscrete):
        return int(np.sum(space.n if isinstance(space, Discrete) else space.nvec))
    return int(np.prod(space.shape))


def flatten_space(space):
    if isinstance(space, Dict | Tuple):
        parts = list(map(flatten_space, space.values() if isinstance(space, Dict) else space))
        return Box(*(np.concatenate(bounds) for bounds in ([p.low for p in parts], [p.high for p in parts])))
    if isinstance(space, Box):
        return Box(space.low.ravel(), space.high.ravel(), dtype=space.dtype)
    return Box(0, 1, (flatdim(space),), space.dtype)


def flatten(space, x):
    if isinstance(space, Dict | Tuple):
        keys = space.keys() if isinstance(space, Dict) else range(len(space))
        return np.concatenate([flatten(space[key], x[key]) for key in keys])
    if isinstance(space, Discrete | MultiDiscrete):
        counts = np.ravel(space.n if isinstance(space, Discrete) else space.nvec)
        places = np.ravel(np.asarray(x) - space.start)
        return np.concatenate([np.arange(count) == place for count, place in zip(counts, places)]).astype(space.dtype)
    return np.asarray(x, space.dtype).ravel()


class Env:
    pass
