"""What models see of a column, and the feature set that a table's columns make.

Numbers enter as they are, or as base-2 logarithms where all are above 0 and span more than a factor
of 20, as sizes and depths do. Words are categories: a column that is 1 or 0 for each (of two, for
one). A missing number goes to trees as it is, which send it to the side that suits it; least
squares and kriging see the median instead, and a column that says that it was missing. Missing
words are a category of their own where some were missing.

All eight workload characteristics together are seen as Drivelab sees workloads: means over
requests, pages touched, what has no effect left out (`drivelab.models.features`); by least squares
and kriging as work (`drivelab.models.work`) if there are other columns.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from drivelab.errors import UsageError
from drivelab.models.features import FEATURE_SETS, FeatureSet, FloatArray, workload_table
from drivelab.models.own.table import NamedTable
from drivelab.models.trained import OVERSHOOT, BoolArray
from drivelab.models.work import WORK_INPUTS, work_inputs
from drivelab.workloads.characteristics import FIELDS
from drivelab.workloads.given import shown

Scale = Literal["plain", "log2", "words"]

#: Numbers above 0 that span more than this enter as logarithms.
WIDE: Final = 20.0
#: Words of a column, at most: more are names of things, not categories.
MOST_CATEGORIES: Final = 50
#: How a missing word is called.
NO_WORD: Final = "(none)"


@dataclass(frozen=True)
class Column:
    """A column that models see.

    Attributes
    ----------
    name
        Its name.
    scale
        How it enters: ``plain``, ``log2``, or ``words`` for categories.
    categories
        The words, in order; a row holds the place of its own. Empty for numbers.
    low, median, high
        Of the numbers; 0 for words.
    may_miss
        Whether any was missing.
    """

    name: str
    scale: Scale
    categories: tuple[str, ...] = ()
    low: float = 0.0
    median: float = 0.0
    high: float = 0.0
    may_miss: bool = False

    @classmethod
    def of_numbers(cls, name: str, values: FloatArray) -> Column:
        """Describe numbers, of which there is one at least."""
        there = values[~np.isnan(values)]
        low, high = float(there.min()), float(there.max())
        scale: Scale = "log2" if low > 0 and high > WIDE * low else "plain"
        return cls(
            name,
            scale,
            low=low,
            median=float(np.median(there)),
            high=high,
            may_miss=len(there) < len(values),
        )

    def of_first(self, values: FloatArray, rows: int) -> tuple[Column, FloatArray]:
        """Describe the same column by its first rows; give all values as that tells them.

        A word that is none of the first ones is none at all.
        """
        first = values[:rows]
        if np.isnan(first).all():
            return self, values
        if self.scale != "words":
            return self.of_numbers(self.name, first), values
        places = np.unique(first).astype(int)
        words = tuple(self.categories[place] for place in places)
        ordinals = np.full(len(self.categories), np.nan)
        ordinals[places] = np.arange(len(places))
        column = Column(self.name, "words", words, may_miss=NO_WORD in words)
        return column, ordinals[values.astype(int)]

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of the features that it makes for trees."""
        if self.scale == "words":
            return tuple(f"{self.name}={word}" for word in self._told_apart)
        return (f"{self.name}_log2" if self.scale == "log2" else self.name,)

    @property
    def linear_inputs(self) -> tuple[str, ...]:
        """Names of the features that it makes for least squares and kriging."""
        missing = self.may_miss and self.scale != "words"
        return (*self.inputs, f"{self.name}_missing") if missing else self.inputs

    @property
    def _told_apart(self) -> tuple[str, ...]:
        return self.categories[1:] if len(self.categories) == 2 else self.categories

    def project(self, values: FloatArray) -> list[FloatArray]:
        """Return the features of `inputs`, NaN where a number is missing."""
        if self.scale == "words":
            first = len(self.categories) - len(self._told_apart)
            return [
                (values == first + place).astype(np.float64)
                for place in range(len(self._told_apart))
            ]
        if self.scale == "log2":
            # A requested value may be 0 or less, which is outside and reported as such.
            return [np.log2(np.maximum(values, self.low / 1024))]
        return [values]

    def project_linear(self, values: FloatArray) -> list[FloatArray]:
        """Return the features of `linear_inputs`, never NaN."""
        missing = np.isnan(values)
        features = self.project(np.where(missing, self.median, values))
        if self.may_miss and self.scale != "words":
            features.append(missing.astype(np.float64))
        return features

    def beyond(self, values: FloatArray) -> BoolArray:
        """Tell which values lie outside what was read, by more than a fiftieth of its range."""
        if self.scale == "words":
            return np.zeros(len(values), dtype=bool)
        if self.scale == "log2":
            reach = (self.high / self.low) ** OVERSHOOT
            low, high = self.low / reach, self.high * reach
        else:
            reach = OVERSHOOT * (self.high - self.low)
            low, high = self.low - reach, self.high + reach
        found: BoolArray = (values < low) | (values > high)
        return found

    def value(self, value: float) -> float | str | None:
        """Return what a table's number stands for: itself, a word, or nothing."""
        if self.scale == "words":
            return self.text(value)
        return None if math.isnan(value) else value

    def text(self, value: float) -> str:
        """Write a value of it."""
        if self.scale == "words":
            return NO_WORD if math.isnan(value) else self.categories[int(value)]
        return "" if math.isnan(value) else f"{value:.15g}"


def read_column(table: NamedTable, name: str) -> tuple[Column, FloatArray]:
    """Describe a column and return its values: numbers, or places of categories.

    Raises
    ------
    UsageError
        When it is empty, holds too many words, or a cell that is not a number among numbers.
    """
    cells = table.cells(name)
    if cells.is_empty:
        raise UsageError(f"column {shown(name)} is empty in every row")
    if not cells.is_words:
        values = table.numbers(name)
        return Column.of_numbers(name, values), values
    words = [text or NO_WORD for text in cells.words()]
    categories = tuple(sorted(set(words)))
    if len(categories) > MOST_CATEGORIES:
        raise UsageError(
            f"column {shown(name)} contains {len(categories):,} different words; "
            f"{MOST_CATEGORIES} are the most for a category"
        )
    places = {word: float(place) for place, word in enumerate(categories)}
    values = np.array([places[word] for word in words])
    return Column(name, "words", categories, may_miss=NO_WORD in categories), values


def are_workloads(columns: Sequence[Column]) -> bool:
    """Return whether the first eight columns are the workload characteristics, in their order."""
    return [column.name for column in columns[: len(FIELDS)]] == list(FIELDS)


def feature_set(columns: Sequence[Column]) -> FeatureSet:
    """Return what estimators see of a table of these columns, shape (n, columns)."""
    extended = FEATURE_SETS["extended"]
    if not are_workloads(columns):
        first, others = 0, columns
    elif len(columns) == len(FIELDS):
        return extended
    else:
        first, others = len(FIELDS), columns[len(FIELDS) :]

    def projected(table: FloatArray) -> FloatArray:
        parts = [extended.project(table[:, :first])] if first else []
        for place, column in enumerate(others, first):
            parts += column.project(table[:, place])
        return np.column_stack(parts)

    def projected_linear(table: FloatArray) -> FloatArray:
        parts = [work_inputs(table[:, :first])] if first else []
        for place, column in enumerate(others, first):
            parts += column.project_linear(table[:, place])
        return np.column_stack(parts)

    work = [f"work_{number}" for number in range(1, WORK_INPUTS + 1)]
    return FeatureSet(
        "own",
        (
            *(extended.features if first else ()),
            *(name for column in others for name in column.inputs),
        ),
        projected,
        (*(work if first else ()), *(name for column in others for name in column.linear_inputs)),
        projected_linear,
    )


def settings_table(
    columns: Sequence[Column], table: FloatArray, place: Callable[[int], str]
) -> FloatArray:
    """Return a table as estimators take it: without what has no effect, where it has workloads.

    Raises
    ------
    UsageError
        For the first row that is not a workload although the columns say so.
    """
    if not are_workloads(columns):
        return table
    workloads, others = table[:, : len(FIELDS)], table[:, len(FIELDS) :]
    try:
        return np.column_stack([workload_table(workloads), others])
    except UsageError:
        for row in range(len(table)):
            try:
                workload_table(workloads[row : row + 1])
            except UsageError as error:
                said = str(error).removeprefix("row 0: ")
                raise UsageError(f"{place(row)}: {said}") from error
        raise
