"""The few figures of a result that a reader looks for first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from drivelab.pts.cell_exhibits import block_text
from drivelab.pts.saturation import LAST_MINUTES, end_iops, lost_ratio
from drivelab.pts.words import minute_words

# If they are minutes of the drive's time.
_MINUTES: Final = "min"


@dataclass(frozen=True)
class Figure:
    """One figure of a result.

    Attributes
    ----------
    name
        What the figure is about.
    value
        In `unit`; ``None`` if the test did not reach it.
    unit
        ``IOPS``, ``MB/s``, ``ms``, ``minutes``, or ``ratio``.
    """

    name: str
    value: float | None
    unit: str


def headline(result: Mapping[str, Any]) -> list[Figure]:
    """Return the first figures of a test: means of its windows, and the test's main results.

    Parameters
    ----------
    result
        Result of one test, as in docs/json-pts.md.
    """
    shown = _SHOWN.get(result["test"], (_windows,))
    figures = [
        figure for section in result["sections"] for show in shown for figure in show(section)
    ]
    minutes = minute_words(result["settings"])
    if minutes == _MINUTES:
        return figures
    return [
        replace(figure, name=f"{figure.name} ({minutes})") if figure.unit == "minutes" else figure
        for figure in figures
    ]


def _windows(section: Mapping[str, Any]) -> Iterator[Figure]:
    for window in section.get("windows", ()):
        yield Figure(window["tracked"], window["mean"], window["unit"])


def _saturation(section: Mapping[str, Any]) -> Iterator[Figure]:
    yield Figure("fresh out of the box", section.get("fresh_iops"), "IOPS")
    is_steady = section.get("steady_after_minutes") is not None
    settled = section.get("settled_iops")
    iops = section.get("minutes", {}).get("iops")
    if not iops:
        yield Figure("settled", None, "IOPS")
        return
    if settled is None:
        name = f"in the last {LAST_MINUTES} minutes, not settled"
    else:
        name = "settled" if is_steady else "in the last window, not settled"
    yield Figure(name, end_iops(iops) if settled is None else settled, "IOPS")
    yield Figure("lost by then", lost_ratio(section["fresh_iops"], settled, iops), "ratio")
    yield Figure("steady after", section["steady_after_minutes"], "minutes")


def _reads(section: Mapping[str, Any]) -> Iterator[Figure]:
    for cell in section.get("cells", ()):
        if cell["read_ratio"] == 1:
            name = f"{block_text(cell['block_bytes'])} sequential read"
            yield Figure(name, cell["bandwidth_bytes_per_second_mean"] / 1e6, "MB/s")


def _response(section: Mapping[str, Any]) -> Iterator[Figure]:
    times = section.get("response_times") or {}
    percentiles = times.get("latency_ns_percentiles", {})
    for share in ("99", "99.9", "99.999"):
        if share in percentiles:
            yield Figure(f"{share} % of them at most", percentiles[share] / 1e6, "ms")
    if "latency_ns_max" in times:
        yield Figure("longest", times["latency_ns_max"] / 1e6, "ms")


def _recovery(section: Mapping[str, Any]) -> Iterator[Figure]:
    minutes = section.get("recovery_minutes")
    yield Figure("sequential writes recover from random ones after", minutes, "minutes")


def _gains(section: Mapping[str, Any]) -> Iterator[Figure]:
    for state in section.get("wait_states", ()):
        name = f"writes after idle time, {state['wait_ratio']:g} x as long, over writes without"
        yield Figure(name, state["gain_ratio"], "ratio")


def _demands(section: Mapping[str, Any]) -> Iterator[Figure]:
    """Yield the operating points; points with the same stimulus once."""
    by_demand: dict[tuple[int, int], list[Mapping[str, Any]]] = {}
    for point in section.get("operating_points", ()):
        by_demand.setdefault((point["threads"], point["queue_depth"]), []).append(point)
    for (threads, depth), points in by_demand.items():
        *others, last = (point["name"] for point in points)
        names = f"{', '.join(others)} and {last}" if others else last
        of = "1 thread" if threads == 1 else f"{threads} threads"
        yield Figure(f"{names}, {of} x {depth}", points[0]["iops_mean"], "IOPS")


#: Main results of some tests, in addition to the means of their windows.
_SHOWN: Final[dict[str, Sequence[Callable[[Mapping[str, Any]], Iterator[Figure]]]]] = {
    "throughput": (_windows, _reads),
    # Its window's mean is the settled value.
    "wsat": (_saturation,),
    "latency": (_windows, _response),
    "xsr": (_windows, _recovery),
    "hir": (_windows, _gains),
    "ecw": (_windows, _demands),
    "dirth": (_windows, _demands),
}
