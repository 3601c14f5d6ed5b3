"""The bottleneck model: what a drive's time goes to, as a formula that people can read.

In a closed loop the mean time from one completion to the next is the latency over the queue depth.
It cannot be shorter than what the busiest part needs for a request::

    path    latency of one request alone / depth^a   what a request waits for, shared by the depth
    link    per request, and per byte either way     one at a time: commands, the interface
    units   per page, times the imbalance            flash units, or heads, that work in parallel

    time = (path^p + link^p + units^p)^(1/p)

Each is a sum of costs of reads and of writes, by their properties (`drivelab.models.work`):
requests, pages touched, pages left partly written, bytes, random share (a disk's positioning, a
flash drive's collection), bytes passed over. The costs are fitted to logarithms by least squares
with a soft L1 loss. A weak prior keeps costs small that no workload determines. The largest part is
what limits a workload.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Final, Self

import numpy as np

from drivelab.checked_json import Node
from drivelab.models.features import PAGE_BYTES, FeatureSet, FloatArray
from drivelab.models.predictor import Estimator, Predictor
from drivelab.models.work import STRIPES, Direction, Stripes
from drivelab.workloads.characteristics import FIELDS

#: The parts, in the order of `Bottleneck.parts`.
PARTS: Final = ("path", "link", "units")
# Logarithms of costs in ns, from the fastest workloads' time of a request: where the search begins.
_START: Final = {
    "path_read": 3.0,
    "path_read_page": 1.0,
    "path_write": 2.0,
    "path_write_page": 1.0,
    "path_write_partial": 1.0,
    "path_mixed": 1.0,
    "path_read_random": 0.0,
    "path_write_random": 0.0,
    "link_read": -1.0,
    "link_write": -1.0,
    "link_page": 0.0,
    "unit_read": -1.0,
    "unit_write": 0.0,
    "unit_partial": 0.0,
    "unit_write_random": -1.0,
    "unit_skipped": -4.0,
}
#: Of costs in ns, then the shape of the two: the power of the depth and of the norm.
PARAMETERS: Final = (*_START, "depth_power", "norm_power")
_DEPTH: Final = (2.0, -4.0, 6.0)
_NORM: Final = (1.0, -1.0, 2.5)
_REACH: Final = 10.0
_PULL: Final = 0.02
_SOFT: Final = 0.1
_STEPS: Final = 60
# More rows do not determine the costs any better.
_MOST_ROWS: Final = 1000
# Pages that are passed over: a disk waits a revolution at most.
_MOST_SKIPPED: Final = 64.0
_DEPTH_COLUMN: Final = FIELDS.index("queue_depth")


@dataclass(frozen=True)
class Bottleneck:
    """The fitted formula.

    Attributes
    ----------
    parameters
        Logarithms of the costs in ns and the two powers, in the order of `PARAMETERS`.
    stripes
        Stripe of sequential accesses over the units; None if it is not known.
    """

    kind: ClassVar[str] = "bottleneck"

    parameters: FloatArray
    stripes: Stripes | None = None

    def predict(self, table: FloatArray) -> FloatArray:
        """Return the logarithm of latency over queue depth in ns, shape (n,)."""
        time: FloatArray = self.parts(table)[0]
        return time

    def parts(self, table: FloatArray) -> FloatArray:
        """Return the logarithms of the time and of its parts `PARTS`, in ns, shape (4, n)."""
        return _parts(self.parameters, _Work.of(table, self.stripes))

    def cost_ns(self, name: str) -> float:
        """Return a cost, one of `PARAMETERS` but the powers, in ns."""
        return float(np.exp(self.parameters[PARAMETERS.index(name)]))

    def limiting(self, table: FloatArray) -> dict[str, float]:
        """Return by part the share of the workloads that it limits: there it is the largest."""
        largest = np.argmax(self.parts(table)[1:], axis=0)
        return {part: float(np.mean(largest == place)) for place, part in enumerate(PARTS)}

    def to_json(self) -> dict[str, Any]:
        """Return the parameters and the stripes."""
        return {
            "kind": self.kind,
            "parameters": dict(zip(PARAMETERS, self.parameters.tolist(), strict=True)),
            "stripes": stripes_json(self.stripes),
        }

    @classmethod
    def from_json(cls, node: Node, features: FeatureSet) -> Self:
        """Read what `to_json` gave."""
        del features  # it sees the workloads themselves
        parameters = node.of("parameters")
        values = np.array([parameters.of(name).number() for name in PARAMETERS])
        if not (np.abs(values) <= 100).all():
            parameters.refuse("logarithms of costs, from -100 to 100")
        return cls(values, stripes_of(node.of("stripes")))


def stripes_json(stripes: Stripes | None) -> dict[str, int] | None:
    """Return stripes for a model's file."""
    return None if stripes is None else vars(stripes).copy()


def stripes_of(node: Node) -> Stripes | None:
    """Read what `stripes_json` gave."""
    if node.value is None:
        return None
    found = Stripes(node.of("units").integer(2, 2**16), node.of("stripe_bytes").integer(1, 2**40))
    if found not in STRIPES:
        node.refuse("stripes that are tried")
    return found


def fit_bottleneck(
    table: FloatArray,
    targets: FloatArray,
    *,
    stripes: Stripes | None = None,
    start: Bottleneck | None = None,
) -> Bottleneck:
    """Fit the formula.

    Parameters
    ----------
    table
        Workloads in effect, shape (n, 8).
    targets
        Logarithms of latency over queue depth in ns, shape (n,).
    stripes
        Of the drive, where known.
    start
        A fit to nearly the same rows: the search begins there.
    """
    from scipy.optimize import least_squares

    if len(table) > _MOST_ROWS:
        some = np.linspace(0, len(table) - 1, _MOST_ROWS).astype(int)
        table, targets = table[some], targets[some]
    fastest = float(np.quantile(targets, 0.1))
    usual = np.array([*(fastest + value for value in _START.values()), _DEPTH[0], _NORM[0]])
    low, high = usual - _REACH, usual + _REACH
    low[-2:], high[-2:] = (_DEPTH[1], _NORM[1]), (_DEPTH[2], _NORM[2])
    work = _Work.of(table, stripes)

    def off(parameters: FloatArray) -> FloatArray:
        return np.concatenate([_parts(parameters, work)[0] - targets, _PULL * (parameters - usual)])

    begin = usual if start is None else np.clip(start.parameters, low + 1e-6, high - 1e-6)
    found = least_squares(
        off,
        begin,
        bounds=(low, high),
        loss="soft_l1",
        f_scale=_SOFT,
        max_nfev=_STEPS if start is None else _STEPS // 4,
    )
    return Bottleneck(found.x, stripes)


@dataclass(frozen=True)
class _Work:
    """What the formula sees of workloads."""

    depth: FloatArray
    read: Direction
    write: Direction
    read_uneven: FloatArray
    write_uneven: FloatArray

    @classmethod
    def of(cls, table: FloatArray, stripes: Stripes | None) -> _Work:
        read, write = Direction.of(table, "read"), Direction.of(table, "write")
        uneven = [
            np.ones(len(table))
            if stripes is None
            else 1 + (1 - one.random) * (stripes.imbalance(one.size, one.stride) - 1)
            for one in (read, write)
        ]
        return cls(table[:, _DEPTH_COLUMN], read, write, *uneven)


def _parts(parameters: FloatArray, work: _Work) -> FloatArray:
    read, write = work.read, work.write
    cost = dict(zip(PARAMETERS, np.exp(parameters).tolist(), strict=True))
    shared = 1 / (1 + np.exp(-parameters[-2]))
    power = 1 + cost["norm_power"]
    path = read.share * (
        cost["path_read"]
        + cost["path_read_page"] * read.pages
        + cost["path_read_random"] * read.random
        + cost["path_mixed"] * write.share
    ) + write.share * (
        cost["path_write"]
        + cost["path_write_page"] * write.pages
        + cost["path_write_partial"] * write.merged_partial
        + cost["path_write_random"] * write.random
    )
    moved = (read.share * read.size + write.share * write.size) / PAGE_BYTES
    link = (
        read.share * cost["link_read"]
        + write.share * cost["link_write"]
        + cost["link_page"] * moved
    )
    skipped = sum(
        one.share * np.minimum((1 - one.random) * one.stride / PAGE_BYTES, _MOST_SKIPPED)
        for one in (read, write)
    )
    units = (
        read.share * cost["unit_read"] * read.merged * work.read_uneven
        + write.share
        * (cost["unit_write"] * write.merged + cost["unit_partial"] * write.merged_partial)
        * work.write_uneven
        + write.share * cost["unit_write_random"] * write.pages * write.random
        + cost["unit_skipped"] * skipped
    )
    parts = np.stack([np.log(path) - shared * np.log(work.depth), np.log(link), np.log(units)])
    time = np.logaddexp.reduce(power * parts, axis=0) / power
    return np.concatenate([time[np.newaxis], parts])


def _fit(
    features: FeatureSet, table: FloatArray, targets: FloatArray, noise: FloatArray, seed: int
) -> Predictor:
    del features, noise, seed  # it sees the workloads themselves, and draws nothing
    return fit_bottleneck(table, targets)


BOTTLENECK: Final = Estimator("bottleneck model", _fit, Bottleneck, features=("extended",))
