"""Choose between drives: run one workload on each, rank them, and show how sure the ranking is.

WORKLOAD is a built-in scenario (`drivelab scenarios` lists them), a scenario file, or a recorded
trace, which is replayed; --trace names a trace of several files. Without any of them, the workload
is made of the characteristics below. Every drive is measured several times with the same random
numbers as the others. A statement such as "12 % faster" is made only if its 95 % interval supports
it.
"""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from drivelab.cli.arguments import add_characteristics, add_json, whole_number
from drivelab.cli.drive_options import (
    add_drive_options,
    add_writes,
    characteristics_of,
    open_named,
    plan_of,
    refuse_options_without_effect,
)
from drivelab.cli.executor_options import add_executor_options, check_executor
from drivelab.cli.outputs import add_force
from drivelab.cli.several_drives import allowed, separate
from drivelab.cli.terminal import in_lines, show
from drivelab.cli.trace_options import add_trace, measured_trace_of
from drivelab.drives.write_pattern import WRITES
from drivelab.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from drivelab.choose.candidate import Candidate
    from drivelab.choose.settings import Asked
    from drivelab.outputs import OutputFolder
    from drivelab.workloads.workload import Workload

_MOST: Final = 1000
_MOST_IOPS: Final = 10**12
#: The measures that drives can be ranked by.
_BY: Final = ("latency", "p99", "bandwidth", "throughput")
#: Subfolder of --out with the run of each drive.
RUNS: Final = "drives"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `drivelab choose`."""
    parser.add_argument(
        "workload",
        metavar="WORKLOAD",
        nargs="?",
        help="a scenario: NAME or FILE.toml, or a trace as with --trace [a workload of the "
        "characteristics below]",
    )
    parser.add_argument(
        "--drives",
        required=True,
        action="append",
        metavar="DRIVE,DRIVE",
        help="two or more drives, separated by commas; the option may be repeated",
    )
    parser.add_argument(
        "--by", choices=_BY, default="latency", help="rank the drives by this [latency]"
    )
    parser.add_argument(
        "--repetitions",
        type=whole_number(2, _MOST),
        metavar="N",
        help="measurements per drive; more make the intervals narrower [5; 1 for a trace on "
        "drives that do not vary]",
    )
    parser.add_argument(
        "--prices",
        type=Path,
        metavar="FILE.csv",
        help="show what each drive costs, from a table with the columns drive, price, watts "
        "and, if you like, capacity",
    )
    parser.add_argument(
        "--rate",
        type=whole_number(1, _MOST_IOPS),
        metavar="IOPS",
        help="with --prices: the cost of this many requests per second [the rate at which "
        "requests arrive, if the workload has one]",
    )
    parser.add_argument(
        "--out",
        type=Path,
        metavar="FOLDER",
        help="output folder for a report, its tables and every measurement [nothing is saved]",
    )
    add_characteristics(parser)
    add_trace(parser)
    add_drive_options(parser, several=True)
    add_writes(parser, WRITES, "sustained on simulated drives, else burst")
    add_executor_options(parser)
    add_force(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Measure every drive, compare, write and print."""
    from drivelab.choose.answer import answer_of
    from drivelab.choose.asking import refuse_rates
    from drivelab.choose.candidate import QUALITIES
    from drivelab.choose.costs import costs
    from drivelab.choose.exhibits import choice_report
    from drivelab.choose.ranking import choose
    from drivelab.prices import read_prices
    from drivelab.report.saved import refuse_folder
    from drivelab.report.written import write_report
    from drivelab.runs.stopping import how_to_go_on, told_when_stopped

    args.drives = _drives_of(args.drives)
    workload = _workload_of(args)
    if args.rate is not None and args.prices is None:
        raise UsageError("--rate is for --prices: name a table of prices with --prices FILE.csv")
    refuse_rates(workload, args.by, has_rate=args.rate is not None, word=_word)
    alone = [_alone(args, name, workload) for name in args.drives]
    for one in alone:
        refuse_options_without_effect(one)
        check_executor(one, workload)
    prices = None if args.prices is None else read_prices(args.prices, args.drives)
    folder = None if args.out is None else _folder(args, workload)
    if folder is not None:
        refuse_folder(folder, folders=[RUNS])
    varying = _check_before(alone, workload)
    asked = _asked(args, alone, workload, varying)
    with told_when_stopped(lambda: f"; {how_to_go_on(args.command)}"):
        candidates = [_measured(one, workload, asked) for one in alone]
    choice = choose(candidates, QUALITIES[args.by])
    priced = () if prices is None else costs(choice.candidates, prices, args.rate)
    answer = answer_of(choice, asked, priced)
    written = {}
    if folder is not None:
        written = write_report(choice_report(choice, asked, priced), folder)
    answer |= {name: str(written[name]) if name in written else None for name in _WRITTEN}
    if args.json:
        print(json.dumps(answer, indent=2))
    else:
        from drivelab.cli.choose_text import text

        show(text(in_lines(answer), choice, asked.repetitions_text))
    return 0


_WRITTEN: Final = ("report", "tables", "result")


def _drives_of(words: Sequence[str]) -> list[str]:
    """Return the names, at least two and none twice."""
    names = [name.strip() for word in words for name in word.split(",")]
    if "" in names:
        raise UsageError(
            f"--drives {','.join(words)} has an empty name; write it as sim:x25m,sim:bench-64gib"
        )
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UsageError(f"{twice} is named twice; name each drive once")
    if len(names) < 2:
        raise UsageError(
            f"--drives names {names[0]} alone, and there is nothing to choose; name two or more, "
            f"as {names[0]},sim:bench-64gib, or measure it with `drivelab measure {names[0]}`"
        )
    return names


def _workload_of(args: argparse.Namespace) -> Workload:
    """Return the trace or the scenario that is named, or a workload of the characteristics."""
    from drivelab.drives.simulated.scenarios import read_scenario
    from drivelab.workloads.characteristics import FIELDS

    if args.trace is not None and args.workload is not None:
        raise UsageError(f"a trace already sets what is sent: leave out {args.workload} or --trace")
    if args.workload is not None and _is_trace(args):
        args.trace, args.workload = [Path(args.workload)], None
    trace = measured_trace_of(args)
    if trace is not None:
        return trace
    if args.workload is None:
        workload = characteristics_of(args)
        workload.validate()
        return workload
    for name in (*FIELDS, "content", "writes"):
        if getattr(args, name) is not None:
            option = f"--{name.replace('_', '-')}"
            raise UsageError(
                f"a scenario already sets what is sent: leave out {option} or {args.workload}"
            )
    try:
        return read_scenario(args.workload)
    except UsageError as error:
        _refuse_neither(args.workload, error)
        raise


def _refuse_neither(workload: str, error: UsageError) -> None:
    """Say that a file is neither a scenario nor a trace, if nothing in it looks like one."""
    from drivelab.drives.simulated.scenarios import SUFFIX, names_streams, scenario_file
    from drivelab.workloads.recorded import why_no_trace

    path = scenario_file(workload)
    if path is None or path.suffix == SUFFIX or not path.is_file() or names_streams(path):
        return
    why = why_no_trace(path)
    if why is not None:
        raise UsageError(
            f"{path} is neither a scenario (it has no [[stream]]) nor a trace ({why})"
        ) from error


def _is_trace(args: argparse.Namespace) -> bool:
    """Return whether the workload is a file of a trace; scenarios are text, and mostly .toml."""
    from drivelab.drives.simulated.scenarios import SUFFIX, scenario_file
    from drivelab.named_file import begins_as_text
    from drivelab.workloads.recorded import recognised_format, refuse_pipes

    path = scenario_file(args.workload)
    if path is None or path.suffix == SUFFIX:
        return False
    refuse_pipes([path], "this command")
    is_known = args.format is not None or recognised_format(path) is not None
    return is_known or not begins_as_text(path)


def _alone(args: argparse.Namespace, name: str, workload: Workload) -> argparse.Namespace:
    """Return the arguments as they would be for this drive alone."""
    from drivelab.drives.asked import usual_writes
    from drivelab.drives.write_pattern import write_pattern

    one = separate(args, name)
    if args.out is not None:
        one.out = args.out / RUNS / one.out.name
    if one.allow_destructive:
        # --allow-destructive for another drive does not concern this one.
        one.allow_destructive = name if allowed(one) == name else None
    if one.writes is None and write_pattern(workload) is not None:
        one.writes = usual_writes(name)
    return one


def _folder(args: argparse.Namespace, workload: Workload) -> OutputFolder:
    from drivelab.choose.asking import name_of
    from drivelab.outputs import OutputFolder

    name = args.workload or name_of(workload)
    return OutputFolder(
        args.out, f"the choice between {', '.join(args.drives)} for {name}", force=args.force
    )


def _check_before(alone: Sequence[argparse.Namespace], workload: Workload) -> tuple[str, ...]:
    """Refuse what a drive cannot do before any drive is measured; no file is created for that.

    Returns
    -------
    tuple
        The drives that vary from run to run: real ones, and simulated ones with variability.
    """
    from drivelab.choose.asking import varies
    from drivelab.drives.naming import kind_of, preview_real_drive

    folders = [one.out for one in alone if one.out is not None]
    if len(set(folders)) < len(folders):
        raise UsageError(
            "two drives would have the same folder below --out, because their names differ only in "
            "punctuation; leave out --out, or choose between them in two steps"
        )
    varying = []
    for one in alone:
        plan_of(one)
        if kind_of(one.drive) == "real":
            preview_real_drive(
                one.drive,
                allow_destructive=one.allow_destructive,
                size_bytes=one.size,
                keep=one.keep,
            ).check(workload)
            varying.append(one.drive)
            continue
        with open_named(one) as drive:
            drive.check(workload)
            if varies(drive):
                varying.append(one.drive)
    return tuple(varying)


def _asked(
    args: argparse.Namespace,
    alone: Sequence[argparse.Namespace],
    workload: Workload,
    varying: tuple[str, ...],
) -> Asked:
    from drivelab.choose.asking import asked_of, name_of

    name = args.workload and re.sub(r"\.toml$", "", Path(args.workload).name)
    return asked_of(
        workload,
        name or name_of(workload),
        seed=args.seed,
        repetitions=args.repetitions,
        varying=varying,
        writes=[one.writes for one in alone],
        word=_word,
    )


def _measured(args: argparse.Namespace, workload: Workload, asked: Asked) -> Candidate:
    from drivelab.choose.asking import candidate_of
    from drivelab.runs.stopping import found_file_stays
    from drivelab.workloads.characteristics import Characteristics

    intended: list[Any] = [workload] if isinstance(workload, Characteristics) else []
    with (
        open_named(args, intended) as drive,
        found_file_stays(drive.leave),
        check_executor(args)(drive) as executor,
    ):
        return candidate_of(
            drive,
            workload,
            plan_of(args),
            asked,
            args.out,
            command=args.command,
            executor=executor,
        )


def _word(name: str) -> str:
    return f"--{name}"
