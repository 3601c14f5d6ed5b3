"""How much memory this machine could give a simulation."""

from __future__ import annotations

from pathlib import Path
from typing import Final

_MEMINFO: Final = Path("/proc/meminfo")


def available_bytes() -> int | None:
    """Return what Linux says is available without swapping; ``None`` elsewhere."""
    try:
        lines = _MEMINFO.read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    for line in lines:
        name, _, value = line.partition(":")
        if name == "MemAvailable":
            return int(value.split()[0]) * 1024
    return None
