"""Flash operations with known stages, from small presets or written by hand."""

from __future__ import annotations

import itertools
from pathlib import Path

from drivelab.drives.simulated.drive import SimulatedDrive
from drivelab.timeline.stages import stages

KIB = 1024
# The same drive with little flash: it is prepared in no time.
SMALL = "[geometry]\nblocks_per_plane = 16\nover_provisioning_ratio = 1.0\n"


def small_preset(folder: Path, base: str, more: str = "") -> str:
    """Write a preset with little flash; give its path."""
    path = folder / f"small-{base}.toml"
    reserve = "[collection]\nreserve_blocks_per_plane = 4\n"
    path.write_text(f'base = "{base}"\nname = "small-{base}"\n{SMALL}{more}{reserve}')
    return str(path)


def table_of(path: str, op: str, record_bytes: int):
    with SimulatedDrive.open(f"sim:{path}") as drive:
        operations, _ = drive.timeline(op, record_bytes)
        return stages(operations)


def assert_disjoint(rows) -> None:
    spans = sorted((row["start_ns"], row["end_ns"]) for row in rows)
    assert all(first[1] <= second[0] for first, second in itertools.pairwise(spans))


def operation(**times: object) -> dict[str, object]:
    place = dict.fromkeys(("channel", "way", "die", "plane", "unit"), 0)
    stages_ns = {
        f"{stage}_{end}_ns": 0
        for stage in ("dispatch", "transfer", "cell")
        for end in ("start", "end")
    }
    asked = {"kind": "program", "cause": "host", "stream": None, "page": 0}
    return {**asked, **place, **stages_ns, **times}
