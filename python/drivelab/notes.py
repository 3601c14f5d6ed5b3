"""Notes for the person who runs Drivelab, on standard error."""

from __future__ import annotations

import sys


def print_note(text: str) -> None:
    """Print a line on standard error; nothing happens if standard error is closed."""
    try:
        print(f"drivelab: {' '.join(text.split())}", file=sys.stderr, flush=True)  # noqa: T201
    except (OSError, ValueError):
        return
