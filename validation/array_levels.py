"""What each level of an array of disks does, in docs/arrays.md: a table between two marks."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from drivelab.drives.plan import MeasurementPlan
from drivelab.drives.simulated.drive import SimulatedDrive
from drivelab.workloads.characteristics import Characteristics
from validation.marked_table import replaced, row

TARGET: Final = Path(__file__).parent.parent / "docs" / "arrays.md"
_BEGIN: Final = "<!-- levels: written by `.venv/bin/python -m validation.array_levels` -->\n"
_END: Final = "<!-- end of the levels -->\n"

_CHUNK_BYTES: Final = 65_536
_DEPTH: Final = 64
_SMALL: Final = 4_096
# So many before counting that the members' caches are full, of RAID-0 too.
_PLAN: Final = MeasurementPlan(warmup_requests=60_000, requests=20_000)
_LARGE_PLAN: Final = MeasurementPlan(warmup_requests=2_000, requests=2_000)
_PRESET: Final = """
name = "array"
kind = "raid"
summary = "one row of the table"
level = {level}
member = "st3300657ss"
members = {members}
{more}
variability.sigma = 0.0
"""


@dataclass(frozen=True)
class Case:
    """One row of the table.

    Attributes
    ----------
    level, members
        Of the array.
    failed
        Members that are missing.
    """

    level: int
    members: int
    failed: tuple[int, ...] = ()

    @property
    def label(self) -> str:
        """What stands in front of its row."""
        without = f", {len(self.failed)} missing" if self.failed else ""
        return f"RAID-{self.level} of {self.members}{without}"

    @property
    def data_members(self) -> int:
        """Members whose worth of data the array has, whole ones."""
        parities = {5: 1, 6: 2}.get(self.level, 0)
        copies = {1: self.members, 10: 2}.get(self.level, 1)
        return (self.members - parities) // copies

    def preset(self) -> str:
        """Write the array as a preset."""
        more = [] if self.level == 1 else [f"chunk_bytes = {_CHUNK_BYTES}"]
        if self.failed:
            more.append(f"failed = {list(self.failed)}")
        return _PRESET.format(level=self.level, members=self.members, more="\n".join(more))


CASES: Final = (
    Case(0, 6),
    Case(1, 2),
    Case(10, 6),
    Case(5, 6),
    Case(5, 6, failed=(1,)),
    Case(6, 6),
    Case(6, 6, failed=(1, 3)),
)
_COLUMNS: Final = ("array", "random reads, IOPS", "random writes, IOPS", "whole rows, MB/s")


def table_text() -> str:
    """Measure every case and write the table."""
    lines = [row(*_COLUMNS), "|---|---|---|---|"]
    for case in CASES:
        with TemporaryDirectory() as folder:
            path = Path(folder) / "array.toml"
            path.write_text(case.preset(), encoding="utf-8")
            lines.append(row(case.label, *_cells(f"sim:{path}", case)))
    sentence = (
        f"4 KiB requests at depth {_DEPTH} over the whole array, and writes in order of one row of "
        f"{_CHUNK_BYTES // 1024} KiB chunks each (1 MiB on RAID-1) at depth 4:"
    )
    return f"{sentence}\n\n" + "\n".join(lines) + "\n"


def _cells(name: str, case: Case) -> list[str]:
    small = {"queue_depth": _DEPTH, "read_size": _SMALL, "write_size": _SMALL}
    reads = Characteristics(**small, read_random=1.0)
    writes = Characteristics(**small, write_ratio=1.0, write_random=1.0)
    row_bytes = (1 << 20) if case.level == 1 else case.data_members * _CHUNK_BYTES
    rows = Characteristics(write_ratio=1.0, write_size=row_bytes, write_random=0.0, queue_depth=4)
    with SimulatedDrive.open(name) as drive:
        small_ones = drive.measure([(0, reads), (1, writes)], _PLAN)
        read, written = [one.iops for one in small_ones]
        (large,) = drive.measure([(2, rows)], _LARGE_PLAN)
    return [f"{read:,.0f}", f"{written:,.0f}", f"{large.bandwidth_bytes_per_second / 1e6:,.0f}"]


def with_table(text: str, table: str) -> str:
    """Return a document with its table of levels replaced."""
    return replaced(text, "table of levels", (_BEGIN, _END), table)


def write() -> None:
    """Write the table into docs/arrays.md."""
    text = TARGET.read_text(encoding="utf-8")
    TARGET.write_text(with_table(text, table_text()), encoding="utf-8")


if __name__ == "__main__":
    write()
