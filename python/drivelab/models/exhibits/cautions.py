"""What a reader should know about the models before trusting a prediction, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from drivelab.exhibits import Caution
from drivelab.exhibits.quantities import (
    CHARACTERISTICS,
    METRICS,
    TIMES,
    listed,
    mre_text,
)
from drivelab.models.probed import unprobed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from drivelab.models.exhibits.run_data import RunData

#: With fewer distinct workloads the error figures themselves are rough.
FEW_WORKLOADS: Final = 100
#: A mean relative error above this is not worth planning with.
LARGE_ERROR: Final = 0.3
#: Predictions that are wrong by more than this factor are counted and reported.
FAR_OFF: Final = 2.0


def model_cautions(run: RunData) -> list[Caution]:
    """Return the warnings that limit the models as a whole, the most serious first."""
    return [*_inaccurate(run), *_not_varied(run), *_not_probed(run)]


def model_figure_cautions(run: RunData) -> dict[str, list[Caution]]:
    """Return the warnings that limit one exhibit, by its name."""
    return {"accuracy-bars": [*_few(run)], "predicted": [*_far_off(run)]}


def _inaccurate(run: RunData) -> Iterator[Caution]:
    parts = []
    for metric in run.metrics():
        mre = run.accuracy[run.best(metric)].mre
        if mre > LARGE_ERROR:
            parts.append(f"by {mre_text(mre)} for {METRICS[metric].label.lower()}")
    if parts:
        yield Caution(
            "Inaccurate",
            f"Even the best model is off {listed(parts)} on average.",
            "Look at the measurements rather than at predictions, or measure a larger design.",
        )


def _far_off(run: RunData) -> Iterator[Caution]:
    parts = []
    for metric in run.metrics():
        predicted = run.evaluation.out_of_fold[run.best(metric)]
        off = []
        for measurement, value in zip(run.fitted, predicted, strict=True):
            ratio = float(value) / float(getattr(measurement, metric))
            factor = max(ratio, 1 / ratio)
            if factor > FAR_OFF:
                off.append((factor, -measurement.index))
        if off:
            worst, index = max(off)
            parts.append(
                f"{len(off)} in {METRICS[metric].label.lower()} (the worst, {worst:.1f}{TIMES}, "
                f"is number {-index})"
            )
    if parts:
        yield Caution(
            "Far off",
            f"Of {len(run.fitted):,} workloads, these are predicted wrong by more than a factor of "
            f"two: {listed(parts)}.",
            "Before you plan with workloads like these, measure them. The table of all workloads "
            "in the run's report shows what they are.",
            short="Some workloads are predicted wrong by more than a factor of two.",
        )


def _few(run: RunData) -> Iterator[Caution]:
    if run.groups < FEW_WORKLOADS:
        yield Caution(
            "Few workloads",
            f"The models know only {run.groups} distinct workloads.",
            "The errors shown are themselves rough. 300 workloads make them steadier.",
        )


def fixed_characteristics(run: RunData) -> dict[str, str]:
    """Return the characteristics that do not vary, by name, with what they are instead."""
    found = {}
    for name, item in CHARACTERISTICS.items():
        values = {one.characteristics.canonical()[name] for one in run.fitted} - {None}
        only = next(iter(values), None)
        if only is None:
            found[name] = "never in effect"
        elif len(values) == 1:
            found[name] = item.text(only)
    return found


def _not_varied(run: RunData) -> Iterator[Caution]:
    fixed = [
        f"{CHARACTERISTICS[name].label.lower()} ({text})"
        for name, text in fixed_characteristics(run).items()
    ]
    if fixed:
        yield Caution(
            "Not varied",
            f"The same in every workload that the models know: {', '.join(fixed)}.",
            "The models cannot say what effect they have. Do not ask about other values.",
            short=f"{len(fixed)} of {len(CHARACTERISTICS)} characteristics were the same in every "
            "workload.",
        )


def _not_probed(run: RunData) -> Iterator[Caution]:
    without = unprobed(run.header)
    if without is not None:
        yield Caution(
            "No probes",
            f"Nothing was measured to find how the drive is built: {without.reason}.",
            f"{without.remedy[0].upper()}{without.remedy[1:]}." if without.remedy else "",
        )
