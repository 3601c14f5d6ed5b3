"""How far predictions are off for a workload that a model has never seen.

A model of all other workloads predicts each workload's records (Lee et al. 2021, section 3). Two
errors are computed for a workload, as in section 4.2::

    mean     |mean predicted - mean measured| / mean measured
    p99      the same of the 99th percentile across its records, where there are enough of them
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from drivelab.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from drivelab.firmware.learners import Learner, NetworkShape
    from drivelab.firmware.profiled import Dataset

    Array = NDArray[np.float64]

#: Fewest records for a 99th percentile.
RECORDS_FOR_P99: Final = 500
#: Fewest records for a percentile, by percent.
RECORDS_FOR: Final = {50.0: 1, 99.0: RECORDS_FOR_P99, 99.9: 5000}
_FEWEST_WORKLOADS: Final = 3


@dataclass(frozen=True)
class WorkloadError:
    """How far the predictions of one workload are off.

    Attributes
    ----------
    workload
        Its label.
    records
        How many.
    measured_ns, predicted_ns
        Mean time of a record.
    record_ratio
        Mean over the records of how far each is off, relative to its own time.
    measured_percentiles_ns, predicted_percentiles_ns
        Across records of the time of a record, by percent, where there are enough of them
        (`RECORDS_FOR`).
    """

    workload: str
    records: int
    measured_ns: float
    predicted_ns: float
    record_ratio: float
    measured_percentiles_ns: Mapping[float, float]
    predicted_percentiles_ns: Mapping[float, float]

    @property
    def ratio(self) -> float:
        """How far the mean is off."""
        return abs(self.predicted_ns / self.measured_ns - 1)

    @property
    def measured_p99_ns(self) -> float | None:
        """The 99th percentile across records; ``None`` below `RECORDS_FOR_P99`."""
        return self.measured_percentiles_ns.get(99.0)

    @property
    def predicted_p99_ns(self) -> float | None:
        """The same of the predicted times."""
        return self.predicted_percentiles_ns.get(99.0)

    @property
    def p99_ratio(self) -> float | None:
        """How far the 99th percentile is off."""
        return self.percentile_ratio(99.0)

    def percentile_ratio(self, percent: float) -> float | None:
        """How far a percentile across records is off; ``None`` with too few records."""
        measured = self.measured_percentiles_ns.get(percent)
        if measured is None:
            return None
        return abs(self.predicted_percentiles_ns[percent] / measured - 1)

    @property
    def absolute_ns(self) -> float:
        """How far the whole time of the workload is off."""
        return abs(self.predicted_ns - self.measured_ns) * self.records

    def ratio_with(self, more_ns: float) -> float:
        """Return how far the mean is off if a record takes a known amount longer."""
        return abs(self.predicted_ns - self.measured_ns) / (self.measured_ns + more_ns)


@dataclass(frozen=True)
class LeftOut:
    """Every workload, predicted by models that had not seen it.

    Attributes
    ----------
    errors
        One a workload, in the order of the data.
    shapes
        The shape that was chosen without a workload, by workload, if there was a choice.
    """

    errors: tuple[WorkloadError, ...]
    shapes: dict[str, NetworkShape]

    @property
    def ratio(self) -> float:
        """Mean over the workloads of how far means are off."""
        return float(np.mean([each.ratio for each in self.errors]))

    @property
    def worst(self) -> WorkloadError:
        """The workload that is furthest off."""
        return max(self.errors, key=lambda each: each.ratio)

    @property
    def p99_ratio(self) -> float | None:
        """Return the same for the 99th percentile; ``None`` if no workload has enough records."""
        return self.percentile_ratio(99.0)

    def percentile_ratio(self, percent: float) -> float | None:
        """Return how far a percentile is off, mean over the workloads with enough records."""
        ratios = [each.percentile_ratio(percent) for each in self.errors]
        known = [ratio for ratio in ratios if ratio is not None]
        return float(np.mean(known)) if known else None

    @property
    def record_ratio(self) -> float:
        """Mean over the workloads of how far their records are off, each relative to its time."""
        return float(np.mean([each.record_ratio for each in self.errors]))

    @property
    def measured_seconds(self) -> float:
        """The whole time of all workloads, as it was measured, in seconds."""
        return sum(each.measured_ns * each.records for each in self.errors) / 1e9

    @property
    def absolute_seconds(self) -> float:
        """How far the whole time of all workloads is off, in seconds."""
        return sum(each.absolute_ns for each in self.errors) / 1e9


def leave_one_out(
    data: Dataset, learner: Learner, *, inputs: str = "events", seed: int = 0
) -> LeftOut:
    """Predict each workload by a model of the others.

    Parameters
    ----------
    data
        Records of three workloads or more.
    learner
        The learner. For a network, whose shape is searched too, see
        `drivelab.firmware.network_search`.
    inputs
        Its inputs (`drivelab.firmware.profiled.INPUTS`).
    seed
        Key of all random numbers.

    Raises
    ------
    UsageError
        With fewer than three workloads.
    """
    check_workloads(len(data.workloads))
    rows = data.inputs[inputs]
    errors = []
    for place, label in enumerate(data.workloads):
        out = data.groups == place
        predict = learner.fit(rows[~out], data.target_ns[~out], seed)
        errors.append(error_of(label, data.target_ns[out], predict(rows[out])))
    return LeftOut(tuple(errors), {})


def error_of(label: str, measured: Array, predicted: Array) -> WorkloadError:
    """Compare the times of a workload's records, ns, shape (records,)."""
    return WorkloadError(
        label,
        len(measured),
        float(measured.mean()),
        float(predicted.mean()),
        float(np.abs(predicted / measured - 1).mean()),
        percentiles(measured),
        percentiles(predicted),
    )


def percentiles(times: Array) -> dict[float, float]:
    """Return percentiles across records by percent, of those that there are enough records for."""
    return {
        percent: float(np.percentile(times, percent))
        for percent, fewest in RECORDS_FOR.items()
        if len(times) >= fewest
    }


def check_workloads(count: int) -> None:
    """Raise `UsageError` when there are too few workloads to leave one out."""
    if count < _FEWEST_WORKLOADS:
        raise UsageError(
            f"models are judged by workloads left out: {_FEWEST_WORKLOADS} are needed, and there "
            f"{'is' if count == 1 else 'are'} {count}; profile more"
        )
