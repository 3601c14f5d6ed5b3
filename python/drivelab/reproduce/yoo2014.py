"""Yoo et al. 2014, Analytical Model of SSD Parallelism: tables 4 and 5, figures 3 to 12.

Published numbers are compared with the closed form, with the simulator, and with fio on the
simulator while it is served to programs, all with the preset `x25m-yoo2014`. The workloads are the
paper's: a file of 512 MiB, read or written one record after the other at queue depth 1. What the
paper prints as MB/s is MiB/s: its 65.7 MB/s are 512 KiB in 7616 us.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

from drivelab.drives.closed_form.drive import AnalyticDrive
from drivelab.drives.plan import MeasurementPlan
from drivelab.drives.simulated.drive import SimulatedDrive
from drivelab.exhibits import Table
from drivelab.reproduce.claims import Claim, Reproduction
from drivelab.reproduce.yoo2014_live import DILATION, LiveRates, live_rates
from drivelab.workloads.characteristics import Characteristics

if TYPE_CHECKING:
    from drivelab.drives.measurement import Measurement
    from drivelab.drives.protocol import Drive
    from drivelab.reproduce.claims import Drawing

    Op = Literal["read", "write"]

PRESET: Final = "x25m-yoo2014"
PLANES_PRESET: Final = "x25m-yoo2014-planes"
REFERENCE: Final = "Yoo et al. 2014, Analytical Model of SSD Parallelism"
_KIB: Final = 2**10
_MIB: Final = 2**20
FILE_BYTES: Final = 512 * _MIB
PAGE_BYTES: Final = 4 * _KIB
# Section 4.1: records of 4 KiB to 512 KiB.
RECORDS_BYTES: Final = tuple(PAGE_BYTES << power for power in range(8))
_DIGIT: Final = "half of the last printed digit"


@dataclass(frozen=True)
class _Point:
    """A workload of the paper with the numbers printed for it."""

    label: str
    op: Op
    record_bytes: int
    random: bool
    unit: Literal["IOPS", "MiB/s"]
    model: float
    measured: float
    error_percent: float


# Workload, delay model, X25-M, error.
TABLE_4: Final = (
    _Point("Write", "write", PAGE_BYTES, True, "IOPS", 947.9, 944.6, 0.5),
    _Point("Read", "read", PAGE_BYTES, True, "IOPS", 4201.7, 4158.0, 1.0),
)
# Workload, IO model, VSSIM, error.
TABLE_5: Final = (
    _Point("Seq Read", "read", 512 * _KIB, False, "MiB/s", 220.3, 211.9, 4.0),
    _Point("Seq Write", "write", 512 * _KIB, False, "MiB/s", 65.7, 67.3, 2.4),
    _Point("Rand Read", "read", PAGE_BYTES, True, "IOPS", 4201.7, 4235.1, 0.8),
    _Point("Rand Write", "write", PAGE_BYTES, True, "IOPS", 947.9, 880.6, 7.6),
)
# Tables 2 and 3 and section 4.1: the inputs of the paper's model.
INPUTS: Final = {
    ("geometry", "channels"): 10,
    ("geometry", "ways_per_channel"): 2,
    ("geometry", "page_size_bytes"): PAGE_BYTES,
    ("timing", "write_dispatch_ns"): 33_000,
    ("timing", "read_dispatch_ns"): 16_000,
    ("timing", "write_register_ns"): 82_000,
    ("timing", "read_register_ns"): 82_000,
    ("timing", "program_cell_ns"): 940_000,
    ("timing", "read_cell_ns"): 140_000,
    ("timing", "erase_cell_ns"): 2_000_000,
}
QUOTED: Final = (
    "Figure 10: the paper states that model and measured X25-M differ by 4 % for sequential "
    "writes. It prints no numbers for its measured points, so nothing is compared.",
    "Figure 11: the paper states differences within 1.3 % for sequential reads. It prints no "
    "numbers for its measured points, so nothing is compared.",
    "Section 4.2: VSSIM is the drive that the paper's programs run on. Its FTL decides where data "
    "is stored, its IO emulator delays each request, and its monitor shows it (figure 12). Here "
    "`drivelab serve` is that drive, with its rates under `live`, and `drivelab watch` the "
    "monitor.",
    "Table 4 prints an error of 0.5 % for writes; its own numbers, 947.9 and 944.6, differ by "
    "0.35 %.",
)


def reproduce(preset: str = PRESET, *, is_served: bool = True) -> Reproduction:
    """Run the paper's workloads on both kinds of drive and compare.

    Parameters
    ----------
    preset
        The preset; with any other than the paper's, claims fail.
    is_served
        Whether to serve the drive too and measure it with fio.
    """
    with AnalyticDrive.open(preset) as closed_form, SimulatedDrive.open(f"sim:{preset}") as drive:
        asked = [(each.op, each.record_bytes, each.random) for each in TABLE_5]
        live = live_rates(drive, asked) if is_served else LiveRates({})
        answers = _Answers(closed_form, drive, live)
        tables = (
            _table(answers, "table_4", "x25m", TABLE_4),
            _table(answers, "table_5", "vssim", TABLE_5),
            _curve(answers, "figure_10", "write"),
            _curve(answers, "figure_11", "read"),
        )
        claims = (
            *_input_claims(drive.preset),
            *_printed_claims(answers),
            *_vssim_claims(answers),
            *_agreement_claims(answers),
            *_live_claims(answers),
        )
    return Reproduction(
        paper="yoo2014",
        reference=REFERENCE,
        tables=tables,
        claims=claims,
        quoted=QUOTED if live.caution is None else (*QUOTED, f"Live drive: {live.caution}"),
        drawings=_drawings(tables, preset),
    )


class _Answers:
    """What closed form and simulator answer for every workload of the paper."""

    def __init__(self, closed_form: Drive, simulator: Drive, live: LiveRates) -> None:
        self.live = live
        points = [(op, size, False) for op in ("read", "write") for size in RECORDS_BYTES]
        points += [(op, PAGE_BYTES, True) for op in ("read", "write")]
        self.closed_form: dict[tuple[str, int, bool], Measurement] = {}
        self.simulator: dict[tuple[str, int, bool], Measurement] = {}
        for index, (op, size, random) in enumerate(points):
            plan = MeasurementPlan(warmup_requests=0, requests=FILE_BYTES // size)
            work = [(index, _workload(op, size, random=random))]
            key = (op, size, random)
            (self.closed_form[key],) = closed_form.measure(work, plan)
            (self.simulator[key],) = simulator.measure(work, plan)


def _workload(op: str, record_bytes: int, *, random: bool) -> Characteristics:
    return Characteristics(
        write_ratio=1.0 if op == "write" else 0.0,
        queue_depth=1,
        read_size=record_bytes,
        write_size=record_bytes,
        read_random=float(random),
        write_random=float(random),
    )


def _rate(measurement: Measurement, unit: str) -> float:
    if unit == "IOPS":
        return measurement.iops
    return measurement.bandwidth_bytes_per_second / _MIB


def _rates(answers: _Answers, point: _Point) -> tuple[float, float]:
    key = (point.op, point.record_bytes, point.random)
    return _rate(answers.closed_form[key], point.unit), _rate(answers.simulator[key], point.unit)


def _live_rate(answers: _Answers, point: _Point) -> float | None:
    rate = answers.live.bytes_per_second.get((point.op, point.record_bytes, point.random))
    if rate is None:
        return None
    return rate / (point.record_bytes if point.unit == "IOPS" else _MIB)


def _percent(ours: float, other: float) -> float:
    """Return the difference relative to the other in per cent, as in the paper's error columns."""
    return abs(ours - other) / other * 100


def _table(answers: _Answers, name: str, other: str, points: tuple[_Point, ...]) -> Table:
    rows = []
    for point in points:
        closed_form, simulator = _rates(answers, point)
        rows.append(
            (
                point.label,
                point.unit,
                point.measured,
                point.model,
                point.error_percent,
                closed_form,
                simulator,
                _live_rate(answers, point),
                _percent(closed_form, point.measured),
                _percent(simulator, point.measured),
            )
        )
    columns = (
        "workload",
        "unit",
        f"published_{other}",
        "published_model",
        "published_error_percent",
        "closed_form",
        "simulator",
        "live",
        f"closed_form_from_{other}_percent",
        f"simulator_from_{other}_percent",
    )
    return Table(name=name, columns=columns, rows=tuple(rows))


def _curve(answers: _Answers, name: str, op: Op) -> Table:
    rows = []
    for size in RECORDS_BYTES:
        equation, run = answers.closed_form[op, size, False], answers.simulator[op, size, False]
        rows.append(
            (
                size,
                equation.latency_ns_mean,
                run.latency_ns_mean,
                _rate(equation, "MiB/s"),
                _rate(run, "MiB/s"),
            )
        )
    columns = (
        "record_bytes",
        "closed_form_latency_ns",
        "simulator_latency_ns",
        "closed_form_mib_per_second",
        "simulator_mib_per_second",
    )
    return Table(name=name, columns=columns, rows=tuple(rows))


def _input_claims(preset: dict[str, Any]) -> list[Claim]:
    return [
        Claim(
            name=f"preset, {table}.{key}",
            ours=float(preset[table][key]),
            published=float(published),
            unit="ns" if key.endswith("_ns") else "",
            tolerance=0.0,
            reason="an input, copied as printed",
        )
        for (table, key), published in INPUTS.items()
    ]


def _printed_claims(answers: _Answers) -> list[Claim]:
    claims = []
    for table, points in (("table 4", TABLE_4), ("table 5", TABLE_5)):
        for point in points:
            for kind, ours in zip(
                ("closed form", "simulator"), _rates(answers, point), strict=True
            ):
                claims.append(
                    Claim(
                        name=f"{table}, {point.label}: {kind} against the paper's model",
                        ours=ours,
                        published=point.model,
                        unit=point.unit,
                        tolerance=0.05,
                        reason=_DIGIT,
                    )
                )
    return claims


def _vssim_claims(answers: _Answers) -> list[Claim]:
    return [
        Claim(
            name=f"table 5, {point.label}: the simulator's difference from VSSIM",
            ours=_percent(_rates(answers, point)[1], point.measured),
            published=point.error_percent,
            unit="%",
            tolerance=0.05 + 5 / point.measured,
            reason=f"{_DIGIT} of the percentage and of the model that it was computed from",
        )
        for point in TABLE_5
    ]


def _live_claims(answers: _Answers) -> list[Claim]:
    """Compare the live drive with the simulator, if the server reports that it kept its time."""
    if answers.live.caution is not None:
        return []
    claims = []
    for point in TABLE_5:
        ours, simulated = _live_rate(answers, point), _rates(answers, point)[1]
        if ours is not None:
            claims.append(
                Claim(
                    name=f"table 5, {point.label}: fio on the live drive against the simulator",
                    ours=ours,
                    published=simulated,
                    unit=point.unit,
                    tolerance=0.05 * simulated,
                    reason=f"the time that the way to a drive slowed {DILATION:g} times takes",
                )
            )
    return claims


def _agreement_claims(answers: _Answers) -> list[Claim]:
    claims = []
    for (op, size, random), run in answers.simulator.items():
        (result,) = run.operations
        expected = answers.closed_form[op, size, random].latency_ns_mean
        for end, latency_ns in (("min", result.latency_ns_min), ("max", result.latency_ns_max)):
            order = "random" if random else "sequential"
            claims.append(
                Claim(
                    name=f"{order} {op}s of {size // _KIB} KiB: {end} simulated latency against "
                    f"equation {6 if op == 'write' else 7}",
                    ours=float(latency_ns),
                    published=expected,
                    unit="ns",
                    tolerance=0.0,
                    reason="inside the condition both are exact",
                )
            )
    return claims


def _drawings(tables: tuple[Table, ...], preset: str) -> dict[str, Drawing]:
    from drivelab.reproduce.curves import draw_curve
    from drivelab.reproduce.yoo2014_rooms import draw_live_drive

    figure_10, figure_11 = (
        next(table for table in tables if table.name == name) for name in ("figure_10", "figure_11")
    )
    return {
        "figure_10.svg": lambda: draw_curve(figure_10, "Sequential writes, 512 MiB (figure 10)"),
        "figure_11.svg": lambda: draw_curve(figure_11, "Sequential reads, 512 MiB (figure 11)"),
        "figure_12.svg": draw_live_drive,
        # Pages 0 and 20 meet on one die, 0 and 1 on two channels, 0 and 10 on two ways of one.
        "figure_3.svg": lambda: _timing(PLANES_PRESET, "write", 21 * PAGE_BYTES),
        "figure_5.svg": lambda: _timing(preset, "write", 2 * PAGE_BYTES),
        "figure_6.svg": lambda: _timing(preset, "write", 11 * PAGE_BYTES),
        "figure_7_and_8.svg": lambda: _timing(preset, "write", 512 * _KIB),
        "figure_9.svg": lambda: _timing(preset, "read", 512 * _KIB),
    }


def _timing(preset: str, op: str, record_bytes: int) -> str:
    from drivelab.report.drawing.lanes import lane_document
    from drivelab.timeline.figure import describe, timing_diagram
    from drivelab.timeline.stages import duration_ns, stages

    with SimulatedDrive.open(f"sim:{preset}") as drive:
        operations, _ = drive.timeline(op, record_bytes)
        table = stages(operations)
        title = describe(op, record_bytes, len(operations), duration_ns(table))
        return lane_document(timing_diagram(table, title=title), drive.name)
