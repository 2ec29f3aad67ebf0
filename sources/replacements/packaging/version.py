"""Comparison of release numbers, as much of packaging.version as models and kernels use; these may not import re."""


def parse(version):
    """'2.1.0+cpu' -> (2, 1, 0)."""
    release = str(version).split("+")[0]
    return tuple(map(int, "".join(sign if sign in "0123456789" else " " for sign in release).split()))


def Version(version):
    return parse(version)
