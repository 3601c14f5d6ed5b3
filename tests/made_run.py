"""A run made by a formula, for the code that shows runs: without a drive or a model.

Latency follows a few lines of arithmetic, a model's prediction is the formula times a factor
that its name decides, so every number of a report can be worked out by hand.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from drivelab._core import histogram_bin
from drivelab.drives.measurement import Measurement
from drivelab.drives.operation_result import OperationResult
from drivelab.drives.plan import MeasurementPlan
from drivelab.models.accuracy import measure_accuracy
from drivelab.models.effects import Effect, Importance
from drivelab.models.evaluate import MODEL_KEYS, Evaluation, ModelKey, best_models
from drivelab.models.exhibits.run_data import Check, Factor, Intervals, RunData
from drivelab.models.features import UNITS
from drivelab.models.intervals import levels_possible
from drivelab.models.measured import METRICS
from drivelab.workloads.characteristics import FIELDS, Characteristics
from drivelab.workloads.huang2011_sweeps import sweep_workloads
from drivelab.workloads.parts import Parts

# How far a model's predictions lie from the formula, as a sigma of the logarithm.
ERRORS = {
    ("basic", "ols"): 0.9,
    ("basic", "cart"): 0.55,
    ("basic", "boosted"): 0.5,
    ("extended", "ols"): 0.4,
    ("extended", "cart"): 0.22,
    ("extended", "boosted"): 0.07,
}
PRESET = "name = 'made'  # assumed: by hand\n" * 12


def formula_ns(workload: Characteristics, direction: str) -> float:
    """Mean latency of one direction, in ns."""
    size = getattr(workload, f"{direction}_size")
    rand = getattr(workload, f"{direction}_random")
    fixed, per_byte, scatter = (60e3, 4, 40e3) if direction == "read" else (90e3, 14, 400e3)
    return (fixed + per_byte * size + scatter * rand) * workload.queue_depth**0.8


def operation(mean_ns: float, requests: int, size: int) -> OperationResult:
    """Return requests whose latencies lie around a mean with a tail to the right."""
    histogram: dict[int, int] = {}
    shares = [(0.7, 0.80), (1.0, 0.149), (3.0, 0.045), (9.0, 0.005), (25.0, 0.001)]
    scale = mean_ns / sum(factor * share for factor, share in shares)
    left = requests
    values = []
    for factor, share in reversed(shares):
        count = left if factor == 0.7 else min(left, round(share * requests))
        left -= count
        if count:
            value = round(factor * scale)
            values.append(value)
            histogram[histogram_bin(value)] = histogram.get(histogram_bin(value), 0) + count
    return OperationResult(
        requests=requests,
        bytes=requests * size,
        latency_ns_mean=min(max(mean_ns, min(values)), max(values)),
        latency_ns_min=min(values),
        latency_ns_max=max(values),
        histogram=histogram,
    )


def measurement(index: int, workload: Characteristics, requests: int = 20000) -> Measurement:
    """Return what the formula gives for a workload."""
    writes = round(workload.write_ratio * requests)
    parts = {}
    for direction, count in (("read", requests - writes), ("write", writes)):
        mean_ns = formula_ns(workload, direction)
        size = getattr(workload, f"{direction}_size")
        parts[direction] = operation(mean_ns, count, size) if count else None
    total_ns = sum(part.latency_ns_mean * part.requests for part in parts.values() if part)
    return Measurement(
        index=index,
        workload=workload,
        duration_ns=max(1, round(total_ns / workload.queue_depth)),
        read=parts["read"],
        write=parts["write"],
        extra={"write_amplification_ratio": 1.25} if writes else {},
    )


def workloads(count: int, seed: int = 1) -> list[Characteristics]:
    """Draw workloads from a few values of each characteristic."""
    draw = random.Random(seed)
    return [
        Characteristics(
            write_ratio=draw.choice((0, 0.25, 0.5, 0.75, 1)),
            queue_depth=draw.choice((1, 4, 16, 64)),
            read_size=draw.choice((1024, 4096, 16384, 65536, 262144)),
            write_size=draw.choice((1024, 4096, 16384, 65536, 262144)),
            read_random=draw.choice((0, 0.5, 1)),
            write_random=draw.choice((0, 0.5, 1)),
            read_stride=draw.choice((0, 1024, 65536, 262144)),
            write_stride=draw.choice((0, 1024, 65536, 262144)),
        )
        for _ in range(count)
    ]


def between(count: int, seed: int = 4) -> list[Characteristics]:
    """Draw workloads from everything between those values, as `sobol:N` does."""
    draw = random.Random(seed)

    def size() -> int:
        return round(2 ** draw.uniform(1, 9)) * 512

    return [
        Characteristics(
            write_ratio=draw.random(),
            queue_depth=round(2 ** draw.uniform(0, 6)),
            read_size=size(),
            write_size=size(),
            read_random=draw.random(),
            write_random=draw.random(),
            read_stride=512 * draw.randrange(512),
            write_stride=512 * draw.randrange(512),
        )
        for _ in range(count)
    ]


@cache
def _answered(workload: Characteristics) -> Measurement:
    # All metrics and most runs ask for the same ones.
    return measurement(0, workload)


def formula_effects(measurements: Sequence[Measurement], metric: str) -> tuple[Effect, ...]:
    """Return the formula's own partial dependence on each characteristic that varies."""
    found = []
    for name in FIELDS:
        with_effect = [
            one.characteristics
            for one in measurements
            if one.characteristics.canonical()[name] is not None
        ]
        values = sorted({getattr(workload, name) for workload in with_effect})
        with_effect = with_effect[:: max(1, len(with_effect) // 50)]
        if len(values) < 2:
            continue
        values = [*values[: -1 : max(1, len(values) // 10)], values[-1]]
        curve = []
        for value in values:
            asked = [replace(workload, **{name: value}) for workload in with_effect]
            answers = [getattr(_answered(workload), metric) for workload in asked]
            curve.append(float(np.exp(np.mean(np.log(answers)))))
        found.append(Effect(name, UNITS[name], tuple(map(float, values)), tuple(curve)))
    return tuple(found)


def header(name: str = "sim:made", kind: str = "simulated") -> dict[str, Any]:
    """Return a header as a campaign stores it."""
    return {
        "drive": {
            "name": name,
            "kind": kind,
            "capacity_bytes": 80_000_000_000,
            "identity": {"preset": PRESET, "configuration_sha256": "0a1b2c3d"},
        },
        "design": {
            "name": "huang2011:300",
            "seed": 7,
            "workloads": 300,
            "left_out_workloads": 0,
            "parts": Parts(300).to_json(),
            "population": "made by hand",
        },
        "plan": MeasurementPlan(seed=7, requests=20_000).to_json(),
        "origin": {
            "drivelab_version": "0.1.0",
            "started_at": "2026-01-02T03:04:05+00:00",
            "host": "made-by-hand",
        },
    }


def made_run(
    count: int = 300,
    *,
    name: str = "sim:made",
    kind: str = "simulated",
    requests: int = 20000,
    reserved: int = 0,
    check: int = 0,
    sweeps: bool = False,
    continuous: bool = False,
) -> RunData:
    """Return a whole run with models of every kind.

    `count` workloads train them, `reserved` do too and set the width of their intervals, `check`
    judge them; `sweeps` adds those behind figures 3 to 7. The first are from a few values of each
    characteristic, or, `continuous`, from everything between.
    """
    asked = [
        *(between(count) if continuous else workloads(count)),
        *workloads(reserved, seed=2),
        *workloads(check, seed=3),
        *(sweep_workloads() if sweeps else ()),
    ]
    parts = Parts(count, reserved, check, len(asked) - count - reserved - check)
    measurements = [measurement(*item, requests) for item in enumerate(asked)]
    fitted = measurements[: count + reserved]
    run = run_of(measurements, parts, evaluated(fitted, predicted_by_models(fitted)))
    described = header(name, kind)
    described["design"] |= run.header["design"]
    run = replace(run, header=described)
    if reserved:
        widths = {0.8: 1.1, 0.9: 1.25, 0.95: 1.5}
        factors = {
            level: Factor(widths[level], widths[level] ** 0.5, widths[level] ** 2)
            for level in levels_possible(reserved)
        }
        run = replace(run, intervals=Intervals(reserved, dict.fromkeys(METRICS, factors)))
    return with_check(run) if check else run


def predicted_by_models(measurements: Sequence[Measurement]) -> dict[ModelKey, Any]:
    """Return what the made models say, each as far off as `ERRORS` says."""
    predicted = {}
    for metric in METRICS:
        values = np.array([getattr(one, metric) for one in measurements])
        for place, ((features, estimator), sigma) in enumerate(ERRORS.items()):
            draw = random.Random(place)
            noise = [draw.gauss(0, sigma) for _ in measurements]
            predicted[ModelKey(metric, features, estimator)] = values * np.exp(noise)
    return predicted


def with_check(run: RunData) -> RunData:
    """Return the run with what its models say of its check part."""
    wanted = run.parts.range("check")
    checked = [one for one in run.measurements if one.index in wanted]
    predicted = predicted_by_models(checked)
    observed = {metric: np.array([getattr(one, metric) for one in checked]) for metric in METRICS}
    accuracy = {
        key: measure_accuracy(observed[key.metric], values) for key, values in predicted.items()
    }
    coverage = {
        metric: dict.fromkeys(run.intervals.factors.get(metric, {}), 0.9) for metric in METRICS
    }
    evaluation = replace(run.evaluation, check=accuracy, check_outside=3, check_coverage=coverage)
    return replace(run, evaluation=evaluation, check=Check(checked, predicted))


def run_of(
    measurements: Sequence[Measurement],
    parts: Parts | None = None,
    evaluation: Evaluation | None = None,
) -> RunData:
    """Return a run of these measurements; all train exact models unless said otherwise."""
    parts = Parts(len(measurements)) if parts is None else parts
    if evaluation is None:
        exact = {
            key: [float(getattr(one, key.metric)) for one in measurements] for key in MODEL_KEYS
        }
        evaluation = evaluated(measurements, exact)
    described = header()
    described["design"] |= {"workloads": parts.total, "parts": parts.to_json()}
    return RunData(described, measurements, evaluation)


def evaluated(
    measurements: Sequence[Measurement], out_of_fold: Mapping[ModelKey, Sequence[float]]
) -> Evaluation:
    """Return the evaluation of models that predicted this."""
    observed = {
        metric: np.array([getattr(one, metric) for one in measurements]) for metric in METRICS
    }
    accuracy = {
        key: measure_accuracy(observed[key.metric], values) for key, values in out_of_fold.items()
    }
    importance = tuple(
        Importance(name, increase, 0.01)
        for name, increase in zip(
            ("queue_depth", "write_size", "write_ratio", "read_size", *FIELDS[4:]),
            (9.7, 1.1, 0.9, 0.5, 0.2, 0.1, 0.004, -0.003),
            strict=True,
        )
    )
    return Evaluation(
        indices=np.array([one.index for one in measurements]),
        folds=np.arange(len(measurements)) % 5,
        observed=observed,
        out_of_fold={key: np.asarray(values) for key, values in out_of_fold.items()},
        cross_validated=accuracy,
        in_sample=accuracy,
        best=best_models(accuracy, ("basic", "extended")),
        best_extended=best_models(accuracy, ("extended",)),
        importance=dict.fromkeys(METRICS, importance),
        effects={metric: formula_effects(measurements, metric) for metric in METRICS},
    )
