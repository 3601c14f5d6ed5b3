"""The values of a preset that are fitted, and the effect of a factor on them.

A parameter is one value, or several that change together. The search uses the logarithm of a factor
on the base preset's value: double and half are then equally far away, and no time becomes negative.
A value of 0 means that the drive does not have the feature, and stays 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from drivelab.drives.presets.keys import PresetKey, preset_keys
from drivelab.drives.write_pattern import BURST
from drivelab.errors import UsageError
from drivelab.near_names import meant

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from drivelab.preset_fit.candidate import FloatArray

#: Values that hold neither the capacity for the user nor the blocks that collection keeps free.
BLOCKS: Final = "geometry.blocks_per_plane"
# Blocks of a plane that the host and the collection write to: as many as there are classes.
_CLASSES: Final = "collection.temperature_classes"
_OPEN: Final = 2
_PAGE: Final = "geometry.page_size_bytes"
#: The capacity for the user.
CAPACITY: Final = "geometry.user_capacity_bytes"
# Blocks of a plane that are reserved for other purposes.
_HELD_BACK: Final = (
    "collection.reserve_blocks_per_plane",
    "slc.blocks_per_plane",
)
# Sizes that are whole numbers of pages.
_OF_PAGES: Final = ("buffer.write_buffer_bytes", "buffer.read_cache_bytes")


@dataclass(frozen=True)
class Parameter:
    """A value of a preset to fit, or several that keep their ratio.

    Attributes
    ----------
    name
        Name for people: the key, or a word for several keys.
    keys
        Keys of the preset.
    step
        Values are multiples of this.
    fixed
        Part of a value that never changes; the factor applies to the rest.
    """

    name: str
    keys: tuple[str, ...]
    step: int = 1
    fixed: int = 0


def fitted_parameters(kind: str) -> tuple[Parameter, ...]:
    """Return the parameters that may be fitted for a kind of drive, from the table of keys.

    Geometry and policies are not continuous quantities, and are left out.

    Parameters
    ----------
    kind
        ``ssd`` or ``hdd``.
    """
    together: dict[str, list[PresetKey]] = {}
    for key in preset_keys(kind):
        if key.fit:
            together.setdefault(key.fit.parameter, []).append(key)
    found = [
        (fit.place, Parameter(name, tuple(key.name for key in keys), fit.step))
        for name, keys in together.items()
        if (fit := keys[0].fit)
    ]
    return tuple(parameter for _, parameter in sorted(found, key=lambda one: one[0]))


def parameters_of(
    kind: str, values: Mapping[str, Any], writes: str = BURST
) -> tuple[Parameter, ...]:
    """Return the parameters of a preset: those with values above 0.

    Parameters
    ----------
    kind
        ``ssd`` or ``hdd``.
    values
        Values of the base preset, by key.
    writes
        ``burst`` or ``sustained``; only sustained writes show the number of spare blocks.
    """
    spare = () if kind != "ssd" or writes == BURST else _spare(values)
    return spare + tuple(
        replace(one, step=values[_PAGE]) if one.name in _OF_PAGES else one
        for one in fitted_parameters(kind)
        if all(_is_there(values.get(key)) for key in one.keys)
    )


def _spare(values: Mapping[str, Any]) -> tuple[Parameter, ...]:
    planes = math.prod(
        values[f"geometry.{name}"]
        for name in ("channels", "ways_per_channel", "dies_per_way", "planes_per_die")
    )
    row_bytes = planes * values["geometry.pages_per_block"] * values[_PAGE]
    of_user = -(-values[CAPACITY] // row_bytes)
    held_back = sum(values.get(key) or 0 for key in _HELD_BACK)
    fixed = of_user + held_back + (values.get(_CLASSES) or _OPEN)
    return (Parameter(BLOCKS, (BLOCKS,), fixed=fixed),) if values[BLOCKS] > fixed else ()


def chosen_parameters(
    parameters: Sequence[Parameter], only: Sequence[str], fixed: Sequence[str]
) -> tuple[Parameter, ...]:
    """Return the parameters to fit: those that are requested and not held.

    Raises
    ------
    UsageError
        For an unknown name, or if no parameter is left.
    """
    names = [one.name for one in parameters]
    for name in (*only, *fixed):
        if name not in names:
            raise UsageError(
                f"{name!r} is nothing that can be fitted here; {meant(name, names)}allowed: "
                f"{', '.join(names)}"
            )
    left = tuple(
        one for one in parameters if (not only or one.name in only) and one.name not in fixed
    )
    if not left:
        raise UsageError(
            "no value is left to fit: hold fewer values with --hold, or name some with --fit"
        )
    return left


def fitted_values(
    parameters: Sequence[Parameter], logarithms: FloatArray, values: Mapping[str, Any]
) -> dict[str, int | list[int]]:
    """Return the values for given factors, by key.

    Parameters
    ----------
    parameters
        The parameters.
    logarithms
        Logarithm of each parameter's factor, shape (n,).
    values
        Values of the base preset, by key.
    """
    found: dict[str, int | list[int]] = {}
    for one, logarithm in zip(parameters, logarithms.tolist(), strict=True):
        for key in one.keys:
            found[key] = _multiplied(values[key], math.exp(logarithm), one)
    if BLOCKS in found:
        # If the preset states spare blocks as a share, the capacity for the user would change.
        found[CAPACITY] = values[CAPACITY]
    return found


def _is_there(value: Any) -> bool:
    if isinstance(value, list):
        return bool(value) and all(_is_there(one) for one in value)
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _multiplied(value: int | list[int], factor: float, of: Parameter) -> int | list[int]:
    if isinstance(value, list):
        return [max(of.step, round(one * factor / of.step) * of.step) for one in value]
    above = value - of.fixed
    return of.fixed + max(of.step, round(above * factor / of.step) * of.step)
