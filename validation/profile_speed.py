"""Speed of `drivelab profile` with its defaults, on every preset."""

from __future__ import annotations

import os
import time
from typing import Final

from drivelab._core import preset_names
from drivelab.drives.simulated.drive import SimulatedDrive
from drivelab.profile.measured import profile
from drivelab.profile.settings import DIRECTIONS, ProfileSettings
from validation.document import Section

_SMALL_BYTES: Final = 128 * 10**9
#: Seconds of processor time from a prepared state, up to that capacity and above it.
_TARGETS: Final = (5, 30)


def profile_speed() -> Section:
    """Time the profile of every preset from its prepared state, and the preparation."""
    section = Section("Speed of the profile", ".venv/bin/python -m validation profile")
    rows: list[tuple[str, ...]] = []
    late: list[str] = []
    for name in preset_names():
        drive = SimulatedDrive.open(f"sim:{name}")
        start = time.process_time()
        drive.prepare()
        prepared = time.process_time()
        # Fresh out of the box it holds nothing to read.
        directions = DIRECTIONS if drive.condition != "fresh" else ("write",)
        plan = ProfileSettings(directions=directions)
        profile(drive, plan)
        seconds = time.process_time() - prepared
        target = _TARGETS[drive.capacity_bytes > _SMALL_BYTES]
        if seconds > target:
            late.append(f"{name} ({seconds:.1f} s instead of {target} s)")
        capacity = f"{drive.capacity_bytes / 1e9:,.0f}"
        rows.append((name, capacity, f"{prepared - start:.1f}", f"{seconds:.1f}"))
        drive.close()
    section.say(
        "Processor time of `drivelab profile sim:PRESET` with its defaults (all four tests, whole "
        "passes over a file of 1200 MiB), and of preparing the drive before it. The target for the "
        f"profile is {_TARGETS[0]} s up to {_SMALL_BYTES // 10**9} GB and {_TARGETS[1]} s "
        f"on larger presets; {len(rows) - len(late)} of {len(rows)} keep it"
        + (f", all but {', '.join(late)}." if late else ".")
        + f" The load was {os.getloadavg()[1]:.1f} on {os.cpu_count()} cores; other work at the "
        "same time makes it longer."
    )
    section.tabulate(("preset", "GB", "condition (s)", "profile (s)"), rows)
    return section
