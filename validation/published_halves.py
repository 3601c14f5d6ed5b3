"""Published figures of a drive, each predicted by a preset that was fitted to others of them.

A preset's values that were fitted to published figures are forgotten: they begin at the middle of
what other presets of the kind say. What the drive's maker or a paper says of it stays. The figures
are dealt out to two halves by chance; to each half the values are fitted, and predict the other.
"""

from __future__ import annotations

import math
import random
import sys
from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from drivelab._core import preset_names, preset_text
from drivelab.bounded_toml import parse_toml
from drivelab.drives.presets.source import read_preset
from drivelab.drives.presets.values import preset_values
from drivelab.drives.simulated.drive import SimulatedDrive
from drivelab.drives.simulated.published import compare
from drivelab.errors import UsageError
from drivelab.preset_fit.candidate import Base
from drivelab.preset_fit.descent import step
from drivelab.preset_fit.fitting import base_of
from drivelab.preset_fit.parameters import Parameter, fitted_values, parameters_of
from validation.hidden_drives import kept_or_found

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from drivelab.drives.presets.source import PresetSource
    from drivelab.models.features import FloatArray

# What is known of a drive is not fitted.
_KNOWN: Final = ("paper", "datasheet")
# Grow smoothly, and were fitted to published figures, but not to measurements of a burst.
_ALSO: Final = ("collection.reserve_blocks_per_plane", "scheduling.destage_window")
_OF_THE_PAPER: Final = ("x25m-yoo2014",)
_STEPS: Final = 5
_LOOK: Final = 0.2
_RADIUS: Final = 0.7
_PULL: Final = 0.05


@dataclass(frozen=True)
class Predicted:
    """A figure, and its prediction by values that were fitted to other figures.

    Attributes
    ----------
    preset, name
        Whose it is.
    fitted_to
        The figures that the values were fitted to.
    before
        Simulated over published, less 1, with what was forgotten still at the middle of others.
    after
        The same with what was fitted.
    """

    preset: str
    name: str
    fitted_to: tuple[str, ...]
    before: float
    after: float


def every_figure() -> list[Predicted]:
    """Predict every figure of the presets that have two or more; results are saved."""
    found: list[Predicted] = []
    for name in presets_with_several():
        figures = kept_or_found(f"published-{name}", [name], partial(_as_json, name))
        for one in figures:
            found.append(Predicted(**{**one, "fitted_to": tuple(one["fitted_to"])}))
            sys.stderr.write(f"{name} {found[-1].name}: {found[-1].after:+.3f}\n")
    return found


def _as_json(name: str) -> list[dict[str, Any]]:
    return [asdict(each) for each in predicted(name)]


def presets_with_several() -> list[str]:
    """Return the single drives with two published figures or more.

    Left out are a preset whose times all stand in the paper that its figures are of, as nothing of
    it is fitted, and presets that took from published figures what cannot be forgotten.
    """
    texts = {name: parse_toml(preset_text(name)) for name in preset_names()}
    several = [
        name
        for name, read in texts.items()
        if len(read.get("published", {})) > 1 and "member" not in read
    ]
    return [name for name in several if name not in _OF_THE_PAPER and _can_forget(name)]


def _can_forget(name: str) -> bool:
    """Return whether everything that a preset took from published figures varies smoothly."""
    grown = _grown(base_of(read_preset(name)))
    return all(
        one.key in grown
        for one in preset_values(read_preset(name))
        # Figures are simulated without variability, and what a drive does without says nothing.
        if one.grade == "fitted" and one.value and not one.key.startswith("variability.")
    )


def predicted(name: str) -> Iterator[Predicted]:
    """Predict each half of a preset's figures from the other half."""
    base = forgotten(name)
    figures: dict[str, Mapping[str, Any]] = parse_toml(preset_text(name))["published"]
    names = list(figures)
    random.Random(name).shuffle(names)  # noqa: S311
    halves = names[: len(names) // 2], names[len(names) // 2 :]
    parameters = _unknown(name, base)
    with _Figures(base, parameters, figures) as bench:
        start = np.zeros(len(parameters))
        for known, asked in (halves, halves[::-1]):
            before = bench.off(start, asked)
            after = bench.off(_fitted(bench, known), asked)
            for figure, first, last in zip(asked, before.tolist(), after.tolist(), strict=True):
                yield Predicted(name, figure, tuple(known), math.expm1(first), math.expm1(last))


def forgotten(name: str) -> Base:
    """Return a preset whose fitted values are at the middle of those of other presets."""
    base = base_of(read_preset(name))
    names = _grown(base)
    fitted = [
        one.key
        for one in preset_values(read_preset(name))
        if one.grade == "fitted" and one.key in names
    ]
    others = [base_of(read_preset(other)) for other in preset_names() if _is_other(name, other)]
    middle: dict[str, Any] = {}
    for key in fitted:
        values = [one.values.get(key) for one in others if one.kind == base.kind]
        known = [math.log(one) for one in values if isinstance(one, int) and one > 0]
        if known and base.values[key]:
            middle[key] = round(math.exp(float(np.median(known))))
    return Base(
        base.reference,
        base.name,
        base.kind,
        {**base.values, **middle},
        base.texts,
        {**base.built, **middle},
    )


def _grown(base: Base) -> list[str]:
    return [key for one in parameters_of(base.kind, base.values) for key in one.keys] + list(_ALSO)


def _is_other(name: str, other: str) -> bool:
    """Say whether neither preset starts from the other, and the other is no array."""
    read = parse_toml(preset_text(other))
    mine = parse_toml(preset_text(name)).get("base")
    return "member" not in read and name not in (other, read.get("base")) and other != mine


def _unknown(name: str, base: Base) -> tuple[Parameter, ...]:
    """Return what is fitted: values that vary smoothly, and that no maker or paper states."""
    graded = {one.key: one.grade for one in preset_values(read_preset(name))}
    more = tuple(Parameter(key, (key,)) for key in _ALSO if base.values.get(key))
    every = (*parameters_of(base.kind, base.values), *more)
    return tuple(one for one in every if graded.get(one.keys[0]) not in _KNOWN)


class _Figures:
    """Simulates published figures of candidates."""

    def __init__(
        self,
        base: Base,
        parameters: Sequence[Parameter],
        figures: Mapping[str, Mapping[str, Any]],
    ) -> None:
        self.parameters = parameters
        self._base = base
        self._figures = figures
        self._like: SimulatedDrive | None = None

    def __enter__(self) -> _Figures:
        return self

    def __exit__(self, *_: object) -> None:
        if self._like is not None:
            self._like.close()

    def is_possible(self, logarithms: FloatArray) -> bool:
        """Say whether a drive can have these values together."""
        try:
            self._source(logarithms).resolved()
        except UsageError:
            return False
        return True

    def off(self, logarithms: FloatArray, names: Sequence[str]) -> FloatArray:
        """Return logarithms of simulated over published figures."""
        source = self._source(logarithms)
        drive = SimulatedDrive("sim:half", source, varies=False, like=self._like)
        found = [compare(drive, self._figures[name]).difference_ratio for name in names]
        if self._like is None:
            self._like = drive
        return np.log1p(found)

    def _source(self, logarithms: FloatArray) -> PresetSource:
        values = fitted_values(self.parameters, logarithms, self._base.values)
        return self._base.changed(values)


def _fitted(bench: _Figures, known: Sequence[str]) -> FloatArray:
    """Descend by slopes that are measured once and then updated from each step."""
    here: FloatArray = np.zeros(len(bench.parameters))
    left = bench.off(here, known)
    slopes = np.zeros((len(known), len(here)))
    for place in range(len(here)):
        there = here.copy()
        there[place] = _LOOK
        # A value that a drive of this capacity can change only in one direction is held.
        if bench.is_possible(there) and bench.is_possible(-there):
            slopes[:, place] = (bench.off(there, known) - left) / _LOOK
    best = (float(left @ left), here)
    for _ in range(_STEPS):
        change = step(left, slopes, here, _RADIUS, _PULL)
        moved = here + change
        if not float(change @ change) or not bench.is_possible(moved):
            break
        then = bench.off(moved, known)
        slopes = slopes + np.outer(then - left - slopes @ change, change) / (change @ change)
        here, left = moved, then
        best = min(best, (float(left @ left), here), key=lambda one: one[0])
    return best[1]
