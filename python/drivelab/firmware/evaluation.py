"""Compare every way to predict a profile's times, each on unseen workloads."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from drivelab.errors import RunError, UsageError
from drivelab.firmware.learners import LEARNERS
from drivelab.firmware.leave_one_out import (
    RECORDS_FOR_P99,
    LeftOut,
    error_of,
    leave_one_out,
)
from drivelab.firmware.network_search import NetworkSearch
from drivelab.firmware.profiled import INPUTS, Dataset
from drivelab.firmware.shares import FLASHES, flash_times
from drivelab.firmware.static_count import StaticCount
from drivelab.near_names import meant

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from drivelab.firmware.learners import NetworkShape
    from drivelab.firmware.profiled import Profiled

#: The baseline, which learns nothing.
STATIC: Final = "static"
#: The host's time, times the mean ratio of the platforms under the other workloads.
RATIO: Final = "ratio"
#: What is evaluated unless asked otherwise: the search for a network takes a quarter of an
#: hour.
USUAL: Final = (STATIC, RATIO, *LEARNERS)
NETWORK: Final = "network"


@dataclass(frozen=True)
class Evaluation:
    """How far predictions are off.

    Attributes
    ----------
    inputs
        Inputs of the models (`drivelab.firmware.profiled.INPUTS`).
    by_model
        By the model's name, the best first.
    cautions
        What was left out, and why.
    flash_ns
        Time of a record's flash operations for the host, by workload; empty where no drive is
        known.
    """

    inputs: str
    by_model: dict[str, LeftOut]
    cautions: tuple[str, ...] = ()
    flash_ns: Mapping[str, float] = field(default_factory=dict)

    @property
    def best(self) -> str:
        """The model whose means are least off on average."""
        return next(iter(self.by_model))

    def ratio_with_flash(self, model: str) -> float | None:
        """Return how far means of firmware and flash together are off, mean over workloads.

        Flash adds what is known, so this is less than the error of firmware alone (Lee et al. 2021,
        section 4.2, adds it).
        """
        if not self.flash_ns:
            return None
        errors = self.by_model[model].errors
        return float(np.mean([each.ratio_with(self.flash_ns[each.workload]) for each in errors]))


def evaluate(
    profiles: Sequence[Profiled],
    models: Sequence[str] = USUAL,
    *,
    inputs: str = "events",
    seed: int = 0,
    dies: int | None = None,
    search: NetworkSearch | None = None,
    cautions: Sequence[str] = (),
) -> Evaluation:
    """Predict each workload by models of the others.

    Parameters
    ----------
    profiles
        Profiles of three workloads or more.
    models
        ``static``, ``ratio``, ``linear``, ``network``, ``boosted``, ``kriging``.
    inputs
        Inputs of the models.
    seed
        Key of all random numbers.
    dies
        Of the drive, for errors with the time of Z-NAND added.
    search
        How the network's shape is searched, and where that is kept.
    cautions
        Notes about the profile, which come first.

    Raises
    ------
    UsageError
        For an unknown model or input, or too few workloads.
    """
    _check_asked(models, inputs)
    found: dict[str, LeftOut] = {}
    notes = list(cautions)
    for name in models:
        try:
            found[name] = _left_out(name, profiles, inputs, seed, search or NetworkSearch())
        except RunError as error:
            if name != STATIC or len(models) == 1:
                raise
            notes.append(f"static is left out: {error}")
    if all(each.p99_ratio is None for each in found.values()):
        notes.append(
            f"no workload has {RECORDS_FOR_P99} records, so the 99th percentile across records is "
            "left out"
        )
    by_model = dict(sorted(found.items(), key=lambda one: one[1].ratio))
    return Evaluation(inputs, by_model, tuple(notes), _flash_ns(profiles, dies))


def _check_asked(models: Sequence[str], inputs: str) -> None:
    known = (*USUAL, NETWORK)
    for name in models:
        if name not in known:
            known_models = f"{meant(name, known)}models: {', '.join(known)}"
            raise UsageError(f"there is no model {name}; {known_models}")
    if inputs not in INPUTS:
        raise UsageError(f"unknown inputs {inputs}; inputs: {', '.join(INPUTS)}")


def _left_out(
    name: str, profiles: Sequence[Profiled], inputs: str, seed: int, search: NetworkSearch
) -> LeftOut:
    if name == STATIC:
        return static_errors(profiles)
    if name == RATIO:
        return ratio_errors(profiles)
    data = Dataset.of(profiles)
    if name == NETWORK:
        return search.left_out(data, inputs, seed)
    return leave_one_out(data, LEARNERS[name](), inputs=inputs, seed=seed)


def _flash_ns(profiles: Sequence[Profiled], dies: int | None) -> dict[str, float]:
    """Return the time of a record on Z-NAND, operations for the host alone (the paper's)."""
    if dies is None:
        return {}
    found = {}
    for each in profiles:
        times = flash_times(each.counted, FLASHES[0], dies, with_collection=False)
        found[each.label] = float(times.mean())
    return found


def ratio_errors(profiles: Sequence[Profiled]) -> LeftOut:
    """Predict each workload by the host's time and what the others say of the platforms."""
    ratios = [
        each.target.column("time_ns").sum() / each.host.column("time_ns").sum() for each in profiles
    ]
    errors = []
    for place, each in enumerate(profiles):
        ratio = np.mean([*ratios[:place], *ratios[place + 1 :]])
        times = ratio * each.host.column("time_ns")
        errors.append(error_of(each.label, each.target.column("time_ns"), times))
    return LeftOut(tuple(errors), {})


def static_errors(profiles: Sequence[Profiled]) -> LeftOut:
    """Compare the baseline with every workload's times.

    Raises
    ------
    RunError
        Where its instructions cannot be counted.
    """
    static = StaticCount.of(profiles)
    errors = [
        error_of(each.label, each.target.column("time_ns"), static.times(each)) for each in profiles
    ]
    return LeftOut(tuple(errors), {})


def evaluation_values(found: Evaluation) -> dict[str, Any]:
    """Return what ``--json`` prints (docs/json-firmware.md)."""
    return {
        "inputs": found.inputs,
        "best": found.best,
        "cautions": list(found.cautions),
        "measured_seconds": found.by_model[found.best].measured_seconds,
        "models": [
            {
                "model": name,
                "error_ratio": left_out.ratio,
                "worst": left_out.worst.workload,
                "worst_error_ratio": left_out.worst.ratio,
                "p50_error_ratio": left_out.percentile_ratio(50.0),
                "p99_error_ratio": left_out.p99_ratio,
                "p99_9_error_ratio": left_out.percentile_ratio(99.9),
                "record_error_ratio": left_out.record_ratio,
                "error_ratio_with_flash": found.ratio_with_flash(name),
                "absolute_error_seconds": left_out.absolute_seconds,
                "workloads": [
                    {
                        "label": each.workload,
                        "records": each.records,
                        "measured_ns": each.measured_ns,
                        "predicted_ns": each.predicted_ns,
                        "error_ratio": each.ratio,
                        "record_error_ratio": each.record_ratio,
                        "p99_error_ratio": each.p99_ratio,
                        "p99_9_error_ratio": each.percentile_ratio(99.9),
                        "shape": _described(left_out.shapes.get(each.workload)),
                    }
                    for each in left_out.errors
                ],
            }
            for name, left_out in found.by_model.items()
        ],
    }


def _described(shape: NetworkShape | None) -> str | None:
    return None if shape is None else shape.describe()
