"""The closed form's values found again from latencies by request size."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from drivelab.drives.closed_form.drive import AnalyticDrive
from drivelab.drives.naming import open_drive
from drivelab.drives.plan import MeasurementPlan
from drivelab.drives.presets.source import read_preset
from drivelab.drives.simulated.drive import SimulatedDrive
from drivelab.errors import CannotAnswerError
from drivelab.preset_fit.closed_form import RHO, TIMES, answers, fit_closed_form
from drivelab.preset_fit.fitting import base_of
from drivelab.preset_fit.observed import Observed, Run
from drivelab.workloads.characteristics import Characteristics
from validation.document import Section

if TYPE_CHECKING:
    from collections.abc import Iterable

    from drivelab.drives.protocol import Drive
    from drivelab.preset_fit.candidate import Base
    from drivelab.preset_fit.fitting import Fitted, FittedValue

_BASE: Final = "x25m-yoo2014"
_DRIVES: Final = 30
# Values are up to so many times as large or as small as those of the base preset.
_FACTOR: Final = 2.0
_RHO: Final = (4, 64)
_NOISES: Final = (0.0, 0.01)
_PAGE: Final = 4096
#: Record sizes of Yoo et al. 2014, section 4.2.
_SIZES: Final = tuple(_PAGE << power for power in range(8))
_REGISTERS: Final = ("timing.read_register_ns", "timing.write_register_ns")
_HIDDEN: Final = (
    *("timing.read_dispatch_ns", "timing.read_cell_ns"),
    *("timing.write_dispatch_ns", "timing.program_cell_ns"),
)
_NEAR: Final = 0.10
_MEAN: Final = 0.05
# Drives that have no closed form: they have a link and a buffer.
_OTHERS: Final = ("x25m", "samsung-840", "enterprise-tlc-pcie4")
_EVERY: Final = 4


@dataclass(frozen=True)
class _Outcome:
    """How one value was found: relative error, and what its interval says."""

    off: float
    is_inside: bool
    is_determined: bool


def record_sizes() -> Section:
    """Fit the closed form to hidden ones, and to drives that have none."""
    section = Section("The closed form fitted to request sizes", "python -m validation curves")
    base = base_of(read_preset(_BASE))
    section.say(
        f"In {_DRIVES} copies of `{_BASE}` the four times W_ch, R_ch, W_cell and R_cell are "
        f"multiplied by random factors between 1/{_FACTOR:g} and {_FACTOR:g}, and rho is a random "
        f"even number from {_RHO[0]} to {_RHO[1]}. The simulator, not the equations, measures "
        "sequential reads and writes of 4 to 512 KiB, one at a time (the record sizes of Yoo et "
        "al. 2014). Every fourth size is held out. Random errors with the stated standard "
        "deviation are added to the logarithms of the latencies. `drivelab fit --base "
        f"analytic:{_BASE}` keeps the registers and fits the four times and rho."
    )
    rows = []
    for noise in _NOISES:
        outcomes: dict[str, list[_Outcome]] = {}
        errors = []
        for number in range(_DRIVES):
            hidden, fitted = _found_again(base, number, noise)
            errors.append(fitted.after.mean)
            for one in fitted.values:
                name = one.parameter.name
                outcomes.setdefault(name, []).append(_outcome(one, hidden[name]))
        rows += [_row(noise, name, found) for name, found in outcomes.items()]
        _claims(section, noise, [one for found in outcomes.values() for one in found], errors)
    section.tabulate(
        ("errors", "value", "determined", "of these within a tenth", "in the interval", "median"),
        rows,
    )
    _others(section, base)
    return section


def _claims(section: Section, noise: float, every: list[_Outcome], errors: list[float]) -> None:
    known = [one for one in every if one.is_determined]
    near = sum(abs(one.off) <= _NEAR for one in known)
    what = f"with errors of {100 * noise:.0f} %"
    section.claim(
        f"{what}, determined values are within {100 * _NEAR:.0f} % of the hidden ones: {near} of "
        f"{len(known)} are",
        holds=near == len(known),
        target=True,
    )
    inside = sum(one.is_inside for one in every)
    section.claim(
        f"{what}, 95 % intervals contain 90 % or more of all hidden values: {inside} of "
        f"{len(every)}",
        holds=inside >= 0.9 * len(every),
    )
    section.claim(
        f"{what}, latencies that were held out are within {100 * _MEAN:.0f} % on every drive: the "
        f"worst is {100 * max(errors):.1f} % off",
        holds=max(errors) <= _MEAN,
        target=True,
    )


def _outcome(one: FittedValue, hidden: int) -> _Outcome:
    value, low, high = one.value, one.low, one.high
    if isinstance(value, list) or isinstance(low, list) or isinstance(high, list):
        raise TypeError("a value of the closed form is one number")
    is_inside = (low or 0) <= hidden <= (math.inf if high is None else high)
    return _Outcome(value / hidden - 1, is_inside, one.is_determined)


def _row(noise: float, name: str, found: list[_Outcome]) -> tuple[str, ...]:
    known = [one for one in found if one.is_determined]
    return (
        f"{100 * noise:.0f} %",
        name,
        f"{len(known)} of {len(found)}",
        f"{sum(abs(one.off) <= _NEAR for one in known)} of {len(known)}",
        f"{sum(one.is_inside for one in found)} of {len(found)}",
        f"{100 * median(abs(one.off) for one in found):.1f} %",
    )


def _found_again(base: Base, number: int, noise: float) -> tuple[dict[str, int], Fitted]:
    uniform = random.Random(number)  # noqa: S311
    while True:
        hidden: dict[str, Any] = {
            name: round(base.values[name] * _FACTOR ** uniform.uniform(-1, 1)) for name in _HIDDEN
        }
        rho = 2 * uniform.randint(_RHO[0] // 2, _RHO[1] // 2)
        geometry = {
            "geometry.channels": rho // 2,
            "geometry.blocks_per_plane": -(-20 * base.values["geometry.blocks_per_plane"] // rho),
        }
        source = base.changed({**geometry, **hidden, RHO: rho})
        try:
            formula = AnalyticDrive(source).closed_form
            for direction in TIMES:
                formula.record(direction, _PAGE)
        except CannotAnswerError:
            # Transfers would overlap: the drive has no closed form.
            continue
        with SimulatedDrive("sim:hidden", source, varies=False) as drive:
            run = _measured(drive, noise, number, base)
        return {**hidden, RHO: rho}, fit_closed_form(run, base, fixed=_REGISTERS)


def _measured(drive: Drive, noise: float, seed: int, base: Base) -> Run:
    accepts = answers(base)
    asked = [one for one in _curves() if accepts(one)]
    plan = MeasurementPlan.of_kind("simulated", requests=20, warmup_requests=0)
    found = sorted(drive.measure(list(enumerate(asked)), plan), key=lambda one: one.index)
    observed = Observed.of(found)
    errors = noise * np.random.default_rng(seed).standard_normal(len(asked))
    behaviour = replace(observed.behaviour, mean=observed.behaviour.mean + errors)
    observed = replace(observed, behaviour=behaviour)
    held_out = range(_EVERY - 1, len(asked), _EVERY)
    own = [place for place in range(len(asked)) if place not in held_out]
    return Run(drive.name, Path("hidden"), plan, observed.at(own), observed.at(held_out))


def _curves() -> Iterable[Characteristics]:
    for size in _SIZES:
        yield Characteristics(read_size=size, read_random=0.0)
    for size in _SIZES:
        yield Characteristics(write_ratio=1.0, write_size=size, write_random=0.0)


def _others(section: Section, base: Base) -> None:
    section.say(
        "What the equations make of drives that they do not describe, because these have a link "
        "and a buffer (not claims):"
    )
    rows = []
    for name in _OTHERS:
        with open_drive(f"sim:{name}") as drive:
            fitted = fit_closed_form(_measured(drive, 0.0, 0, base), base)
        rho = next(one for one in fitted.values if one.parameter.name == RHO)
        rows.append(
            (f"`{name}`", f"{100 * fitted.after.mean:.0f} %", f"{rho.value}", str(_units(name)))
        )
    section.tabulate(("drive", "held out: off by", "rho", "units of the preset"), rows)


def _units(name: str) -> int:
    values = base_of(read_preset(name)).values
    return math.prod(
        values[f"geometry.{each}"] for each in ("channels", "ways_per_channel", "dies_per_way")
    )
