"""The type of each value in a result, because files are edited by hand and by other programs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final, get_args

from drivelab.drives.open_drive import DriveKind
from drivelab.pts.settings import EDITIONS

# No drive has larger or smaller values; variances and ratios of such numbers are numbers too.
_LEAST: Final = 1e-20
_MOST: Final = 1e20


def _is_number(value: Any) -> bool:
    is_one = isinstance(value, int | float) and not isinstance(value, bool)
    return is_one and (value == 0 or _LEAST <= value <= _MOST)


def _is_even(minutes: Any) -> bool:
    """Whether minutes have a rate each; a value that is not a list is reported at its own place."""
    if not isinstance(minutes, dict):
        return False
    ends, iops = minutes.get("end_minutes"), minutes.get("iops")
    return not (isinstance(ends, list) and isinstance(iops, list)) or len(ends) == len(iops)


_NUMBER: Final = (f"0, or a number from {_LEAST:g} to {_MOST:g}", _is_number)
_MAYBE: Final = (
    f"0, a number from {_LEAST:g} to {_MOST:g}, or null",
    lambda value: value is None or _is_number(value),
)
# Values that may be worse than before.
_ANY: Final = (
    "a number, or null",
    lambda value: value is None or _is_number(value) or _is_number(-value),
)
_SHARE: Final = ("a number from 0 to 1", lambda value: _is_number(value) and value <= 1)
_TEXT: Final = ("a text", lambda value: isinstance(value, str))
_TRUTH: Final = ("true or false", lambda value: isinstance(value, bool))
_LIST: Final = ("a list", lambda value: isinstance(value, list))
_SOME: Final = ("a list that is not empty", lambda value: isinstance(value, list) and value)
_MINUTES: Final = ("an object with as many iops as end_minutes", _is_even)
_OBJECT: Final = ("an object", lambda value: isinstance(value, dict))
_PAIR: Final = ("a size and a share", lambda value: isinstance(value, list) and len(value) == 2)
_CLASS: Final = (
    "an object with a name, or null",
    lambda value: value is None or (isinstance(value, dict) and isinstance(value.get("name"), str)),
)
_KIND: Final = (
    "real, simulated or closed_form",
    lambda value: isinstance(value, str) and value in get_args(DriveKind),
)

_EDITION: Final = (
    " or ".join(EDITIONS),
    lambda value: isinstance(value, str) and value in EDITIONS,
)

_Kind = tuple[str, Callable[[Any], Any]]
#: By path, as docs/json-pts.md writes them. What a comparison does not read may be anything.
_KINDS: Final[dict[str, _Kind]] = {
    **dict.fromkeys(("test", "title", "stamp", "verdict"), _TEXT),
    "edition": _EDITION,
    **dict.fromkeys(("header", "settings", "drive", "sections[]"), _OBJECT),
    "header.*": _TEXT,
    "drive.name": _TEXT,
    "drive.kind": _KIND,
    "drive.capacity_bytes": _NUMBER,
    **dict.fromkeys(
        (
            *("settings.scale", "settings.idle_seconds", "settings.block_bytes"),
            *("settings.write_ratio", "settings.threads", "settings.queue_depth"),
            *("settings.active_range_ratio", "settings.seed"),
        ),
        _NUMBER,
    ),
    **dict.fromkeys(("settings.content", "settings.workload", "settings.rule"), _TEXT),
    "settings.workload_class": _CLASS,
    "sections": _SOME,
    "sections[].name": _TEXT,
    "sections[].windows": _LIST,
    "sections[].windows[]": _OBJECT,
    "sections[].windows[].tracked": _TEXT,
    "sections[].windows[].values": _SOME,
    "sections[].windows[].values[]": _NUMBER,
    "sections[].cells": _LIST,
    "sections[].cells[]": _OBJECT,
    "sections[].cells[].block_bytes": _MAYBE,
    "sections[].cells[].sizes": _SOME,
    "sections[].cells[].sizes[]": _PAIR,
    "sections[].cells[].sizes[][]": _NUMBER,
    "sections[].cells[].read_ratio": _SHARE,
    "sections[].cells[].is_random": _TRUTH,
    "sections[].cells[].threads": _NUMBER,
    "sections[].cells[].queue_depth": _NUMBER,
    "sections[].cells[].iops_per_watt": _MAYBE,
    "sections[].cells[].iops_rounds": _SOME,
    "sections[].cells[].iops_rounds[]": _NUMBER,
    "sections[].cells[].bandwidth_bytes_per_second_rounds": _SOME,
    "sections[].cells[].bandwidth_bytes_per_second_rounds[]": _NUMBER,
    "sections[].cells[].latency_ns_mean_rounds": _SOME,
    "sections[].cells[].latency_ns_mean_rounds[]": _MAYBE,
    "sections[].minutes": _MINUTES,
    **dict.fromkeys(("sections[].minutes.end_minutes", "sections[].minutes.iops"), _SOME),
    **dict.fromkeys(("sections[].minutes.end_minutes[]", "sections[].minutes.iops[]"), _NUMBER),
    "sections[].lost_ratio": _ANY,
    **dict.fromkeys(
        (
            *("sections[].fresh_iops", "sections[].settled_iops", "sections[].drive_fills"),
            *("sections[].steady_after_minutes", "sections[].run_minutes"),
            *("sections[].recovery_minutes", "sections[].wait_states[].gain_ratio"),
        ),
        _MAYBE,
    ),
    "sections[].wait_states": _LIST,
    "sections[].wait_states[]": _OBJECT,
    "sections[].wait_states[].wait_ratio": _NUMBER,
    "sections[].segments": _LIST,
    "sections[].segments[]": _OBJECT,
    "sections[].segments[].last_bandwidth_bytes_per_second": _NUMBER,
    "sections[].segments[].bandwidth_bytes_per_second": _LIST,
    "sections[].segments[].bandwidth_bytes_per_second[]": _NUMBER,
}


def misfit(result: dict[str, Any]) -> str:
    """Name the first value of a result that is of another kind than a comparison reads there.

    Returns
    -------
    str
        The place, what it holds and what is allowed; empty where everything fits.
    """
    for place, pattern, value in _values(result):
        kind = _KINDS.get(pattern)
        if kind is not None and not _fits(kind, value):
            shown = repr(value)
            return f"{place} is {shown[:40]}; allowed: {kind[0]}"
    return ""


def _fits(kind: _Kind, value: Any) -> bool:
    try:
        return bool(kind[1](value))
    except (TypeError, OverflowError):
        return False


def _values(value: Any, place: str = "", pattern: str = "") -> Iterator[tuple[str, str, Any]]:
    """Yield every value with its place and the pattern of that, parents first."""
    if place:
        yield place, pattern, value
    if isinstance(value, dict):
        for key, inner in value.items():
            last = "*" if pattern == "header" else key
            dot = "." if place else ""
            yield from _values(inner, f"{place}{dot}{key}", f"{pattern}{dot}{last}")
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _values(inner, f"{place}[{number}]", f"{pattern}[]")
