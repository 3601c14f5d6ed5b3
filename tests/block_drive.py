"""`drivelab serve --block` at work, for tests of programs on it (root)."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

SMALL = f"sim:{Path(__file__).parent / 'small_drive.toml'}"
COMMAND = [sys.executable, "-c", "import sys; from drivelab.cli.main import main; sys.exit(main())"]
# A busy machine is late, and nothing here is about that.
PATIENT = ("--late", "10s")


class BlockDrive:
    """A served drive and the path of its device; a test without root is skipped."""

    def __init__(self, folder: Path, *words: str, drive: str = SMALL) -> None:
        self.socket = folder / "s"
        words = ("serve", drive, "--block", "--socket", str(self.socket), *PATIENT, *words)
        self.process = subprocess.Popen(
            [*COMMAND, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        stream = self.process.stderr if "--json" in words else self.process.stdout
        assert stream is not None
        first = stream.readline()
        devices = [word for word in first.split() if word.startswith(("/dev/nbd", "/dev/loop"))]
        if not first.startswith("serving") or not devices:
            error = first + self.process.communicate()[1]
            if "--block needs" in error:
                pytest.skip(error.strip())
            pytest.fail(error)
        (self.path,) = devices

    def end(self, number: int = signal.SIGTERM) -> tuple[str, str]:
        """Send a signal, and return what is printed then."""
        self.process.send_signal(number)
        return self.process.communicate(timeout=60)

    def kill(self) -> None:
        """End it, if it has not ended."""
        with contextlib.suppress(ProcessLookupError):
            self.process.kill()
        self.process.communicate()


def is_gone(path: str) -> bool:
    """Whether a device is free; the kernel may take a moment."""
    until = time.monotonic() + 10
    device = Path("/sys/block", Path(path).name)
    used = device / ("pid" if device.name.startswith("nbd") else "loop")
    while used.exists():
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True


def write(path: str, data: bytes) -> None:
    """Write to the beginning of a device, through the kernel's cache."""
    with Path(path).open("r+b") as device:
        device.write(data)


@contextlib.contextmanager
def mounted(path: str, folder: Path, tool: Callable[[str], Path]) -> Iterator[Path]:
    """Mount a device in a folder of its own, and unmount it."""
    root = folder / "root"
    root.mkdir(exist_ok=True)
    subprocess.run([tool("mount"), path, root], check=True)
    try:
        yield root
    finally:
        subprocess.run([tool("umount"), root], check=False)
