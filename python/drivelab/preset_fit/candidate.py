"""A preset with some values changed, as text, and what a simulated drive of it does."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from drivelab.drives.presets.source import PresetSource
from drivelab.drives.simulated.drive import PREFIX, SimulatedDrive

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from drivelab.drives.measurement import Measurement
    from drivelab.drives.operation_result import OperationResult
    from drivelab.drives.plan import MeasurementPlan
    from drivelab.workloads.characteristics import Characteristics
    from drivelab.workloads.workload import Workload

FloatArray = NDArray[np.float64]

#: What the drive is called while it is fitted.
NAME: Final = "fitted"
_PERCENT: Final = 99.0


@dataclass(frozen=True)
class Base:
    """The preset that a fit begins with.

    Attributes
    ----------
    reference
        As the user wrote it, without ``sim:``.
    name
        By which a preset that starts from it names it.
    kind
        ``ssd`` or ``hdd``.
    values
        By key, resolved.
    texts
        Of presets beside the package's that it needs, by name.
    built
        By key, what was changed of how it is built; `values` has that too.
    """

    reference: str
    name: str
    kind: str
    values: Mapping[str, Any]
    texts: Mapping[str, str] = field(default_factory=dict)
    built: Mapping[str, Any] = field(default_factory=dict)

    def changed(self, values: Mapping[str, Any]) -> PresetSource:
        """Return the preset with these values instead of its own."""
        text = preset_text(self.name, NAME, {**self.built, **values})
        return PresetSource(NAME, text, dict(self.texts))


def preset_text(
    base: str, name: str, values: Mapping[str, Any], sources: Mapping[str, str] | None = None
) -> str:
    """Write a preset that starts from another.

    Parameters
    ----------
    base
        The name of the other.
    name
        Its own.
    values
        By key; the order of the tables is that of their first keys.
    sources
        By key what stands behind the value; nothing where a key is missing.
    """
    tables: dict[str, list[str]] = {}
    for key, value in values.items():
        table, own = key.split(".", 1)
        line = f"{own} = {_toml(value)}"
        source = (sources or {}).get(key)
        tables.setdefault(table, []).append(line if source is None else f"{line}  # {source}")
    lines = [f'name = "{name}"', f'base = "{base}"']
    for table, own_lines in tables.items():
        lines += ["", f"[{table}]", *own_lines]
    return "\n".join(lines) + "\n"


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return f"[{', '.join(_toml(one) for one in value)}]"
    if isinstance(value, int):
        return f"{value:_}"
    return f'"{value}"' if isinstance(value, str) else repr(float(value))


@dataclass(frozen=True)
class Behaviour:
    """What a drive does under workloads: logarithms of ns, each of shape (n,).

    Attributes
    ----------
    mean, p99
        Of all requests.
    read, write
        Mean latencies of either direction; NaN where a workload has none of it.
    """

    mean: FloatArray
    p99: FloatArray
    read: FloatArray
    write: FloatArray


def behaviour_of(measurements: Sequence[Measurement]) -> Behaviour:
    """Put latencies of measurements into arrays."""
    return Behaviour(
        np.log([max(one.latency_ns_mean, 1.0) for one in measurements]),
        np.log([max(one.percentile_ns(_PERCENT), 1) for one in measurements]),
        np.array([_logarithm(one.read) for one in measurements]),
        np.array([_logarithm(one.write) for one in measurements]),
    )


def _logarithm(part: OperationResult | None) -> float:
    return math.nan if part is None else math.log(max(part.latency_ns_mean, 1.0))


class Simulator:
    """Runs workloads on presets that differ in little, each begun in the state of one before.

    Kept are the states of the first preset, and of the last one that has other blocks.
    """

    def __init__(self) -> None:
        #: Drives simulated so far.
        self.runs = 0
        self._first: tuple[Any, SimulatedDrive] | None = None
        self._last: tuple[Any, SimulatedDrive] | None = None

    def behaviour(
        self,
        source: PresetSource,
        work: Sequence[tuple[int, Characteristics]],
        plans: Sequence[MeasurementPlan],
        blocks: int | None = None,
    ) -> Behaviour:
        """Run workloads on a simulated drive without variability.

        Parameters
        ----------
        source
            The preset.
        work
            What is asked, each with the number that is part of the key of its random numbers.
        plans
            How long each is.
        blocks
            Of a plane, where the preset has others than its base: only drives with as many begin in
            the same state.

        Raises
        ------
        UsageError
            When the values are impossible together.
        """
        like = next((one for key, one in self._kept() if key == blocks), None)
        if like is None and self._last is not None:
            # Before another is made: each holds the whole drive.
            self._last = None
        drive = SimulatedDrive(PREFIX + NAME, source, varies=False, like=like)
        self.runs += 1
        found: dict[int, Measurement] = {}
        alike: dict[MeasurementPlan, list[tuple[int, Workload]]] = {}
        for (number, workload), plan in zip(work, plans, strict=True):
            drive.check(workload)
            alike.setdefault(plan, []).append((number, workload))
        for plan, same in alike.items():
            found |= {one.index: one for one in drive.measure(same, plan)}
        if self._first is None:
            self._first = blocks, drive
        elif like is None:
            self._last = blocks, drive
        return behaviour_of([found[number] for number, _ in work])

    def _kept(self) -> Iterator[tuple[Any, SimulatedDrive]]:
        yield from (one for one in (self._first, self._last) if one is not None)

    def close(self) -> None:
        """Let go of the states."""
        for _, drive in self._kept():
            drive.close()
        self._first = self._last = None


def brief(plan: MeasurementPlan, requests: int) -> MeasurementPlan:
    """Return a plan of so many requests after half as many that do not count."""
    return replace(
        plan,
        requests=requests,
        warmup_requests=requests // 2,
        warmup_seconds=0.0,
        seconds=None,
        half_width_ratio=None,
        is_usual=False,
    )
