"""The part of einx that modules use, in plain torch. Patterns as in https://einx.readthedocs.io; written anew."""

import math

import torch


def axes_of(side, hidden=0):
    """'b ... (h w)' -> ['b', '_0', ['h', 'w']], where '...' stands for so many ``hidden`` axes."""
    names = " ".join(f"_{i}" for i in range(hidden))
    found, group = [], None
    for word in side.replace("...", names).replace("(", " ( ").replace(")", " ) ").split():
        if word == "(":
            group = []
        elif word == ")":
            found.append(group)
            group = None
        else:
            (found if group is None else group).append(word)
    return found


def hidden_of(side, x):
    """How many axes of a tensor '...' stands for."""
    return x.ndim - len(axes_of(side)) if "..." in side else 0


def in_brackets(side):
    return " ".join(part.split("]")[0] for part in side.split("[")[1:])


def without_brackets(side):
    return side.replace("[", " ").replace("]", " ")


def aligned(x, axes, order):
    """The tensor with its named axes in an order, and axes of one for those that it lacks."""
    if not isinstance(x, torch.Tensor):
        return x
    x = x.reshape([size for size, axis in zip(x.shape, axes) if axis != "1"])
    axes = [axis for axis in axes if axis != "1"]
    x = x.permute([axes.index(name) for name in order if name in axes])
    return x[tuple(slice(None) if name in axes else None for name in order)]


def elementwise(function, pattern, *tensors):
    """Each of ``tensors`` named by its part of the pattern, broadcast to the axes behind the arrow, and combined."""
    left, _, right = pattern.partition("->")
    sides = left.split(",")
    if len(sides) == 1:  # 'a [b]': the second has what is in brackets
        sides = [left, in_brackets(left)]
    sides = [without_brackets(side) for side in sides]
    hidden = sorted(hidden_of(side, x) for side, x in zip(sides, tensors))[-1]
    axes = [axes_of(side, hidden) for side in sides]
    target = axes_of(right, hidden) or sorted(axes, key=len)[-1]
    order = [name for axis in target for name in (axis if isinstance(axis, list) else [axis]) if name != "1"]
    out = function(*(aligned(x, a, order) for x, a in zip(tensors, axes)))
    sizes = dict(zip(order, out.shape))
    groups = [axis if isinstance(axis, list) else [axis] for axis in target]
    return out.reshape([math.prod(sizes.get(name, 1) for name in group) for group in groups])


def add(pattern, *tensors):
    return elementwise(torch.add, pattern, *tensors)


def subtract(pattern, *tensors):
    return elementwise(torch.subtract, pattern, *tensors)


def multiply(pattern, *tensors):
    return elementwise(torch.multiply, pattern, *tensors)


def divide(pattern, *tensors):
    return elementwise(torch.divide, pattern, *tensors)


def less(pattern, *tensors):
    return elementwise(torch.less, pattern, *tensors)


def less_equal(pattern, *tensors):
    return elementwise(torch.less_equal, pattern, *tensors)


def greater(pattern, *tensors):
    return elementwise(torch.greater, pattern, *tensors)


def greater_equal(pattern, *tensors):
    return elementwise(torch.greater_equal, pattern, *tensors)


def equal(pattern, *tensors):
    return elementwise(torch.eq, pattern, *tensors)


def not_equal(pattern, *tensors):
    return elementwise(torch.ne, pattern, *tensors)


def logical_and(pattern, *tensors):
    return elementwise(torch.logical_and, pattern, *tensors)


def logical_or(pattern, *tensors):
    return elementwise(torch.logical_or, pattern, *tensors)


def maximum(pattern, *tensors):
    return elementwise(torch.maximum, pattern, *tensors)


def minimum(pattern, *tensors):
    return elementwise(torch.minimum, pattern, *tensors)


def where(pattern, condition, x, y):
    return elementwise(torch.where, pattern, condition, x, y)


def reduced(function, pattern, x):
    """The tensor without the axes in brackets, or those that are gone behind the arrow; the rest in that order."""
    left, arrow, right = pattern.partition("->")
    plain = without_brackets(left)
    hidden = hidden_of(plain, x)
    axes, inside = axes_of(plain, hidden), in_brackets(left).split()
    kept = axes_of(right, hidden) if arrow else [name for name in axes if name not in inside]
    rest = [name for name in axes if name in kept]
    out = function(x, [i for i, name in enumerate(axes) if name not in kept])
    return out.permute([rest.index(name) for name in kept])


def sum(pattern, x):
    return reduced(torch.sum, pattern, x)


def mean(pattern, x):
    return reduced(torch.mean, pattern, x)


def max(pattern, x):
    return reduced(torch.amax, pattern, x)


def min(pattern, x):
    return reduced(torch.amin, pattern, x)


def get_at(pattern, x, *indices):
    """``x`` at indices along the axes in brackets; the other axes of both go side by side, as behind the arrow."""
    left, _, right = pattern.partition("->")
    source, *sides = left.split(",")
    inside, target = in_brackets(source).split(), axes_of(right)
    axes, given = axes_of(without_brackets(source)), [axes_of(side) for side in sides]
    sizes = dict(zip(axes, x.shape))
    for names, index in zip(given, indices):
        sizes.update(zip(names, index.shape))
    at = dict(zip(inside, (aligned(index, names, target) for names, index in zip(given, indices))))
    places = {
        name: torch.arange(sizes[name], device=x.device).view([-1 if n == name else 1 for n in target])
        for name in axes
        if name not in inside
    }
    return x[tuple(at[name] if name in at else places[name] for name in axes)]
