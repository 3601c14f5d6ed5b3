"""How good a model of a file of this machine is after twenty minutes, beside how far it repeats."""

from __future__ import annotations

import tempfile
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from drivelab.campaign.stored import stored_measurements
from drivelab.drives.asked import plan_for, usual_writes
from drivelab.drives.in_order import measured_in_order
from drivelab.drives.naming import open_drive
from drivelab.models import of_run
from drivelab.models.goal import Goal
from drivelab.models.measured import METRICS
from drivelab.models.model_campaign import run_model_campaign
from drivelab.units import format_size
from drivelab.workloads.design import parse_design
from drivelab.workloads.parts import FITTED, Parts
from validation.document import Section

if TYPE_CHECKING:
    from collections.abc import Sequence

    from drivelab.drives.measurement import Measurement
    from drivelab.models.model import PerformanceModel

_BUDGET_SECONDS: Final = 1200.0
# Measured after the budget is spent, and then once more with other random numbers.
_CHECK: Final = 100
_SEED: Final = 1
_LEVEL: Final = 0.9
# Differences of two measurements have two errors, a model that knows the means has one.
_ONE_OF_TWO: Final = 2**-0.5


def file_accuracy() -> Section:
    """Model a file in the time that one has, then ask it for what it has not seen."""
    command = f"drivelab model FILE --budget 20m --check {_CHECK} --no-sweeps --seed {_SEED}"
    section = Section("Accuracy of a model of a file of this machine after 20 minutes", command)
    with tempfile.TemporaryDirectory(dir=".") as folder:
        name = str(Path(folder) / "drive.bin")
        plan = plan_for(name, seed=_SEED, asked={"writes": usual_writes(name)})
        with open_drive(name) as drive:
            store = run_model_campaign(
                name,
                lambda: nullcontext(drive),
                plan,
                Path(folder) / "run",
                design=parse_design("adaptive"),
                goal=Goal(budget_seconds=_BUDGET_SECONDS),
                check=_CHECK,
                sweeps=False,
                progress=False,
            )
            with store:
                ended = store.header["ended"]
                parts = Parts.from_json(store.header["design"]["parts"])
                measured = stored_measurements(store)
                model, _ = of_run.fit(store)
            checked = [one for one in measured if parts.part_of(one.index) == "check"]
            other = plan_for(name, seed=_SEED + 1, asked={"writes": usual_writes(name)})
            again = list(measured_in_order(drive, [one.characteristics for one in checked], other))
            capacity = format_size(drive.capacity_bytes)
    fitted = sum(parts.part_of(one.index) in FITTED for one in measured)
    section.say(
        f"A file of {capacity}; writes: {plan.writes}. The budget was enough for {fitted} "
        "workloads that models are fitted to, each measured for "
        f"{plan.seconds:g} s after {plan.warmup_seconds:g} s of warm-up. Before {_CHECK} others "
        "were measured, the run expected its models to be off by "
        f"{100 * ended['expected_error_ratio']:.0f} % in the worst of the three. The disk of the "
        "machine that wrote this document is shared and noisy."
    )
    _tabulate(section, model, checked, again)
    return section


def _tabulate(
    section: Section,
    model: PerformanceModel,
    checked: Sequence[Measurement],
    again: Sequence[Measurement],
) -> None:
    workloads = [one.characteristics for one in checked]
    inside = ~model.outside(workloads)
    rows = []
    for metric in METRICS:
        first, second = (
            np.array([getattr(one, metric) for one in ones])[inside] for ones in (checked, again)
        )
        off = np.abs(model.predict(workloads, metric=metric)[inside] / first - 1)
        apart = np.abs(second / first - 1)
        ends = model.interval(workloads, metric=metric, level=_LEVEL)[inside]
        held = np.mean((ends[:, 0] <= first) & (first <= ends[:, 1]))
        rows.append(
            (
                metric,
                f"{100 * off.mean():.1f} % / {100 * np.median(off):.1f} %",
                f"{100 * apart.mean():.1f} % / {100 * np.median(apart):.1f} %",
                f"{100 * _ONE_OF_TWO * apart.mean():.1f} %",
                f"{100 * held:.0f} %",
            )
        )
    section.say(
        f"Off: how far the best model is off on the {int(inside.sum())} of these that lie inside "
        "what it knows. Apart: how far a second measurement of the same workload, with other "
        "random numbers, is from the first. Floor: what a model that knew every workload's mean "
        "would be off by, if errors were normal: the mean of that by the square root of two."
    )
    heads = ("performance", "off, mean / median", "apart, mean / median", "floor", "held at 90 %")
    section.tabulate(heads, rows)
