"""Comparison of release numbers, as much of distutils.version, which Python has no more, as models use."""

import re


class LooseVersion(tuple):
    """'1.10.0' as (1, 10, 0)."""

    def __new__(cls, version="0"):
        return super().__new__(cls, (int(number) for number in re.findall(r"\d+", str(version).split("+")[0])))


StrictVersion = LooseVersion
