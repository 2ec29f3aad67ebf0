"""May the pair be published?

Every licence found for the repository must allow it, or be an SPDX expression with a permissive way out
(``MIT OR GPL-3.0-only``).  No licence found means no permission.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from typing import Any

from kdata.record import Pair

UNLICENSED = "no licence found"
# SPDX identifiers that the Blue Oak Council rates permissive (https://blueoakcouncil.org/list) and that occur among
# Python packages, and the public-domain dedications.
PERMISSIVE = frozenset({
    "0BSD", "AFL-3.0", "Apache-1.1", "Apache-2.0", "Artistic-2.0", "BlueOak-1.0.0", "BSD-1-Clause", "BSD-2-Clause",
    "BSD-2-Clause-Patent", "BSD-3-Clause", "BSD-3-Clause-Clear", "BSD-3-Clause-LBNL", "BSL-1.0", "CC0-1.0",
    "CNRI-Python", "ECL-2.0", "HPND", "ICU", "ISC", "MIT", "MIT-0", "MulanPSL-2.0", "NCSA", "PostgreSQL", "PSF-2.0",
    "Python-2.0", "Python-2.0.1", "Unicode-3.0", "Unicode-DFS-2016", "Unlicense", "UPL-1.0", "W3C", "WTFPL", "X11",
    "Zlib", "ZPL-2.1",
})  # fmt: skip


def check(pair: Pair, permissive: Collection[str] = PERMISSIVE) -> str | None:
    """A reason that names the first licence that does not permit publishing."""
    licenses = pair.task.origin.licenses
    if not licenses:
        return UNLICENSED
    for expression in licenses:
        if reason := refuse(expression, frozenset(permissive)):
            return reason
    return None


@cache
def refuse(expression: str, permissive: frozenset[str]) -> str | None:
    """Why an SPDX licence expression is not permissive, or None."""
    algebra = _algebra()
    try:
        parsed = _spdx().parse(expression, validate=True)
    except (algebra.ExpressionError, algebra.ParseError):
        return f"unknown licence: {' '.join(expression.split())[:60]}"
    if parsed is None:
        return UNLICENSED
    return None if _permits(parsed, permissive) else f"licence not permissive: {parsed}"


def _permits(node: Any, permissive: frozenset[str]) -> bool:
    """Evaluate AND and OR; an exception (``WITH``) only ever adds permission."""
    algebra = _algebra()
    if isinstance(node, algebra.OR):
        return any(_permits(argument, permissive) for argument in node.args)
    if isinstance(node, algebra.AND):
        return all(_permits(argument, permissive) for argument in node.args)
    symbol = node.license_symbol if isinstance(node, algebra.LicenseWithExceptionSymbol) else node
    return symbol.key in permissive


@cache
def _spdx() -> Any:
    return _algebra().get_spdx_licensing()


def _algebra() -> Any:
    import license_expression  # type: ignore[import-untyped]

    return license_expression
