"""Draw when dispatch, channels and flash units work, as the simulator ran them.

--op and --record draw one request, the first of an idle drive in its preset's condition, at the
start of its address range. --for draws a span of a run, either of a workload of the characteristics
below or of a scenario. Every bar is an operation of the simulator; nothing is computed for the
drawing.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from drivelab.cli.arguments import add_characteristics, add_json, add_record, duration, seed
from drivelab.cli.outputs import add_force, answer_to, check_files, write_file
from drivelab.cli.scenario_options import add_scenario, file_of_scenario, workload_of
from drivelab.cli.terminal import in_lines, show
from drivelab.errors import UsageError
from drivelab.units import format_duration_ns, format_size

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from drivelab._core import CoreWork
    from drivelab.drives.simulated.drive import SimulatedDrive
    from drivelab.exhibits import Table

# More bars than this are a texture, not a diagram.
MAX_OPERATIONS: Final = 4096
# More rows than this are lines.
MAX_ROWS: Final = 400
_SECTOR_BYTES: Final = 512
_DRAWING: Final = "timeline"
_ENDINGS: Final = (".svg", ".html", ".pdf")
_WITHOUT: Final = "write the page (-o FILE.html)"
_STAGES: Final = "table of stages"
_FILES: Final = ("svg", "html", "pdf", "csv")
_OF_A_RUN: Final = ("from", "scenario", "seed")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `drivelab timeline`."""
    parser.add_argument(
        "drive", metavar="DRIVE", help="a simulated SSD: a preset, with or without sim:, or a file"
    )
    add_record(parser, required=False)
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="FILE",
        help="output file: the drawing (FILE.svg), a page with the drawing, facts and numbers "
        "(FILE.html), or that page on paper (FILE.pdf), which needs Chromium",
    )
    parser.add_argument(
        "--csv", type=Path, metavar="FILE.csv", help="output file for the stages as a table"
    )
    group = parser.add_argument_group("a span of a run")
    group.add_argument(
        "--for", dest="lasting", type=duration, metavar="TIME", help="simulated time to draw"
    )
    group.add_argument(
        "--from", type=duration, metavar="TIME", help="start of the span in the run [0]"
    )
    group.add_argument("--seed", type=seed, metavar="N", help="seed of all random numbers [0]")
    add_scenario(parser)
    add_characteristics(parser)
    add_force(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Simulate, write the files and say what is in them."""
    from drivelab.drives.simulated.drive import SimulatedDrive

    _check_outputs(args)
    _check_options(args)
    chromium = _chromium(args.output)
    name = args.drive.removeprefix("analytic:").removeprefix("sim:")
    with SimulatedDrive.open(f"sim:{name}") as drive:
        if drive.preset["kind"] != "ssd":
            raise UsageError(
                f"{drive.name} is not a single drive of flash, whose operations a timeline shows: "
                "name another drive"
            )
        if args.lasting is None:
            values, table, drawing = _one_request(args, drive)
        else:
            values, table, drawing = _span_of_a_run(args, drive)
    if args.output:
        drawn = _drawn(drawing, table, drive, args.output.suffix, chromium)
        write_file(answer_to(args, _DRAWING, args.output), drawn, force=args.force)
    if args.csv:
        write_file(answer_to(args, _STAGES, args.csv), table.csv(), force=args.force)
    files = {path.suffix: str(path) for path in (args.output, args.csv) if path}
    values |= {kind: files.get(f".{kind}") for kind in _FILES}
    if args.json:
        print(json.dumps(values, indent=2))
    else:
        show(_text(in_lines(values)))
    return 0


@dataclass(frozen=True)
class _Drawing:
    """What is drawn, with the work of cores; of a run also the span, and the workload."""

    title: str
    work: Sequence[CoreWork]
    span: tuple[int, int] | None = None
    note: str = ""


def _chromium(output: Path | None) -> str | None:
    """Find what prints, before anything is simulated."""
    from drivelab.report.pdf import find_chromium

    if output is None or output.suffix != ".pdf":
        return None
    return find_chromium(f"{output}", f"{_WITHOUT} and print it from any browser")


def _drawn(
    drawing: _Drawing, table: Table, drive: SimulatedDrive, ending: str, chromium: str | None
) -> str | bytes:
    from drivelab.timeline.figure import timing_diagram

    figure = timing_diagram(
        table, title=drawing.title, span=drawing.span, note=drawing.note, work=drawing.work
    )
    if ending == ".svg":
        from drivelab.report.drawing.lanes import lane_document

        return lane_document(figure, drive.name)
    from drivelab.report.page import render
    from drivelab.timeline.exhibits import timeline_report

    report = timeline_report(
        figure, table, drive=drive.name, condition=drive.condition, span=drawing.span
    )
    html = render(report).html
    if chromium is None:
        return html
    from drivelab.report.pdf import printed_html

    return printed_html(html, chromium, f"{_WITHOUT} and print it from a browser")


def _one_request(
    args: argparse.Namespace, drive: SimulatedDrive
) -> tuple[dict[str, Any], Table, _Drawing]:
    from drivelab.timeline.figure import describe
    from drivelab.timeline.stages import core_work, duration_ns, stages

    _check_record(args.record, drive.preset["geometry"]["page_size_bytes"])
    operations, work = drive.timeline(args.op, args.record)
    if len(operations) > MAX_OPERATIONS:
        raise UsageError(
            f"the request takes {len(operations)} flash operations; a diagram shows at most "
            f"{MAX_OPERATIONS}: use a smaller --record"
        )
    if not operations:
        raise UsageError(_without_operation(args, drive))
    table = stages(operations)
    end_ns = duration_ns(table)
    values = {
        "drive": drive.name,
        "op": args.op,
        "record_bytes": args.record,
        "from_ns": 0,
        "to_ns": end_ns,
        "duration_ns": end_ns,
        "operations": operations,
        "core_work": core_work(work),
    }
    title = describe(args.op, args.record, len(operations), end_ns)
    return values, table, _Drawing(title, work)


def _without_operation(args: argparse.Namespace, drive: SimulatedDrive) -> str:
    """Return why a request needs no flash operation, and what to draw instead."""
    if args.op == "read":
        why = "the drive has no data there to read from the flash"
    elif "zones" in drive.preset:
        why = "the drive refuses it, as its first zone is full or it is no whole page"
    else:
        why = "the drive keeps the data in memory"
    return (
        f"there is no flash operation in a {args.op} of {format_size(args.record)} at the start "
        f"of the drive: {why}; draw a span of a run, --for with a workload or --scenario"
    )


def _span_of_a_run(
    args: argparse.Namespace, drive: SimulatedDrive
) -> tuple[dict[str, Any], Table, _Drawing]:
    from drivelab.cli.simulate_text import stream_text
    from drivelab.drives.simulated.asked import streams_of
    from drivelab.exhibits.quantities import listed
    from drivelab.timeline.figure import describe_span
    from drivelab.timeline.stages import core_work, stages
    from drivelab.workloads.content import USUAL
    from drivelab.workloads.scenario import Scenario

    workload = workload_of(args)
    content = args.content or USUAL
    from_ns = round((getattr(args, "from") or 0.0) * 1e9)
    to_ns = from_ns + max(1, round(args.lasting * 1e9))
    operations, work = drive.timeline_of_run(
        workload,
        content=content,
        seed=args.seed or 0,
        from_ns=from_ns,
        to_ns=to_ns,
        most=MAX_OPERATIONS,
    )
    if max(len(operations), len(work)) > MAX_OPERATIONS:
        raise UsageError(
            f"more than {MAX_OPERATIONS} flash operations are in the span, the most that a "
            "diagram shows: use a shorter --for"
        )
    table = stages(operations, (from_ns, to_ns))
    if not table.rows:
        raise UsageError(
            f"there is no flash operation from {format_duration_ns(from_ns)} to "
            f"{format_duration_ns(to_ns)} of the run: name another --from, or a longer --for"
        )
    drawn = {operation["unit"] for operation in operations}
    if len(drawn) > MAX_ROWS:
        raise UsageError(
            f"{len(drawn)} units work in the span; a diagram has at most {MAX_ROWS} rows: use a "
            "shorter --for, or a drive with fewer dies"
        )
    values = {
        "drive": drive.name,
        "op": None,
        "record_bytes": None,
        "from_ns": from_ns,
        "to_ns": to_ns,
        "duration_ns": to_ns - from_ns,
        "operations": operations,
        "core_work": core_work(work),
    }
    plans = [each.described() for each in streams_of(workload, content)]
    what = stream_text(plans[0])
    if len(plans) > 1:
        names = listed([plan["name"] for plan in plans])
        summary = workload.summary if isinstance(workload, Scenario) else None
        what = summary or f"streams {names}"
    if isinstance(workload, Scenario) and workload.occupancy is not None:
        what = f"{what}; {workload.occupancy.describe()}"
    shown = len({row["operation"] for row in table.records()})
    title = describe_span(shown, (from_ns, to_ns))
    return values, table, _Drawing(title, work, (from_ns, to_ns), what)


def _check_options(args: argparse.Namespace) -> None:
    from drivelab.workloads.characteristics import FIELDS

    if args.lasting is not None:
        if args.op or args.record is not None:
            raise UsageError("--op and --record draw one request, --for a span of a run: give one")
        if args.lasting == 0:
            raise UsageError("--for is 0; allowed: more than 0, for example 2ms")
        return
    for name in (*_OF_A_RUN, *FIELDS):
        if getattr(args, name) is not None:
            option = f"--{name.replace('_', '-')}"
            raise UsageError(f"{option} is for a span of a run: give --for too, for example 2ms")
    if args.op is None or args.record is None:
        raise UsageError(
            "nothing to draw: give --op and --record for one request, or --for and a workload "
            "for a span of a run"
        )


def _check_outputs(args: argparse.Namespace) -> None:
    if not (args.output or args.csv or args.json):
        raise UsageError(
            "nothing to write: give -o FILE.svg, FILE.html or FILE.pdf, --csv FILE.csv or --json"
        )
    from drivelab.drives.presets.source import preset_file

    wanted = [
        (endings, None if path is None else answer_to(args, kind, path))
        for endings, kind, path in (
            (_ENDINGS, _DRAWING, args.output),
            ((".csv",), _STAGES, args.csv),
        )
    ]
    check_files(wanted, force=args.force, inputs=[file_of_scenario(args), preset_file(args.drive)])


def _check_record(record_bytes: int, page_bytes: int) -> None:
    most = MAX_OPERATIONS * page_bytes
    if record_bytes == 0 or record_bytes % _SECTOR_BYTES or record_bytes > most:
        raise UsageError(
            f"a record of {record_bytes} bytes cannot be drawn; allowed: a multiple of "
            f"{_SECTOR_BYTES} up to {most} ({MAX_OPERATIONS} pages)"
        )


def _text(values: Mapping[str, Any]) -> str:
    operations: Sequence[Mapping[str, Any]] = values["operations"]
    units = {operation["unit"] for operation in operations}
    when = f"done after {format_duration_ns(values['duration_ns'])}"
    if values["op"] is None:
        start, end = (format_duration_ns(values[name]) for name in ("from_ns", "to_ns"))
        when = f"from {start} to {end} of the run"
    lines = [f"{values['drive']}: {len(operations)} flash operations on {len(units)} units, {when}"]
    lines += [f"wrote {values[kind]}" for kind in _FILES if values[kind]]
    return "\n".join(lines)
