"""The part of einops that modules use, in plain torch. Patterns as in https://einops.rocks; written anew for tasks."""

import math

import torch
import torch.nn as nn


def axis_groups(side):
    """'b (h w) c' -> [['b'], ['h', 'w'], ['c']]."""
    groups, inside = [], False
    for word in side.replace("(", " ( ").replace(")", " ) ").split():
        if word in "()":
            inside = word == "("
            if inside:
                groups.append([])
        elif inside:
            groups[-1].append(word)
        else:
            groups.append([word])
    return [[name for name in group if name != "1"] for group in groups]


def name_ellipsis(pattern, dims):
    """Write '...' out as one axis name for each dimension it stands for."""
    left, right = pattern.split("->")
    if "..." in left:
        count = dims - len(axis_groups(left.replace("...", " ")))
        names = " ".join(f"_{i}" for i in range(count))
        left, right = left.replace("...", names), right.replace("...", names)
    return axis_groups(left), axis_groups(right)


def axis_lengths(shape, groups, lengths):
    """The length of every axis, one of each group being inferred from the dimension it shares."""
    lengths = dict(lengths)
    if len(shape) != len(groups):
        raise ValueError(f"shape {tuple(shape)} does not fit the axes {groups} with {lengths}")
    for size, group in zip(shape, groups):
        known = math.prod(lengths[name] for name in group if name in lengths)
        unknown = [name for name in group if name not in lengths]
        if size % known or len(unknown) > 1 or not unknown and size != known:
            raise ValueError(f"shape {tuple(shape)} does not fit the axes {groups} with {lengths}")
        for name in unknown:
            lengths[name] = size // known
    return lengths


def rearrange(x, /, pattern, **lengths):
    if isinstance(x, (list, tuple)):
        x = torch.stack(list(x))
    left, right = name_ellipsis(pattern, x.ndim)
    lengths = axis_lengths(x.shape, left, lengths)
    source = [name for group in left for name in group]
    target = [name for group in right for name in group]
    x = x.reshape([lengths[name] for name in source])
    x = x.permute([source.index(name) for name in target])
    return x.reshape([math.prod(lengths[name] for name in group) for group in right])


def repeat(x, /, pattern, **lengths):
    left, right = name_ellipsis(pattern, x.ndim)
    lengths = axis_lengths(x.shape, left, lengths)
    source = [name for group in left for name in group]
    target = [name for group in right for name in group]
    for name in target:
        if name not in lengths:
            lengths[name] = int(name)
    x = x.reshape([lengths[name] for name in source])
    x = x.permute([source.index(name) for name in target if name in source])
    for i, name in enumerate(target):
        if name not in source:
            x = x.unsqueeze(i)
    x = x.expand([lengths[name] for name in target])
    return x.reshape([math.prod(lengths[name] for name in group) for group in right])


def reduce(x, /, pattern, reduction, **lengths):
    if reduction == "repeat":
        return repeat(x, pattern, **lengths)
    left, right = name_ellipsis(pattern, x.ndim)
    lengths = axis_lengths(x.shape, left, lengths)
    source = [name for group in left for name in group]
    target = [name for group in right for name in group]
    x = x.reshape([lengths[name] for name in source])
    gone = [i for i, name in enumerate(source) if name not in target]
    if gone:
        reductions = {"mean": torch.mean, "sum": torch.sum, "max": torch.amax, "min": torch.amin, "prod": torch.prod}
        x = reductions[reduction](x, dim=gone)
    kept = [name for name in source if name in target]
    x = x.permute([kept.index(name) for name in target])
    return x.reshape([math.prod(lengths[name] for name in group) for group in right])


def einsum(*operands):
    *tensors, pattern = operands
    letters = {}
    for name in pattern.replace("->", " ").replace(",", " ").replace("...", " ").split():
        letters.setdefault(name, "abcdefghijklmnopqrstuvwxyz"[len(letters)])
    words = pattern.replace("->", " -> ").replace(",", " , ").replace("...", " ... ").split()
    return torch.einsum("".join(letters.get(word, word) for word in words), *tensors)


def pack(tensors, pattern):
    """Flatten the axes that '*' stands for and concatenate: the packed tensor, and the shapes to unpack it."""
    axes = pattern.split()
    before, after = axes.index("*"), len(axes) - axes.index("*") - 1
    shapes = [tensor.shape[before : tensor.ndim - after] for tensor in tensors]
    flat = [t.reshape(*t.shape[:before], -1, *t.shape[t.ndim - after :]) for t in tensors]
    return torch.cat(flat, dim=before), shapes


def unpack(x, shapes, pattern):
    axis = pattern.split().index("*")
    parts = x.split([math.prod(shape) for shape in shapes], dim=axis)
    return [p.reshape(*p.shape[:axis], *s, *p.shape[axis + 1 :]) for p, s in zip(parts, shapes, strict=True)]


class Rearrange(nn.Module):
    def __init__(self, pattern, **lengths):
        super().__init__()
        self.pattern, self.lengths = pattern, lengths

    def forward(self, x):
        return rearrange(x, self.pattern, **self.lengths)


class Reduce(nn.Module):
    def __init__(self, pattern, reduction, **lengths):
        super().__init__()
        self.pattern, self.reduction, self.lengths = pattern, reduction, lengths

    def forward(self, x):
        return reduce(x, self.pattern, self.reduction, **self.lengths)
