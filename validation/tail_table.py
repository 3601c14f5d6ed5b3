"""docs/tail.md: tables of latency tails, each between two marks.

`python -m validation.tail_table NAME...` writes only the named tables, `paces` or `published`.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Final

from drivelab.drives.plan import MeasurementPlan
from drivelab.drives.presets.source import PresetSource
from drivelab.drives.simulated.drive import SimulatedDrive
from drivelab.units import format_duration_ns
from drivelab.workloads.characteristics import Characteristics
from drivelab.workloads.scenario import Scenario
from validation.marked_table import replaced, row

if TYPE_CHECKING:
    from drivelab.drives.measurement import Measurement
    from drivelab.drives.operation_result import OperationResult

TARGET: Final = Path(__file__).parent.parent / "docs" / "tail.md"
_MARK: Final = "<!-- {name}: written by `.venv/bin/python -m validation.tail_table` -->\n"
_END: Final = "<!-- end -->\n"
_PERCENTS: Final = (99.0, 99.9, 99.99)

_PAGE_BYTES: Final = 16_384
# The steady state of 4 GiB of flash comes after about half of these.
_WARMUP: Final = 400_000
_RESERVE: Final = 4
_SMALL: Final = """
base = "enterprise-tlc-pcie4"
name = "small"
condition = "preconditioned"
geometry.channels = 4
geometry.ways_per_channel = 1
geometry.blocks_per_plane = 256
geometry.pages_per_block = 64
geometry.user_capacity_bytes = 3_650_715_648
collection.reserve_blocks_per_plane = {reserve}
collection.policy = "{victims}"
collection.pace = "{pace}"
"""
RULES: Final = ("greedy", "d_choices", "fifo")
PACES: Final = ("whole_block", "paced", "adaptive")
_WRITES: Final = Characteristics(
    write_ratio=1.0, queue_depth=32, read_size=_PAGE_BYTES, write_size=_PAGE_BYTES
)
# Two thirds of what the drive can write beside these reads.
_RATES: Final = {"writes": 3_000, "reads": 2_000}
_BESIDE: Final = Scenario(
    "\n".join(
        f'[[stream]]\nname = "{name}"\nrate_iops = {rate}\n'
        f"write_ratio = {float(name == 'writes')}\n"
        f"read_size_bytes = {_PAGE_BYTES}\nwrite_size_bytes = {_PAGE_BYTES}\n"
        for name, rate in _RATES.items()
    )
)


@dataclass(frozen=True)
class Paced:
    """A drive with one rule for victims and one pace.

    Attributes
    ----------
    alone
        Writes alone.
    beside
        Reads and writes at their rates.
    """

    alone: Measurement
    beside: Measurement

    @property
    def write_amplification_ratio(self) -> float:
        """Programs for each page that the host writes, where it only writes."""
        return float(self.alone.extra["write_amplification_ratio"])

    @property
    def writes(self) -> OperationResult:
        """The writes alone."""
        return _some(self.alone.write)

    @property
    def reads(self) -> OperationResult:
        """The reads beside writes."""
        return _some(self.beside.read)


def paced() -> dict[tuple[str, str], Paced]:
    """Measure every pace with every rule for victims."""
    return {case: _paced(*case) for case in product(RULES, PACES)}


def _paced(victims: str, pace: str) -> Paced:
    text = _SMALL.format(victims=victims, pace=pace, reserve=_RESERVE)
    plan = MeasurementPlan(warmup_requests=_WARMUP, requests=1_000_000)
    with SimulatedDrive("sim:small", PresetSource("small", text, {})) as drive:
        return Paced(*drive.measure([(0, _WRITES), (1, _BESIDE)], plan))


def paces_text() -> str:
    """Measure every pace with every rule for victims and write the table."""
    header = ["victims", "pace", "writes/s", "programs per write"]
    header += [f"writes, {percent:g} %" for percent in _PERCENTS]
    header += [f"reads, {percent:g} %" for percent in _PERCENTS]
    lines = [row(*header), "|---|---|" + "---:|" * (len(header) - 2)]
    lines += [
        row(f"`{victims}`", f"`{pace}`", *_cells(one)) for (victims, pace), one in paced().items()
    ]
    return "\n".join(lines) + "\n"


def _cells(one: Paced) -> list[str]:
    return [
        f"{one.alone.iops:,.0f}",
        f"{one.write_amplification_ratio:.2f}",
        *_percentiles(one.writes),
        *_percentiles(one.reads),
    ]


def _some(operations: OperationResult | None) -> OperationResult:
    if operations is None:
        raise ValueError("a workload without the requests that its row shows")
    return operations


def _percentiles(operations: OperationResult) -> list[str]:
    return [format_duration_ns(operations.percentile_ns(percent)) for percent in _PERCENTS]


@dataclass(frozen=True)
class Case:
    """One row against published drives.

    Attributes
    ----------
    drive
        The simulated drive, for people.
    words
        The workload, for people.
    preset
        The drive's preset in TOML.
    workload
        What is asked. Its reads are shown.
    plan
        How it is measured.
    """

    drive: str
    words: str
    preset: str
    workload: Characteristics
    plan: MeasurementPlan


_READS: Final = Characteristics(queue_depth=1)
_MIXED: Final = Characteristics(
    write_ratio=0.2, queue_depth=32, read_size=_PAGE_BYTES, write_size=_PAGE_BYTES
)
_MANY: Final = MeasurementPlan(warmup_requests=20_000, requests=3_000_000)
# An eighth of the blocks, and so of the capacity; as many dies.
_EIGHTH: Final = """
base = "enterprise-tlc-pcie4"
name = "eighth"
geometry.blocks_per_plane = 128
geometry.user_capacity_bytes = 240_047_915_008
collection.reserve_blocks_per_plane = 2
"""
CASES: Final = (
    *(
        Case(
            f"`{preset}`",
            "4 KiB random reads, depth 1",
            f'base = "{preset}"\nname = "same"\n',
            _READS,
            _MANY,
        )
        for preset in ("enterprise-tlc-pcie4", "low-latency")
    ),
    Case(
        "an eighth of `enterprise-tlc-pcie4`",
        "80 % reads, 20 % writes, 16 KiB, depth 32, sustained",
        _EIGHTH,
        _MIXED,
        replace(_MANY, writes="sustained"),
    ),
)


def reads_of(case: Case) -> OperationResult:
    """Measure a drive under the conditions of a published tail."""
    name = "eighth" if case.preset == _EIGHTH else "same"
    with SimulatedDrive(f"sim:{name}", PresetSource(name, case.preset, {})) as drive:
        (measured,) = drive.measure([(0, case.workload)], case.plan)
    return _some(measured.read)


def published_text() -> str:
    """Measure drives under the conditions of published tails and write the table."""
    percents = (99.0, 99.99, 99.9999)
    header = ["drive", "workload", "reads, mean", *(f"{percent:.6g} %" for percent in percents)]
    lines = [row(*header, "99.99 % over mean"), "|---|---|" + "---:|" * (len(header) - 1)]
    for case in CASES:
        reads = reads_of(case)
        mean = reads.latency_ns_mean
        times = [format_duration_ns(reads.percentile_ns(percent)) for percent in percents]
        ratio = reads.percentile_ns(99.99) / mean
        lines.append(row(case.drive, case.words, format_duration_ns(mean), *times, f"{ratio:.2f}"))
    return "\n".join(lines) + "\n"


_TABLES: Final = {"paces": paces_text, "published": published_text}


def with_table(text: str, name: str, table: str) -> str:
    """Return a document with one of its tables replaced."""
    begin = _MARK.format(name=name)
    return replaced(text, f"table {name!r}", (begin, _END), table)


def write(names: list[str]) -> None:
    """Write the named tables, or all of them, into docs/tail.md."""
    for name in names or _TABLES:
        text = TARGET.read_text(encoding="utf-8")
        TARGET.write_text(with_table(text, name, _TABLES[name]()), encoding="utf-8")


if __name__ == "__main__":
    write(sys.argv[1:])
