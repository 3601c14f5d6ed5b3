"""How a drive is to be served."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from drivelab.errors import UsageError
from drivelab.memory import available_bytes
from drivelab.units import format_size

#: A reply later than this is late, and this share may be late.
LATE_NS: Final = 100_000
LATE_SHARE: Final = 0.01
#: The most memory that data may take if more is free.
MEMORY_BYTES: Final = 4 * 2**30
_LEAST_MEMORY_BYTES: Final = 2**20


@dataclass(frozen=True)
class PowerCuts:
    """When a drive loses power, and what is lost then.

    Attributes
    ----------
    every_ns
        Wall time from power-on to power-off, ns.
    off_ns
        Shortest time without power, wall time, ns.
    loses_all
        Whether everything in the drive's cache is lost; else it is decided at random per 4 KiB.
    """

    every_ns: int
    off_ns: int
    loses_all: bool


@dataclass(frozen=True)
class ServeSettings:
    """How a drive is to be served.

    Attributes
    ----------
    socket, port
        How clients connect: the path of a unix socket, or a TCP port of 127.0.0.1 (0 for any free
        one). Exactly one of them.
    block_bytes
        Logical block size of a device in /dev; None for no device.
    backing
        The file that stores written data; None for memory.
    allow_destructive
        A backing file that Drivelab did not make, and that may be overwritten.
    memory_bytes
        The most memory that data may take.
    from_state
        A state that an earlier run saved, to start from.
    seed
        Key of all random numbers.
    dilation
        Factor by which everything is slower than in the drive's own time.
    cpu
        The core of the thread that keeps time.
    late_ns, late_share
        A reply later than this is late; with a larger share of late replies the run is not
        accurate.
    by_equations
        Equations 1 to 7 of Yoo et al. 2014 give the time of a request, instead of the simulator.
    power_cuts
        Whether and when the drive loses power.
    has_delay
        If False, nothing is simulated and replies are immediate.
    """

    socket: Path | None
    port: int | None = None
    block_bytes: int | None = None
    backing: Path | None = None
    allow_destructive: str | None = None
    memory_bytes: int = MEMORY_BYTES
    from_state: Path | None = None
    seed: int = 0
    dilation: float = 1.0
    cpu: int | None = None
    late_ns: int = LATE_NS
    late_share: float = LATE_SHARE
    has_delay: bool = True
    by_equations: bool = False
    power_cuts: PowerCuts | None = None


def usual_folder() -> Path:
    """Return the user's folder for sockets, or else that for temporary files."""
    folder = os.environ.get("XDG_RUNTIME_DIR")
    is_there = folder is not None and Path(folder).is_dir() and os.access(folder, os.W_OK)
    return Path(folder if is_there and folder else tempfile.gettempdir())


def usual_socket(name: str) -> Path:
    """Return the path of a socket for a drive, in the usual folder."""
    plain = "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in name)
    return usual_folder() / f"drivelab-{plain}.sock"


def memory_for_data(asked: int | None, drive_bytes: int) -> int:
    """Return how much memory data may take.

    Parameters
    ----------
    asked
        What the user allows; ``None`` for the default.
    drive_bytes
        Memory of the simulated drive itself.

    Raises
    ------
    UsageError
        If that much is not free, or it is too little to be useful.
    """
    available = available_bytes()
    free = None if available is None else max(0, available - drive_bytes)
    if asked is None:
        return (
            MEMORY_BYTES if free is None else max(_LEAST_MEMORY_BYTES, min(MEMORY_BYTES, free // 2))
        )
    if asked < _LEAST_MEMORY_BYTES:
        raise UsageError(
            f"--memory {format_size(asked)} is too little; allowed: at least "
            f"{format_size(_LEAST_MEMORY_BYTES)}"
        )
    if free is not None and asked > free:
        raise UsageError(
            f"--memory {format_size(asked)} is more than the {format_size(free)} that are free "
            "next to the drive's own memory; allow less, or keep the data in a file with "
            "--backing FILE"
        )
    return asked
