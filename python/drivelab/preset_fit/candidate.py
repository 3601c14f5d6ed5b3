"""A preset with some values changed, as text, and what a drive of it does as numbers."""

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

#: What the drive is called while it is fitted.
NAME: Final = "fitted"
#: The percentile that is compared.
PERCENT: Final = 99.0


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
        Texts of presets that it needs and that the package does not have, by name.
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
