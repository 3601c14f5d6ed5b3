"""Every way to predict a profile's times, side by side, each workload unseen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from drivelab.errors import RunError, UsageError
from drivelab.firmware.learners import LEARNERS
from drivelab.firmware.leave_one_out import (
    RECORDS_FOR_P99,
    LeftOut,
    error_of,
    leave_one_out,
)
from drivelab.firmware.profiled import INPUTS, Dataset
from drivelab.firmware.static_count import StaticCount
from drivelab.near_names import meant

if TYPE_CHECKING:
    from collections.abc import Sequence

    from drivelab.firmware.learners import NetworkShape
    from drivelab.firmware.profiled import Profiled

#: The baseline, which learns nothing.
STATIC: Final = "static"
#: What is evaluated unless asked otherwise: the search for a network takes hours.
USUAL: Final = (STATIC, *LEARNERS)
NETWORK: Final = "network"


@dataclass(frozen=True)
class Evaluation:
    """How far predictions are off.

    Attributes
    ----------
    inputs
        What models were given (`drivelab.firmware.profiled.INPUTS`).
    by_model
        By the model's name, the best first.
    cautions
        What was left out, and why.
    """

    inputs: str
    by_model: dict[str, LeftOut]
    cautions: tuple[str, ...] = ()

    @property
    def best(self) -> str:
        """The model whose means are least off on average."""
        return next(iter(self.by_model))


def evaluate(
    profiles: Sequence[Profiled],
    models: Sequence[str] = USUAL,
    *,
    inputs: str = "events",
    seed: int = 0,
) -> Evaluation:
    """Predict each workload by models of the others.

    Parameters
    ----------
    profiles
        Of three workloads or more.
    models
        ``static``, ``linear``, ``network``, ``boosted``, ``kriging``.
    inputs
        What they are given.
    seed
        Key of all random numbers.

    Raises
    ------
    UsageError
        For an unknown model or input, or too few workloads.
    """
    known = (*USUAL, NETWORK)
    for name in models:
        if name not in known:
            told = f"{meant(name, known)}models: {', '.join(known)}"
            raise UsageError(f"there is no model {name}; {told}")
    if inputs not in INPUTS:
        raise UsageError(f"there are no inputs {inputs}; inputs: {', '.join(INPUTS)}")
    data = Dataset.of(profiles)
    found: dict[str, LeftOut] = {}
    cautions = []
    for name in models:
        if name == STATIC:
            try:
                found[name] = static_errors(profiles)
            except RunError as error:
                if len(models) == 1:
                    raise
                cautions.append(f"static is left out: {error}")
        else:
            learner = None if name == NETWORK else LEARNERS[name]()
            found[name] = leave_one_out(data, learner, inputs=inputs, seed=seed)
    if all(each.p99_ratio is None for each in found.values()):
        cautions.append(
            f"no workload has {RECORDS_FOR_P99} records, so the 99th percentile across records is "
            "left out"
        )
    by_model = dict(sorted(found.items(), key=lambda one: one[1].ratio))
    return Evaluation(inputs, by_model, tuple(cautions))


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
    """Give what ``--json`` prints (docs/json-firmware.md)."""
    return {
        "inputs": found.inputs,
        "best": found.best,
        "cautions": list(found.cautions),
        "models": [
            {
                "model": name,
                "error_ratio": left_out.ratio,
                "worst": left_out.worst.workload,
                "worst_error_ratio": left_out.worst.ratio,
                "p99_error_ratio": left_out.p99_ratio,
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
