"""What predicts the records of a workload on the target from what was seen on the host."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from drivelab.checked_json import MismatchError, Node
from drivelab.errors import UsageError
from drivelab.firmware.profiled import INPUTS
from drivelab.firmware.record_models import RECORD_MODELS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from drivelab.firmware.profiled import Observed
    from drivelab.firmware.record_models import RecordModel

    Array = NDArray[np.float64]

#: What it is given: events, as in Lee et al. 2021.
INPUT_KIND: Final = "events"
# An input is outside if it is beyond the learned range by more than this share of the range.
_MARGIN: Final = 0.1


@dataclass(frozen=True)
class RecordPredictor:
    """A model of records with what it was learned from.

    Attributes
    ----------
    model
        The model that predicts.
    low, high
        Least and most of each input that was learned from, shape (inputs,).
    host
        Parameters of the host whose events these are.
    """

    model: RecordModel
    low: Array
    high: Array
    host: Mapping[str, Any]

    @classmethod
    def of(cls, model: RecordModel, profiles: Sequence[Observed]) -> RecordPredictor:
        """Put a model together with the range of what it was learned from."""
        inputs = np.vstack([_inputs(each) for each in profiles])
        host = profiles[0].host.parameters
        return cls(model, inputs.min(axis=0), inputs.max(axis=0), host)

    def times(self, observed: Observed) -> Array:
        """Return the predicted times of records, ns, shape (records,).

        Raises
        ------
        UsageError
            When the events are of another host.
        """
        if observed.host.parameters != dict(self.host):
            raise UsageError(
                f"events of {observed.label} are of another host than those that the model was "
                "trained on; train it again: drivelab firmware train RUN --out MODEL.json"
            )
        return self.model(_inputs(observed))

    def outside(self, observed: Observed) -> float:
        """Return the share of records of which an event is beyond what was learned from."""
        inputs = _inputs(observed)
        low, high = self.low * (1 - _MARGIN), self.high * (1 + _MARGIN)
        return float(((inputs < low) | (inputs > high)).any(axis=1).mean())

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "kind": self.model.kind,
            "inputs": [name for _, name in INPUTS[INPUT_KIND]],
            "low": self.low.tolist(),
            "high": self.high.tolist(),
            "host": dict(self.host),
            "model": self.model.to_json(),
        }


def read_record_predictor(values: Mapping[str, Any], file: str) -> RecordPredictor:
    """Read the ``record_model`` of a model's file.

    Raises
    ------
    UsageError
        When it is not what is written there.
    """
    try:
        return _read(Node(dict(values), "record_model"))
    except MismatchError as error:
        raise UsageError(f"{file} is not a model of firmware that can be read: {error}") from error


def _read(node: Node) -> RecordPredictor:
    kind = node.of("kind").choice(tuple(RECORD_MODELS))
    names = [name for _, name in INPUTS[INPUT_KIND]]
    if node.of("inputs").value != names:
        node.of("inputs").refuse("what this Drivelab sees of a record")
    host = node.of("host").value
    if not isinstance(host, dict):
        node.of("host").refuse("an object")
    return RecordPredictor(
        RECORD_MODELS[kind](node.of("model"), len(names)),
        node.of("low").numbers(len(names)),
        node.of("high").numbers(len(names)),
        host,
    )


def _inputs(observed: Observed) -> Array:
    return observed.inputs(INPUTS[INPUT_KIND])
