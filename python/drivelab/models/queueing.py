"""The queueing model: a closed loop of requests over a link, a buffer and parallel units.

The core replays a few hundred requests of a workload (`crates/queueing`) at their real addresses,
on a drive with a `Layout`, which is a few counts and switches, and fourteen costs::

    path_read, path_write               after a read's data; after a write is in the buffer
    link_read, link_write               a command;   link_read_page, link_write_page   4 KiB
    channel                             a page on its way to or from a unit
        read, read_again                    a page; one that the previous read ended in
        program, program_again              a page; one that the previous write ended in
        partial, program_random             extra for a partly written page; for a random write
        read_waits                          for a running program, if reads go first

and two factors for slower programs under small and under large random writes. They describe a
settled drive, in which garbage collection follows every program.

The time of a loop is a sum of these costs along its critical path, so the derivative of its
logarithm by that of a cost is the cost's share of the time. It is used to fit the costs, by least
squares with a soft L1 loss. The layout is searched: from several starting points, one change after
the other, each kept if it explains more. Kriging sees the costs that take the time, and their
shares.
"""

from __future__ import annotations

import dataclasses
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Self

import numpy as np

from drivelab import _core
from drivelab.checked_json import Node
from drivelab.models.features import PAGE_BYTES, FloatArray
from drivelab.models.work import kinds_of_writing
from drivelab.workloads.characteristics import FIELDS

# The costs, in the order of the core.
_OF_CORE: Final = (
    *("path_read", "path_write", "link_read", "link_write", "link_read_page", "link_write_page"),
    *("channel", "read", "read_again", "program", "program_again", "partial", "program_random"),
    "read_waits",
)
# Factors for programs in a drive that had random writes for long, in small and in large pieces; and
# the core's costs that they apply to.
_FACTORS: Final = ("small_anywhere", "large_anywhere")
_LENGTHENED: Final = ("program", "program_again")
_PLACES: Final = [_OF_CORE.index(name) for name in _LENGTHENED]
#: What is fitted: the costs, and the two factors.
COSTS: Final = (*_OF_CORE, *_FACTORS)
_COLUMN: Final = {name: number for number, name in enumerate(FIELDS)}
# Approximate number of replayed requests: for an answer, while costs settle, for layouts with one
# change, and for those at the start of the search.
_REQUESTS: Final = 768
_SETTLING: Final = 128
_CHANGED: Final = 64
_BEGUN: Final = 48
# Number of replayed rows for the same purposes; more improve neither costs nor layouts.
_MOST_ROWS: Final = 500
_CHANGED_ROWS: Final = 200
_BEGUN_ROWS: Final = 120
# Rounds of a search for costs: with nearly full weight for far rows, and with hardly any.
_ROUNDS: Final = 5
_SOFT, _SOFTER = 0.1, 0.3
# Logarithms of costs are drawn a little to where the search begins, and stay this near.
_PULL: Final = 0.02
_REACH: Final = 10.0
# Damping of a search's first step, as if this many workloads confirmed each cost.
_DAMPING: Final = 0.3
# Number of layouts that are followed for each way in which writes may go, or in addition to the one
# found without factors; number of those that are finished with more requests. A change is kept if
# it lowers the loss to this share.
_FOLLOWED: Final = 3
_FOLLOWED_WITH_FACTORS: Final = 1
_FINISHED: Final = 2
_WORTH: Final = 0.98
# Factors are kept if they lower the loss to this share.
_MARKED: Final = 0.92
_PASSES: Final = 3
# Fewer rows, two for each cost, do not show how a drive is built.
_FEWEST_ROWS: Final = 2 * len(COSTS)
# A share of the time that varies less than this between workloads carries no information.
_LEAST_SHARE: Final = 1e-3
# Costs of units grow with their number where the time of them all stays the same; half of it does.
_OF_UNITS: Final = ("read", "read_again", "program", "program_again", "partial", "program_random")


@dataclass(frozen=True)
class Layout:
    """The structure of a drive, as `drivelab._core.replay_loops` takes it.

    Attributes
    ----------
    units
        That work at the same time, of all members.
    page_bytes
        Consecutive bytes on one unit, read and written as a whole.
    members
        Of an array, each with a link and a buffer.
    buffer_pages
        That wait for their program.
    channels
        Ways to the units; 0 where none is shared.
    writes_in_turn
        Whether a page that is written goes to the next unit, wherever its address is.
    reads_first
        Whether reads pass programs.
    merges
        Whether what is written to a page again costs no further place in the buffer.
    caches_reads
        Whether a page that is read again needs no unit.
    reads_ahead
        Whether reads in order begin before they are asked for.
    duplex
        Whether data crosses the link both ways at once.
    """

    units: int = 16
    page_bytes: int = 4096
    members: int = 1
    buffer_pages: int = 64
    channels: int = 0
    writes_in_turn: bool = False
    reads_first: bool = False
    merges: bool = False
    caches_reads: bool = False
    reads_ahead: bool = False
    duplex: bool = False


# What the core replays, far beyond any drive; a stranger question is answered like the nearest.
_LEAST: Final = np.array([512.0 if name.endswith("_size") else 0.0 for name in FIELDS])
_MOST: Final = np.array(
    [1e9 if name == "queue_depth" else 1e12 if "_s" in name else 1.0 for name in FIELDS]
)
#: Values that are tried for each count and switch.
TRIED: Final[dict[str, tuple[int, ...] | tuple[bool, ...]]] = {
    "page_bytes": (4096, 8192, 16384, 32768),
    "units": (1, 2, 3, 4, 6, 8, 10, 12, 16, 20, 24, 32, 40, 48, 64),
    "members": (1, 2, 4),
    "reads_first": (False, True),
    "writes_in_turn": (False, True),
    "channels": (0, 2, 4, 8, 16),
    "buffer_pages": (0, 16, 64, 256),
    "caches_reads": (False, True),
    "reads_ahead": (False, True),
    "merges": (False, True),
    "duplex": (False, True),
}
# Where the search begins: each as it is, and with the switches that change most.
_BEGINNINGS: Final = tuple(
    dataclasses.replace(layout, reads_first=reads_first, writes_in_turn=in_turn)
    for layout in (
        Layout(8),
        Layout(20),
        Layout(64),
        Layout(40, members=2),
        Layout(8, 16384),
        Layout(24, 16384),
        Layout(64, 16384, channels=8),
    )
    for reads_first in (False, True)
    for in_turn in (False, True)
)


@dataclass(frozen=True)
class Queueing:
    """A fitted loop.

    Attributes
    ----------
    layout
        The likeliest of those tried.
    parameters
        Logarithms of the costs in ns, in the order of `COSTS`.
    told
        The costs whose share of the time varied between the workloads of the fit.
    """

    layout: Layout
    parameters: FloatArray
    told: tuple[str, ...] = COSTS

    def inputs(self, table: FloatArray) -> FloatArray:
        """Return the logarithm of latency over queue depth in ns, then shares, shape (n, 1 + k)."""
        time, shares = _replayed(table, self.layout, self.parameters, _REQUESTS)
        places = [COSTS.index(name) for name in self.told]
        return np.column_stack([time, shares[:, places]])

    def latency_ns(self, table: FloatArray) -> FloatArray:
        """Return the mean latency of closed loops in ns, shape (n,)."""
        time = _replayed(table, self.layout, self.parameters, _REQUESTS)[0]
        latency: FloatArray = np.exp(time) * table[:, _COLUMN["queue_depth"]]
        return latency

    def costs_of(self, table: FloatArray) -> FloatArray:
        """Return the core's costs in ns for each workload, by how it writes, shape (n, 14)."""
        kinds = kinds_of_writing(table)
        return np.array([_costs_ns(self.parameters, int(kind)) for kind in kinds])

    def with_lone_writes(self, costs: FloatArray, lone: tuple[float, float] | None) -> FloatArray:
        """Return `costs_of` with those of a write up to the buffer as they were seen.

        Parameters
        ----------
        costs
            Shape (n, 14).
        lone
            Time of a write that does not wait: ns, and ns for each 4 KiB.
        """
        if lone is None or not self.layout.buffer_pages:
            return costs
        ns, per_page = lone
        link, page, path = (
            _OF_CORE.index(name) for name in ("link_write", "link_write_page", "path_write")
        )
        seen = costs.copy()
        seen[:, link] = np.minimum(self.cost_ns("link_write"), ns)
        # Large writes, which the slope is of, are shared by the links of all members.
        seen[:, page] = per_page * self.layout.members
        seen[:, path] = ns - seen[:, link]
        return seen

    def cost_ns(self, name: str) -> float:
        """Return a cost, one of `COSTS`, in ns."""
        return float(np.exp(self.parameters[COSTS.index(name)]))

    def to_json(self) -> dict[str, Any]:
        """Return the layout, the costs and which of them carry information."""
        return {
            "layout": dataclasses.asdict(self.layout),
            "parameters": dict(zip(COSTS, self.parameters.tolist(), strict=True)),
            "told": list(self.told),
        }

    @classmethod
    def from_json(cls, node: Node) -> Self:
        """Read what `to_json` gave."""
        layout = node.of("layout")
        found: dict[str, Any] = {}
        for field, tried in TRIED.items():
            value = layout.of(field)
            found[field] = value.boolean() if tried[0] is False else value.integer(0, max(tried))
            if found[field] not in tried:
                value.refuse("one that is tried")
        if found["units"] % found["members"]:
            layout.of("members").refuse("a divisor of the units")
        parameters = node.of("parameters")
        values = np.array([parameters.of(name).number() for name in COSTS])
        if not (np.abs(values) <= 100).all():
            parameters.refuse("logarithms of costs, from -100 to 100")
        told = tuple(item.choice(COSTS) for item in node.of("told").items())
        if told != tuple(name for name in COSTS if name in told):
            node.of("told").refuse("costs in their order, each once")
        return cls(Layout(**found), values, told)


def fit_queueing(table: FloatArray, targets: FloatArray) -> Queueing:
    """Search the layout and fit the costs.

    Parameters
    ----------
    table
        Workloads in effect, shape (n, 8).
    targets
        Logarithms of latency over queue depth in ns, shape (n,).
    """
    table, targets = _some(table, targets, _MOST_ROWS)
    if len(table) < _FEWEST_ROWS:
        found = _begun(table, targets, has_factors=False)[0]
    else:
        found = _searched(table, targets)
        # Factors that little speaks for would only hide what else is to be found.
        start = dataclasses.replace(found, has_factors=True)
        freed = _costs(table, targets, found.layout, _REQUESTS, start=start)
        if freed.loss < _MARKED * found.loss:
            found = min(found, _searched(table, targets, freed), key=_loss)
    shares = _replayed(table, found.layout, found.parameters, _REQUESTS)[1]
    varied = shares.std(axis=0) * _free(has_factors=found.has_factors) > _LEAST_SHARE
    told = tuple(name for name, one in zip(COSTS, varied, strict=True) if one)
    return Queueing(found.layout, found.parameters, told)


def _searched(table: FloatArray, targets: FloatArray, freed: _Fitted | None = None) -> _Fitted:
    """Search the layout, with the factors, in addition to what was found without them."""
    begun = _begun(table, targets, has_factors=freed is not None)
    # Where writes go, and how many members there are, changes too much to be found on the way.
    followed = [
        one
        for in_turn in (False, True)
        for one in [each for each in begun if each.layout.writes_in_turn == in_turn][:_FOLLOWED]
    ]
    if freed is not None:
        followed = [freed, *begun[:_FOLLOWED_WITH_FACTORS]]
    elif all(one.layout.members == 1 for one in followed):
        followed += [one for one in begun if one.layout.members > 1][:1]
    some = _some(table, targets, _CHANGED_ROWS)

    def finish(one: _Fitted) -> _Fitted:
        # A few requests would hide how sequential accesses meet the same units again.
        better = _improved(*some, one, _SETTLING)
        for requests in (_SETTLING, _REQUESTS):
            better = _costs(table, targets, better.layout, requests, start=better, rounds=10)
        return better

    # Each result is the same for any thread that searches it.
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        improved = sorted(
            pool.map(partial(_improved, *some, requests=_CHANGED), followed), key=_loss
        )
        finished = [one for place, one in enumerate(improved) if _is_first(one, improved[:place])]
        return min(pool.map(finish, finished[:_FINISHED]), key=_loss)


def _is_first(one: _Fitted, before: list[_Fitted]) -> bool:
    return all(other.layout != one.layout for other in before)


def _begun(table: FloatArray, targets: FloatArray, *, has_factors: bool) -> list[_Fitted]:
    """Fit the costs of the layouts with which a search begins, the likeliest first."""
    some = _some(table, targets, _BEGUN_ROWS)
    begin = partial(_costs, *some, requests=_BEGUN, has_factors=has_factors)
    # Each result is the same for any thread that fits it.
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        return sorted(pool.map(begin, _BEGINNINGS), key=_loss)


def _loss(one: _Fitted) -> float:
    return one.loss


def _free(*, has_factors: bool) -> FloatArray:
    """Return 1 for each cost that is fitted, 0 for those that stay."""
    return np.repeat([1.0, float(has_factors)], [len(_OF_CORE), len(_FACTORS)])


def refit_queueing(table: FloatArray, targets: FloatArray, start: Queueing) -> Queueing:
    """Refit the costs to nearly the rows of an existing fit."""
    table, targets = _some(table, targets, _MOST_ROWS)
    has_factors = bool(start.parameters[len(_OF_CORE) :].any())
    fitted = _Fitted(start.layout, start.parameters, np.inf, has_factors)
    found = _costs(table, targets, start.layout, _REQUESTS, start=fitted, rounds=5, is_near=True)
    return Queueing(start.layout, found.parameters, start.told)


def _some(table: FloatArray, targets: FloatArray, most: int) -> tuple[FloatArray, FloatArray]:
    """Return this many rows, spread over all."""
    if len(table) <= most:
        return table, targets
    rows = np.linspace(0, len(table) - 1, most).astype(int)
    return table[rows], targets[rows]


@dataclass(frozen=True)
class _Fitted:
    """Costs of a layout, and what is left with them."""

    layout: Layout
    parameters: FloatArray
    loss: float
    has_factors: bool = False


def _improved(table: FloatArray, targets: FloatArray, fitted: _Fitted, requests: int) -> _Fitted:
    """Change a layout as long as that explains these requests better."""
    fitted = _costs(table, targets, fitted.layout, requests, start=fitted, rounds=4)
    for _ in range(_PASSES):
        before = fitted.loss
        for field, tried in TRIED.items():
            for value in tried:
                changed: dict[str, Any] = {field: value}
                layout = dataclasses.replace(fitted.layout, **changed)
                if layout == fitted.layout or layout.units % layout.members:
                    continue
                start = dataclasses.replace(
                    fitted, layout=layout, parameters=_rescaled(fitted, layout)
                )
                if _promised(table, targets, start, requests) > _WORTH * fitted.loss:
                    continue
                found = _costs(table, targets, layout, requests, start=start, rounds=5)
                if found.loss < _WORTH * fitted.loss:
                    fitted = found
        if fitted.loss > _WORTH * before:
            break
    return fitted


def _promised(table: FloatArray, targets: FloatArray, start: _Fitted, requests: int) -> float:
    """Return the loss that one step of a search for a layout's costs is expected to leave."""
    time, shares = _replayed(table, start.layout, start.parameters, requests)
    shares *= _free(has_factors=start.has_factors)
    left = time - targets
    counts = 1 / np.sqrt(1 + (left / _SOFT) ** 2)
    normal = (shares.T * counts) @ shares + _DAMPING * np.eye(len(COSTS))
    step = -np.linalg.solve(normal, shares.T @ (counts * left))
    then = left + shares @ np.clip(step, -1.0, 1.0)
    return float(_SOFT**2 * (np.sqrt(1 + (then / _SOFT) ** 2) - 1).sum())


def _rescaled(fitted: _Fitted, layout: Layout) -> FloatArray:
    """Return costs for another number of units."""
    parameters = fitted.parameters.copy()
    places = [COSTS.index(name) for name in _OF_UNITS]
    parameters[places] += 0.5 * np.log(layout.units / fitted.layout.units)
    return parameters


def _costs(
    table: FloatArray,
    targets: FloatArray,
    layout: Layout,
    requests: int,
    *,
    start: _Fitted | None = None,
    rounds: int = _ROUNDS,
    is_near: bool = False,
    has_factors: bool = False,
) -> _Fitted:
    """Fit the costs of a layout, from those of another fit, perhaps near, or from usual ones."""
    from scipy.optimize import least_squares

    usual = _usual_costs(table, targets, layout)
    has_factors = start.has_factors if start is not None else has_factors
    free = _free(has_factors=has_factors)
    seen: dict[bytes, tuple[FloatArray, FloatArray]] = {}

    def replayed(parameters: FloatArray) -> tuple[FloatArray, FloatArray]:
        key = parameters.tobytes()
        if key not in seen:
            seen.clear()
            seen[key] = _replayed(table, layout, parameters, requests)
        return seen[key]

    def off(parameters: FloatArray) -> FloatArray:
        left = replayed(parameters)[0] - targets
        return np.concatenate([left, _PULL * (parameters - usual)])

    def slopes(parameters: FloatArray) -> FloatArray:
        return np.vstack([replayed(parameters)[1] * free, _PULL * np.eye(len(COSTS))])

    parameters = usual if start is None else start.parameters
    loss = np.inf
    for soft, most in ((_SOFTER, rounds), (_SOFT, 2)) if start is None else ((_SOFT, rounds),):
        inside = np.clip(parameters, usual - _REACH + 1e-3, usual + _REACH - 1e-3)
        found = least_squares(
            off,
            inside,
            slopes,
            bounds=(usual - _REACH, usual + _REACH),
            # Near the end steps as long as each cost matters; at first they would run away.
            x_scale="jac" if is_near else 1.0,
            loss="soft_l1",
            f_scale=soft,
            max_nfev=most,
        )
        parameters, loss = found.x, float(found.cost)
    return _Fitted(layout, parameters, loss, has_factors)


def _replayed(
    table: FloatArray, layout: Layout, parameters: FloatArray, requests: int
) -> tuple[FloatArray, FloatArray]:
    """Return the logarithm of the time of each workload, and each cost's share of it."""
    time, shares = np.empty(len(table)), np.zeros((len(table), len(COSTS)))
    kinds = kinds_of_writing(table)
    for kind in np.unique(kinds):
        rows = kinds == kind
        costs = _costs_ns(parameters, int(kind))
        replayed = _core.replay_loops(
            np.clip(table[rows], _LEAST, _MOST),
            dataclasses.asdict(layout),
            costs.tolist(),
            requests,
        )
        found = np.frombuffer(replayed).reshape(-1, 1 + len(_OF_CORE))
        time[rows] = np.maximum(found[:, 0], 1e-3)
        shares[rows, : len(_OF_CORE)] = found[:, 1:] * costs / time[rows, np.newaxis]
        if kind:
            shares[rows, len(_OF_CORE) + kind - 1] = shares[np.ix_(rows, _PLACES)].sum(axis=1)
    return np.log(time), shares


def _costs_ns(parameters: FloatArray, kind: int) -> FloatArray:
    """Return the core's costs for a kind of writing."""
    costs: FloatArray = np.exp(parameters[: len(_OF_CORE)])
    if kind:
        costs[_PLACES] *= np.exp(parameters[len(_OF_CORE) + kind - 1])
    return costs


def _usual_costs(table: FloatArray, targets: FloatArray, layout: Layout) -> FloatArray:
    """Return logarithms of costs that nothing contradicts: where a search begins.

    A unit cannot take longer for a page than the fastest workloads say; what the link and the
    path take is hidden behind it or not, so they begin at a part of what they could be at most.
    """
    time, write = np.exp(targets), table[:, _COLUMN["write_ratio"]]
    sizes = [
        np.nan_to_num(table[:, _COLUMN[name]], nan=float(PAGE_BYTES))
        for name in ("read_size", "write_size")
    ]
    moved = ((1 - write) * sizes[0] + write * sizes[1]) / PAGE_BYTES

    def of_page(share: FloatArray, size: FloatArray, quantile: float) -> float:
        rows = share >= 0.5 if (share >= 0.5).sum() >= 10 else np.full(len(share), True)
        each = time / np.maximum(share * np.maximum(1.0, size / layout.page_bytes), 0.05)
        return float(np.quantile(each[rows], quantile)) * layout.units

    read = 0.12 * of_page(1 - write, sizes[0], 0.2)
    program = of_page(write, sizes[1], 0.3)
    path = 0.3 * float(np.quantile(time * table[:, _COLUMN["queue_depth"]], 0.05))
    command = 0.3 * float(np.quantile(time, 0.02)) * layout.members
    link = 0.6 * float(np.quantile(time / moved, 0.05)) * layout.members
    channel = link * layout.page_bytes / PAGE_BYTES * max(layout.channels, 1)
    costs = {
        "path_read": path,
        "path_write": path,
        "link_read": command,
        "link_write": command,
        "link_read_page": link,
        "link_write_page": link,
        "channel": channel,
        "read": read,
        "read_again": read / 2,
        "program": program,
        "program_again": program / 2,
        "partial": read,
        "program_random": program / 30,
        "read_waits": program / 4,
    }
    return np.log([*(costs[name] for name in _OF_CORE), *(1.0 for _ in _FACTORS)])
