"""Set drives that have run the same performance test beside each other."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from drivelab.cli.arguments import add_json, ratio, size
from drivelab.cli.terminal import show
from drivelab.errors import UsageError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Mapping, Sequence

#: What a comparison leaves in its folder, and all that it replaces there.
_OURS: Final = {"report.html", "report.pdf", "result.json", "data"}
_LONGEST_NAME: Final = 100
_UNKNOWN: Final = "-"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `drivelab pts compare`."""
    parser.add_argument(
        "runs",
        metavar="RUN",
        nargs="+",
        help="2 to 20 folders made by `drivelab pts run`, their result.json, or sim:PRESET for a "
        "result that ships; the first is what the others are normalised to",
    )
    parser.add_argument("--test", metavar="TEST", help="which test, of folders that hold several")
    parser.add_argument("--block-size", type=size, metavar="SIZE", help="your block size [4KiB]")
    parser.add_argument(
        "--read-ratio", type=ratio, metavar="RATIO", help="your share of reads, 0 to 1 [0]"
    )
    parser.add_argument(
        "--class",
        dest="merit",
        metavar="NAME|FILE.toml",
        help="your class of workloads, first",
    )
    parser.add_argument(
        "--out", type=Path, metavar="FOLDER", help="where to write [runs/compare- and their names]"
    )
    parser.add_argument("--pdf", action="store_true", help="print it as PDF too, with Chromium")
    add_json(parser)


def carry_out(args: argparse.Namespace) -> int:
    """Write the comparison, and say where."""
    from drivelab.pts.compared import read_results
    from drivelab.pts.comparison import compare
    from drivelab.report.build_pts import write_test_report
    from drivelab.report.pdf import find_chromium

    chromium = find_chromium() if args.pdf else None
    out = args.out or _default_folder(args.runs)
    _refuse_folder(out)
    drives = read_results(args.runs, args.test)
    report = compare(
        drives, block_bytes=args.block_size, read_ratio=args.read_ratio, merit=args.merit
    )
    paths = write_test_report(report, out, chromium=chromium)
    answer = {
        **report.result,
        "stamp": report.stamp,
        "report": str(paths["report"]),
        "tables": str(paths["tables"]),
        "result": str(paths["result"]),
        "pdf": str(paths["pdf"]) if "pdf" in paths else None,
    }
    if args.json:
        print(json.dumps(answer, indent=2))
    else:
        show(_text(answer))
    return 0


def _default_folder(names: Sequence[str]) -> Path:
    """Name the folder, the same for the same runs in the same order."""
    words = (re.sub(r"[^A-Za-z0-9]+", "-", Path(name).name).strip("-") for name in names)
    return Path("runs") / f"compare-{'-'.join(word or 'run' for word in words)}"[:_LONGEST_NAME]


def _refuse_folder(out: Path) -> None:
    from drivelab.report.saved import foreign_file
    from drivelab.store import is_run

    if is_run(out):
        raise UsageError(f"{out} is a run, and has its own report; choose another --out")
    if out.is_dir():
        others = sorted(entry.name for entry in out.iterdir() if entry.name not in _OURS)
        foreign = others[0] if others else foreign_file(out)
        if foreign is not None:
            raise UsageError(
                f"{out} holds {foreign}, which no report made; choose a new or an empty folder"
            )
    elif out.exists():
        raise UsageError(f"{out} is a file; a comparison is a folder, choose another --out")


def _text(answer: Mapping[str, Any]) -> str:
    lines = [f"{answer['test']}, {answer['edition']}{_stamp(answer)}", ""]
    if "standings" in answer:
        lines += _standings(answer)
    else:
        lines += _courses(answer)
    lines += ["", f"report   {answer['report']}"]
    if answer["pdf"]:
        lines.append(f"pdf      {answer['pdf']}")
    return "\n".join(lines)


def _stamp(answer: Mapping[str, Any]) -> str:
    return f" - {answer['stamp']}" if answer["stamp"] else ""


def _standings(answer: Mapping[str, Any]) -> list[str]:
    from drivelab.pts.cell_exhibits import block_text, mix_text
    from drivelab.report.exhibits.axes import value_text

    title = f"{answer['measure']} ({answer['unit']})"
    if answer["block_bytes"] is not None:
        mix = mix_text(round(100 * answer["read_ratio"]))
        title += f" at {block_text(answer['block_bytes'])} {mix}"
        title += "" if answer["is_measured"] else ", between measured cells"
    rows = [("drive", "mean", "95 % interval", "wins", "losses", "undecided")]
    for one in sorted(
        answer["standings"], key=lambda one: one["mean"], reverse=not answer["is_less_better"]
    ):
        interval = (
            "" if one["low"] is None else f"{value_text(one['low'])} to {value_text(one['high'])}"
        )
        counts = tuple(str(one[name]) for name in ("wins", "losses", "undecided"))
        rows.append((one["label"], value_text(one["mean"]), interval, *counts))
    return [title, *_aligned(rows)]


def _courses(answer: Mapping[str, Any]) -> list[str]:
    """Write what a test over time came to on each drive, in the order in which they are named."""
    (course,) = _COURSES.keys() & answer.keys()
    title, rows_of = _COURSES[course]
    return [title, *_aligned(rows_of(answer[course]))]


def _saturation(drives: Sequence[Mapping[str, Any]]) -> list[Sequence[str]]:
    rows: list[Sequence[str]] = [
        ("drive", "fresh (IOPS)", "last window (IOPS)", "lost", "steady after (min)")
    ]
    for one in drives:
        lost = one["lost_ratio"]
        rows.append(
            (
                one["label"],
                _known(one["fresh_iops"]),
                _known(one["settled_iops"]),
                _UNKNOWN if lost is None else f"{100 * lost:.1f} %",
                _minutes(one["steady_after_minutes"]),
            )
        )
    return rows


def _recovery(drives: Sequence[Mapping[str, Any]]) -> list[Sequence[str]]:
    rows: list[Sequence[str]] = [("drive", "recovered after (min)")]
    return rows + [(one["label"], _minutes(one["recovery_minutes"])) for one in drives]


def _idle(drives: Sequence[Mapping[str, Any]]) -> list[Sequence[str]]:
    ratios = list(
        dict.fromkeys(state["wait_ratio"] for one in drives for state in one["wait_states"])
    )
    rows: list[Sequence[str]] = [("drive", *(f"idle {ratio:g} x" for ratio in ratios))]
    for one in drives:
        gains = {state["wait_ratio"]: state["gain_ratio"] for state in one["wait_states"]}
        rows.append((one["label"], *(_known(gains.get(ratio)) for ratio in ratios)))
    return rows


#: By what a comparison over time has: its title, and a row for each drive below their headings.
_COURSES: Final[dict[str, tuple[str, Callable[..., list[Sequence[str]]]]]] = {
    "saturation": ("writes from fresh out of the box on", _saturation),
    "recovery": ("writes in order after random ones", _recovery),
    "idle_recovery": ("writes after idling so many times as long, over writes without", _idle),
}


def _minutes(value: float | None) -> str:
    return "never" if value is None else f"{value:,g}"


def _known(value: float | None) -> str:
    from drivelab.report.exhibits.axes import value_text

    return _UNKNOWN if value is None else value_text(value)


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Set rows below each other, names to the left and the rest to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        f"{row[0]:<{widths[0]}}  "
        + "  ".join(f"{text:>{width}}" for text, width in zip(row[1:], widths[1:], strict=True))
        for row in rows
    ]
