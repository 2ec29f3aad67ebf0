"""Comparison of release numbers, as much of packaging.version as models use."""

import re


def parse(version):
    """'2.1.0+cpu' -> (2, 1, 0)."""
    return tuple(int(number) for number in re.findall(r"\d+", str(version).split("+")[0]))


def Version(version):
    return parse(version)
