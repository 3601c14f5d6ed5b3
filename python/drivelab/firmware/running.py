"""Programs that run at the same time, and end when the caller needs them no more."""

from __future__ import annotations

import subprocess
import tempfile
import time
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Final, TextIO

from drivelab.errors import RunError
from drivelab.firmware.programs import check_ran, why_failed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

_LOOK_SECONDS: Final = 0.1


def run_together(commands: Sequence[Sequence[str]], folder: Path) -> None:
    """Run programs side by side in a folder; end the others when one fails or all are stopped."""
    with ExitStack() as stack:
        running = [
            (command, *stack.enter_context(_started(command, folder))) for command in commands
        ]
        while running:
            for one in list(running):
                command, process, said = one
                if process.poll() is not None:
                    said.seek(0)
                    check_ran(command, process.returncode, said.read())
                    running.remove(one)
            if running:
                time.sleep(_LOOK_SECONDS)


@contextmanager
def _started(
    command: Sequence[str], folder: Path
) -> Iterator[tuple[subprocess.Popen[str], TextIO]]:
    """Start a program; give it and what it says. It does not outlive the caller's interest."""
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as said:
        try:
            process = subprocess.Popen(
                command,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=said,
                text=True,
                # Of its own, so that Ctrl-C reaches Drivelab alone, which then ends it.
                start_new_session=True,
                # It would be the program's, too.
                env={},
            )
        except OSError as error:
            raise RunError(f"{command[0]} does not start: {error.strerror}") from error
        try:
            yield process, said
        finally:
            if process.poll() is None:
                process.kill()
            process.wait()


def check_contract(label: str, name: str, command: Sequence[str], folder: Path) -> None:
    """Run the user's own firmware on this machine, with a check of each of its operations."""
    with _started(command, folder) as (process, said):
        while process.poll() is None:
            time.sleep(_LOOK_SECONDS)
        if process.returncode == 0:
            return
        said.seek(0)
        why = why_failed(process.returncode, said.read())
    for before in ("drivelab-firmware: ", "the firmware stopped: "):
        why = why.removeprefix(before)
    raise RunError(f"the firmware {name} failed under {label}: {why}")
