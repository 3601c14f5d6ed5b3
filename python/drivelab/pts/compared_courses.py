"""Pages of a comparison over time: write saturation, idle recovery, cross stimulus recovery."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from drivelab.errors import UsageError
from drivelab.exhibits import Axis, BarFigure, Line, LineFigure, Page, Table
from drivelab.pts.compared import Compared
from drivelab.pts.saturation import LAST_MINUTES, end_iops, lost_ratio
from drivelab.pts.words import minute_words

Pages = tuple[list[Page], dict[str, Any]]

# What is read from a result's first section, by test: keys, and keys of objects and lists in it.
_READ: Final[dict[str, dict[str, tuple[str, ...]]]] = {
    "wsat": {
        "": (
            *("fresh_iops", "settled_iops", "steady_after_minutes", "run_minutes"),
            *("drive_fills", "minutes", "verdict"),
        ),
        "minutes": ("end_minutes", "iops"),
    },
    "hir": {"": ("wait_states",), "wait_states": ("wait_ratio", "gain_ratio")},
    "xsr": {
        "": ("segments", "recovery_minutes", "verdict"),
        "segments": ("bandwidth_bytes_per_second", "last_bandwidth_bytes_per_second"),
    },
}


def refuse_lacking(drives: Sequence[Compared]) -> None:
    """Raise `UsageError` for a result of a test over time that lacks what is compared."""
    for drive in drives:
        section = drive.result["sections"][0]
        for name, keys in _READ[drive.result["test"]].items():
            inner = section[name] if name else section
            for one in inner if isinstance(inner, list) else [inner]:
                missing = next((key for key in keys if key not in one), None)
                if missing is not None:
                    place = f"{name}.{missing}" if name else missing
                    raise UsageError(
                        f"{drive.source} lacks {place} of its section: run the test to its end, "
                        "or write the result again with `drivelab pts report`"
                    )


def saturation_pages(drives: Sequence[Compared]) -> Pages:
    """Compare how writes fall from fresh out of the box (figure 1 of Coughlin et al. 2010)."""
    sections = [drive.result["sections"][0] for drive in drives]
    lines, normalised = [], []
    for drive, section in zip(drives, sections, strict=True):
        minutes = tuple(section["minutes"]["end_minutes"])
        iops = tuple(section["minutes"]["iops"])
        lines.append(Line(drive.label, minutes, iops, "trace"))
        fresh = section["fresh_iops"]
        if fresh:
            shares = tuple(value / fresh for value in iops)
            normalised.append(Line(drive.label, minutes, shares, "trace"))
    # A fast drive finishes in minutes, a slow one in a day.
    time = Axis("time (min)", "log10")
    over = LineFigure(
        "saturation-normalised",
        "Write throughput over fresh out of the box",
        time,
        Axis("fresh out of the box = 1"),
        tuple(normalised),
    )
    absolute = LineFigure(
        "saturation", "Write throughput", time, Axis("throughput (IOPS)", "log10"), tuple(lines)
    )
    keys = ("fresh_iops", "settled_iops", "steady_after_minutes", "run_minutes")
    ends = [end_iops(section["minutes"]["iops"]) for section in sections]
    lost = [
        lost_ratio(section["fresh_iops"], section["settled_iops"], section["minutes"]["iops"])
        for section in sections
    ]
    rows = tuple(
        (
            drive.label,
            section["fresh_iops"],
            end,
            section["settled_iops"],
            None if gone is None else 100 * gone,
            or_never(section["steady_after_minutes"], section["verdict"]),
            section["run_minutes"],
            section["drive_fills"],
        )
        for drive, section, end, gone in zip(drives, sections, ends, lost, strict=True)
    )
    words = _minutes_of(drives)
    table = Table(
        "saturation-table",
        (
            *("drive", "fresh (IOPS)", "at the end (IOPS)", "last window (IOPS)", "lost (%)"),
            *(f"settled after ({words})", f"run ({words})", "drive fills"),
        ),
        rows,
        title="Fresh, at the end, and settled",
        note=f"At the end: mean of the last {LAST_MINUTES} minutes. Last window: mean of the "
        "rounds that steady state is judged by. Both are shown whether the drive settled or "
        'not; "settled after" shows whether it did. Lost: by the last window, or at the end if '
        "there is no window.",
    )
    values = [
        {
            "label": drive.label,
            "verdict": section["verdict"],
            **{key: section[key] for key in keys},
            "end_iops": end,
            "lost_ratio": gone,
        }
        for drive, section, end, gone in zip(drives, sections, ends, lost, strict=True)
    ]
    pages = [
        Page("Write saturation over time", (over, absolute)),
        Page("Fresh and at the end", (_saturation_bars(drives, sections, ends), table)),
    ]
    return pages, {"saturation": values, "minute": words}


def or_never(minutes: float | None, verdict: str) -> float | str | None:
    """Return that it never happened, or that this is unknown if the test was stopped early."""
    return "never" if minutes is None and verdict != "incomplete" else minutes


def _minutes_of(drives: Sequence[Compared]) -> str:
    """Return what is counted: all have one scale, and some may idle in between."""
    return max((minute_words(drive.result["settings"]) for drive in drives), key=len)


def _saturation_bars(
    drives: Sequence[Compared], sections: Sequence[Any], ends: Sequence[float]
) -> BarFigure:
    bars = tuple(
        (drive.label, (section["fresh_iops"], end), (None, None))
        for drive, section, end in zip(drives, sections, ends, strict=True)
    )
    return BarFigure(
        "saturation-bars",
        "Write throughput, fresh and at the end",
        Axis("throughput (IOPS)"),
        ("fresh out of the box", "at the end"),
        bars,
    )


def idle_pages(drives: Sequence[Compared]) -> Pages:
    """Compare what drives gain by idle time."""
    sections = [drive.result["sections"][0] for drive in drives]
    ratios = list(
        dict.fromkeys(
            state["wait_ratio"] for section in sections for state in section["wait_states"]
        )
    )
    by_ratio = [
        {state["wait_ratio"]: state for state in section["wait_states"]} for section in sections
    ]
    bars = tuple(
        (
            drive.label,
            tuple(states[ratio]["gain_ratio"] if ratio in states else None for ratio in ratios),
            tuple(None for _ in ratios),
        )
        for drive, states in zip(drives, by_ratio, strict=True)
    )
    figure = BarFigure(
        "idle-gain",
        "Writes after idle time over writes without any",
        Axis("without idle time = 1"),
        tuple(f"idle {ratio} times as long as written" for ratio in ratios),
        bars,
    )
    values = [
        {
            "label": drive.label,
            "wait_states": [
                {"wait_ratio": ratio, "gain_ratio": states[ratio]["gain_ratio"]}
                for ratio in ratios
                if ratio in states
            ],
        }
        for drive, states in zip(drives, by_ratio, strict=True)
    ]
    return [Page("What drives gain by idle time", (figure,))], {"idle_recovery": values}


def recovery_pages(drives: Sequence[Compared]) -> Pages:
    """Compare how drives adapt to another stimulus."""
    sections = [drive.result["sections"][0] for drive in drives]
    words = _minutes_of(drives)
    lines = []
    for drive, section in zip(drives, sections, strict=True):
        rates = [
            rate / 1e6
            for segment in section["segments"]
            for rate in segment["bandwidth_bytes_per_second"]
        ]
        minutes = tuple(float(minute) for minute in range(1, len(rates) + 1))
        lines.append(Line(drive.label, minutes, tuple(rates), "trace"))
    figure = LineFigure(
        "recovery",
        "Bandwidth over the three segments",
        Axis(f"time ({words})"),
        Axis("bandwidth (MB/s)", "log10"),
        tuple(lines),
    )
    rows = tuple(
        (
            drive.label,
            *(
                segment["last_bandwidth_bytes_per_second"] / 1e6
                for segment in section["segments"][:3]
            ),
            *(None for _ in range(3 - len(section["segments"]))),
            or_never(section["recovery_minutes"], section["verdict"]),
        )
        for drive, section in zip(drives, sections, strict=True)
    )
    table = Table(
        "recovery-table",
        (
            *("drive", "1 sequential (MB/s)", "2 random (MB/s)", "3 sequential (MB/s)"),
            f"recovered after ({words})",
        ),
        rows,
        title="Each segment's last minute, and recovery",
        note="Recovered: the first minute of the third segment at or above the first segment's "
        "mean.",
    )
    values = [
        {
            "label": drive.label,
            "verdict": section["verdict"],
            "recovery_minutes": section["recovery_minutes"],
        }
        for drive, section in zip(drives, sections, strict=True)
    ]
    return [Page("Cross stimulus recovery", (figure, table))], {"recovery": values, "minute": words}


#: By test: what is compared over time instead of by block size and mix.
COURSES: Final[dict[str, Callable[[Sequence[Compared]], Pages]]] = {
    "wsat": saturation_pages,
    "hir": idle_pages,
    "xsr": recovery_pages,
}
