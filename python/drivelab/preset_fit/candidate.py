"""A preset with changed values as text, and the behaviour of its drive as numbers."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from drivelab.drives.presets.source import PresetSource

if TYPE_CHECKING:
    from collections.abc import Mapping

    from drivelab.drives.plan import MeasurementPlan

FloatArray = NDArray[np.float64]

#: Name of the drive during the fit.
NAME: Final = "fitted"
#: The percentile to compare.
PERCENT: Final = 99.0


@dataclass(frozen=True)
class Base:
    """The preset that a fit starts from.

    Attributes
    ----------
    reference
        Name as the user wrote it, without ``sim:``.
    name
        Name by which a preset based on it refers to it.
    kind
        ``ssd`` or ``hdd``.
    values
        All values of the resolved preset, by key.
    texts
        Texts of presets that it needs and that are not in the package, by name.
    built
        Changes of structure by key; `values` includes them.
    """

    reference: str
    name: str
    kind: str
    values: Mapping[str, Any]
    texts: Mapping[str, str] = field(default_factory=dict)
    built: Mapping[str, Any] = field(default_factory=dict)

    def changed(self, values: Mapping[str, Any]) -> PresetSource:
        """Return the preset with these values replaced."""
        text = preset_text(self.name, NAME, {**self.built, **values})
        return PresetSource(NAME, text, dict(self.texts))


def preset_text(
    base: str, name: str, values: Mapping[str, Any], sources: Mapping[str, str] | None = None
) -> str:
    """Return the text of a preset that is based on another.

    Parameters
    ----------
    base
        Name of the other preset.
    name
        Name of the new preset.
    values
        Values by key; tables are in the order of their first keys.
    sources
        Comment after each value, by key; none for a missing key.
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
    """The results of a drive under workloads: logarithms of ns, each of shape (n,).

    Attributes
    ----------
    mean, p99
        Latencies of all requests.
    read, write
        Mean latency of reads and of writes; NaN if a workload has none.
    """

    mean: FloatArray
    p99: FloatArray
    read: FloatArray
    write: FloatArray


def brief(plan: MeasurementPlan, requests: int) -> MeasurementPlan:
    """Return a plan for this many requests, after half as many in a warm-up."""
    return replace(
        plan,
        requests=requests,
        warmup_requests=requests // 2,
        warmup_seconds=0.0,
        seconds=None,
        half_width_ratio=None,
        is_usual=False,
    )
