"""Fitting the closed form of Yoo et al. 2014 to measured latencies by request size.

A curve shows three things for each direction (`drivelab.preset_fit.record_curves`): what each page
costs (W_ch), where cycles begin (rho, which reads and writes share), and how long a page takes in
all. The register and the cell (W_reg + W_cell) show only their sum. What is known of each is that
the other is not negative, and that the transfers of a channel do not overlap, which is the
condition of the equations: a register takes at most as many W_ch as there are channels, and a drive
has at most rho of these.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from drivelab.drives.closed_form.drive import AnalyticDrive
from drivelab.drives.plan import MeasurementPlan
from drivelab.drives.presets.source import PresetSource, read_preset
from drivelab.errors import CannotAnswerError, UsageError
from drivelab.exhibits.quantities import listed
from drivelab.preset_fit.fitting import Errors, Fitted, FittedValue, refuse_another_kind
from drivelab.preset_fit.likelihood import UNDETERMINED
from drivelab.preset_fit.parameters import Parameter, chosen_parameters
from drivelab.preset_fit.record_curves import Curve, Curves, Direction, Ends, record_ns
from drivelab.preset_fit.simulator import behaviour_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from drivelab.preset_fit.candidate import Base, Behaviour, FloatArray
    from drivelab.preset_fit.observed import Accepts, Observed, Run
    from drivelab.workloads.characteristics import Characteristics

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

    def accepts(workload: Characteristics) -> bool:
        try:
            drive.check(workload)
        except (UsageError, CannotAnswerError):
            return False
        try:
            drive.closed_form.record(*_asked(workload))
        except CannotAnswerError as error:
            raise UsageError(f"{error}; change these times in the base preset") from error
        return True

    return accepts


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
    has_arm = run.has_arm is True
    refuse_another_kind(f"what {run.path} measured", run.kind or ("hdd" if has_arm else None), base)
    measured = _measured(run.fitted, base.values[_PAGE])
    if not measured:
        raise UsageError(
            f"{run.path} has fewer than {_FEWEST_SIZES} request sizes of reads and of writes to "
            "fit to, besides every fourth, which is held out: measure more sizes, with queue depth "
            "1 and only reads or only writes (docs/fit.md)"
        )
    run, unused = _of_directions(run, measured)
    names = [name for direction in measured for name in TIMES[direction]]
    chosen = chosen_parameters([Parameter(name, (name,)) for name in (*names, RHO)], only, fixed)
    free = {one.name for one in chosen}
    by_direction = {
        direction: Curve(*parts, *_held(direction, base, free))
        for direction, parts in measured.items()
    }
    usual = _rho(base.values)
    most = int(max(curve.pages.max() for curve in by_direction.values()))
    # From the longest request on, every rho gives the same.
    tried = [usual] if RHO not in free else [*range(1, most), max(most, usual)]
    curves = Curves(by_direction, tried, RHO in free)
    rho = curves.best(usual, usual // base.values["geometry.channels"])
    most_rho = None if curves.is_free and curves.likely[-1] >= most else curves.likely[-1]
    values: dict[str, int] = {}
    intervals: dict[str, Ends] = {}
    for direction in by_direction:
        times, found = _times(curves, direction, (rho, most_rho), base, free)
        values |= times
        intervals |= found
    if RHO in free:
        values[RHO] = rho
        intervals[RHO] = Ends(curves.likely[0], most_rho)
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
        unused=unused,
    )


def _of_directions(run: Run, measured: Mapping[Direction, Any]) -> tuple[Run, str]:
    """Return a run with only the workloads of these directions, and what is left out in words."""

    def own(observed: Observed) -> list[int]:
        return [place for place, one in enumerate(observed.workloads) if _asked(one)[0] in measured]

    fitted, held_out = run.fitted.at(own(run.fitted)), run.held_out.at(own(run.held_out))
    if not held_out.workloads:
        raise UsageError(
            f"{run.path} has no {listed(list(measured))} besides those to fit to, to judge the "
            "result: measure more sizes"
        )
    every = len(run.fitted.workloads) + len(run.held_out.workloads)
    count = every - len(fitted.workloads) - len(held_out.workloads)
    others = [f"{direction}s" for direction in TIMES if direction not in measured]
    unused = (
        f"{count} {listed(others)} were not used: a fit needs at least {_FEWEST_SIZES} sizes of "
        "them, besides what is held out."
        if count
        else ""
    )
    return replace(run, fitted=fitted, held_out=held_out), unused


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


def _asked(workload: Characteristics) -> tuple[Direction, int]:
    """Return the direction of single requests, and their bytes."""
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


def _held(direction: Direction, base: Base, free: set[str]) -> tuple[float | None, float | None]:
    """Return W_ch, and W_reg + W_cell, as far as they are not fitted."""
    dispatch, register, cell = TIMES[direction]
    rest = float(base.values[register] + base.values[cell])
    return (
        None if dispatch in free else float(base.values[dispatch]),
        None if register in free or cell in free else rest,
    )


def _times(
    curves: Curves,
    direction: Direction,
    rhos: tuple[int, int | None],
    base: Base,
    free: set[str],
) -> tuple[dict[str, int], dict[str, Ends]]:
    """Return the times of a direction that are fitted, and their intervals, in ns.

    Parameters
    ----------
    curves, direction
        What is fitted.
    rhos
        The likeliest rho, and the largest that chance explains; None if there is no largest.
    base, free
        The base preset, and the names of the values that are fitted.
    """
    rho, most_rho = rhos
    dispatch, register, cell = TIMES[direction]
    curve = curves.by_direction[direction]
    logarithms = curve.loss(rho)[1].tolist()
    dispatch_ns, rest_ns = (math.exp(one) for one in logarithms)
    ends = [
        curves.interval(direction, place, logarithms[place])
        if value is None
        else Ends(math.exp(value), math.exp(value))
        for place, value in enumerate(curve.held)
    ]
    values: dict[str, int] = {}
    intervals: dict[str, Ends] = {}
    if dispatch in free:
        values[dispatch], intervals[dispatch] = max(round(dispatch_ns), 1), ends[0]
    of_both = ends[1]
    if register in free and cell in free:
        # As many channels as in the geometry that will be written: transfers do not overlap.
        channels = next(_geometries(base.values, rho))["geometry.channels"]
        within = channels * max(round(dispatch_ns), 1)
        register_ns = min(base.values[register], within, int(rest_ns))
        values |= {register: register_ns, cell: round(rest_ns) - register_ns}
        # The geometry does not show: a drive may have as many channels as units.
        highest_dispatch = ends[0].high
        overlap = (
            None if most_rho is None or highest_dispatch is None else (most_rho * highest_dispatch)
        )
        known = [one for one in (overlap, of_both.high) if one is not None]
        highest = min(known, default=None)
        low = None
        if of_both.low is not None and highest is not None and of_both.low > highest:
            low = of_both.low - highest
        intervals |= {register: Ends(None, highest), cell: Ends(low, of_both.high)}
    elif register in free or cell in free:
        name, other = (register, cell) if register in free else (cell, register)
        values[name] = round(rest_ns) - base.values[other]
        if values[name] < 0:
            raise UsageError(
                f"the curves leave {rest_ns:,.0f} ns for register and cell of a {direction}, less "
                f"than {other} = {base.values[other]:,}, which is held: fit it too"
            )
        intervals[name] = Ends(
            *(
                None if one is None else max(one - base.values[other], 0.0)
                for one in (of_both.low, of_both.high)
            )
        )
    return values, intervals


def _value(parameter: Parameter, base: Base, value: int, ends: Ends) -> FittedValue:
    low = None if ends.low is None else math.floor(ends.low)
    high = None if ends.high is None else math.ceil(ends.high)
    is_determined = bool(low and high and math.log(high / low) < 2 * math.log(UNDETERMINED))
    is_rho = parameter.name == RHO
    before = _rho(base.values) if is_rho else base.values[parameter.name]
    return FittedValue(parameter, before, value, low, high, is_determined, is_at_edge=False)


def _rho(values: Mapping[str, Any]) -> int:
    """Return the units of a drive: with whole blocks of planes in step, planes; else dies."""
    names = ["channels", "ways_per_channel", "dies_per_way"]
    names += ["planes_per_die"] if values["geometry.plane_mode"] else []
    return math.prod(values[f"geometry.{name}"] for name in names)


def _geometries(values: Mapping[str, Any], rho: int) -> Iterator[dict[str, Any]]:
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
        f"no drive has {rho} units and these times: {last}; name another --base, or do not hold "
        "the registers"
    )


def _base_drive(base: Base) -> AnalyticDrive:
    return AnalyticDrive(read_preset(base.reference))


def _drive(base: Base, changes: Mapping[str, Any]) -> AnalyticDrive:
    source = base.changed(changes)
    return AnalyticDrive(PresetSource(base.reference, source.toml_text, source.base_texts))


def _behaviour(drive: AnalyticDrive, observed: Observed) -> Behaviour:
    work = list(enumerate(observed.workloads))
    return behaviour_of(list(drive.measure(work, MeasurementPlan(requests=1))))
