"""A process of a surface: the inputs that it sees, and its numbers in a model's file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np

from drivelab.checked_json import Node
from drivelab.models.features import FloatArray
from drivelab.models.predictor import IntArray

if TYPE_CHECKING:
    from drivelab.models.gaussian_process import Process
    from drivelab.models.kriging import KrigingRegressor

# Standard deviations of an input beyond those trained on that slopes follow.
_BEYOND: Final = 2.0
_NUMBERS: Final = ("amplitude", "slope", "nugget", "target_centre", "target_scale")
_ARRAYS: Final = {
    "lengths": "inputs",
    "centre": "inputs",
    "scale": "inputs",
    "weights": "rows",
    "noise": "rows",
}


@dataclass(frozen=True)
class View:
    """A fitted process that sees some of the inputs.

    Attributes
    ----------
    columns
        The inputs that it sees.
    weight
        Its share of the answer.
    numbers
        Of the fitted `KrigingRegressor`, as `_NUMBERS` and `_ARRAYS` name them, and its rows.
    """

    columns: IntArray
    weight: float
    numbers: dict[str, Any]

    @classmethod
    def of(
        cls, columns: IntArray, weight: float, fitted: KrigingRegressor, noise: FloatArray
    ) -> Self:
        """Take what a fitted regressor found."""
        process = fitted.process_
        numbers = {
            "amplitude": process.amplitude,
            "slope": process.slope,
            "nugget": process.nugget,
            "target_centre": fitted.target_centre_,
            "target_scale": fitted.target_scale_,
            "lengths": process.lengths,
            "centre": fitted.centre_,
            "scale": fitted.scale_,
            "weights": fitted.weights_,
            "noise": noise,
            # In the order in which a file has them, so that sums are the same to the bit.
            "rows": np.ascontiguousarray(fitted.rows_),
        }
        return cls(columns, weight, numbers)

    @property
    def process(self) -> Process:
        """The process itself."""
        from drivelab.models.gaussian_process import Process

        numbers = self.numbers
        return Process(
            numbers["amplitude"], numbers["slope"], numbers["nugget"], numbers["lengths"]
        )

    def answers(self, inputs: FloatArray) -> FloatArray:
        """Return the distance from the mean for each row of all inputs, shape (n,)."""
        from drivelab.models.gaussian_process import answers

        numbers = self.numbers
        standard = answers(
            self.process, self._standard(inputs), numbers["rows"], numbers["weights"]
        )
        found: FloatArray = numbers["target_centre"] + numbers["target_scale"] * standard
        return found

    def deviation(self, inputs: FloatArray) -> FloatArray:
        """Return the standard deviation of each answer, shape (n,)."""
        from drivelab.models.gaussian_process import root_of, solved

        process, numbers = self.process, self.numbers
        noise = numbers["noise"] / (numbers["target_scale"] or 1.0) ** 2
        root = root_of(process, numbers["rows"], noise)
        asked = self._standard(inputs)
        shared = process.covariance(numbers["rows"], asked)
        explained = (solved(root, shared) ** 2).sum(axis=0)
        variance = np.maximum(process.variance(asked) - explained, 0.0)
        found: FloatArray = numbers["target_scale"] * np.sqrt(variance + process.nugget)
        return found

    def _standard(self, inputs: FloatArray) -> FloatArray:
        """Return its standardised inputs, those far beyond what was trained taken for the nearest.

        An input that hardly varied in training may be a thousand standard deviations off, and
        slopes would follow it.
        """
        numbers = self.numbers
        low, high = numbers["rows"].min(axis=0), numbers["rows"].max(axis=0)
        found: FloatArray = (inputs[:, self.columns] - numbers["centre"]) / numbers["scale"]
        return np.clip(found, low - _BEYOND, high + _BEYOND)

    def to_json(self) -> dict[str, Any]:
        """Return every number."""
        return {
            "columns": self.columns.tolist(),
            "weight": self.weight,
            **{name: np.asarray(self.numbers[name]).tolist() for name in (*_NUMBERS, *_ARRAYS)},
            "rows": self.numbers["rows"].tolist(),
        }

    @classmethod
    def from_json(cls, node: Node, inputs: int) -> Self:
        """Read what `to_json` gave, for this number of inputs."""
        columns = [item.integer(0, inputs - 1) for item in node.of("columns").items()]
        if not columns or columns != sorted(set(columns)):
            node.of("columns").refuse("numbers of inputs in their order, each once")
        numbers: dict[str, Any] = {name: node.of(name).number() for name in _NUMBERS}
        rows = [row.numbers() for row in node.of("rows").items()]
        if not rows or {len(row) for row in rows} != {len(columns)}:
            node.of("rows").refuse(f"rows of {len(columns)} inputs")
        numbers["rows"] = np.array(rows)
        for name, count in _ARRAYS.items():
            length = len(columns) if count == "inputs" else len(rows)
            numbers[name] = node.of(name).numbers(length)
        for name in ("amplitude", "slope", "nugget", "lengths", "scale"):
            if not (np.asarray(numbers[name]) > 0).all():
                node.of(name).refuse("above 0")
        if not (numbers["noise"] >= 0).all() or numbers["target_scale"] < 0:
            node.of("noise").refuse("0 or more")
        weight = node.of("weight").number()
        if not 0 <= weight <= 1:
            node.of("weight").refuse("from 0 to 1")
        return cls(np.array(columns), weight, numbers)
