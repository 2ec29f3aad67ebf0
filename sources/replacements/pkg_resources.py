"""What programs asked setuptools before it went from there: which of two versions is the newer one."""

from packaging.version import parse


def parse_version(version):
    return parse(version)
