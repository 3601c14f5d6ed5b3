"""The error of a model of a file here after twenty minutes, and the drive's own noise."""

from __future__ import annotations

import tempfile
from contextlib import nullcontext
from dataclasses import dataclass
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

    from numpy.typing import NDArray

    from drivelab.drives.measurement import Measurement
    from drivelab.models.model import PerformanceModel

_BUDGET_SECONDS: Final = 1200.0
# Measured after the budget is spent, and then once more with other random numbers.
_CHECK: Final = 100
_SEED: Final = 1
_LEVEL: Final = 0.9
# A difference of two measurements has two errors, that of a model which knows the means has one.
_ONE_OF_TWO: Final = 2**-0.5


def file_accuracy() -> Section:
    """Model a file within a budget, then predict workloads that it has not seen."""
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
        f"{plan.seconds:g} s after {plan.warmup_seconds:g} s of warm-up; {_CHECK} others were "
        "measured after that. The disk of the machine that wrote this document is shared and noisy."
    )
    inside = ~model.outside([one.characteristics for one in checked])
    found = [_found(model, metric, checked, again, inside) for metric in METRICS]
    show(section, found, workloads=int(inside.sum()), forecast=ended["expected_error_ratio"])
    return section


@dataclass(frozen=True)
class Found:
    """The results for one performance: ratios, as mean and median over the workloads.

    Attributes
    ----------
    off
        How far the model is off.
    apart
        How far a second measurement is from the first.
    held
        The share that intervals held.
    """

    metric: str
    off: tuple[float, float]
    apart: tuple[float, float]
    held: float

    @property
    def floors(self) -> tuple[float, float]:
        """The error of a model that knew every mean."""
        return _ONE_OF_TWO * self.apart[0], _ONE_OF_TWO * self.apart[1]


def _found(
    model: PerformanceModel,
    metric: str,
    checked: Sequence[Measurement],
    again: Sequence[Measurement],
    inside: NDArray[np.bool_],
) -> Found:
    workloads = [one.characteristics for one in checked]
    first, second = (
        np.array([getattr(one, metric) for one in ones])[inside] for ones in (checked, again)
    )
    off = np.abs(model.predict(workloads, metric=metric)[inside] / first - 1)
    apart = np.abs(second / first - 1)
    ends = model.interval(workloads, metric=metric, level=_LEVEL)[inside]
    return Found(
        metric,
        (float(off.mean()), float(np.median(off))),
        (float(apart.mean()), float(np.median(apart))),
        float(np.mean((ends[:, 0] <= first) & (first <= ends[:, 1]))),
    )


def show(section: Section, found: Sequence[Found], *, workloads: int, forecast: float) -> None:
    """Show the results, and say whether the model or the drive's noise limits them."""
    section.say(
        f"*Off*: the error of the best model on the {workloads} of these that are inside what was "
        "measured. *Apart*: the difference between two measurements of the same workload with "
        "other random numbers. *Floor*: the error of a model that knew every workload's mean, if "
        "errors were normal: apart divided by the square root of two. A few workloads that took "
        "many times as long the second time raise the mean. If mean and median differ much, "
        "compare with the median."
    )
    heads = ("performance", "off, mean / median", "apart, mean / median")
    section.tabulate(
        (*heads, "floor, mean / median", "held at 90 %"),
        [
            (one.metric, *map(_both, (one.off, one.apart, one.floors)), f"{100 * one.held:.0f} %")
            for one in found
        ],
    )
    section.say(" ".join(_verdict(one) for one in found))
    worst = max(one.off[0] for one in found)
    section.say(f"{_intervals(found)} {_forecast(forecast, worst)}")


def _both(pair: tuple[float, float]) -> str:
    return f"{100 * pair[0]:.1f} % / {100 * pair[1]:.1f} %"


def _verdict(one: Found) -> str:
    """Say what limits a performance: the drive's noise, or the model's own error."""
    off, floor = one.off[1], one.floors[1]
    # Independent errors add as squares.
    own = max(off**2 - floor**2, 0.0) ** 0.5
    what = "the model limits it" if own > floor else "the noise of the drive limits it"
    return (
        f"{one.metric}: {what}. The median error is {100 * off:.1f} %, the median floor "
        f"{100 * floor:.1f} %, which leaves about {100 * own:.1f} % to the model."
    )


def _intervals(found: Sequence[Found]) -> str:
    held = sorted({round(100 * one.held) for one in found})
    said = " to ".join(f"{share}" for share in (held[0], held[-1])[: len(held)])
    level = round(100 * _LEVEL)
    if held[0] >= level:
        return f"Intervals at {level} % held {said} %."
    return (
        f"Intervals at {level} % held only {said} %. They hold for workloads drawn like those that "
        "calibrate them, while the drive behaves as it did then. These were measured later, on a "
        "disk whose other users come and go, and are spread over the whole ranges."
    )


def _forecast(forecast: float, worst: float) -> str:
    return (
        f"Before it measured these {_CHECK}, the run expected an error of {100 * forecast:.0f} % "
        f"for the worst of the three. It was {100 * worst:.0f} %, so the forecast was "
        f"{100 * abs(forecast / worst - 1):.0f} % too {'low' if forecast < worst else 'high'}."
    )
