"""`drivelab firmware profile`: run workloads on host and target, and save every record."""

from __future__ import annotations

import json
import re
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from drivelab.cli.arguments import add_json, argument_type, seed, whole_number
from drivelab.cli.firmware_workloads import (
    WORKLOAD_HELP,
    add_length,
    named_workloads,
    request_plan,
)
from drivelab.cli.terminal import in_lines, show
from drivelab.errors import UsageError

if TYPE_CHECKING:
    import argparse

    from drivelab.firmware.board_runs import Board
    from drivelab.firmware.profile import FirmwareSettings
    from drivelab.firmware.profiled import Profiled

_MOST_WORKERS: Final = 16
_MOST_DEPTH: Final = 255
_DEPTH: Final = 64
_GEOMETRY: Final = "4x4x2x5120x512"
# The processors of the package have about 3 KiB.
_MOST_TARGET_BYTES: Final = 1 << 20
# Characters of the user's text that an error repeats.
_LONGEST: Final = 40


def _geometry(text: str) -> str:
    if not re.fullmatch(r"[0-9]{1,10}(x[0-9]{1,10}){4}", text):
        raise UsageError(
            f"{text[:_LONGEST]!r} is not a geometry: write channels, ways, dies a way, blocks a "
            f"die and pages a block, as {_GEOMETRY}"
        )
    return "x".join(str(int(number)) for number in text.split("x"))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `drivelab firmware profile`."""
    parser.add_argument(
        "workloads",
        metavar="WORKLOAD",
        nargs="+",
        help=WORKLOAD_HELP,
    )
    parser.add_argument(
        "--out",
        type=Path,
        metavar="FOLDER",
        required=True,
        help="run folder; an existing run resumes",
    )
    add_length(parser)
    parser.add_argument(
        "--geometry",
        type=argument_type(_geometry),
        default=_GEOMETRY,
        metavar="CxWxDxBxP",
        help="channels, ways, dies per way, blocks per die and pages of 16 KiB per block "
        f"[{_GEOMETRY}: 1 TiB with 25 %% over-provisioning]",
    )
    parser.add_argument(
        "--cores",
        type=whole_number(2, _MOST_WORKERS),
        default=4,
        metavar="N",
        help="number of firmware workers; if there are more than the target has cores, they "
        "share the cores [4]",
    )
    parser.add_argument(
        "--queue-depth",
        type=whole_number(1, _MOST_DEPTH),
        metavar="N",
        help="number of outstanding requests [64]",
    )
    parser.add_argument(
        "--each-request",
        action="store_true",
        help="record every request instead of every 1000, with one outstanding at a time: how "
        "long each takes alone, and percentiles",
    )
    parser.add_argument(
        "--firmware",
        type=Path,
        metavar="FILE",
        help="use your own firmware instead of the page map: its source in C or Rust (MINE.c, "
        "MINE.rs; docs/firmware.md), or a folder that `firmware build` wrote",
    )
    parser.add_argument(
        "--board",
        metavar="USER@HOST[:PORT]",
        help="run the firmware on this board instead of the emulated target, over ssh, one "
        "thread per worker (docs/firmware-board.md)",
    )
    parser.add_argument(
        "--events",
        choices=("qemu", "pmu"),
        default="qemu",
        help="source of the host's events: a model of a processor under qemu, which always "
        "gives the same events, or the counters of this processor [qemu]",
    )
    parser.add_argument(
        "--ssh-config",
        type=Path,
        metavar="FILE",
        help="ssh configuration file for --board [ssh's own]",
    )
    parser.add_argument(
        "--target",
        type=Path,
        metavar="FILE.toml",
        help="parameters of the emulated target [processors/a53-like.toml]",
    )
    parser.add_argument(
        "--seed", type=seed, default=1, metavar="N", help="seed of all random numbers [1]"
    )
    add_json(parser)


def carry_out(args: argparse.Namespace) -> int:
    """Profile, and print how long a request takes on both."""
    from drivelab.firmware.counters import told_shares
    from drivelab.firmware.own import own_programs
    from drivelab.firmware.profile import Bench, profile_firmware
    from drivelab.firmware.programs import (
        FOLDER,
        check_geometry,
        check_parameters,
        firmware_program,
        observer,
        observers,
    )

    workloads = named_workloads(args.workloads, args.fit)
    if args.target is not None:
        from drivelab.named_file import read_text_file

        # The plugin of qemu would stop with the words of the system.
        instead = "name one such as processors/a53-like.toml"
        read_text_file(args.target, "parameters of a target", _MOST_TARGET_BYTES, instead)
    settings = _settings(args)
    if args.events == "pmu":
        from drivelab.firmware.counters import check_counters, check_groups

        check_counters()
        check_groups(firmware_program())
    with own_programs(args.firmware) as own, ExitStack() as stack:
        programs = None if own is None else own.folder
        native = firmware_program(programs or FOLDER)
        check_geometry(native, settings.geometry, is_own=own is not None)
        board = _board(args, settings, programs)
        if board is None:
            host, target = observers(own=programs)
            if args.target is not None:
                check_parameters(target, args.target)
        else:
            host, target = observer("host", own=programs), None
            stack.enter_context(board)
        found = profile_firmware(
            workloads,
            Bench(
                host,
                target,
                native,
                settings,
                request_plan(args, settings.capacity_bytes),
                _absolute(args.target),
                own,
                board,
                has_counters=args.events == "pmu",
            ),
            args.out,
            command=args.command,
            progress=not args.json,
        )
    shares = {told_shares(each.host.parameters) for each in found}
    values = {
        "run": str(args.out),
        "record_requests": settings.record_requests,
        "workloads": [_values(each) for each in found],
        "cautions": sorted(line for line in shares if line is not None),
    }
    print(json.dumps(values, indent=2)) if args.json else show(_text(in_lines(values)))
    return 0


def _settings(args: argparse.Namespace) -> FirmwareSettings:
    from drivelab.firmware.profile import FirmwareSettings

    if not args.each_request:
        return FirmwareSettings(args.geometry, args.cores, args.queue_depth or _DEPTH, args.seed)
    if args.queue_depth not in (None, 1):
        raise UsageError(
            "--each-request has one request outstanding at a time; leave out --queue-depth"
        )
    return FirmwareSettings(args.geometry, args.cores, 1, args.seed, record_requests=1)


def _board(
    args: argparse.Namespace, settings: FirmwareSettings, programs: Path | None
) -> Board | None:
    """Check the named board, and refuse it before anything is done."""
    if args.board is None:
        if args.ssh_config is not None:
            raise UsageError("--ssh-config is for --board: name a board, or leave it out")
        _check_same(args, None)
        return None
    from drivelab.firmware.board import look_at
    from drivelab.firmware.board_runs import Board, check_cores
    from drivelab.firmware.programs import FOLDER, firmware_program
    from drivelab.ssh import SshPlace

    if args.target is not None:
        raise UsageError("--target is for the emulated target, which --board replaces: give one")
    if args.ssh_config is not None and not args.ssh_config.is_file():
        raise UsageError(f"there is no ssh configuration file {args.ssh_config}")
    place = SshPlace.parse(args.board, _absolute(args.ssh_config))
    identity = look_at(place)
    check_cores(identity, place, settings.workers)
    words = ["--geometry", settings.geometry, "--seed", str(settings.seed)]
    program = firmware_program(programs or FOLDER, identity.processor)
    board = Board(place, identity, program, words if programs is None else None)
    _check_same(args, board.described())
    return board


def _check_same(args: argparse.Namespace, board: dict[str, Any] | None) -> None:
    """Refuse to resume a run with another board, or with another source of the host's events."""
    from drivelab.firmware.board_runs import check_same_board
    from drivelab.firmware.counters import check_same_processor
    from drivelab.runs.header import this_processor
    from drivelab.store import RunStore
    from drivelab.store.folder import is_run

    if is_run(args.out):
        with RunStore.open(args.out) as store:
            check_same_board(store.header, board)
            if args.events == "pmu":
                check_same_processor(store.header, this_processor())


def _absolute(path: Path | None) -> Path | None:
    return None if path is None else path.resolve()


def _values(profiled: Profiled) -> dict[str, Any]:
    """Return what ``--json`` prints for a workload (docs/json-firmware.md)."""
    from drivelab.firmware.leave_one_out import percentiles

    def per_request(log: Any, name: str) -> float:
        return float(log.column(name).sum() / profiled.counted.column("requests").sum())

    percentiles_ns = percentiles(profiled.target.column("time_ns"))
    return {
        "label": profiled.label,
        "records": len(profiled),
        "host_ns_per_request": per_request(profiled.host, "time_ns"),
        "host_instructions_per_request": per_request(profiled.host, "instructions"),
        "target_ns_per_request": per_request(profiled.target, "time_ns"),
        # Times on a board are measured and have no uncertainty band.
        **{
            f"target_ns_per_request_{end}": None
            if profiled.board
            else per_request(profiled.target, f"time_{end}_ns")
            for end in ("low", "high")
        },
        "target_record_ns_p50": percentiles_ns.get(50.0),
        "target_record_ns_p99": percentiles_ns.get(99.0),
        "target_record_ns_p99_9": percentiles_ns.get(99.9),
        "platform_ratio": per_request(profiled.target, "time_ns")
        / per_request(profiled.host, "time_ns"),
        "flash_programs_per_request": per_request(profiled.counted, "flash_programs"),
        "pages_moved_per_request": per_request(profiled.counted, "pages_moved"),
    }


def _band(values: dict[str, Any]) -> str:
    low, high = (values[f"target_ns_per_request_{end}"] for end in ("low", "high"))
    return "measured" if low is None else f"{low / 1000:.2f} to {high / 1000:.2f}"


def _text(values: dict[str, Any]) -> str:
    from drivelab.report.terminal import aligned

    is_each = values["record_requests"] == 1
    said = "by itself, " if is_each else ""
    return "\n".join(
        [
            f"Time of a request in the firmware, {said}and pages that collection moves for it",
            "",
            *aligned((_each_request if is_each else _by_record)(values["workloads"]), left=1),
            "",
            *values["cautions"],
            f"records  {values['run']}",
            f"next     drivelab firmware evaluate {values['run']}",
        ]
    )


def _by_record(workloads: list[dict[str, Any]]) -> list[tuple[str, ...]]:
    head = ("workload", "records", "host us", "target us", "target, low to high", "pages moved")
    rows = [
        (
            each["label"],
            f"{each['records']:,}",
            f"{each['host_ns_per_request'] / 1000:.2f}",
            f"{each['target_ns_per_request'] / 1000:.2f}",
            _band(each),
            f"{each['pages_moved_per_request']:.2f}",
        )
        for each in workloads
    ]
    return [head, *rows]


def _each_request(workloads: list[dict[str, Any]]) -> list[tuple[str, ...]]:
    head = ("workload", "requests", "target us", "p50", "p99", "p99.9", "pages moved")
    rows = [
        (
            each["label"],
            f"{each['records']:,}",
            f"{each['target_ns_per_request'] / 1000:.2f}",
            *(_us(each[f"target_record_ns_{name}"]) for name in ("p50", "p99", "p99_9")),
            f"{each['pages_moved_per_request']:.2f}",
        )
        for each in workloads
    ]
    return [head, *rows]


def _us(time_ns: float | None) -> str:
    return "-" if time_ns is None else f"{time_ns / 1000:.2f}"
