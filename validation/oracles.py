"""Oracles of the simulator: waiting, saturated rates, the writes' cliff, the reads' tail."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from drivelab.drives.presets.source import PresetSource
from drivelab.drives.simulated.drive import SimulatedDrive
from drivelab.workloads.characteristics import Characteristics
from drivelab.workloads.scenario import Scenario
from validation.collection import greedy
from validation.document import Section

if TYPE_CHECKING:
    from collections.abc import Sequence

    from drivelab.workloads.workload import Workload

_PRESET: Final = """
base = "bench-64gib"
name = "{name}"
condition = "{condition}"
[geometry]
channels = {channels}
ways_per_channel = {ways}
dies_per_way = 1
planes_per_die = 1
blocks_per_plane = {blocks}
pages_per_block = {pages}
over_provisioning_ratio = {spare}
[timing]
read_dispatch_ns = {dispatch_ns}
write_dispatch_ns = {dispatch_ns}
read_register_ns = {register_ns}
write_register_ns = {register_ns}
read_cell_ns = {read_ns}
program_cell_ns = {program_ns}
erase_cell_ns = {erase_ns}
suspend_ns = {suspend_ns}
resume_ns = {suspend_ns}
suspend_progress_ns = {progress_ns}
[scheduling]
dispatch = "per_die"
order = "{order}"
suspends_per_operation = {suspends}
[collection]
policy = "greedy"
pace = "paced"
reserve_blocks_per_plane = 2
"""


@dataclass(frozen=True)
class Flash:
    """A drive of one plane a die, without host link and buffer, with queues at the dies.

    Attributes
    ----------
    channels, ways
        Dies are channels x ways.
    blocks
        Of a die.
    spare
        Over-provisioning, (physical - user) / user.
    """

    name: str
    condition: str
    channels: int
    ways: int
    blocks: int
    register_ns: int
    read_ns: int
    program_ns: int
    dispatch_ns: int = 0
    erase_ns: int = 1_000_000
    pages: int = 128
    spare: float = 0.25
    order: str = "first_come"
    suspends: int = 0
    suspend_ns: int = 5_000
    progress_ns: int = 20_000

    def run(self, workload: Workload, **how_long: Any) -> dict[str, Any]:
        """Simulate from the drive's condition."""
        source = PresetSource(self.name, _PRESET.format(**vars(self)), {})
        with SimulatedDrive(f"sim:{self.name}", source) as drive:
            return drive.simulate(workload, **how_long).values


def simulator_oracles() -> Section:
    """Compare the simulator with theory and with counting by hand."""
    section = Section("Oracles of the simulator", ".venv/bin/python -m validation oracles")
    _waiting(section)
    _saturation(section)
    _cliff(section)
    _tails(section)
    section.say(
        "`make test` checks more: agreement with the closed form of Yoo et al. 2014 to the "
        "nanosecond, on presets and random geometries (`crates/sim/tests/closed_form.rs`); larger "
        "records of whole rounds never lose bandwidth (`record_sizes.rs`); a second, plain "
        "simulator gives the same bytes (`oracle.rs`); a run that is split by a snapshot equals "
        "the whole run (`snapshots.rs`); idle time in one piece or in many leaves the same state "
        "(`crates/ftl/tests/contract.rs`)."
    )
    return section


_LOADS: Final = (0.3, 0.5, 0.8)
_ARRIVALS: Final = 10_000_000
# At a load of 0.8 the mean of so many waits has a standard error of 0.22 %: sqrt(50 / n), that of
# a reflected Brownian motion with drift -1/4 and variance 25/16 a request.
_WAITING_TOLERANCE: Final = 0.01
_OPEN_LOOP: Final = """
requests = {requests}
warmup_requests = 100_000
[[stream]]
name = "reads"
rate_iops = {rate}
arrivals = "poisson"
"""


def _waiting(section: Section) -> None:
    """One die that a read occupies for a constant time: the queue M/D/1."""
    service_ns = 50_000
    die = Flash("one-die", "filled", 1, 1, 64, 0, service_ns, 300_000)
    rows = []
    differences = []
    for load in _LOADS:
        text = _OPEN_LOOP.format(requests=_ARRIVALS, rate=load * 1e9 / service_ns)
        values = die.run(Scenario(text))
        found = values["streams"][0]["operations"]["read"]["latency_ns_mean"] - service_ns
        expected = load * service_ns / (2 * (1 - load))
        differences.append(found / expected - 1)
        rows.append((load, f"{found:,.0f}", f"{expected:,.0f}", _percent(differences[-1])))
    section.say(
        f"**Waiting.** One die, dispatch and host free, {_ARRIVALS:,} reads of "
        f"{service_ns // 1000} us each at Poisson arrivals. The mean wait is load x service / "
        "(2 (1 - load)) (Pollaczek and Khinchine)."
    )
    section.tabulate(("load", "mean wait (ns)", "M/D/1", "difference"), rows)
    worst = max(map(abs, differences))
    section.claim(
        f"one die under Poisson arrivals waits as M/D/1 within {_WAITING_TOLERANCE:.0%} at loads "
        f"{', '.join(map(str, _LOADS))}; found {100 * worst:.2f} %",
        holds=worst <= _WAITING_TOLERANCE,
    )


# The window begins and ends somewhere in a round of the 16 dies.
_SATURATION_TOLERANCE: Final = 0.001
_COUNTED: Final = 100_000


def _saturation(section: Section) -> None:
    """Dispatch, channels and dies, each the bottleneck in turn."""
    # Dispatch, register and cell; the cell array takes as long for a program.
    cases = (
        ("dispatch", 2_000, 3_000, 19_000, "1 / dispatch"),
        ("channels", 500, 12_000, 20_000, "4 / register"),
        ("dies", 500, 10_000, 70_000, "16 / (register + cell)"),
    )
    rows = []
    differences = []
    for limit, stage, register, cell, formula in cases:
        bound = {"dispatch": 1e9 / stage, "channels": 4e9 / register}.get(
            limit, 16e9 / (register + cell)
        )
        for operation in ("read", "write"):
            condition = "filled" if operation == "read" else "fresh"
            drive = Flash("saturated", condition, 4, 4, 128, register, cell, cell, stage)
            workload = Characteristics(
                write_ratio=float(operation == "write"),
                queue_depth=256,
                read_random=0.0,
                write_random=0.0,
            )
            values = drive.run(
                workload,
                warmup_requests=10_000,
                requests=_COUNTED,
            )
            found = values["streams"][0]["iops"]
            differences.append(found / bound - 1)
            cells = (f"{found:,.1f}", f"{bound:,.1f}", _percent(differences[-1], 3))
            rows.append((f"{limit}: {formula}", operation, *cells))
    section.say(
        "**Saturation.** Four channels of four dies, queues at the dies, 256 pages outstanding in "
        "order, so that the dies are met in turn."
    )
    header = ("what limits, and its rate", "operation", "found (IOPS)", "bound", "difference")
    section.tabulate(header, rows)
    worst = max(map(abs, differences))
    section.claim(
        f"saturated dispatch, channels and dies reach their bounds within "
        f"{_SATURATION_TOLERANCE:.1%}; found {100 * worst:.3f} %",
        holds=worst <= _SATURATION_TOLERANCE,
    )


# Of 512 pages outstanding at random none may be of a die, which then rests: less than
# 7 / (512 + 7) = 1.3 % of the time, what exponential service times would give.
_CLIFF_TOLERANCE: Final = 0.02
_TRIM_SECOND: Final = 150
_WRITES_AND_TRIM: Final = """
duration_ns = 160_000_000_000
interval_ns = 1_000_000_000
[[stream]]
name = "writes"
queue_depth = 512
write_ratio = 1.0
[[stream]]
name = "trim"
requests_csv = "trim.csv"
"""
_MOST_BYTES: Final = 64 * 2**20


def _cliff(section: Section) -> None:
    """Random writes to an erased drive until long after space ran out, then TRIM."""
    drive = Flash("erased", "fresh", 8, 1, 256, 10_000, 50_000, 300_000)
    dies, program, move = drive.channels, 310_000.0, 60_000.0 + 310_000.0
    capacity = int(dies * drive.blocks * drive.pages / (1 + drive.spare)) * 4096
    lines = ["at_ns,action,offset_bytes,size_bytes"]
    lines += [
        f"{_TRIM_SECOND * 10**9},trim,{offset},{min(_MOST_BYTES, capacity - offset)}"
        for offset in range(0, capacity, _MOST_BYTES)
    ]
    values = drive.run(Scenario(_WRITES_AND_TRIM, (("trim.csv", "\n".join(lines) + "\n"),)))
    rates = [row["iops"] for row in values["series"]["rows"] if row["operation"] == "write"]
    # Two free blocks are held back, and half a third and half of both open ones.
    amplification = greedy((1 + drive.spare) * (1 - 3.5 / drive.blocks))
    erase = drive.erase_ns / drive.pages
    steady = program + (amplification - 1) * move + amplification * erase
    phases = (
        ("erased blocks left", 1, 8, program),
        ("none left, steady", _TRIM_SECOND - 30, _TRIM_SECOND, steady),
        ("all of it trimmed", _TRIM_SECOND + 1, _TRIM_SECOND + 8, program + erase),
    )
    rows = []
    found = []
    differences = []
    for name, first, last, page_ns in phases:
        found.append(_mean(rates[first:last]))
        bound = dies * 1e9 / page_ns
        differences.append(found[-1] / bound - 1)
        cells = (f"{found[-1]:,.0f}", f"{bound:,.0f}", _percent(differences[-1]))
        rows.append((name, f"{first} to {last}", *cells))
    section.say(
        f"**The cliff.** Random 4 KiB writes to an erased drive of {dies} dies, over-provisioning "
        f"{drive.spare:.0%}, 512 outstanding; after {_TRIM_SECOND} s everything is trimmed. By "
        "hand: 310 us per program, 370 us per page moved, 1 ms for an erase after each 128 "
        f"programs, at the write amplification of greedy collection, {amplification:.2f} "
        "(Desnoyers 2014, without the blocks in reserve)."
    )
    section.tabulate(("", "seconds", "found (IOPS)", "by hand", "difference"), rows)
    worst = max(map(abs, differences))
    section.claim(
        "random writes fall off a cliff when space runs out and TRIM brings them back, each rate "
        f"within {_CLIFF_TOLERANCE:.0%} of that by hand; found {100 * worst:.1f} %",
        holds=worst <= _CLIFF_TOLERANCE and 2 * found[1] < min(found[0], found[2]),
    )


def _tails(section: Section) -> None:
    """Read among random writes: first come, reads first, and with suspends."""
    workload = Characteristics(write_ratio=0.3, queue_depth=16)
    ways = (
        ("first come, first served", "first_come", 0),
        ("reads first", "reads_first", 0),
        ("reads first, programs and erases pause", "reads_first", 8),
    )
    rows = []
    tails = []
    for name, order, suspends in ways:
        drive = Flash(
            "mixed", "filled", 4, 4, 64, 10_000, 50_000, 300_000, order=order, suspends=suspends
        )
        values = drive.run(workload, warmup_requests=400_000, requests=400_000)
        read = values["streams"][0]["operations"]["read"]
        latencies = [read[f"latency_ns_{name}"] for name in ("p50", "p99", "p99_9")]
        tails.append(latencies[1:])
        rows.append((name, *(f"{nanos / 1000:,.0f}" for nanos in latencies)))
    section.say(
        "**The tail.** Random 4 KiB reads among 30 % writes, 16 dies, 16 outstanding. A read takes "
        "60 us, a program 310 us, an erase 1 ms; a pause costs 5 us and as much again to resume."
    )
    section.tabulate(("order at the dies", "median (us)", "99 %", "99.9 %"), rows)
    falls = all(before > after for before, after in zip(tails[0], tails[1], strict=True))
    section.claim(
        "reads first cuts the 99 % and 99.9 % of reads under writes, suspends halve them again",
        holds=falls
        and all(2 * after < before for before, after in zip(tails[1], tails[2], strict=True)),
    )


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _percent(ratio: float, digits: int = 2) -> str:
    return f"{100 * ratio:+.{digits}f} %"
