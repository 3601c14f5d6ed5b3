"""List the preconditioned states of simulated drives that runs share, or remove them."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from drivelab.cli.arguments import add_json
from drivelab.cli.terminal import in_lines, show

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `drivelab pts states`."""
    parser.add_argument(
        "--clear", action="store_true", help="remove all states; runs compute them again"
    )
    add_json(parser)


def carry_out(args: argparse.Namespace) -> int:
    """Print what is saved and where, or what was removed."""
    from drivelab.pts.shared_states import SharedStates, usual_folder

    states = SharedStates(usual_folder())
    kept = states.kept()
    answer: dict[str, Any] = {
        "folder": str(states.folder),
        "bytes": sum(each.size_bytes for each in kept),
        "states": [
            {
                "drive": each.drive,
                "bytes": each.size_bytes,
                "used_at": datetime.fromtimestamp(each.used_unix_seconds, UTC).isoformat(
                    timespec="seconds"
                ),
                "path": str(each.path),
            }
            for each in kept
        ],
        "freed_bytes": states.clear() if args.clear else 0,
    }
    if args.json:
        print(json.dumps(answer, indent=2))
    else:
        show(_text(in_lines(answer), is_cleared=args.clear))
    return 0


def _text(answer: dict[str, Any], *, is_cleared: bool) -> str:
    from drivelab.units import format_size

    if is_cleared:
        return f"{format_size(answer['freed_bytes'])} removed from {answer['folder']}"
    if not answer["states"]:
        return f"no preconditioned states in {answer['folder']}"
    width = max(len(each["drive"]) for each in answer["states"])
    return "\n".join(
        [
            f"{format_size(answer['bytes'])} in {answer['folder']}",
            *(
                f"  {each['drive']:<{width}}  {format_size(each['bytes']):>9}  used "
                f"{each['used_at'][:16].replace('T', ' ')} UTC"
                for each in answer["states"]
            ),
            "`drivelab pts states --clear` removes them; runs compute them again",
        ]
    )
