"""How much memory a simulation could have, and how much it took."""

from __future__ import annotations

import resource
import sys
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


def peak_bytes() -> int:
    """Return the most memory that this process has had at once (its resident set)."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    # Linux counts KiB here, macOS bytes.
    return peak if sys.platform == "darwin" else peak * 1024
