"""Presets against the figures published for their drives, and where their values come from."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from typing import Any, Final

from drivelab._core import preset_names, preset_text
from drivelab.drives.measurement import Measurement, MeasurementPlan
from drivelab.drives.simulated import SimulatedDrive
from drivelab.workloads.characteristics import Characteristics
from validation.document import Section

_GRADES: Final = ("paper", "datasheet", "recalled", "fitted", "assumed")
_GRADE_OF_VALUE: Final = re.compile(r"^(?P<key>\w+) = .*?# (?P<grade>\w+): (?P<source>.*)$")

# Writes are measured after this many times the range was overwritten: by then the amplification
# of a range of 8 GiB changes by less than 1 % from one overwriting to the next.
_OVERWRITES: Final = 3
# Single writes into an empty buffer, each from the prepared state.
_SINGLE_WRITES: Final = 100


def published_figures() -> Section:
    """Measure every published figure under its assumed condition."""
    section = Section(
        "Presets against published figures", ".venv/bin/python -m validation published"
    )
    rows = []
    for name in preset_names():
        tables = tomllib.loads(preset_text(name)).get("published", {})
        fitted = _figures_used_for_fitting(preset_text(name))
        for figure, published in tables.items():
            value, simulated, unit = _compare(name, published)
            difference = simulated / value - 1
            tolerance = published["tolerance_ratio"]
            holds = abs(difference) <= tolerance
            used = "fitting" if figure in fitted else "test"
            rows.append(
                (
                    f"{name}: {published['condition']}",
                    f"{value:,.0f} {unit}",
                    f"{simulated:,.0f} {unit}",
                    f"{100 * difference:+.1f} %",
                    f"{100 * tolerance:.0f} %",
                    used,
                    "met" if holds else "**missed**",
                )
            )
            section.claim(f"{name}, {figure} within {100 * tolerance:.0f} %", holds=holds)
    section.say(
        "The figures were published without their conditions; those in the first column are "
        "assumed, and stand in the presets. A figure marked *fitting* was used to choose the "
        "preset's times, so that its agreement proves nothing but that the values fit together; "
        "only one marked *test* tests the model. Besides cell, register and command times, the "
        "link's payload rate and the spare blocks were fitted."
    )
    section.tabulate(
        ("figure", "published", "simulated", "difference", "tolerance", "used for", "result"), rows
    )
    _full_range_writes(section)
    return section


def _figures_used_for_fitting(text: str) -> set[str]:
    return set(re.findall(r"# fitted: published\.(\w+)", text))


def _compare(name: str, published: dict[str, Any]) -> tuple[float, float, str]:
    is_write = published["direction"] == "write"
    size = published["size_bytes"]
    workload = Characteristics(
        write_ratio=1.0 if is_write else 0.0,
        queue_depth=published["queue_depth"],
        read_size=size,
        write_size=size,
        read_random=published["random_ratio"],
        write_random=published["random_ratio"],
    )
    range_bytes = published.get("range_bytes")
    if "latency_ns" in published:
        single = is_write and workload.queue_depth == 1
        results = _measure(name, workload, single=single, range_bytes=range_bytes)
        mean_ns = sum(result.latency_ns_mean for result in results) / len(results)
        return published["latency_ns"] / 1e3, mean_ns / 1e3, "us"
    (result,) = _measure(name, workload, single=False, range_bytes=range_bytes)
    if "throughput_iops" in published:
        return published["throughput_iops"], result.iops, "IOPS"
    bandwidth = result.bandwidth_bytes_per_second
    return published["bandwidth_bytes_per_second"] / 1e6, bandwidth / 1e6, "MB/s"


def _measure(
    name: str, workload: Characteristics, *, single: bool, range_bytes: int | None
) -> list[Measurement]:
    with SimulatedDrive.open(f"sim:{name}") as drive:
        if single:
            plan = MeasurementPlan(warmup_requests=0, requests=1)
            work = [(index, workload) for index in range(_SINGLE_WRITES)]
        else:
            warmup = 2_000
            if workload.write_ratio > 0 and range_bytes is not None:
                warmup = _OVERWRITES * range_bytes // workload.write_size
            elif workload.write_ratio > 0:
                warmup = 20_000
            plan = MeasurementPlan(warmup_requests=warmup, requests=max(20_000, warmup // 6))
            work = [(0, workload)]
        return list(drive.measure(work, plan, range_bytes=range_bytes))


def _full_range_writes(section: Section) -> None:
    name = "x25m"
    with SimulatedDrive.open(f"sim:{name}") as drive:
        workload = Characteristics(write_ratio=1.0, queue_depth=32)
        # Two more overwrites change the result by 0.1 %.
        overwritten = drive.capacity_bytes // workload.write_size
        plan = MeasurementPlan(warmup_requests=overwritten, requests=1_000_000)
        (result,) = drive.measure([(0, workload)], plan)
    section.say(
        f"Without a published value: steady 4 KiB random writes on {name} over its full range at "
        f"queue depth 32, after as many bytes as it holds: {result.iops:,.0f} IOPS, write "
        f"amplification {result.extra['write_amplification_ratio']:.1f}."
    )


def sources_of_values() -> Section:
    """Count where the presets' values come from."""
    section = Section(
        "Where the presets' values come from", ".venv/bin/python -m validation sources"
    )
    rows = []
    for name in preset_names():
        grades = Counter(
            match["grade"]
            for line in preset_text(name).splitlines()
            if (match := _GRADE_OF_VALUE.match(line))
        )
        rows.append((name, *(grades[grade] for grade in _GRADES), sum(grades.values())))
    section.tabulate(("preset", *_GRADES, "values"), rows)
    section.say(
        "*paper*: a published paper and its table; *datasheet*: open while writing; *recalled*: "
        "from memory, nobody had the source open; *fitted*: chosen so that a figure named beside "
        "it comes out; *assumed*: a choice. A preset that starts from another one counts its own "
        "values only."
    )
    return section
