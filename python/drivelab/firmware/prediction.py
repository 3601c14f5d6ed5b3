"""How long workloads take on a processor that is not there, from a run on the host and a model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from drivelab.errors import UsageError
from drivelab.firmware.additive import predicted_core_ns
from drivelab.firmware.leave_one_out import WorkloadError, error_of, percentiles
from drivelab.firmware.own import firmware_name
from drivelab.firmware.profiled import Profiled
from drivelab.firmware.record_predictor import read_record_predictor
from drivelab.firmware.training import BUILT_IN
from drivelab.firmware_model.model import own_mapping

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from drivelab.firmware.own import OwnFirmware
    from drivelab.firmware.profiled import Observed
    from drivelab.firmware_model.model import FirmwareModel, TrainedFirmware

    Array = NDArray[np.float64]

# A workload with a larger share of records outside is reported.
_MOST_OUTSIDE: Final = 0.05
#: What decides the firmware's behaviour, and the name of it in a profile.
_TOLD_BY: Final = {
    "name": "profile the firmware of the model",
    "mapping": "profile the firmware of the model",
    "victim": "profile the firmware of the model",
    "page_bytes": "profile the firmware of the model",
    "geometry": "profile with --geometry {}",
    "workers": "profile with --cores {}",
    "record_requests": "profile with records of {} requests, --each-request for one",
    "depth": "profile with --queue-depth {}",
}


@dataclass(frozen=True)
class PredictedWorkload:
    """A workload on the target.

    Attributes
    ----------
    label
        The workload's.
    records, requests
        How many.
    record_ns
        Mean time of a record.
    record_percentiles_ns
        Across records of a record's time, by percent, where there are enough of them.
    request_ns, host_ns
        Time of the whole over its requests, on the target and on the host.
    core_ns
        Time that cores work for a request, all of them together.
    outside_ratio
        Part of the records of which an event is beyond what the model was trained on.
    error
        How far the prediction is off, where the target was watched too.
    """

    label: str
    records: int
    requests: int
    record_ns: float
    record_percentiles_ns: Mapping[float, float]
    request_ns: float
    host_ns: float
    core_ns: float
    outside_ratio: float
    error: WorkloadError | None

    @property
    def busy_cores(self) -> float:
        """How many cores work on average."""
        return self.core_ns / self.request_ns


@dataclass(frozen=True)
class Prediction:
    """Workloads on the target.

    Attributes
    ----------
    model
        The model that predicts.
    workloads
        In order.
    cautions
        What limits the prediction.
    """

    model: FirmwareModel
    workloads: tuple[PredictedWorkload, ...]
    cautions: tuple[str, ...]


def predict(model: FirmwareModel, file: str, observed: Sequence[Observed]) -> Prediction:
    """Predict workloads that ran on the host.

    Parameters
    ----------
    model
        Of the target.
    file
        What the model is called, for errors.
    observed
        Records of the host.

    Raises
    ------
    UsageError
        When the model is not what `drivelab firmware train` writes, or of another host.
    """
    predictor = read_record_predictor(model.record_model, file)
    found, cautions = [], []
    for each in observed:
        times = predictor.times(each)
        cores = predicted_core_ns(model.learned, each.counted, model.target.clock_mhz)
        outside = predictor.outside(each)
        found.append(
            PredictedWorkload(
                label=each.label,
                records=len(each),
                requests=int(each.requests),
                record_ns=float(times.mean()),
                record_percentiles_ns=percentiles(times),
                request_ns=float(times.sum()) / each.requests,
                host_ns=float(each.host.column("time_ns").sum()) / each.requests,
                core_ns=float(cores.sum()) / each.requests,
                outside_ratio=outside,
                error=_error(model, each, times),
            )
        )
        if outside > _MOST_OUTSIDE:
            cautions.append(
                f"{each.label} is unlike what the model was trained on: {100 * outside:.0f} % "
                "of its records are outside the range of its training, so its times may be far "
                "off."
            )
    known = [each.label for each in found if each.error and each.label in model.workloads]
    if known:
        cautions.append(
            f"The model was trained on {', '.join(known)}: how far these are off says nothing of "
            "workloads that it has not seen."
        )
    return Prediction(model, tuple(found), tuple(cautions))


def _error(model: FirmwareModel, observed: Observed, times: Array) -> WorkloadError | None:
    """Compare with the target, if it was watched and is the model's."""
    if not isinstance(observed, Profiled):
        return None
    if observed.target.parameters != dict(model.target.parameters):
        return None
    return error_of(observed.label, observed.target.column("time_ns"), times)


def refuse_other_firmware(model: TrainedFirmware, other: TrainedFirmware, where: str) -> None:
    """Raise `UsageError` when records are of another firmware than a model's.

    Parameters
    ----------
    model, other
        Of the model, and of the records.
    where
        What holds the records.
    """
    for name, remedy in _TOLD_BY.items():
        wanted, found = getattr(model, name), getattr(other, name)
        if wanted != found:
            raise UsageError(
                f"{where} is of firmware with {name} {found}, and the model knows {wanted}: "
                f"{remedy.format(wanted)}"
            )


def refuse_other_name(model: TrainedFirmware, own: Path | None) -> None:
    """Raise `UsageError` when another firmware would be run than a model's.

    Parameters
    ----------
    model
        The model's.
    own
        The source or folder of somebody's own firmware; ``None`` is the page map.
    """
    found = BUILT_IN if own is None else firmware_name(own)
    if found == model.name and model.is_own == (own is not None):
        return
    remedy = "leave --firmware out"
    if model.is_own:
        remedy = f"name its source, --firmware {model.name}.c for example"
    raise UsageError(f"the model is of the firmware {model.name}, not of {found}: {remedy}")


def refuse_other_source(model: TrainedFirmware, own: OwnFirmware) -> None:
    """Raise `UsageError` when a firmware of the model's name is not the one it was trained with."""
    if model.mapping != own_mapping(own.source_sha256):
        raise UsageError(
            f"the source of {own.name} is not the one that the model was trained with: profile "
            "and train again, or name the original source"
        )


def prediction_values(found: Prediction) -> dict[str, Any]:
    """Return what ``--json`` prints (docs/json-firmware.md)."""
    accuracy = found.model.accuracy["records"]
    return {
        "target": found.model.target.name,
        "clock_mhz": found.model.target.clock_mhz,
        "cores": found.model.target.cores,
        "record_requests": found.model.firmware.record_requests,
        "error_ratio": accuracy.error_ratio,
        "worst_error_ratio": accuracy.worst_error_ratio,
        "cautions": list(found.cautions),
        "workloads": [
            {
                "label": each.label,
                "records": each.records,
                "requests": each.requests,
                "record_ns": each.record_ns,
                "record_ns_p50": each.record_percentiles_ns.get(50),
                "record_ns_p99": each.record_percentiles_ns.get(99),
                "record_ns_p99_9": each.record_percentiles_ns.get(99.9),
                "request_ns": each.request_ns,
                "host_ns_per_request": each.host_ns,
                "core_ns_per_request": each.core_ns,
                "busy_cores": each.busy_cores,
                "outside_ratio": each.outside_ratio,
                "measured_record_ns": None if each.error is None else each.error.measured_ns,
                "error_ratio": None if each.error is None else each.error.ratio,
            }
            for each in found.workloads
        ],
    }
