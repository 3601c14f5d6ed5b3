"""Models that predict a record's time, as plain numbers that are saved and read again.

A line and a Gaussian process need a few numbers and no library::

    scaled    = (inputs - centre) / spread                 inputs: as they are, or their logarithms
    line      = intercept + coefficients . scaled
    kriging   = sum over rows w_i (a M(|scaled - row_i| / length) + b (o^2 + scaled . row_i))
                M: Matern 5/2 (Rasmussen and Williams 2006, equation 4.17)
    time      = mean times the answer, or times its exponential; between the least and the most
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np

from drivelab.one_thread import one_thread

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from drivelab.checked_json import Node

    Array = NDArray[np.float64]

_FLOOR: Final = 0.1
_CEILING: Final = 10.0
#: Of a file: beyond it the answers would take long.
_MOST_ROWS: Final = 5000


class RecordModel(Protocol):
    """Predicts times of records."""

    @property
    def kind(self) -> str:
        """What it is: a key of `RECORD_MODELS`."""
        ...

    def __call__(self, inputs: Array) -> Array:
        """Return times, ns, shape (n,), for inputs of shape (n, inputs)."""
        ...

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        ...


@dataclass(frozen=True)
class Scale:
    """How inputs and times are brought to about 1.

    Attributes
    ----------
    centre, spread
        Of each input, or of the logarithm of 1 and it.
    mean_ns
        Mean time.
    least_ns, most_ns
        A tenth of the least time that was seen, because no firmware is free; ten times the most,
        because exponentials have no end.
    is_logarithm
        Whether logarithms of inputs and times are used.
    """

    centre: Array
    spread: Array
    mean_ns: float
    least_ns: float
    most_ns: float
    is_logarithm: bool

    @classmethod
    def of(cls, inputs: Array, times: Array, *, is_logarithm: bool) -> Scale:
        """Find it for inputs, shape (n, inputs), and times, shape (n,)."""
        amounts = np.log1p(inputs) if is_logarithm else inputs
        spread = amounts.std(axis=0)
        return cls(
            amounts.mean(axis=0),
            np.where(spread > 0, spread, 1.0),
            float(times.mean()),
            _FLOOR * float(times.min()),
            _CEILING * float(times.max()),
            is_logarithm,
        )

    def inputs(self, asked: Array) -> Array:
        """Scale inputs."""
        found: Array = ((np.log1p(asked) if self.is_logarithm else asked) - self.centre) / (
            self.spread
        )
        return found

    def wanted(self, times: Array) -> Array:
        """Scale times."""
        relative: Array = times / self.mean_ns
        return np.log(relative) if self.is_logarithm else relative

    def times(self, answer: Array) -> Array:
        """Return times for scaled ones."""
        relative = np.exp(answer) if self.is_logarithm else answer
        found: Array = np.clip(self.mean_ns * relative, self.least_ns, self.most_ns)
        return found

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "centre": self.centre.tolist(),
            "spread": self.spread.tolist(),
            "mean_ns": self.mean_ns,
            "least_ns": self.least_ns,
            "most_ns": self.most_ns,
            "is_logarithm": self.is_logarithm,
        }

    @classmethod
    def from_json(cls, node: Node, inputs: int) -> Scale:
        """Read it; a `MismatchError` says what is wrong."""
        names = ("least_ns", "mean_ns", "most_ns")
        least, mean, most = (node.of(name).number() for name in names)
        if not 0 < least <= mean <= most:
            node.of("mean_ns").refuse("between least_ns, which is above 0, and most_ns")
        return cls(
            node.of("centre").numbers(inputs),
            node.of("spread").positive_numbers(inputs),
            mean,
            least,
            most,
            node.of("is_logarithm").boolean(),
        )


@dataclass(frozen=True)
class Line:
    """A straight line in every input."""

    scale: Scale
    intercept: float
    coefficients: Array
    kind: str = "linear"

    def __call__(self, inputs: Array) -> Array:
        """See `RecordModel`."""
        with one_thread():
            return self.scale.times(self.intercept + self.scale.inputs(inputs) @ self.coefficients)

    def to_json(self) -> dict[str, Any]:
        """See `RecordModel`."""
        return {
            "scale": self.scale.to_json(),
            "intercept": self.intercept,
            "coefficients": self.coefficients.tolist(),
        }

    @classmethod
    def from_json(cls, node: Node, inputs: int) -> Line:
        """Read it; a `MismatchError` says what is wrong."""
        return cls(
            Scale.from_json(node.of("scale"), inputs),
            node.of("intercept").number(),
            node.of("coefficients").numbers(inputs),
        )


@dataclass(frozen=True)
class Kriged:
    """The mean of a Gaussian process.

    Attributes
    ----------
    scale
        Of inputs and times.
    rows, weights
        Scaled inputs that were learned from, shape (rows, inputs), and what each weighs.
    smooth, length
        Variance and length of the smooth part.
    straight, offset
        Variance of the straight lines, and where they meet.
    """

    scale: Scale
    rows: Array
    weights: Array
    smooth: float
    length: float
    straight: float
    offset: float
    kind: str = "kriging"

    def __call__(self, inputs: Array) -> Array:
        """See `RecordModel`."""
        with one_thread():
            asked = self.scale.inputs(inputs)
            both = asked @ self.rows.T
            squares = (asked**2).sum(axis=1)[:, None] + (self.rows**2).sum(axis=1) - 2 * both
            far = np.sqrt(5 * np.maximum(squares, 0)) / self.length
            smooth = (1 + far + far**2 / 3) * np.exp(-far)
            covariance = self.smooth * smooth + self.straight * (self.offset**2 + both)
            return self.scale.times(covariance @ self.weights)

    def to_json(self) -> dict[str, Any]:
        """See `RecordModel`."""
        return {
            "scale": self.scale.to_json(),
            "rows": self.rows.tolist(),
            "weights": self.weights.tolist(),
            "parameters": [self.smooth, self.length, self.straight, self.offset],
        }

    @classmethod
    def from_json(cls, node: Node, inputs: int) -> Kriged:
        """Read it; a `MismatchError` says what is wrong."""
        rows = [one.numbers(inputs) for one in node.of("rows").items()]
        if not 0 < len(rows) <= _MOST_ROWS:
            node.of("rows").refuse(f"a list of 1 to {_MOST_ROWS} rows")
        smooth, length, straight, offset = node.of("parameters").positive_numbers(4)
        return cls(
            Scale.from_json(node.of("scale"), inputs),
            np.array(rows),
            node.of("weights").numbers(len(rows)),
            float(smooth),
            float(length),
            float(straight),
            float(offset),
        )


#: By kind what reads one.
RECORD_MODELS: Final[dict[str, Callable[[Node, int], RecordModel]]] = {
    "linear": Line.from_json,
    "kriging": Kriged.from_json,
}
