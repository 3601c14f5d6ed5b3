"""Fitting the closed form of Yoo et al. 2014 to latencies by request size.

A single request of n pages takes, with rho pages in flight at once (equations 1 to 7)::

    latency |                       o
            |            o   o   o        W_ch more for each page of a cycle,
            |  o   o   o                  t_wait more where a cycle begins
            +---------------------------
               1  2 .. rho      2 rho     pages

So the curve shows three things for each direction: what a page costs (W_ch), where cycles begin
(rho, which reads and writes share), and how long a page takes in all. The register and the cell
(W_reg + W_cell) only show their sum. What is known of each is that the other is not negative, and
that the transfers of a channel do not overlap, which is the condition of the equations.

For every possible rho the other values are found by least squares on the logarithms of latencies
(`scipy.optimize.least_squares`). Intervals are by profile likelihood over all of them and rho.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from drivelab.drives.closed_form.drive import AnalyticDrive
from drivelab.drives.plan import MeasurementPlan
from drivelab.drives.presets.source import PresetSource, read_preset
from drivelab.errors import CannotAnswerError, UsageError
from drivelab.preset_fit.fitting import Errors, Fitted, FittedValue
from drivelab.preset_fit.likelihood import LEVEL, Interval
from drivelab.preset_fit.parameters import Parameter, chosen_parameters
from drivelab.preset_fit.simulator import behaviour_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from drivelab.preset_fit.candidate import Base, Behaviour, FloatArray
    from drivelab.preset_fit.observed import Accepts, Observed, Run

Direction = Literal["read", "write"]

RHO: Final = "closed_form.rho"
_PAGE: Final = "geometry.page_size_bytes"
_BLOCKS: Final = "geometry.blocks_per_plane"
#: The three times of a page operation, by direction: W_ch, W_reg, W_cell of table 1.
TIMES: Final[dict[Direction, tuple[str, str, str]]] = {
    "read": ("timing.read_dispatch_ns", "timing.read_register_ns", "timing.read_cell_ns"),
    "write": ("timing.write_dispatch_ns", "timing.write_register_ns", "timing.program_cell_ns"),
}
# With fewer sizes a direction tells nothing but its own latencies.
_FEWEST_SIZES: Final = 3
# No latency is known better than this, whatever the residuals say.
_KNOWN: Final = 1e-4
# Of so many numbers of pages in flight each is tried, of more only some at first.
_EACH: Final = 256
# Losses are the same within this share of what chance explains.
_ALIKE: Final = 1e-3
# An interval's end is found to this on the logarithm.
_STEP: Final = 1e-4
# From a factor of four on a value is undetermined, so nobody needs to know by how much.
_FAR: Final = 2 * math.log(2.0)


def record_ns(pages: FloatArray, rho: int, dispatch_ns: float, page_ns: float) -> FloatArray:
    """Return the latency of single requests, in ns.

    Parameters
    ----------
    pages
        N_page of each, shape (n,).
    rho
        Most pages in flight.
    dispatch_ns, page_ns
        W_ch, and W_page or R_page.
    """
    cycles = np.ceil(pages / rho)
    wait_ns = max(page_ns - rho * dispatch_ns, 0.0)  # Eq. 3.
    return dispatch_ns * (pages - 1) + wait_ns * (cycles - 1) + page_ns  # Eq. 6, eq. 7.


def answers(base: Base) -> Accepts:
    """Return which workloads the closed form of a preset answers.

    Raises
    ------
    UsageError
        When the preset has no closed form.
    """
    try:
        drive = _base_drive(base)
    except CannotAnswerError as error:
        raise UsageError(
            f"{error}; start from a preset with a closed form, such as analytic:x25m-yoo2014, or "
            f"fit a simulated drive with --base {base.reference}"
        ) from error

    def accepts(workload: Any) -> bool:
        try:
            drive.check(workload)
            direction, size_bytes = _asked(workload)
            drive.closed_form.record(direction, size_bytes)
        except (UsageError, CannotAnswerError):
            return False
        return True

    return accepts


@dataclass(frozen=True)
class _Held:
    """What is fitted of a direction's times, and what the others are, in ns.

    Attributes
    ----------
    dispatch_ns
        W_ch if it is held.
    rest_ns
        W_reg + W_cell if both are held.
    """

    dispatch_ns: float | None
    rest_ns: float | None


@dataclass(frozen=True)
class Curve:
    """The measured latencies of a direction by request size.

    Attributes
    ----------
    pages
        Pages of each request, shape (n,).
    logarithms
        Logarithms of the mean latencies in ns, shape (n,).
    held
        Times that keep their values.
    """

    pages: FloatArray
    logarithms: FloatArray
    held: _Held

    @property
    def free(self) -> int:
        """How many of the two values are fitted."""
        return (self.held.dispatch_ns is None) + (self.held.rest_ns is None)

    def loss(self, rho: int, place: int | None = None, at: float = 0.0) -> tuple[float, FloatArray]:
        """Return the least sum of squared residuals, and the logarithms of W_ch and the rest there.

        Parameters
        ----------
        rho
            Most pages in flight.
        place, at
            Index of a logarithm that is held, and its value.
        """
        from scipy.optimize import least_squares

        held = [_log(self.held.dispatch_ns), _log(self.held.rest_ns)]
        if place is not None:
            held[place] = at
        free = [each for each, value in enumerate(held) if value is None]

        def full(given: FloatArray) -> FloatArray:
            values = np.array([math.nan if one is None else one for one in held])
            values[free] = given
            return values

        def left(given: FloatArray) -> FloatArray:
            dispatch_ns, rest_ns = np.exp(np.clip(full(given), -20.0, 60.0))
            return np.log(record_ns(self.pages, rho, dispatch_ns, dispatch_ns + rest_ns)) - (
                self.logarithms
            )

        if not free:
            return float((left(np.array([])) ** 2).sum()), full(np.array([]))
        found = [
            least_squares(left, start[free], x_scale=0.1, xtol=1e-12, ftol=1e-12, gtol=1e-12)
            for start in self._starts(rho)
        ]
        best = min(found, key=lambda one: one.cost)
        return 2 * float(best.cost), full(best.x)

    def _starts(self, rho: int) -> list[FloatArray]:
        """Return where to search from: the linear solutions with and without waiting."""
        from scipy.optimize import nnls

        cycles = np.ceil(self.pages / rho)
        # With t_wait: rho x W_ch of each further cycle is in W_page. Without: W_ch for each page.
        own = self.pages - 1
        kinds = [(own - rho * (cycles - 1) + cycles, cycles), (own + 1, np.ones(len(own)))]
        latencies = np.exp(self.logarithms)
        starts = []
        for of_dispatch, of_rest in kinds:
            parts = np.column_stack([of_dispatch, of_rest]) / latencies[:, np.newaxis]
            solution, _ = nnls(np.maximum(parts, 0.0), np.ones(len(latencies)))
            starts.append(np.log(np.maximum(solution, 1e-3 * latencies.min())))
        return starts


@dataclass(frozen=True)
class _Curves:
    """The curves of one drive, which share rho.

    Attributes
    ----------
    by_direction
        The curves.
    tried
        Every rho that may be the drive's.
    is_free
        Whether rho is fitted.
    """

    by_direction: Mapping[Direction, Curve]
    tried: Sequence[int]
    is_free: bool

    @cached_property
    def losses(self) -> dict[int, float]:
        """The least loss for every rho, thinly where there are many."""
        every = list(self.tried)
        if len(every) <= _EACH:
            return {rho: self._loss(rho) for rho in every}
        places = np.unique(np.geomspace(1, len(every), _EACH).astype(int)) - 1
        found = {every[place]: self._loss(every[place]) for place in places.tolist()}
        best = every.index(min(found, key=lambda rho: found[rho]))
        around = int(places.searchsorted(best))
        low, high = int(places[max(around - 2, 0)]), int(places[min(around + 2, len(places) - 1)])
        found |= {rho: self._loss(rho) for rho in every[low : high + 1] if rho not in found}
        return dict(sorted(found.items()))

    def _loss(self, rho: int) -> float:
        return sum(curve.loss(rho)[0] for curve in self.by_direction.values())

    @cached_property
    def allowed(self) -> float:
        """How much the loss may rise by chance, at 95 %."""
        from scipy.stats import f as f_distribution

        count = sum(len(curve.pages) for curve in self.by_direction.values())
        values = sum(curve.free for curve in self.by_direction.values()) + self.is_free
        free = max(count - values, 1)
        variance = max(min(self.losses.values()) / free, _KNOWN**2)
        return variance * float(f_distribution.ppf(LEVEL, 1, free))

    def best(self, usual: int, chips: int) -> int:
        """Return the most likely rho; of those that chance explains, a multiple if there is one.

        Parameters
        ----------
        usual
            The base preset's, if it is as likely as any.
        chips
            Units of a channel in the base preset: no drive has half a channel.
        """
        whole = [rho for rho in self.likely if rho % chips == 0] or self.likely
        least = min(self.losses[rho] for rho in whole)
        alike = [rho for rho in whole if self.losses[rho] <= least + _ALIKE * self.allowed]
        return usual if usual in alike else alike[0]

    @cached_property
    def likely(self) -> list[int]:
        """Every rho that chance may explain."""
        least = min(self.losses.values())
        return [rho for rho, loss in self.losses.items() if loss <= least + self.allowed]

    def interval(self, direction: Direction, place: int, here: float) -> Interval:
        """Return the interval of the logarithm of W_ch (place 0) or of W_reg + W_cell (1)."""
        limit = min(self.losses.values()) + self.allowed
        curve = self.by_direction[direction]
        others = {rho: self.losses[rho] - curve.loss(rho)[0] for rho in self.likely}

        def is_within(at: float) -> bool:
            return any(
                other + curve.loss(rho, place, at)[0] <= limit for rho, other in others.items()
            )

        ends = []
        for sign in (-1, 1):
            inside, outside = 0.0, _STEP
            while is_within(here + sign * outside):
                inside, outside = outside, 2 * outside
                if inside > _FAR:
                    outside = math.inf
                    break
            while outside - inside > _STEP and math.isfinite(outside):
                middle = (inside + outside) / 2
                inside, outside = (
                    (middle, outside) if is_within(here + sign * middle) else (inside, middle)
                )
            ends.append(here + sign * outside)
        return Interval(*ends)


def fit_closed_form(
    run: Run, base: Base, *, only: Sequence[str] = (), fixed: Sequence[str] = ()
) -> Fitted:
    """Find the times and rho with which the equations give the measured latencies.

    Parameters
    ----------
    run
        Measurements of single requests of whole pages, of three sizes or more of one kind.
    base
        The preset to start from. Its page size is kept.
    only, fixed
        Names of values to fit (all if empty), and of values to keep.

    Raises
    ------
    UsageError
        For unknown names, for too few sizes, or if no drive has the values that were found.
    CannotAnswerError
        When the base preset has no closed form.
    """
    measured = _measured(run.fitted, base.values[_PAGE])
    if not measured:
        raise UsageError(
            f"{run.path} has fewer than {_FEWEST_SIZES} request sizes of reads and of writes to "
            "fit to: measure more sizes, with queue depth 1 and only reads or only writes "
            "(docs/fit.md)"
        )
    names = [name for direction in measured for name in TIMES[direction]]
    chosen = chosen_parameters([Parameter(name, (name,)) for name in (*names, RHO)], only, fixed)
    free = {one.name for one in chosen}
    by_direction = {
        direction: Curve(*parts, _held(direction, base, free))
        for direction, parts in measured.items()
    }
    usual = _rho_of(base)
    most = int(max(curve.pages.max() for curve in by_direction.values()))
    # From the longest request on, every rho gives the same.
    tried = [usual] if RHO not in free else [*range(1, most), max(most, usual)]
    curves = _Curves(by_direction, tried, RHO in free)
    rho = curves.best(usual, usual // base.values["geometry.channels"])
    values: dict[str, int] = {}
    intervals: dict[str, tuple[float | None, float | None]] = {}
    for direction in by_direction:
        times, found = _times(curves, direction, rho, base, free)
        values |= times
        intervals |= found
    if RHO in free:
        values[RHO] = rho
        likely = curves.likely
        intervals[RHO] = (likely[0], None if likely[-1] >= most else likely[-1])
    built, after = _buildable(base, values, rho, list(by_direction))
    said = _behaviour(after, run.held_out)
    observed = run.held_out.behaviour
    return Fitted(
        base=replace(base, built=built),
        run=run,
        values=tuple(_value(one, base, values[one.name], intervals[one.name]) for one in chosen),
        changed={**built, **values},
        before=Errors.of(_behaviour(_base_drive(base), run.held_out), observed),
        after=Errors.of(said, observed),
        held_out=said,
        simulations=0,
    )


def sizes_and_latencies(fitted: Fitted, direction: Direction) -> tuple[FloatArray, FloatArray]:
    """Return the fitted curve: request sizes in bytes, and latencies in ns."""
    values = {**fitted.base.values, **fitted.changed}
    page_bytes = values[_PAGE]
    every = [*fitted.run.fitted.workloads, *fitted.run.held_out.workloads]
    sizes = [size for own, size in map(_asked, every) if own == direction]
    pages = np.unique(np.geomspace(1, max(sizes) // page_bytes, 200).round())
    dispatch_ns, register_ns, cell_ns = (values[name] for name in TIMES[direction])
    page_ns = dispatch_ns + register_ns + cell_ns  # Eq. 1, eq. 2.
    return pages * page_bytes, record_ns(pages, _rho(values), dispatch_ns, page_ns)


def measured_directions(fitted: Fitted) -> list[Direction]:
    """Return the directions that were measured."""
    every = [*fitted.run.fitted.workloads, *fitted.run.held_out.workloads]
    asked = {direction for direction, _ in map(_asked, every)}
    return [direction for direction in TIMES if direction in asked]


def sizes_of(observed: Observed, direction: Direction) -> tuple[FloatArray, FloatArray]:
    """Return the measured curve: request sizes in bytes, and mean latencies in ns."""
    asked = [_asked(one) for one in observed.workloads]
    own = [place for place, (each, _) in enumerate(asked) if each == direction]
    sizes = np.array([asked[place][1] for place in own], dtype=float)
    return sizes, np.exp(observed.behaviour.mean[own])


def _log(value: float | None) -> float | None:
    return None if value is None else math.log(max(value, 1e-3))


def _asked(workload: Any) -> tuple[Direction, int]:
    if workload.write_ratio == 1:
        return "write", workload.write_size
    return "read", workload.read_size


def _measured(
    observed: Observed, page_bytes: int
) -> dict[Direction, tuple[FloatArray, FloatArray]]:
    """Return pages and logarithms of latencies of the directions with enough sizes."""
    found: dict[Direction, tuple[FloatArray, FloatArray]] = {}
    for direction in TIMES:
        sizes, latencies_ns = sizes_of(observed, direction)
        if len(set(sizes.tolist())) >= _FEWEST_SIZES:
            found[direction] = (sizes / page_bytes, np.log(latencies_ns))
    return found


def _held(direction: Direction, base: Base, free: set[str]) -> _Held:
    dispatch, register, cell = TIMES[direction]
    return _Held(
        None if dispatch in free else float(base.values[dispatch]),
        None
        if register in free or cell in free
        else float(base.values[register] + base.values[cell]),
    )


def _times(
    curves: _Curves, direction: Direction, rho: int, base: Base, free: set[str]
) -> tuple[dict[str, int], dict[str, tuple[float | None, float | None]]]:
    """Return the times of a direction that are fitted, and their intervals, in ns."""
    dispatch, register, cell = TIMES[direction]
    curve = curves.by_direction[direction]
    logarithms = curve.loss(rho)[1].tolist()
    dispatch_ns, rest_ns = (math.exp(one) for one in logarithms)
    ends = [
        _ends(curves.interval(direction, place, logarithms[place]))
        if value is None
        else (math.exp(logarithms[place]),) * 2
        for place, value in enumerate((curve.held.dispatch_ns, curve.held.rest_ns))
    ]
    values: dict[str, int] = {}
    intervals: dict[str, tuple[float | None, float | None]] = {}
    if dispatch in free:
        values[dispatch], intervals[dispatch] = max(round(dispatch_ns), 1), ends[0]
    low, high = ends[1]
    # Transfers of a channel do not overlap: the condition of the equations.
    most = _channels(base, rho) * (ends[0][1] or dispatch_ns)
    if register in free and cell in free:
        within = _channels(base, rho) * max(round(dispatch_ns), 1)
        register_ns = min(base.values[register], within, int(rest_ns))
        values |= {register: register_ns, cell: round(rest_ns) - register_ns}
        highest = most if high is None else min(most, high)
        intervals[register] = (None, highest)
        intervals[cell] = (None if low is None else max(low - highest, 0.0) or None, high)
    elif register in free or cell in free:
        name, other = (register, cell) if register in free else (cell, register)
        values[name] = round(rest_ns) - base.values[other]
        if values[name] < 0:
            raise UsageError(
                f"the curves leave {rest_ns:,.0f} ns for register and cell of a {direction}, less "
                f"than {other} = {base.values[other]:,}, which is held: fit it too"
            )
        intervals[name] = tuple(  # type: ignore[assignment]
            None if one is None else max(one - base.values[other], 0.0) for one in ends[1]
        )
    return values, intervals


def _ends(interval: Interval) -> tuple[float | None, float | None]:
    low, high = (
        math.exp(one) if math.isfinite(one) else None for one in (interval.low, interval.high)
    )
    return low, high


def _value(
    parameter: Parameter, base: Base, value: int, ends: tuple[float | None, float | None]
) -> FittedValue:
    low, high = (None if one is None else round(one) for one in ends)
    is_determined = bool(low and high and math.log(high / low) < _FAR)
    before = base.values.get(parameter.name) or _rho_of(base)
    return FittedValue(parameter, before, value, low, high, is_determined, is_at_edge=False)


def _rho_of(base: Base) -> int:
    return _rho(base.values)


def _rho(values: Mapping[str, Any]) -> int:
    """Return the units of a drive: with whole blocks of planes in step, planes; else dies."""
    names = ["channels", "ways_per_channel", "dies_per_way"]
    names += ["planes_per_die"] if values["geometry.plane_mode"] else []
    return math.prod(values[f"geometry.{name}"] for name in names)


def _channels(base: Base, rho: int) -> int:
    """Return the channels that a drive with so many units has at first sight."""
    found: int = next(_geometries(base.values, rho))["geometry.channels"]
    return found


def _geometries(values: Mapping[str, Any], rho: int) -> Any:
    """Yield geometries with so many units and the same capacity, the nearest to the base first."""
    if rho == _rho(values):
        yield {"geometry.channels": values["geometry.channels"]}
    ways, dies = values["geometry.ways_per_channel"], values["geometry.dies_per_way"]
    planes = values["geometry.planes_per_die"]
    in_step = planes if values["geometry.plane_mode"] else 1
    blocks = math.prod((values["geometry.channels"], ways, dies, planes, values[_BLOCKS]))
    for own_dies, own_step in dict.fromkeys([(dies, in_step), (1, in_step), (1, 1)]):
        if rho % (own_dies * own_step):
            continue
        chips = rho // (own_dies * own_step)
        divisors = [each for each in range(1, chips + 1) if chips % each == 0]
        for own_ways in sorted(divisors, key=lambda each: (abs(math.log(each / ways)), each)):
            all_planes = chips * own_dies * planes
            yield {
                "geometry.channels": chips // own_ways,
                "geometry.ways_per_channel": own_ways,
                "geometry.dies_per_way": own_dies,
                "geometry.plane_mode": own_step > 1,
                _BLOCKS: -(-blocks // all_planes),
            }


def _buildable(
    base: Base, values: dict[str, int], rho: int, directions: Sequence[Direction]
) -> tuple[dict[str, Any], AnalyticDrive]:
    """Return the geometry with rho units, as changes of the base preset, and the fitted drive."""
    last: Exception | None = None
    for geometry in _geometries(base.values, rho):
        built = {name: value for name, value in geometry.items() if value != base.values[name]}
        try:
            drive = _drive(base, {**built, **values, RHO: rho})
            for direction in directions:
                # A direction whose transfers overlap is refused when it is asked for.
                drive.closed_form.record(direction, base.values[_PAGE])
        except (UsageError, CannotAnswerError) as error:
            last = last or error
            continue
        return built, drive
    raise UsageError(
        f"no drive has {rho} units and these times: {last}; name another --base, or hold {RHO}"
    )


def _base_drive(base: Base) -> AnalyticDrive:
    return AnalyticDrive(read_preset(base.reference))


def _drive(base: Base, changes: Mapping[str, Any]) -> AnalyticDrive:
    source = base.changed(changes)
    return AnalyticDrive(PresetSource(base.reference, source.toml_text, source.base_texts))


def _behaviour(drive: AnalyticDrive, observed: Observed) -> Behaviour:
    work = list(enumerate(observed.workloads))
    return behaviour_of(list(drive.measure(work, MeasurementPlan(requests=1))))
