"""Arrays with copies and parity on members whose every request takes the same time."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from drivelab.drives.plan import MeasurementPlan
from drivelab.drives.simulated.drive import SimulatedDrive
from drivelab.workloads.characteristics import Characteristics
from drivelab.workloads.scenario import Scenario
from validation.document import Section

if TYPE_CHECKING:
    from collections.abc import Mapping

_COMMAND: Final = ".venv/bin/python -m validation arrays"
_SERVICE_NS: Final = 100_000
# One chip behind a free link, without a buffer. So much spare space that nothing is collected.
_MEMBER: Final = f"""
base = "bench-64gib"
name = "member"
condition = "filled"
[geometry]
channels = 1
ways_per_channel = 1
dies_per_way = 1
planes_per_die = 1
blocks_per_plane = 4096
pages_per_block = 256
over_provisioning_ratio = 0.5
[timing]
read_register_ns = 0
write_register_ns = 0
read_cell_ns = {_SERVICE_NS}
program_cell_ns = {_SERVICE_NS}
erase_cell_ns = 0
"""
_ARRAY: Final = """
name = "array"
kind = "raid"
summary = "an array of equal members"
level = {level}
member = "member"
members = {members}
variability.sigma = 0.0
{more}
"""
_CHUNK: Final = "chunk_bytes = 65_536\n"
# Parity costs no time, so that only members count.
_FREE_PARITY: Final = "[parity]\nrow_ns = 0\nbytes_per_second = 1_000_000_000_000\n"
_SMALL: Final = {"queue_depth": 256, "read_size": 4096, "write_size": 4096}
_PLAN: Final = MeasurementPlan(warmup_requests=5_000, requests=40_000)
# With 256 requests over six members one of these is idle now and then.
_TOLERANCE: Final = 0.02

_SLOWEST: Final = 1_024_000
_FASTEST: Final = 20_000_000
_REBUILD: Final = f"""
[rebuild]
member = 2
min_bytes_per_second = {_SLOWEST}
max_bytes_per_second = {_FASTEST}
"""
# An idle array has a read every ten seconds, after each of which one piece of 2 MiB is slow.
_REBUILD_TOLERANCE: Final = 0.01


@dataclass(frozen=True)
class _Case:
    """An array of six, or of two.

    Attributes
    ----------
    level, members, missing
        Of the array.
    reads, writes
        What it serves in units of one member (the closed form), None where none is stated.
    """

    level: int
    members: int
    missing: tuple[int, ...]
    reads: float
    writes: float | None

    @property
    def label(self) -> str:
        without = f", {len(self.missing)} missing" if self.missing else ""
        return f"RAID-{self.level} of {self.members}{without}"


# Patterson, Gibson and Katz 1988. With one of six missing, a sixth of RAID-5's reads need the five
# others: 5 / (5/6 + 5/6). A write to the missing chunk reads four and writes the parity, one whose
# parity is missing is one write, and the rest are two reads and two writes: 5 / ((5 + 1 + 16) / 6).
# RAID-6 reads all others as well, as md does, whether one or two are missing: 5 / (5/6 + 5/6) and
# 4 / (4/6 + 2 * 4/6).
_CASES: Final = (
    _Case(0, 6, (), 6.0, 6.0),
    _Case(1, 2, (), 2.0, 1.0),
    _Case(10, 6, (), 6.0, 3.0),
    _Case(5, 6, (), 6.0, 1.5),
    _Case(5, 6, (1,), 3.0, 30 / 22),
    _Case(6, 6, (), 6.0, 1.0),
    _Case(6, 6, (1,), 3.0, None),
    _Case(6, 6, (1, 3), 2.0, None),
)


def arrays() -> Section:
    """Compare what levels of arrays serve with closed forms."""
    section = Section("Arrays of equal members", _COMMAND)
    section.say(
        f"Random reads and writes of 4 KiB, 256 outstanding, on arrays of members that serve one "
        f"page at a time in {_SERVICE_NS // 1000} us. In units of one member, simulated and by the "
        "closed form (Patterson, Gibson and Katz 1988; `validation/arrays.py` has those for "
        "missing members)."
    )
    rows = []
    with TemporaryDirectory() as folder:
        (Path(folder) / "member.toml").write_text(_MEMBER, encoding="utf-8")
        array = Path(folder) / "array.toml"
        for case in _CASES:
            array.write_text(_preset(case), encoding="utf-8")
            served = _served(array)
            expected = {"reads": case.reads, "writes": case.writes}
            rows.append((case.label, *(_cell(served[kind], expected[kind]) for kind in expected)))
            off = [abs(served[kind] / due - 1) for kind, due in expected.items() if due is not None]
            section.claim(
                f"{case.label}: at most {100 * _TOLERANCE:.0f} % from the closed form; found "
                f"{100 * max(off):.1f} %",
                holds=max(off) <= _TOLERANCE,
            )
        section.tabulate(("array", "reads (closed form)", "writes (closed form)"), rows)
        array.write_text(_rebuilding(), encoding="utf-8")
        _rebuild(section, array)
    return section


def _preset(case: _Case) -> str:
    more = "" if case.level == 1 else _CHUNK
    if case.missing:
        more += f"failed = {list(case.missing)}\n"
    if case.level in {5, 6}:
        more += _FREE_PARITY
    return _ARRAY.format(level=case.level, members=case.members, more=more)


def _served(array: Path) -> dict[str, float]:
    works = {
        "reads": Characteristics(**_SMALL, read_random=1.0),
        "writes": Characteristics(**_SMALL, write_ratio=1.0, write_random=1.0),
    }
    with SimulatedDrive.open(f"sim:{array}") as drive:
        found = drive.measure(list(enumerate(works.values())), _PLAN)
    return {kind: one.iops * _SERVICE_NS / 1e9 for kind, one in zip(works, found, strict=True)}


def _cell(found: float, due: float | None) -> str:
    return f"{found:.3f}" if due is None else f"{found:.3f} ({due:.3f})"


def _rebuilding() -> str:
    return _ARRAY.format(level=5, members=5, more=_CHUNK + _FREE_PARITY + _REBUILD)


def _rebuild(section: Section, array: Path) -> None:
    idle = _rebuilt(array, "rate_iops = 0.1", requests=10)
    busy = _rebuilt(array, "queue_depth = 1", requests=200_000)
    section.say(
        f"A RAID-5 of five rebuilds a member with {_SLOWEST / 1e6:.3f} to {_FASTEST / 1e6:.0f} "
        f"MB/s: {busy / 1e6:.3f} MB/s under a closed loop of reads, {idle / 1e6:.1f} MB/s with a "
        "read every ten seconds."
    )
    for name, found, due in (("a busy", busy, _SLOWEST), ("an idle", idle, _FASTEST)):
        section.claim(
            f"{name} array is rebuilt at its {'least' if due == _SLOWEST else 'highest'} speed "
            f"within {100 * _REBUILD_TOLERANCE:.0f} %; found {100 * (found / due - 1):+.2f} %",
            holds=abs(found / due - 1) <= _REBUILD_TOLERANCE,
        )


def _rebuilt(array: Path, how: str, *, requests: int) -> float:
    """Return the bytes a second that are rebuilt while this many reads are served."""
    scenario = Scenario(f'[[stream]]\nname = "reads"\n{how}\n')
    with SimulatedDrive.open(f"sim:{array}") as drive:
        found: Mapping[str, Any] = drive.simulate(
            scenario, warmup_requests=0, requests=requests
        ).values
    return float(found["array"]["rebuild_bytes_per_second"])
