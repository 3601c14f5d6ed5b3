"""Profile how much faster sequential access is than random access, at every request size.

A whole file is transferred at some request sizes, sequentially and in random order, by reads and
by writes. Straight lines estimate the access times of the sizes between (Boito et al. 2015); with
--points auto it is kriging. On a simulated drive the time is simulated time. On a real drive every
pass is saved in the --out folder immediately; if the command is stopped, the same command resumes.
"""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from drivelab.cli.arguments import (
    DRIVE_HELP,
    add_json,
    argument_type,
    inner_share,
    seed,
    size,
    whole_number,
)
from drivelab.cli.drive_options import (
    add_no_variability,
    add_workers,
    refuse_options_without_effect,
)
from drivelab.cli.executor_options import add_executor_options, check_executor
from drivelab.cli.several_drives import (
    add_allow_destructive,
    add_at_once,
    allowed,
    beside,
    run_drives,
    separate,
)
from drivelab.cli.terminal import in_lines, show
from drivelab.errors import CannotAnswerError, UsageError
from drivelab.units import format_size, parse_duration, parse_size

if TYPE_CHECKING:
    from drivelab.drives.protocol import Drive
    from drivelab.profile.decision import Decision
    from drivelab.profile.optimisation import Cost
    from drivelab.profile.profile import Profile
    from drivelab.profile.settings import ProfileSettings
    from drivelab.profile.sizes import Interval

_MOST: Final = 100_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `drivelab profile`."""
    parser.add_argument(
        "drives",
        metavar="DRIVE",
        nargs="+",
        help=f"{DRIVE_HELP}; several are profiled at the same time, each as it would be alone",
    )
    parser.add_argument(
        "--interval",
        action="append",
        type=argument_type(interval),
        metavar="LOW:HIGH:GAP",
        help="request sizes; may be repeated [8KiB:64KiB:8KiB 64KiB:4MiB:32KiB]",
    )
    parser.add_argument(
        "--points",
        type=argument_type(_number_or_auto("points", 2)),
        metavar="N|auto",
        help="number of sizes to measure in each interval: its ends, others at random; auto "
        "adds the sizes that improve the ratios most, until --half-width is reached [2]",
    )
    parser.add_argument(
        "--repetitions",
        type=argument_type(_number_or_auto("repetitions", 1)),
        metavar="N|auto",
        help="passes per test and size; auto repeats until --half-width is reached [4]",
    )
    parser.add_argument(
        "--half-width",
        type=inner_share,
        metavar="SHARE",
        help="with auto: measure until the 95 %% half-width of the ratios is this share of "
        "them, median over the sizes [5%%]",
    )
    parser.add_argument(
        "--max-repetitions",
        type=whole_number(2, _MOST),
        metavar="N",
        help="with --repetitions auto or --full: maximum number of repetitions [200]",
    )
    parser.add_argument(
        "--max-time",
        type=argument_type(drive_time),
        metavar="TIME",
        help="with auto: limit on the drive's time (10m); the most useful sizes and repetitions "
        "come first [no limit]",
    )
    parser.add_argument("--file-size", type=size, metavar="SIZE", help="size of the file [1200MiB]")
    parser.add_argument(
        "--partial",
        type=inner_share,
        metavar="SHARE",
        help="send only this share of the file's requests in each pass; the result is marked",
    )
    parser.add_argument(
        "--full",
        action="store_true",
        help="measure every size at least six times, until its 90 %% half-width is at most 10 %%",
    )
    parser.add_argument(
        "--op", choices=("read", "write"), help="measure only reads or only writes [both]"
    )
    parser.add_argument(
        "--optimization-cost",
        type=argument_type(cost),
        metavar="TIME|RATIO",
        help="time that an I/O optimisation adds to each request (50us), or the ratio that it "
        "needs (1.5x): shows for which sizes aggregating, reordering and scheduling pay off; "
        "auto continues while this is uncertain and less precise than --half-width",
    )
    parser.add_argument(
        "--out",
        type=Path,
        metavar="FOLDER",
        help="output folder for tables, the drawing and every pass; one subfolder per drive if "
        "there are several [nothing is saved; real drives runs/profile-DRIVE]",
    )
    add_at_once(parser)
    parser.add_argument(
        "--seed", type=seed, default=0, metavar="N", help="seed of all random numbers [0]"
    )
    group = parser.add_argument_group("simulated drives")
    add_workers(group)
    add_no_variability(group)
    group = parser.add_argument_group("real drives")
    group.add_argument("--keep", action="store_true", help="keep the file that was created")
    add_allow_destructive(group)
    add_executor_options(parser)
    add_json(parser)


def interval(text: str) -> Interval:
    """Read ``LOW:HIGH:GAP``.

    Raises
    ------
    UsageError
        If the text is something else, or such an interval is impossible.
    """
    from drivelab.profile.sizes import Interval

    parts = text.split(":")
    if len(parts) != 3:
        raise UsageError(
            f"{text!r} is not an interval; write LOW:HIGH:GAP, for example 8KiB:64KiB:8KiB"
        )
    return Interval(*(parse_size(part) for part in parts))


def cost(text: str) -> Cost:
    """Read the cost of an optimisation: a duration with its unit, or a ratio, ``1.5`` or ``3x``.

    Raises
    ------
    UsageError
        If it is neither, or could be both.
    """
    from drivelab.profile.optimisation import Cost

    if re.fullmatch(r"[0-9]{1,6}", text) and int(text):
        raise UsageError(
            f"{text!r} may be a time or a ratio; write a time for each request with its unit, "
            f"{text}us, or {text}x for the ratio that the optimisation needs"
        )
    number = re.fullmatch(r"([0-9]{1,6}(?:\.[0-9]{1,9})?)x?", text)
    if number is None:
        if not re.search(r"[a-z]$", text):
            raise UsageError(
                f"{text!r} is not a cost; write a time for each request with its unit, such as "
                "50us, or the ratio that the optimisation needs, such as 1.5x"
            )
        return Cost(time_ns=parse_duration(text) * 1e9)
    if not float(number[1]) >= 1:
        raise UsageError(
            f"{text!r} is not a ratio that an optimisation needs; allowed: from 1x, which is no "
            "slower"
        )
    return Cost(ratio=float(number[1]))


def drive_time(text: str) -> float:
    """Read a duration above 0; return seconds.

    Raises
    ------
    UsageError
        If it is not a duration above 0.
    """
    seconds = parse_duration(text)
    if seconds <= 0:
        raise UsageError(f"{text!r} is not a time to measure; allowed: more than 0")
    return seconds


def _number_or_auto(what: str, least: int):  # type: ignore[no-untyped-def]
    def parse(text: str) -> int | Literal["auto"]:
        if text == "auto":
            return "auto"
        if not re.fullmatch(r"[0-9]{1,6}", text) or not least <= int(text) <= _MOST:
            raise UsageError(
                f"{text!r} is not allowed for {what}; it takes auto or a whole number from "
                f"{least} to {_MOST}"
            )
        return int(text)

    return parse


def run(args: argparse.Namespace) -> int:
    """Measure, estimate, write and print."""
    alone = [separate(args, name) for name in args.drives]
    for each in alone:
        refuse_options_without_effect(each)
        check_executor(each)
    plan = plan_of(args)
    plan.first_sizes()
    answers, failure = run_drives(args, alone, lambda one: [_profiled(one, plan)])
    if args.json:
        values = [each["values"] for each in answers]
        print(json.dumps({"profiles": values} if len(alone) > 1 else values[0], indent=2))
    elif answers:
        show("\n\n".join(each["text"] for each in answers))
    if failure is not None:
        raise failure
    return 0


def _profiled(args: argparse.Namespace, plan: ProfileSettings) -> dict[str, Any]:
    """Profile one drive; return what ``--json`` prints for it, and the text."""
    from drivelab.cli.profile_files import check_files, values_of, write_files
    from drivelab.cli.profile_text import profile_text
    from drivelab.profile.run import run_profile
    from drivelab.runs.stopping import found_file_stays, how_to_go_on, told_when_stopped

    out = _folder(args)
    with (
        _opened(args, plan) as drive,
        found_file_stays(drive.leave),
        check_executor(args)(drive) as executor,
    ):
        profiled = run_profile(
            drive,
            plan,
            out,
            beside=beside(args),
            command=args.command,
            before=check_files,
            executor=executor,
            workers=args.workers,
        )
    found, folder = profiled.found, profiled.folder
    head = {
        **describe_drive(drive),
        "has_new_file": profiled.has_new_file,
        "beside": profiled.beside,
    }
    asked: Cost | None = args.optimization_cost
    head["optimization_cost_ns"] = None if asked is None else asked.time_ns
    head["optimization_ratio"] = None if asked is None else asked.ratio
    answers = _answers(found, asked)
    kept = "" if folder is None else f"; every pass is saved in {folder.path}; "
    with told_when_stopped(lambda: kept and kept + how_to_go_on(args.command)):
        files = [] if folder is None else write_files(found, plan, head, answers, folder)
    lines = [profile_text(found, plan, in_lines(head), answers)]
    lines += ["", *(f"wrote {in_lines(str(name))}" for name in files)] if files else []
    return {"values": values_of(found, plan, head, answers, files), "text": "\n".join(lines)}


def plan_of(args: argparse.Namespace) -> ProfileSettings:
    """Return the plan; what was not given keeps its default.

    Raises
    ------
    UsageError
        If options contradict each other.
    """
    from drivelab.profile.settings import DIRECTIONS, ProfileSettings

    asked: dict[str, Any] = {
        "points": args.points,
        "repetitions": args.repetitions,
        "file_bytes": args.file_size,
        "share": args.partial,
        "half_width_ratio": args.half_width,
        "most_repetitions": args.max_repetitions,
        "most_measuring_ns": None if args.max_time is None else args.max_time * 1e9,
        "intervals": None if args.interval is None else tuple(dict.fromkeys(args.interval)),
    }
    if args.max_time is not None and "auto" not in {args.points, args.repetitions}:
        raise UsageError("--max-time is for --points auto or --repetitions auto")
    if args.full:
        for name in ("points", "repetitions", "half_width"):
            if getattr(args, name) is not None:
                raise UsageError(
                    f"--{name.replace('_', '-')} has no effect with --full, which measures every "
                    "size until its mean is known"
                )
    elif args.repetitions != "auto":
        if args.half_width is not None and args.points != "auto":
            raise UsageError("--half-width is for --points auto or --repetitions auto")
        if args.max_repetitions is not None:
            raise UsageError("--max-repetitions is for --repetitions auto")
    plan = ProfileSettings(
        seed=args.seed,
        is_full=args.full,
        directions=DIRECTIONS if args.op is None else (args.op,),
        cost=args.optimization_cost,
        **{name: value for name, value in asked.items() if value is not None},
    )
    largest = max(each.high_bytes for each in plan.intervals)
    if plan.file_bytes < largest:
        raise UsageError(
            f"--file-size is {format_size(plan.file_bytes)}; allowed: at least the largest "
            f"request, {format_size(largest)}"
        )
    plan.check()
    return plan


def _folder(args: argparse.Namespace) -> Path | None:
    from drivelab.drives.naming import kind_of

    out: Path | None = args.out
    if out is None and kind_of(args.drive) == "real":
        name = re.sub(r"[^A-Za-z0-9.-]+", "-", args.drive).strip("-.") or "drive"
        return Path("runs") / f"profile-{name}"
    if out is not None and out.exists() and not out.is_dir():
        raise UsageError(f"{out} is not a folder; --out names one")
    return out


def _opened(args: argparse.Namespace, plan: ProfileSettings) -> Drive:
    """Open the drive; a file on a real drive is made as long as the profile needs it."""
    from drivelab.drives.naming import kind_of, open_drive

    kind = kind_of(args.drive)
    if kind == "closed_form":
        raise CannotAnswerError(
            f"{args.drive} is a formula and cannot contain a file; name a simulated or a real drive"
        )
    is_made = kind == "real" and not Path(args.drive).exists()
    smallest = min(each.low_bytes for each in plan.intervals)
    intended = [
        plan.one_pass(direction, True, smallest).characteristics() for direction in plan.directions
    ]
    drive = open_drive(
        args.drive,
        allow_destructive=allowed(args),
        size_bytes=plan.file_bytes if is_made else None,
        keep=args.keep,
        intended=intended,
        varies=not args.no_variability,
    )
    try:
        # Otherwise hours of reads would pass before the first write is refused.
        for each in intended:
            drive.check(each)
    except BaseException:
        # The file may be from a profile that was stopped.
        drive.leave(only_found=True)
        drive.close()
        raise
    return drive


def describe_drive(drive: Drive) -> dict[str, Any]:
    """Return what the result is about: the drive, and what is between it and the requests."""
    from drivelab.cli.profile_files import between

    return {
        "drive": drive.name,
        "kind": drive.kind,
        "variability": getattr(drive, "variability", None),
        "capacity_bytes": drive.capacity_bytes,
        **between(drive.kind, drive.identity()),
    }


def _answers(found: Profile, wanted: Cost | None) -> list[Decision]:
    from drivelab.profile.decision import decisions

    return [] if wanted is None else decisions(found, wanted)
