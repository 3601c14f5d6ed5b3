"""`drivelab trace fit`: a scenario that asks a drive for what a trace asked for."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from drivelab.cli.arguments import add_json
from drivelab.cli.outputs import add_force, answer_to, output_errors
from drivelab.cli.terminal import in_lines, show
from drivelab.cli.trace_output import refuse_dash
from drivelab.cli.trace_reading import ReadingProgress, add_source, add_window, recorded_files
from drivelab.errors import UsageError
from drivelab.outputs import check_outputs, write_output
from drivelab.units import format_duration_ns

if TYPE_CHECKING:
    from drivelab.traces.fitting.check import Check
    from drivelab.traces.fitting.requests import Requests
    from drivelab.traces.fitting.tables import Fitted

_KIND = "scenario"
_LEAST_WINDOW_NS = 1_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `drivelab trace fit`."""
    add_source(parser)
    group = parser.add_argument_group("the scenario")
    group.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="OUT",
        required=True,
        help="output file for the scenario, for example mine.toml",
    )
    add_window(parser)
    group.add_argument(
        "--name",
        default="fitted",
        metavar="NAME",
        help="name of the scenario's stream in results [fitted]",
    )
    group.add_argument(
        "--check",
        action="append",
        default=[],
        metavar="DRIVE",
        help="run trace and scenario on this simulated drive and report how much they differ; "
        "may be repeated",
    )
    add_force(group)
    add_json(parser)


def carry_out(args: argparse.Namespace) -> int:
    """Fit, write, compare, and print the result."""
    from drivelab.drives.naming import open_simulated
    from drivelab.traces.fitting.requests import read_requests
    from drivelab.traces.fitting.scenario import scenario_text
    from drivelab.traces.fitting.tables import fit
    from drivelab.workloads.recorded import refuse_pipes

    window_ns = round(args.window * 1e9)
    _check_asked(args, window_ns)
    if args.check:
        refuse_pipes(args.files, "this command with --check")
    for drive in args.check:
        open_simulated(drive).close()
    output = answer_to(args, _KIND, args.output)
    check_outputs([output], force=args.force, inputs=args.files)
    source = recorded_files(args, args.files)
    with ReadingProgress() as progress:
        requests = read_requests(source, progress)
    fitted = fit(requests, window_ns)
    text = scenario_text(fitted, args.name)
    with output_errors(args.output):
        write_output(output, text, force=args.force)
    checks = [_check(drive, source, text, fitted) for drive in args.check]
    values = _values(args, requests, fitted, checks)
    print(json.dumps(values, indent=2)) if args.json else show(_text(in_lines(values)))
    return 0


def _check_asked(args: argparse.Namespace, window_ns: int) -> None:
    refuse_dash(args.output, "mine.toml")
    if window_ns < _LEAST_WINDOW_NS:
        raise UsageError("--window is shorter than 1us; give a longer one, for example 60s")
    if not args.name.strip() or not args.name.isprintable():
        raise UsageError(f"--name {args.name!r} is not a name; give a word, for example fitted")
    if args.output.suffix != ".toml":
        raise UsageError(f"{args.output} would be TOML; let its name end in .toml")
    if args.output.is_dir():
        raise UsageError(f"{args.output} is a folder; name a file")
    if not args.output.parent.is_dir():
        folder, name = args.output.parent, args.output.name
        raise UsageError(f"there is no folder {folder} to write {name} into")


def _check(drive: str, source: Any, text: str, fitted: Fitted) -> Check:
    from drivelab.traces.fitting.check import check
    from drivelab.workloads.scenario import Scenario

    return check(drive, source, Scenario(text), fitted.window_ns)


def _values(
    args: argparse.Namespace, requests: Requests, fitted: Fitted, checks: list[Check]
) -> dict[str, Any]:
    """Return what ``--json`` prints (docs/json-trace.md)."""
    caution = fitted.caution()
    return {
        "files": [str(path) for path in args.files],
        "format": requests.format,
        "output": str(args.output),
        "requests": fitted.requests,
        "left_out": requests.left_out,
        "span_ns": fitted.span_ns,
        "window_ns": fitted.window_ns,
        "windows": len(fitted.windows),
        "kinds": len(fitted.kinds),
        "gaps": len(fitted.gaps),
        "regions": len(fitted.regions),
        "numbers": fitted.numbers,
        "cautions": [*requests.cautions, *([caution] if caution else [])],
        "checks": [vars(each) for each in checks],
    }


def _text(values: dict[str, Any]) -> str:
    """Return what was written, and how well it fits."""
    from drivelab.exhibits.quantities import count_text

    windows = count_text(values["windows"], "window")
    lines = [
        f"wrote {values['output']}: {values['numbers']:,} numbers for "
        f"{count_text(values['requests'], 'request')}",
        f"  windows  {windows} of {format_duration_ns(values['window_ns'])}",
        f"  tables   {count_text(values['kinds'], 'kind')} of requests, "
        f"{count_text(values['gaps'], 'table')} of gaps, "
        f"{count_text(values['regions'], 'region')}",
    ]
    if values["left_out"]:
        lines.append(
            f"  left out {count_text(values['left_out'], 'request')}: no reads and no writes"
        )
    lines += [f"  caution  {sentence}" for sentence in values["cautions"]]
    if values["checks"]:
        lines += ["", "Scenario against trace, median over windows of the difference"]
        width = max(len(each["drive"]) for each in values["checks"])
        head = f"  {'':{width}}  latency  requests/s  bytes/s  latency in 9 of 10 windows"
        lines += [head, *(_check_line(each, width) for each in values["checks"])]
    return "\n".join(lines)


def _check_line(found: dict[str, Any], width: int) -> str:
    cells = [
        f"{100 * found[name]:.1f} %"
        for name in ("latency_difference", "throughput_difference", "bandwidth_difference")
    ]
    most = f"at most {100 * found['latency_difference_p90']:.0f} %"
    return f"  {found['drive']:{width}}  {cells[0]:>7}  {cells[1]:>10}  {cells[2]:>7}  {most:>26}"
