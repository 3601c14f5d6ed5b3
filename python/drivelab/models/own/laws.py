"""Results that determine each other: if one follows from another, only that one is fitted.

In a closed loop latency times throughput is the queue depth, and bandwidth is throughput times the
mean size (Little 1961; `drivelab.models.answers` does it for a drive's models). A table may use any
names and units. So a product is searched that is true of all its rows: a target is a constant times
another target, or times its inverse, times or divided by at most two input columns. Few rows would
agree with one of so many products by chance. Where all eight workload characteristics are known,
and two names say latency, throughput or bandwidth, the product is known too: few rows can confirm
it, or show that it does not hold.

Percentiles and extremes are never used, on either side: a tail that follows the mean in these rows
need not do so in others.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from drivelab.models.features import FloatArray, mean_size
from drivelab.models.own.columns import Column, are_workloads
from drivelab.models.own.names import plain, unit_of
from drivelab.models.predictor import Predictor
from drivelab.workloads.characteristics import FIELDS

#: In addition to the columns, for tables with all eight workload characteristics.
MEAN_SIZE: Final = "mean_size"
#: The one characteristic that a law may hold as it is.
DEPTH: Final = "queue_depth"
#: A law is accepted if all but one in this many rows follow it this closely: results are rounded,
#: and requests at the ends of a measurement count in one result and not in the other.
CLOSE: Final = 0.02
_BUT_ONE_IN: Final = 20
#: Largest number of columns in a law.
MOST_COLUMNS: Final = 2
#: Number of groups of rows that distinguishes a law that was searched from chance.
FEWEST_GROUPS: Final = 10
# If a target's range (on the logarithm) is smaller than this, any law would fit.
_VARIES: Final = 10 * CLOSE
# Number of rows that are checked first.
_LOOKED_AT: Final = 200
_NO_MEAN: Final = re.compile(
    r"(?:^|_)(?:p[0-9]{1,2}(?:_?[0-9]+)?|[0-9]{1,2}(?:th)?|percentile|median|max(?:imum)?|"
    r"min(?:imum)?|stddev|deviation)(?:_|$)"
)
_TINY: Final = 1e-300
_KINDS: Final = {
    "latency": re.compile(r"(?:^|_)(?:latency|lat|clat|response_time)(?:_|$)"),
    "iops": re.compile(r"(?:^|_)iops(?:_|$)"),
    "bandwidth": re.compile(r"(?:^|_)(?:bandwidth|bw|[kmg]i?bps)(?:_|$)"),
}
_KINDS_OF_UNITS: Final = {"time": "latency", "rate": "bandwidth"}
# By the kinds of the target that is fitted and of the other: sign and powers.
_DEFINITIONS: Final[dict[tuple[str, str], tuple[int, tuple[tuple[str, int], ...]]]] = {
    ("latency", "iops"): (-1, ((DEPTH, 1),)),
    ("latency", "bandwidth"): (-1, ((DEPTH, 1), (MEAN_SIZE, 1))),
    ("iops", "bandwidth"): (1, ((MEAN_SIZE, 1),)),
    ("bandwidth", "iops"): (1, ((MEAN_SIZE, -1),)),
}


@dataclass(frozen=True)
class Law:
    """How a target follows from another, on the natural logarithm.

    Attributes
    ----------
    target
        The other, which is fitted.
    sign
        1 where it follows from the target, -1 where from its inverse.
    powers
        Pairs of a column and its power, 1 or -1; the column may be `MEAN_SIZE`.
    constant
        Natural logarithm of the factor that units bring.
    """

    target: str
    sign: int
    powers: tuple[tuple[str, int], ...]
    constant: float

    def describe(self) -> str:
        """Write it as a formula without its constant, such as ``iodepth / latency_us``."""
        parts = [(self.target, self.sign), *self.powers]
        above = [name for name, power in parts if power > 0]
        below = [name for name, power in parts if power < 0]
        return " / ".join([" x ".join(above) or "1", *below])

    def to_json(self) -> dict[str, Any]:
        """Return the values under their names."""
        return {
            "target": self.target,
            "sign": self.sign,
            "powers": [{"column": name, "power": power} for name, power in self.powers],
            "constant": self.constant,
        }


class Follower:
    """What follows by a law from what a predictor says.

    Parameters
    ----------
    predictor
        Of the logarithm of the law's target.
    law
        How it follows.
    columns
        Of the tables that it is asked for.
    """

    def __init__(self, predictor: Predictor, law: Law, columns: Sequence[Column]) -> None:
        self.predictor = predictor
        self._law = law
        self._columns = columns

    def predict(self, table: FloatArray) -> FloatArray:
        """Return one value a row."""
        return followed(self._law, self._columns, table, self.predictor.predict(table))

    def to_json(self) -> dict[str, Any]:
        """Return what describes the predictor, without the law."""
        return self.predictor.to_json()


def followed(
    law: Law, columns: Sequence[Column], table: FloatArray, logarithms: FloatArray
) -> FloatArray:
    """Return what follows from logarithms of the law's target, shape (n,)."""
    factors = _factors(columns, table)
    found: FloatArray = law.constant + law.sign * logarithms
    for name, power in law.powers:
        found = found + power * factors[name]
    return found


def factor_names(columns: Sequence[Column]) -> tuple[str, ...]:
    """Return what a law may hold: columns of numbers above 0 that no row lacks.

    Of the eight workload characteristics only the queue depth, and the mean size: bandwidth follows
    from the size of all requests, and where reads and writes have one size in every row, a law with
    one of the two would be as true there and wrong elsewhere.
    """
    numbers = [one.name for one in columns if one.low > 0 and not one.may_miss]
    if not are_workloads(columns):
        return tuple(numbers)
    return (*(name for name in numbers if name == DEPTH or name not in FIELDS), MEAN_SIZE)


def may_follow(name: str) -> bool:
    """Return whether a target is one that may follow from others, or others from it."""
    return _NO_MEAN.search(plain(name)) is None


def times_first(names: Sequence[str]) -> list[str]:
    """Return targets in the order in which they are fitted: times are what others follow from."""
    return sorted(names, key=lambda name: unit_of(name)[1].kind != "time")


def defined_law(
    names: tuple[str, str],
    logarithms: FloatArray,
    other: FloatArray,
    columns: Sequence[Column],
    table: FloatArray,
) -> Law | None:
    """Return how a target follows from one by definition, if it does in these rows.

    Only for tables with all eight workload characteristics, and for latency, throughput and
    bandwidth, which names and units tell apart.

    Parameters
    ----------
    names
        Of the one and of the other.
    logarithms
        Of the one, shape (n,).
    other
        Logarithms of the other in the same rows.
    columns, table
        What models see of these rows, shape (n, columns).
    """
    if not are_workloads(columns) or min(np.ptp(other), np.ptp(logarithms)) < _VARIES:
        return None
    definition = _DEFINITIONS.get((_kind_of(names[0]), _kind_of(names[1])))
    factors = _factors(columns, table)
    if definition is None or any(factor not in factors for factor, _ in definition[1]):
        return None
    sign, powers = definition
    left = other - sign * logarithms - _product(factors, powers)
    if _apart(left) > CLOSE:
        return None
    return Law(names[0], sign, powers, float(np.median(left)))


def _kind_of(name: str) -> str:
    """Return latency, iops or bandwidth, or nothing where a name says none of these."""
    unit = _KINDS_OF_UNITS.get(unit_of(name)[1].kind)
    found = [kind for kind, said in _KINDS.items() if said.search(plain(name))]
    return unit or (found[0] if len(found) == 1 else "")


def find_law(
    target: str,
    logarithms: FloatArray,
    other: FloatArray,
    columns: Sequence[Column],
    table: FloatArray,
) -> Law | None:
    """Find how another target follows from one; None where it does not.

    Of several laws with as few columns the one counts that leaves the least.

    Parameters
    ----------
    target
        The name of the one.
    logarithms
        Of the one, shape (n,).
    other
        Logarithms of the other in the same rows.
    columns, table
        What models see of these rows, shape (n, columns).
    """
    if min(np.ptp(other), np.ptp(logarithms)) < _VARIES:
        return None
    factors = {
        name: values
        for name, values in _factors(columns, table).items()
        # What never changes is a part of the constant.
        if np.ptp(values) > 0
    }
    some = np.linspace(0, len(other) - 1, min(len(other), _LOOKED_AT)).astype(np.int64)
    first = {name: values[some] for name, values in factors.items()}
    for count in range(MOST_COLUMNS + 1):
        found: list[tuple[float, Law]] = []
        for sign, powers in _laws(tuple(factors), count):
            if _apart(other[some] - sign * logarithms[some] - _product(first, powers)) <= CLOSE:
                left = other - sign * logarithms - _product(factors, powers)
                law = Law(target, sign, powers, float(np.median(left)))
                found.append((_apart(left), law))
        best = min(found, key=lambda one: one[0], default=None)
        if best is not None and best[0] <= CLOSE:
            return best[1]
    return None


def _laws(names: Sequence[str], count: int) -> Iterator[tuple[int, tuple[tuple[str, int], ...]]]:
    """Yield every form of a law with so many columns."""
    for held in itertools.combinations(names, count):
        for powers in itertools.product((1, -1), repeat=count):
            for sign in (-1, 1):
                yield sign, tuple(zip(held, powers, strict=True))


def _product(factors: Mapping[str, FloatArray], powers: Sequence[tuple[str, int]]) -> Any:
    return sum(power * factors[name] for name, power in powers)


def _apart(left: FloatArray) -> float:
    """Return how far what a law leaves of the logarithms is from the same in nearly all rows."""
    apart = np.sort(np.abs(left - np.median(left)))
    return float(apart[len(apart) - 1 - len(apart) // _BUT_ONE_IN])


def _factors(columns: Sequence[Column], table: FloatArray) -> dict[str, FloatArray]:
    """Return logarithms of what a law may hold, by name; all are above 0, or asking is refused."""
    places = {column.name: place for place, column in enumerate(columns)}
    values = {
        name: mean_size(table[:, : len(FIELDS)]) if name == MEAN_SIZE else table[:, places[name]]
        for name in factor_names(columns)
    }
    return {name: np.log(np.maximum(one, _TINY)) for name, one in values.items()}
