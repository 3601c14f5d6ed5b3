"""The simulator's speed on this machine, beside a bare loop in the same run."""

from __future__ import annotations

import subprocess
from typing import Final

from validation.document import Section

_COMMAND: Final = ("cargo", "bench", "--quiet", "--locked", "-p", "drivelab-sim")


def simulator_speed() -> Section:
    """Run the simulator's benchmark and quote what it prints."""
    section = Section("Speed of the simulator", " ".join(_COMMAND) + " --bench simulator")
    done = subprocess.run(
        [*_COMMAND, "--bench", "simulator"], capture_output=True, text=True, check=True
    )
    section.say(
        "Wall-clock figures of the machine that wrote this document; the share of the bare loop "
        "(look-up and two timeline updates for each request, nothing else) carries over to others."
    )
    section.say(f"```\n{done.stdout.strip()}\n```")
    return section
