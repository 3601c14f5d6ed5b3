"""Values of a plan: each is checked, and errors give its place and what is allowed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any

from drivelab.errors import UsageError
from drivelab.near_names import meant
from drivelab.units import parse_size
from drivelab.workloads.given import is_number, is_whole, shown


def refuse_unknown(table: Mapping[str, Any], allowed: Sequence[str], where: str) -> None:
    """Raise `UsageError` for a key that is none of these."""
    unknown = next((key for key in table if key not in allowed), None)
    if unknown is not None:
        guess = meant(unknown, allowed) if isinstance(unknown, str) else ""
        raise UsageError(
            f"{where}: unknown key {shown(unknown)}; {guess}allowed: {', '.join(allowed)}"
        )


def plain(value: Any) -> Any:
    """Return a number of another library, such as NumPy's, as one of Python; all else as it is."""
    if isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, Integral):
        return int(value)
    return float(value) if isinstance(value, Real) else value


def text(value: Any, where: str) -> str:
    """Return a text that is not empty."""
    if not isinstance(value, str) or not value.strip():
        found = "missing" if value is None else shown(value)
        raise UsageError(f"{where} is {found}; allowed: a text")
    return value


def number(value: Any, where: str, least: float, most: float, *, above: bool = False) -> float:
    """Return a number from `least`, or above it, to `most`."""
    value = plain(value)
    if not (is_number(value) and least <= value <= most) or (above and value == least):
        begins = "more than" if above else "from"
        raise UsageError(f"{where} is {shown(value)}; allowed: {begins} {least:g} to {most:g}")
    return float(value)


def whole(value: Any, where: str, least: int, most: int) -> int:
    """Return a whole number."""
    value = plain(value)
    if not is_whole(value) or not least <= value <= most:
        raise UsageError(f"{where} is {shown(value)}; allowed: a whole number, {least} to {most}")
    return value


def size(value: Any, where: str) -> int:
    """Return a number of bytes: itself, or a text such as ``40GB``."""
    value = plain(value)
    if is_whole(value) and 0 <= value < 1 << 63:
        return value
    if not isinstance(value, str):
        raise UsageError(f'{where} is {shown(value)}; allowed: a text such as "40GB"')
    try:
        return parse_size(value)
    except UsageError as error:
        raise UsageError(f"{where}: {error}") from error
