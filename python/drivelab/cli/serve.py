"""Serve a simulated drive to programs, as a network block device (NBD) or a device in /dev.

The simulator decides when each request completes, and the reply goes out at that moment of the
wall clock. Written data stay in memory until the end, or in a file. The server runs until Ctrl-C,
SIGTERM or --for, or until the drive fails. Then it prints what it served and how late its replies
were.

Exit codes: 1 if the drive or the last sync of its backing file failed; 2 for bad input; 3 if more
replies were late than --late-share allows; else 0.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

from drivelab.cli.arguments import (
    add_json,
    argument_type,
    duration,
    inner_share,
    seed,
    size,
    whole_number,
)
from drivelab.cli.drive_options import add_no_variability
from drivelab.errors import TerminatedError, UsageError

if TYPE_CHECKING:
    from drivelab.live.served import Served
    from drivelab.live.serving import Serving
    from drivelab.live.settings import PowerCuts, ServeSettings

EXIT_LATE: Final = 3
_LOOK_SECONDS: Final = 0.1
_POWER_OFF_SECONDS: Final = 1.0
_TELL_SECONDS: Final = 1.0
# In a log one line per second is too many.
_TELL_LOG_SECONDS: Final = 10.0
# The closed form has no settings for these.
_BY_EQUATIONS: Final = "analytic:"
_BLOCK_SIZES: Final = (512, 4096)
_MOST_DILATION: Final = 100_000


def _factor(text: str) -> float:
    try:
        factor = float(text)
    except ValueError:
        factor = 0.0
    if not 1 <= factor <= _MOST_DILATION:
        raise UsageError(
            f"{text!r} is not allowed; it takes a number from 1 to {_MOST_DILATION}, for example 10"
        )
    return factor


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `drivelab serve`."""
    parser.add_argument(
        "drive",
        metavar="DRIVE",
        help="a simulated drive, sim:PRESET or sim:FILE.toml, or the closed form, analytic:PRESET",
    )
    group = parser.add_argument_group("where clients come in")
    group.add_argument(
        "--socket",
        type=Path,
        metavar="PATH",
        help="path of a unix socket [in $XDG_RUNTIME_DIR or the folder for temporary files]",
    )
    group.add_argument(
        "--port",
        type=whole_number(0, 65535),
        metavar="N",
        help="a TCP port of 127.0.0.1 instead of a socket; 0 for any free port",
    )
    group.add_argument(
        "--block",
        action="store_true",
        help="also create a block device, /dev/nbdN or /dev/loopN (needs root)",
    )
    group.add_argument(
        "--block-size",
        type=size,
        metavar="SIZE",
        help="logical block size of the device, 512 or 4KiB [512]",
    )
    _add_data(parser)
    group = parser.add_argument_group("how time is kept")
    group.add_argument(
        "--dilate",
        type=argument_type(_factor),
        default=1.0,
        metavar="FACTOR",
        help="slow the drive down by this factor [1]",
    )
    group.add_argument(
        "--cpu",
        type=whole_number(0, 4095),
        metavar="N",
        help="pin the thread that keeps time to this core",
    )
    group.add_argument(
        "--late",
        type=duration,
        metavar="TIME",
        help="count a reply as late if it is later than this [100us]",
    )
    group.add_argument(
        "--late-share",
        type=inner_share,
        metavar="SHARE",
        help="exit with code 3 if a larger share of the replies was late [1%%]",
    )
    group.add_argument(
        "--no-delay",
        action="store_true",
        help="simulate nothing and answer immediately, to measure the connection itself",
    )
    _add_power(parser)
    parser.add_argument(
        "--monitor",
        type=whole_number(0, 65535),
        metavar="PORT",
        help="show what the drive does on a web page, and to Prometheus, at this TCP port of "
        "127.0.0.1; 0 for any free port (`drivelab watch` does not need this)",
    )
    parser.add_argument(
        "--for", dest="seconds", type=duration, metavar="TIME", help="stop after this time"
    )
    parser.add_argument(
        "--seed", type=seed, default=0, metavar="N", help="seed of all random numbers [0]"
    )
    add_no_variability(parser)
    parser.add_argument(
        "--from-state",
        type=Path,
        metavar="FILE.state",
        help="start from a state that `drivelab simulate --save-state` saved, instead of the "
        "preset's condition",
    )
    add_json(parser)


def _add_power(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("loss of power")
    group.add_argument(
        "--power-cut-every",
        type=duration,
        metavar="TIME",
        help="cut the drive's power this long after it came on (wall time); outstanding "
        "requests fail, and the contents of the cache are lost",
    )
    group.add_argument(
        "--power-off-for", type=duration, metavar="TIME", help="how long the power stays off [1s]"
    )
    group.add_argument(
        "--power-cut-loss",
        choices=("some", "all"),
        help="lose everything that the cache held, or decide at random for each 4 KiB [some]",
    )


def _add_data(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("where data are stored")
    group.add_argument(
        "--memory",
        type=size,
        metavar="SIZE",
        help="maximum memory for data; writes beyond it fail (no space left) [4GiB, or half of "
        "the free memory]",
    )
    group.add_argument(
        "--backing",
        type=Path,
        metavar="FILE",
        help="keep data in this file of the drive's size; it is created if it does not exist",
    )
    group.add_argument(
        "--allow-destructive",
        metavar="PATH",
        help="overwrite this existing backing file, which Drivelab did not create",
    )


def run(args: argparse.Namespace) -> int:
    """Serve until a signal, a time or a failure ends it."""
    from drivelab.drives.naming import open_simulated

    _check(args)
    with open_simulated(_simulated(args.drive), varies=not args.no_variability) as drive:
        from drivelab.live.haste import check_haste
        from drivelab.live.monitor import Monitor
        from drivelab.live.serving import Serving
        from drivelab.live.settings import memory_for_data

        memory = memory_for_data(args.memory, 0 if args.backing else drive.session_bytes)
        settings = _settings(args, drive.preset["name"], memory)
        if settings.has_delay:
            check_haste(drive, args.dilate)
        # A port that is in use is refused before a drive is prepared.
        with Monitor(args.monitor, _watch_page) as monitor, Serving(drive, settings) as serving:
            # From the moment when clients learn the address, a signal is the usual way to end the
            # server.
            with contextlib.suppress(KeyboardInterrupt, TerminatedError):
                _ignore_suspension(serving)
                _say_where(args, drive.capacity_bytes, serving, monitor.url)
                monitor.show(serving)
                _wait(serving, args.seconds)
            served = serving.stop()
    return _tell(args, serving, served)


def _simulated(name: str) -> str:
    return name.replace(_BY_EQUATIONS, "sim:", 1) if name.startswith(_BY_EQUATIONS) else name


def _check(args: argparse.Namespace) -> None:
    if args.socket is not None and args.port is not None:
        raise UsageError("--socket and --port exclude each other: give one of them")
    if args.backing is not None and args.memory is not None:
        raise UsageError("--memory is for data in memory: leave out --memory or --backing")
    if args.allow_destructive is not None and args.backing is None:
        raise UsageError("--allow-destructive is for a backing file: name it with --backing FILE")
    _check_block(args)
    _check_power(args)
    _check_equations(args)
    if args.seconds == 0:
        raise UsageError("--for is 0; allowed: more than 0, for example 60s")
    if args.no_delay:
        for name, value, usual in (
            ("--dilate", args.dilate, 1.0),
            ("--from-state", args.from_state, None),
            ("--power-cut-every", args.power_cut_every, None),
        ):
            if value != usual:
                raise UsageError(f"{name} has no effect with --no-delay: leave one of them out")


def _check_equations(args: argparse.Namespace) -> None:
    if args.drive.startswith(_BY_EQUATIONS):
        for name, value in (
            ("--from-state", args.from_state),
            ("--power-cut-every", args.power_cut_every),
        ):
            if value is not None:
                raise UsageError(
                    f"{name} has no effect on {args.drive}: equations have no state; serve a "
                    "simulated drive, sim:PRESET"
                )


def _check_block(args: argparse.Namespace) -> None:
    if args.block_size is not None and not args.block:
        raise UsageError("--block-size is for a block device: add --block")
    if args.block_size is not None and args.block_size not in _BLOCK_SIZES:
        raise UsageError("--block-size takes 512 or 4KiB")


def _check_power(args: argparse.Namespace) -> None:
    if args.power_cut_every is None:
        for name, value in (
            ("--power-off-for", args.power_off_for),
            ("--power-cut-loss", args.power_cut_loss),
        ):
            if value is not None:
                raise UsageError(f"{name} is for power cuts: add --power-cut-every TIME")
    elif args.power_cut_every == 0:
        raise UsageError("--power-cut-every is 0; allowed: more than 0, for example 10s")


def _settings(args: argparse.Namespace, name: str, memory_bytes: int) -> ServeSettings:
    from drivelab.live.settings import LATE_NS, LATE_SHARE, ServeSettings, usual_socket

    socket = args.socket
    if socket is None and args.port is None:
        socket = usual_socket(name)
    return ServeSettings(
        # Clients may start in another folder.
        socket=None if socket is None else socket.absolute(),
        port=args.port,
        block_bytes=(args.block_size or _BLOCK_SIZES[0]) if args.block else None,
        backing=args.backing,
        allow_destructive=args.allow_destructive,
        memory_bytes=memory_bytes,
        from_state=args.from_state,
        seed=args.seed,
        dilation=args.dilate,
        cpu=args.cpu,
        late_ns=LATE_NS if args.late is None else round(args.late * 1e9),
        late_share=LATE_SHARE if args.late_share is None else args.late_share,
        has_delay=not args.no_delay,
        by_equations=args.drive.startswith(_BY_EQUATIONS),
        power_cuts=_power_cuts(args),
    )


def _power_cuts(args: argparse.Namespace) -> PowerCuts | None:
    from drivelab.live.settings import PowerCuts

    if args.power_cut_every is None:
        return None
    off = _POWER_OFF_SECONDS if args.power_off_for is None else args.power_off_for
    loses_all = args.power_cut_loss == "all"
    return PowerCuts(round(args.power_cut_every * 1e9), round(off * 1e9), loses_all)


def _watch_page() -> bytes:
    """Write the page only if it is asked for: most servers run without it."""
    from drivelab.report.watch_page import watch_page

    return watch_page()


def _ignore_suspension(serving: Serving) -> None:
    """Ignore Ctrl-Z with an NBD device: the kernel would disconnect it."""
    if serving.block_path is not None and serving.block_path.startswith("/dev/nbd"):
        signal.signal(signal.SIGTSTP, signal.SIG_IGN)


def _say_where(
    args: argparse.Namespace, capacity_bytes: int, serving: Serving, url: str | None
) -> None:
    from drivelab.cli.serve_text import first_line

    # With --json the output is one object.
    where = [serving.uri] if serving.block_path is None else [serving.block_path, serving.uri]
    stream = sys.stderr if args.json else sys.stdout
    print(first_line(args.drive, capacity_bytes, args.dilate, *where), file=stream, flush=True)
    if url is not None:
        print(f"watch it at {url}", file=stream, flush=True)


def _wait(serving: Serving, seconds: float | None) -> None:
    from drivelab.cli.serve_text import status
    from drivelab.runs.status_line import StatusLine

    line = StatusLine()
    every = _TELL_SECONDS if line.is_terminal else _TELL_LOG_SECONDS
    begun = time.monotonic()
    shown_at, before = begun, serving.standing()
    try:
        while not serving.is_over:
            now = time.monotonic()
            left = _LOOK_SECONDS if seconds is None else begun + seconds - now
            if left <= 0:
                return
            time.sleep(min(left, _LOOK_SECONDS))
            if now - shown_at >= every:
                standing = serving.standing()
                if line.is_terminal or standing.requests > before.requests:
                    line.show(status(before, standing))
                shown_at, before = now, standing
    finally:
        line.clear()


def _tell(args: argparse.Namespace, serving: Serving, served: Served) -> int:
    from drivelab.errors import RunError

    if args.json:
        where = {"uri": serving.uri, "device": serving.block_path}
        print(json.dumps({"drive": args.drive, **where, **served.to_json()}, indent=2))
    else:
        from drivelab.cli.serve_text import text
        from drivelab.cli.terminal import show

        show(text(args.drive, served))
    if served.failure is not None:
        raise RunError(served.failure)
    caution = served.caution()
    if caution is None:
        return 0
    print(f"drivelab: {caution}", file=sys.stderr)
    return EXIT_LATE
