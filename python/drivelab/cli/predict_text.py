"""A prediction as text: values, how sure they are, by which model and why."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from drivelab.workloads.characteristics import Characteristics

_COLUMN: Final = 14
# With an error of a per cent three digits mean something, with a smaller one four.
_SMALL_ERROR: Final = 0.01
_DIGITS: Final = 3
_FINE_DIGITS: Final = 4


def answer_text(answer: dict[str, Any], workload: Characteristics, level: float) -> str:
    """Return the text of what `drivelab.cli.predict.predict` found, with intervals of one level."""
    from drivelab.exhibits.quantities import METRICS, PROVENANCE, mre_text, workload_text

    drive = answer["drive"] or "a drive without a name"
    kind = answer["kind"]
    origin = f"what was {PROVENANCE[kind].adjective}" if kind else "numbers of unknown origin"
    lines = [_line("predicted", f"{drive}, from {origin}")]
    lines.append(_line("workload", workload_text(workload)))
    outside = answer["outside_training"]
    for metric, value in _both_units(answer).items():
        ends = _ends(answer, metric, level)
        error = "error unknown"
        if not outside:
            mre = mre_text(answer["used"][metric]["mre_ratio"])
            error = f"off by {mre} on average" + (f", {ends}" if ends else "")
        lines.append(_line(METRICS[metric].label.lower(), f"{value:<28}  {error}"))
    lines += [_line("careful", f"outside what was measured: {message}") for message in outside]
    if outside:
        lines += _nearest(answer)
    else:
        lines += _intervals(answer, level) + _off_grid(answer)
    return "\n".join(lines + _reasons(answer))


def _line(label: str, text: str) -> str:
    return f"{label:<{_COLUMN}}{text}"


def _both_units(answer: dict[str, Any]) -> dict[str, str]:
    """Return the prediction in both units, with as many digits as its error allows."""
    errors = {metric: used["mre_ratio"] for metric, used in answer["used"].items()}

    def text(metric: str, factor: float) -> str:
        known = not answer["outside_training"] and errors[metric] < _SMALL_ERROR
        return significant(answer[metric] * factor, _FINE_DIGITS if known else _DIGITS)

    latency, rate = "latency_ns_mean", "bandwidth_bytes_per_second"
    return {
        latency: f"{text(latency, 1e-3)} us = {text(latency, 1e-6)} ms",
        rate: f"{text(rate, 1e-6)} MB/s = {text(rate, 1 / 2**20)} MiB/s",
        "iops": f"{text('iops', 1)} IOPS",
    }


def significant(value: float, digits: int) -> str:
    """Return a number above 0 with this many digits and thousands separated: 12,300 or 0.0123."""
    if not 0 < value < math.inf:
        return f"{value:g}"
    places = digits - 1 - math.floor(math.log10(value))
    # Rounding may add a digit before the point: 999.6 is 1,000.
    places = digits - 1 - math.floor(math.log10(round(value, places)))
    return f"{round(value, places):,.{max(0, places)}f}"


def _of_level(answer: dict[str, Any], metric: str, level: float) -> dict[str, float | None]:
    rows: list[dict[str, float | None]] = answer["intervals"][metric]
    (found,) = (row for row in rows if row["level_ratio"] == level)
    return found


def _ends(answer: dict[str, Any], metric: str, level: float) -> str:
    from drivelab.exhibits.quantities import METRICS

    row = _of_level(answer, metric, level)
    if row["low"] is None or row["high"] is None:
        return ""
    low, high = (
        f"{significant(end, _DIGITS)} IOPS" if metric == "iops" else METRICS[metric].text(end)
        for end in (row["low"], row["high"])
    )
    # Write the unit once if both ends have the same.
    if low.split(" ")[-1] == high.split(" ")[-1]:
        low = low.rsplit(" ", 1)[0]
    return f"{100 * level:g} %: {low} to {high}"


def _intervals(answer: dict[str, Any], level: float) -> list[str]:
    """Return what the intervals promise, or why there are none."""
    from drivelab.models.intervals import workloads_needed

    shown = f"{100 * level:g} %"
    if not any(_ends(answer, metric, level) for metric in answer["intervals"]):
        return [
            _line(
                "no interval",
                f"{shown} needs {workloads_needed(level)} workloads reserved for calibration; "
                "measure a larger design",
            )
        ]
    drawn = f"as {answer['design']} draws them" if answer["design"] else "from its population"
    return [_line("interval", f"holds {shown} of workloads drawn at random {drawn}, on average")]


def _off_grid(answer: dict[str, Any]) -> list[str]:
    """Return how far the models are off between the values of their design."""
    from drivelab.exhibits.quantities import METRICS, mre_text

    errors = {metric: used["off_grid_mre_ratio"] for metric, used in answer["used"].items()}
    if None in errors.values():
        return []
    shown = ", ".join(
        f"{METRICS[metric].label.lower()} {mre_text(error)}" for metric, error in errors.items()
    )
    return [_line("off the grid", f"between the design's values it is off by: {shown}")]


def _nearest(answer: dict[str, Any]) -> list[str]:
    from drivelab.exhibits.quantities import METRICS, PROVENANCE, workload_text
    from drivelab.workloads.characteristics import Characteristics

    adjective = PROVENANCE[answer["kind"]].adjective if answer["kind"] else "known"
    scale = "a distance of 1 is one characteristic's whole range"
    lines = [_line("nearest", f"{adjective} ({scale}):")]
    for near in answer["nearest"]:
        values = {name.removesuffix("_bytes"): value for name, value in near["workload"].items()}
        performance = ", ".join(metric.text(near[name]) for name, metric in METRICS.items())
        lines.append(
            _line("", f"{near['distance']:.2f}  {workload_text(Characteristics(**values))}: ")
            + performance
        )
    return lines


def _reasons(answer: dict[str, Any]) -> list[str]:
    """Return which models answered and why; only once if the same model answered every metric."""
    from drivelab.exhibits.quantities import METRICS, mre_text

    used = answer["used"]
    kinds = {(one["features"], one["estimator"], one["chosen"]) for one in used.values()}
    labels = {metric: METRICS[metric].label.lower() for metric in used}
    errors = {metric: mre_text(one["mre_ratio"]) for metric, one in used.items()}
    others = {metric: f"({_best_other(answer, metric)})" for metric in used}
    if len(kinds) == 1:
        ((features, estimator, chosen),) = kinds
        each = ", ".join(f"{labels[one]} {errors[one]} {others[one]}" for one in used)
        reasons = [f"{features} {estimator}, {chosen}: {each}"]
    else:
        reasons = [
            f"{labels[metric]}: {one['features']} {one['estimator']} {errors[metric]}, "
            f"{one['chosen']} {others[metric]}"
            for metric, one in used.items()
        ]
    return [_line("" if number else "why", text) for number, text in enumerate(reasons)]


def _best_other(answer: dict[str, Any], metric: str) -> str:
    """Return the best of a metric's models that did not answer."""
    from drivelab.exhibits.quantities import mre_text

    used = answer["used"][metric]
    # Sorted by their errors.
    other = next(
        one
        for one in answer["candidates"]
        if one["metric"] == metric
        and (one["features"], one["estimator"]) != (used["features"], used["estimator"])
    )
    place = "better" if other["mre_ratio"] < used["mre_ratio"] else "next"
    return f"{place}: {other['features']} {other['estimator']} {mre_text(other['mre_ratio'])}"
