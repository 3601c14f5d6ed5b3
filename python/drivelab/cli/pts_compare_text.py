"""A comparison of performance tests as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeAlias

from drivelab.exhibits import Cell, Table
from drivelab.report.terminal import table_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

#: The columns and the rows of a table.
_Course: TypeAlias = "tuple[tuple[str, ...], list[tuple[Cell, ...]]]"


def text_of(answer: Mapping[str, Any]) -> str:
    """Return the text: how the drives rank or what each reached, and where the report is."""
    lines = [f"{answer['test']}, {answer['edition']}{_stamp(answer)}", ""]
    if "standings" in answer:
        lines += _standings(answer)
    else:
        lines += _courses(answer)
    lines += ["", *(f"note     {caution}" for caution in answer["cautions"])]
    lines.append(f"report   {answer['report']}")
    if answer["pdf"]:
        lines.append(f"pdf      {answer['pdf']}")
    return "\n".join(lines)


def _stamp(answer: Mapping[str, Any]) -> str:
    return f" - {answer['stamp']}" if answer["stamp"] else ""


def _standings(answer: Mapping[str, Any]) -> list[str]:
    from drivelab.exhibits.number_text import value_text
    from drivelab.pts.cell_exhibits import block_text, mix_text

    title = f"{answer['measure']} ({answer['unit']})"
    if answer["block_bytes"] is not None:
        mix = mix_text(round(100 * answer["read_ratio"]))
        title += f" at {block_text(answer['block_bytes'])} {mix}"
        title += "" if answer["is_measured"] else ", between measured cells"
    columns = ("drive", "mean", "95 % interval", "wins", "losses", "undecided")
    rows: list[tuple[Cell, ...]] = []
    for one in sorted(
        answer["standings"], key=lambda one: one["mean"], reverse=not answer["is_less_better"]
    ):
        interval = (
            "" if one["low"] is None else f"{value_text(one['low'])} to {value_text(one['high'])}"
        )
        counts = (one[name] for name in ("wins", "losses", "undecided"))
        rows.append((one["label"], one["mean"], interval, *counts))
    return table_lines(Table("standings", columns, tuple(rows), title=title))


def _courses(answer: Mapping[str, Any]) -> list[str]:
    """Return what a test over time reached on each drive, in the order of their names."""
    (course,) = _COURSES.keys() & answer.keys()
    title, rows_of = _COURSES[course]
    columns, rows = rows_of(answer[course], answer.get("minute"))
    return table_lines(Table(course, columns, tuple(rows), title=title))


def _saturation(drives: Sequence[Mapping[str, Any]], minute: str) -> _Course:
    columns = (
        *("drive", "fresh (IOPS)", "at the end (IOPS)", "last window (IOPS)", "lost"),
        f"steady after ({minute})",
    )
    rows: list[tuple[Cell, ...]] = []
    for one in drives:
        lost = one["lost_ratio"]
        rows.append(
            (
                one["label"],
                *(one[name] for name in ("fresh_iops", "end_iops", "settled_iops")),
                None if lost is None else f"{100 * lost:.1f} %",
                _minutes(one["steady_after_minutes"], one["verdict"]),
            )
        )
    return columns, rows


def _recovery(drives: Sequence[Mapping[str, Any]], minute: str) -> _Course:
    return ("drive", f"recovered after ({minute})"), [
        (one["label"], _minutes(one["recovery_minutes"], one["verdict"])) for one in drives
    ]


def _idle(drives: Sequence[Mapping[str, Any]], _minute: None) -> _Course:
    ratios = list(
        dict.fromkeys(state["wait_ratio"] for one in drives for state in one["wait_states"])
    )
    rows: list[tuple[Cell, ...]] = []
    for one in drives:
        gains = {state["wait_ratio"]: state["gain_ratio"] for state in one["wait_states"]}
        rows.append((one["label"], *(gains.get(ratio) for ratio in ratios)))
    return ("drive", *(f"idle {ratio:g} x" for ratio in ratios)), rows


#: By the part that a comparison over time has: its title, and the rows of drives with headings.
_COURSES: Final[dict[str, tuple[str, Callable[..., _Course]]]] = {
    "saturation": ("writes from fresh out of the box on", _saturation),
    "recovery": ("sequential writes after random ones", _recovery),
    "idle_recovery": (
        "writes after idle time (a multiple of their length), over writes without",
        _idle,
    ),
}


def _minutes(value: float | None, verdict: str) -> str | None:
    from drivelab.pts.compared_courses import or_never

    known = or_never(value, verdict)
    return known if known is None or isinstance(known, str) else f"{known:,g}"
