"""Drives with hidden values, measured and fitted; the results are saved drive by drive."""

from __future__ import annotations

import hashlib
import json
import math
import random
import sys
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from drivelab._core import preset_text
from drivelab.drives.in_order import measured_in_order
from drivelab.drives.plan import MeasurementPlan
from drivelab.drives.presets.source import read_preset
from drivelab.drives.simulated.drive import SimulatedDrive
from drivelab.errors import UsageError
from drivelab.preset_fit.fitting import base_of, fit_preset
from drivelab.preset_fit.observed import Observed, Run
from drivelab.preset_fit.parameters import fitted_values, parameters_of
from drivelab.workloads.design import parse_design

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from drivelab.models.features import FloatArray
    from drivelab.preset_fit.candidate import Base
    from drivelab.preset_fit.fitting import FittedValue

#: Ten presets: seven SSDs, three disks.
BASES: Final = (
    *("x25m", "x25m-yoo2014", "micron-c400", "intel-s3500", "samsung-840"),
    *("enterprise-tlc-pcie4", "low-latency", "sas-15k", "spinpoint-m7", "pastel-hds7225sc"),
)
FITTED: Final = 60
HELD_OUT: Final = 40
#: Factors of hidden values lie between one over e to the power of this and that: 0.55 to 1.8.
AWAY: Final = 0.6
#: A value that the measurements determine must be found within this ratio.
NEAR: Final = 0.10
#: The folder of the results of each drive; they are valid as long as the code is the same.
_ROOT: Final = Path(__file__).parents[1]
KEPT: Final = _ROOT / "target" / "fitted"
# What results depend on.
_CODE: Final = (
    *("crates/sim/src/**/*.rs", "crates/ftl/src/**/*.rs", "crates/workload/src/**/*.rs"),
    *("python/drivelab/preset_fit/*.py", "validation/hidden_drives.py"),
    "validation/published_halves.py",
)
_MEASURED_WITH: Final = 1000


@dataclass(frozen=True)
class Value:
    """A hidden value and what was found for it.

    Attributes
    ----------
    name
        Of the parameter.
    hidden, found
        In the unit of its first key.
    low, high
        Ends of the interval; None where an end is out of reach.
    is_told
        Whether the fit says that the measurements determine it.
    """

    name: str
    hidden: int
    found: int
    low: int | None
    high: int | None
    is_told: bool

    @property
    def off(self) -> float:
        """How far it is from the hidden one, as a ratio."""
        return self.found / self.hidden - 1

    @property
    def is_near(self) -> bool:
        """Whether it was found within a tenth."""
        return abs(self.off) <= NEAR

    @property
    def is_sharp(self) -> bool:
        """Whether its interval ends within a tenth on either side."""
        return (
            self.is_told
            and (self.low or 0) >= (1 - NEAR) * self.found
            and (self.high or math.inf) <= (1 + NEAR) * self.found
        )

    @property
    def is_held(self) -> bool:
        """Whether its interval contains the hidden one."""
        return (self.low or 0) <= self.hidden <= (self.high or math.inf)


@dataclass(frozen=True)
class Found:
    """How well a hidden drive was found.

    Attributes
    ----------
    base
        The preset that was changed, and that the fit began with.
    values
        All that were fitted.
    before, mean, p99
        Mean relative errors of mean latencies by the base preset, and of mean and 99 % latencies by
        what was fitted, on workloads that were held out.
    repeated_mean, repeated_p99
        The same of the hidden drive itself, measured again with other random numbers.
    built
        How many things of how it is built the fit changed; the hidden drive is built as its base.
    seconds
        Processor time of the fit.
    """

    base: str
    values: tuple[Value, ...]
    before: float
    mean: float
    p99: float
    repeated_mean: float
    repeated_p99: float
    built: int
    seconds: float

    @property
    def determined(self) -> list[Value]:
        """The values that the measurements determine, according to the fit."""
        return [one for one in self.values if one.is_told]


def every_drive() -> list[Found]:
    """Find every hidden drive, those with saved results first."""
    return list(_all())


def kept_or_found(name: str, presets: Sequence[str], find: Callable[[], Any]) -> Any:
    """Return the saved results of the same code, or find them and save them.

    Parameters
    ----------
    name
        Of the file.
    presets
        What it depends on, apart from the code of fits and of the simulator.
    find
        Finds it, as JSON has it.
    """
    digest = hashlib.sha256()
    for file in sorted(one for pattern in _CODE for one in _ROOT.glob(pattern)):
        digest.update(file.read_bytes())
    for preset in presets:
        digest.update(preset_text(preset).encode())
    key = digest.hexdigest()
    kept = KEPT / f"{name}.json"
    if kept.exists():
        held = json.loads(kept.read_text())
        if held["key"] == key:
            return held["found"]
    KEPT.mkdir(parents=True, exist_ok=True)
    # Renamed when it is complete, so that a stopped search is repeated.
    part = kept.with_suffix(".part")
    part.write_text(json.dumps({"key": key, "found": find()}, indent=1) + "\n")
    part.replace(kept)
    return json.loads(kept.read_text())["found"]


def _all() -> Iterator[Found]:
    for seed, base in enumerate(BASES, start=1):

        def find(base: str = base, seed: int = seed) -> dict[str, Any]:
            return asdict(found_again(base, seed))

        said = kept_or_found(base, [base], find)
        values = tuple(Value(**one) for one in said.pop("values"))
        found = Found(values=values, **said)
        sys.stderr.write(f"{base}: {found.mean:.3f} {found.p99:.3f}, {found.seconds:.0f} s\n")
        yield found


def found_again(name: str, seed: int, fitted: int = FITTED, held_out: int = HELD_OUT) -> Found:
    """Hide a drive, measure it, and fit it from the preset that it was made of.

    Parameters
    ----------
    name
        Of the preset.
    seed
        Of what is hidden, and of random numbers of the fit.
    fitted, held_out
        Workloads that are fitted to, and that judge.
    """
    base = base_of(read_preset(name))
    hidden, drive = hidden_drive(base, seed)
    # Other random numbers than those that candidates are simulated with.
    plan = MeasurementPlan.of_kind("simulated", seed=seed + _MEASURED_WITH)
    selection = parse_design(f"sobol:{fitted + held_out}").select(seed, block_bytes=512)
    measured = list(measured_in_order(drive, selection.workloads, plan))
    again = replace(plan, seed=seed + 2 * _MEASURED_WITH)
    second = Observed.of(
        list(measured_in_order(drive, selection.workloads[fitted:], again))
    ).behaviour
    drive.close()
    judged = Observed.of(measured[fitted:])
    run = Run(
        "sim:hidden",
        Path("hidden"),
        replace(plan, seed=seed),
        Observed.of(measured[:fitted]),
        judged,
    )
    begun = time.process_time()
    answer = fit_preset(run, base, seed=seed)
    seconds = time.process_time() - begun
    return Found(
        base=name,
        values=tuple(_value(one, hidden) for one in answer.values),
        before=answer.before.mean,
        mean=answer.after.mean,
        p99=_apart(answer.held_out.p99, judged.behaviour.p99),
        repeated_mean=_apart(second.mean, judged.behaviour.mean),
        repeated_p99=_apart(second.p99, judged.behaviour.p99),
        built=len(answer.base.built),
        seconds=seconds,
    )


def hidden_drive(base: Base, seed: int) -> tuple[dict[str, int | list[int]], SimulatedDrive]:
    """Multiply every value that can be fitted by a random factor, if that gives a valid drive."""
    parameters = parameters_of(base.kind, base.values)
    uniform = random.Random(f"{base.name} {seed}").uniform  # noqa: S311
    while True:
        logarithms: FloatArray = np.array([uniform(-AWAY, AWAY) for _ in parameters])
        values = fitted_values(parameters, logarithms, base.values)
        try:
            return values, SimulatedDrive("sim:hidden", base.changed(values), varies=False)
        except UsageError:
            # No drive can have these values together.
            continue


def _apart(one: FloatArray, other: FloatArray) -> float:
    return float(np.abs(np.expm1(one - other)).mean())


def _value(one: FittedValue, hidden: dict[str, int | list[int]]) -> Value:
    key = one.parameter.keys[0]
    true = _first(hidden[key])
    found = _first(one.value)
    if true is None or found is None:
        raise ValueError(f"{key} has no value")
    low, high = _first(one.low), _first(one.high)
    return Value(one.parameter.name, true, found, low, high, one.is_determined)


def _first(value: int | list[int] | None) -> int | None:
    return value[0] if isinstance(value, list) else value
