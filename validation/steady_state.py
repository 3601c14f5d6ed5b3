"""What the warm-up means for steady state: standard measurements compared with much later ones."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Final

from drivelab.drives.naming import open_drive
from drivelab.drives.plan import MeasurementPlan
from drivelab.workloads.design import parse_design
from validation.document import Section

if TYPE_CHECKING:
    from drivelab.drives.measurement import Measurement
    from drivelab.drives.protocol import Drive
    from drivelab.workloads.characteristics import Characteristics

_DRIVE: Final = "sim:x25m"
_DESIGN: Final = "sobol:2000"
_HALF_WIDTH: Final = 0.01
# The first of the design: a Sobol sequence begins evenly spread.
_SAMPLE: Final = 16
_LEAST_WARMUP: Final = 200_000
# Later means after a tenth of the drive's capacity was written. If that is at most this number of
# requests, and writes are mostly sequential, it also means after all of it was written.
_MOST_WARMUP: Final = 10_000_000
_IN_ORDER: Final = 0.1
# Both means of a comparison are known to 1 %.
_TOLERANCE: Final = 0.02


@dataclass(frozen=True)
class Later:
    """One workload right after the standard warm-up, and later."""

    workload: Characteristics
    standard: Measurement
    tenth: Measurement
    whole: Measurement | None

    @property
    def ratio(self) -> float:
        """Mean latency at the latest over the standard one."""
        return (self.whole or self.tenth).latency_ns_mean / self.standard.latency_ns_mean


def steady_state() -> Section:
    """Compare standard measurements with later ones of the same workloads."""
    section = Section(
        "What the warm-up means for steady state", ".venv/bin/python -m validation steady"
    )
    with open_drive(_DRIVE) as drive:
        workloads = parse_design(_DESIGN).select(0).workloads[:_SAMPLE]
        compared = [_compare(drive, index, workload) for index, workload in enumerate(workloads)]
    standard = MeasurementPlan.of_kind("simulated")
    reads = [row for row in compared if row.workload.write_ratio == 0]
    writes = [row for row in compared if row.workload.write_ratio > 0]
    low, high = min(row.ratio for row in writes), max(row.ratio for row in writes)
    section.say(
        f"Every measurement begins {standard.warmup_requests:,} requests after the drive's "
        "preconditioned state (all of it written sequentially, twice). The table has the first "
        f"{_SAMPLE} workloads of {_DESIGN} on {_DRIVE}, measured in this way and once more later: "
        "after enough requests to write a tenth of the drive, at least "
        f"{_LEAST_WARMUP:,}. Mostly sequential writes change most slowly, so they are also "
        f"measured after the whole drive was written (up to {_MOST_WARMUP:,} requests). Mean "
        "latencies have a half-width of 1 %."
    )
    section.tabulate(
        (
            "workload",
            "mean latency (ms)",
            "a tenth written",
            "all written",
            "latest / first",
            "write amplification, first",
            "latest",
        ),
        map(_row, compared),
    )
    section.say(
        f"Reads are steady after the warm-up. Writes are not: {len(writes)} workloads with writes "
        f"become {low:.1f} to {high:.1f} times slower (median "
        f"{median(row.ratio for row in writes):.1f}) once the spare blocks are used up. So a "
        "measurement with the standard warm-up shows how a preconditioned drive takes a burst of "
        "such writes, not what it sustains; `--warmup-requests` moves the window."
    )
    worst = max(abs(row.ratio - 1) for row in reads)
    section.claim(
        f"the {len(reads)} workloads of reads differ by at most {_TOLERANCE:.0%} (both means have "
        f"a half-width of 1 %); found: {100 * worst:.1f} %",
        holds=worst <= _TOLERANCE,
    )
    section.claim(
        "no workload becomes faster later by more than that", holds=min(low, 1) >= 1 - _TOLERANCE
    )
    return section


def _compare(drive: Drive, index: int, workload: Characteristics) -> Later:
    written = workload.write_ratio * workload.write_size if workload.write_ratio else 0.0
    whole = drive.capacity_bytes / written if written else 0.0
    goes_on = 0 < whole <= _MOST_WARMUP and workload.write_random < _IN_ORDER
    return Later(
        workload,
        _measure(drive, index, workload, None),
        _measure(drive, index, workload, max(_LEAST_WARMUP, round(whole / 10))),
        _measure(drive, index, workload, round(whole)) if goes_on else None,
    )


def _measure(
    drive: Drive, index: int, workload: Characteristics, warmup: int | None
) -> Measurement:
    plan = MeasurementPlan.of_kind(drive.kind, half_width_ratio=_HALF_WIDTH, warmup_requests=warmup)
    (measurement,) = drive.measure([(index, workload)], plan)
    return measurement


def _row(row: Later) -> tuple[str, ...]:
    latest = row.whole or row.tenth
    return (
        _words(row.workload),
        _milliseconds(row.standard),
        _milliseconds(row.tenth),
        _milliseconds(row.whole),
        f"{row.ratio:.2f}",
        _amplification(row.standard),
        _amplification(latest),
    )


def _words(workload: Characteristics) -> str:
    share = workload.write_ratio
    words = [f"queue depth {workload.queue_depth}"]
    if share < 1:
        words.append(
            f"{1 - share:.0%} reads of {workload.read_size / 1024:g} KiB, "
            f"{workload.read_random:.0%} random"
        )
    if share > 0:
        words.append(
            f"{share:.0%} writes of {workload.write_size / 1024:g} KiB, "
            f"{workload.write_random:.0%} random"
        )
    return "; ".join(words)


def _milliseconds(measurement: Measurement | None) -> str:
    return "" if measurement is None else f"{measurement.latency_ns_mean / 1e6:.3g}"


def _amplification(measurement: Measurement) -> str:
    found = measurement.extra.get("write_amplification_ratio")
    return "" if found is None else f"{found:.2f}"
