"""How a queueing model is found: the layout by search, the costs by least squares.

::

    28 layouts, with factors for settled drives and without      120 rows,  48 requests
      the likeliest of each kind, one change after another       200 rows,  64 requests
        the five likeliest, changed further                      all rows, 384 requests
        their costs                                              all rows, as many as answers take
      where much is left, the same with log blocks

The time of a loop is a sum of costs along its critical path, so the derivative of its logarithm by
that of a cost is the cost's share of the time. Least squares with a soft L1 loss use it. A change
of the layout is kept if it explains more.

A search ends in one of several layouts that explain the measurements nearly as well. The likeliest
are kept: where they disagree, they show in what direction the first may be wrong.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import numpy as np

from drivelab.models.features import PAGE_BYTES, FloatArray
from drivelab.models.queueing import (
    COSTS,
    FACTORS,
    FEW_REQUESTS,
    LENGTHENED,
    OF_CORE,
    TRIED,
    TRIED_LOGS,
    Layout,
    Queueing,
    replayed,
)
from drivelab.workloads.characteristics import FIELDS

_COLUMN: Final = {name: number for number, name in enumerate(FIELDS)}
# Approximate number of replayed requests for layouts that are changed, and for those at the start
# of the search.
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
# Number of layouts that are followed for each way in which writes may go, with factors and without;
# and number of those that are finished with more requests. A change is kept if it lowers the loss
# to this share.
_FOLLOWED: Final = 3
_FINISHED: Final = 5
_WORTH: Final = 0.98
# Layouts are not followed, with factors or without, if the best of the others begins with a loss
# of so little of theirs.
_HOPELESS: Final = 0.8
# If the loss of a row exceeds this, that of a tenth, layouts are also tried with log blocks, at
# first with so many of a unit. A search from few units does not find many with log blocks, so it
# also begins with many.
_UNEXPLAINED: Final = 0.004
_LOGS: Final = (1, 4)
# They are kept if they leave at most this share of what others do. A drive that maps blocks has a
# half or less; other drives, which vary or are disks, have 0.7 or more by chance.
_DECISIVE: Final = 0.6
# Programs of a settled drive take so many times as long where its search begins.
_SETTLED: Final = 4.0
_PASSES: Final = 3
# To this power a loss lowers the weight of a layout's time: one with a fifth more counts a third.
_TRUST: Final = 6
# Fewer rows, two for each cost, do not show how a drive is built.
_FEWEST_ROWS: Final = 2 * len(COSTS)
# A share of the time that varies less than this between workloads carries no information.
_LEAST_SHARE: Final = 1e-3
# Costs of units grow with their number where the time of them all stays the same; half of it does.
_OF_UNITS: Final = (
    *("read", "read_again", "program", "program_again", "partial", "program_random", "merge"),
)
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
# With log blocks also here.
_MANY: Final = (Layout(32), Layout(32, reads_first=True), Layout(32, 16384))


def fit_queueing(table: FloatArray, targets: FloatArray) -> tuple[Queueing, ...]:
    """Search the layout and fit the costs.

    Parameters
    ----------
    table
        Workloads in effect, shape (n, 8).
    targets
        Logarithms of latency over queue depth in ns, shape (n,).

    Returns
    -------
    tuple of Queueing
        The likeliest first, then up to four others that may be right too.
    """
    table, targets = _some(table, targets, _MOST_ROWS)
    some = _some(table, targets, _BEGUN_ROWS)
    begun = _begun(*some, _BEGINNINGS)
    if len(table) < _FEWEST_ROWS:
        return (_found(table, begun[0]),)
    every = (begun, _begun(*some, _BEGINNINGS, has_factors=True))
    least = min(_loss(each[0]) for each in every)
    hopeful = [each for each in every if _HOPELESS * _loss(each[0]) <= least]
    return tuple(_found(table, one) for one in _searched(table, targets, hopeful))


def trust_in(left: FloatArray) -> FloatArray:
    """Return the weights of several models' mean, whose sum is 1, by what each leaves.

    Parameters
    ----------
    left
        Logarithms of each model's times over those observed, shape (models, n).
    """
    losses = np.maximum(_soft(left).sum(axis=1), 1e-12)
    weights = (losses.min() / losses) ** _TRUST
    found: FloatArray = weights / weights.sum()
    return found


def _soft(left: FloatArray) -> FloatArray:
    """Return the soft L1 loss of each residual."""
    found: FloatArray = _SOFT**2 * (np.sqrt(1 + (left / _SOFT) ** 2) - 1)
    return found


def _found(table: FloatArray, fitted: _Fitted) -> Queueing:
    """Return a fit with the costs that carry information."""
    shares = replayed(table, fitted.layout, fitted.parameters)[1]
    varied = shares.std(axis=0) * _free(has_factors=fitted.has_factors) > _LEAST_SHARE
    told = tuple(name for name, one in zip(COSTS, varied, strict=True) if one)
    return Queueing(fitted.layout, fitted.parameters, told)


def _searched(table: FloatArray, targets: FloatArray, begun: list[list[_Fitted]]) -> list[_Fitted]:
    """Search on from where each kind of search began; return what was finished, likeliest first."""
    # Where writes go, and how many members there are, changes too much to be found on the way.
    followed = [
        one
        for kind in begun
        for in_turn in (False, True)
        for one in [each for each in kind if each.layout.writes_in_turn == in_turn][:_FOLLOWED]
    ]
    if all(one.layout.members == 1 for one in followed):
        followed += [one for kind in begun for one in kind if one.layout.members > 1][:1]
    some = _some(table, targets, _CHANGED_ROWS)

    def finish(one: _Fitted) -> _Fitted:
        # Fewer requests would hide how sequential accesses meet the same units again.
        better = _improved(table, targets, one, FEW_REQUESTS)
        return _costs(table, targets, better.layout, None, start=better, rounds=10)

    # Each result is the same for any thread that searches it.
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:

        def changed(beginnings: Iterable[_Fitted]) -> list[_Fitted]:
            change = partial(_improved, *some, requests=_CHANGED)
            return sorted(pool.map(change, beginnings), key=_loss)

        improved = changed(followed)
        finished = [one for place, one in enumerate(improved) if _is_first(one, improved[:place])]
        found = sorted(pool.map(finish, finished[:_FINISHED]), key=_loss)
        if found[0].loss > _UNEXPLAINED * len(table):
            logged = changed(_begun_with_logs(*_some(table, targets, _BEGUN_ROWS)))
            finished = list(pool.map(finish, logged[:_FOLLOWED]))
            if min(finished, key=_loss).loss <= _DECISIVE * found[0].loss:
                found = sorted([*found, *finished], key=_loss)[:_FINISHED]
    return [one for place, one in enumerate(found) if _is_first(one, found[:place])]


def _is_first(one: _Fitted, before: list[_Fitted]) -> bool:
    return all(other.layout != one.layout for other in before)


def _begun(
    table: FloatArray,
    targets: FloatArray,
    beginnings: Iterable[Layout],
    *,
    has_factors: bool = False,
) -> list[_Fitted]:
    """Fit the costs of the layouts with which a search begins, the likeliest first."""
    begin = partial(_costs, table, targets, requests=_BEGUN, has_factors=has_factors)
    # Each result is the same for any thread that fits it.
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        return sorted(pool.map(begin, beginnings), key=_loss)


def _begun_with_logs(table: FloatArray, targets: FloatArray) -> list[_Fitted]:
    """Return the likeliest beginnings with log blocks, whose pages keep their units."""
    kept = (layout for layout in (*_BEGINNINGS, *_MANY) if not layout.writes_in_turn)
    logged = (dataclasses.replace(layout, log_blocks=logs) for layout in kept for logs in _LOGS)
    return _begun(table, targets, logged)[:_FINISHED]


def _loss(one: _Fitted) -> float:
    return one.loss


def _free(*, has_factors: bool) -> FloatArray:
    """Return 1 for each cost that is fitted, 0 for those that stay."""
    return np.repeat([1.0, float(has_factors)], [len(OF_CORE), len(FACTORS)])


def refit_queueing(table: FloatArray, targets: FloatArray, start: Queueing) -> Queueing:
    """Refit the costs to nearly the rows of an existing fit.

    Near its costs, an answer of few requests stays as far from that of many as it is there.
    """
    table, targets = _some(table, targets, _MOST_ROWS)
    targets = targets + start.time(table, FEW_REQUESTS) - start.time(table)
    has_factors = bool(start.parameters[len(OF_CORE) :].any())
    fitted = _Fitted(start.layout, start.parameters, np.inf, has_factors)
    found = _costs(
        table, targets, start.layout, FEW_REQUESTS, start=fitted, rounds=_ROUNDS, is_near=True
    )
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
    has_logs = fitted.layout.log_blocks > 0
    fitted = _costs(table, targets, fitted.layout, requests, start=fitted, rounds=4)
    for _ in range(_PASSES):
        before = fitted.loss
        for field, tried in (TRIED | TRIED_LOGS if has_logs else TRIED).items():
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
    time, shares = replayed(table, start.layout, start.parameters, requests)
    shares *= _free(has_factors=start.has_factors)
    left = time - targets
    counts = 1 / np.sqrt(1 + (left / _SOFT) ** 2)
    normal = (shares.T * counts) @ shares + _DAMPING * np.eye(len(COSTS))
    step = -np.linalg.solve(normal, shares.T @ (counts * left))
    then = left + shares @ np.clip(step, -1.0, 1.0)
    return float(_soft(then).sum())


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
    requests: int | None,
    *,
    start: _Fitted | None = None,
    rounds: int = _ROUNDS,
    is_near: bool = False,
    has_factors: bool = False,
) -> _Fitted:
    """Fit the costs of a layout, from those of another fit, perhaps near, or from usual ones."""
    from scipy.optimize import least_squares

    has_factors = start.has_factors if start is not None else has_factors
    usual = _usual_costs(table, targets, layout, has_factors=has_factors)
    free = _free(has_factors=has_factors)
    seen: dict[bytes, tuple[FloatArray, FloatArray]] = {}

    def replay(parameters: FloatArray) -> tuple[FloatArray, FloatArray]:
        key = parameters.tobytes()
        if key not in seen:
            seen.clear()
            seen[key] = replayed(table, layout, parameters, requests)
        return seen[key]

    def off(parameters: FloatArray) -> FloatArray:
        left = replay(parameters)[0] - targets
        return np.concatenate([left, _PULL * (parameters - usual)])

    def slopes(parameters: FloatArray) -> FloatArray:
        return np.vstack([replay(parameters)[1] * free, _PULL * np.eye(len(COSTS))])

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


def _usual_costs(
    table: FloatArray, targets: FloatArray, layout: Layout, *, has_factors: bool
) -> FloatArray:
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
        "merge": layout.block_pages * (read + program),
    }
    factor = _SETTLED if has_factors else 1.0
    if has_factors:
        # How much longer random writes take is in the factors first.
        costs |= {name: costs[name] / factor for name in (*LENGTHENED, "program_random")}
    return np.log([*(costs[name] for name in OF_CORE), *(factor for _ in FACTORS)])
