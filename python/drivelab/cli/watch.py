"""Watch a served drive in the terminal: what it does, every second.

On a terminal it fills the window until q, Ctrl-C, --for or the end of the server. In a file or a
pipe it prints one line per second. It finds the drives that `drivelab serve` serves for the same
user on this machine. A URL reaches any drive that is served with --monitor.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from drivelab.cli.arguments import duration
from drivelab.errors import UsageError

if TYPE_CHECKING:
    from drivelab.live.watching import Server

_SECOND: Final = 1.0
# How often to ask for a new second, until it is there.
_AGAIN_SECONDS: Final = 0.1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `drivelab watch`."""
    parser.add_argument(
        "server",
        metavar="SOCKET|URL|DRIVE",
        nargs="?",
        help="the socket or address at which programs connect to the drive, the URL of its "
        "monitor, or the drive's name [the only drive that is served]",
    )
    parser.add_argument(
        "--for", dest="seconds", type=duration, metavar="TIME", help="stop after this time"
    )
    parser.add_argument("--once", action="store_true", help="print the last second and stop")
    parser.add_argument(
        "--json",
        action="store_true",
        help="print one JSON object per line, one line per second (its keys: docs/json-watch.md)",
    )


def run(args: argparse.Namespace) -> int:
    """Watch until the user stops it, or until the server ends."""
    from drivelab.live.watching import GoneError, find

    if args.seconds == 0:
        raise UsageError("--for is 0; allowed: more than 0, for example 10s")
    if args.once and args.seconds is not None:
        raise UsageError("--once and --for exclude each other: give one of them")
    server = find(args.server)
    try:
        first = server.state()
    except GoneError as error:
        raise UsageError(str(error)) from None
    if args.once:
        _print(args, first)
        return 0
    try:
        if sys.stdout.isatty() and not args.json:
            from drivelab.cli.watch_screen import show_all

            show_all(_states(server, first, args.seconds))
        else:
            for state in _states(server, first, args.seconds):
                if state is not None:
                    _print(args, state)
    except KeyboardInterrupt:
        # The usual way to end it.
        return 0
    except GoneError:
        print(f"drivelab: the server of {first['drive']} has ended", file=sys.stderr)
    return 0


def _print(args: argparse.Namespace, state: dict[str, Any]) -> None:
    if args.json:
        print(json.dumps(state), flush=True)
        return
    from drivelab.cli.watch_text import line, screen

    if args.once:
        from drivelab.cli.terminal import columns

        print("\n".join(screen(state, [state["row"]], columns() or 80, None)), flush=True)
    else:
        print(line(state), flush=True)


def _states(
    server: Server, first: dict[str, Any], seconds: float | None
) -> Iterator[dict[str, Any] | None]:
    """Yield the drive's state at the end of each second, and None a few times in between."""
    begun = time.monotonic()
    state, asked = first, begun
    yield state
    while seconds is None or time.monotonic() < begun + seconds:
        time.sleep(_AGAIN_SECONDS)
        if time.monotonic() < asked + _SECOND - _AGAIN_SECONDS:
            yield None
            continue
        found = server.state()
        if found["second"] == state["second"]:
            continue
        state, asked = found, time.monotonic()
        yield state
