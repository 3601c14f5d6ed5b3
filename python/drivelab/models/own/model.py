"""A model of somebody's own measurements: fit it to a table, ask it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from drivelab.errors import UsageError
from drivelab.models.evaluate import FEWEST_WORKLOADS
from drivelab.models.features import FeatureSet, FloatArray
from drivelab.models.own.cells import cell_number
from drivelab.models.own.columns import (
    NO_WORD,
    Column,
    are_workloads,
    feature_set,
    read_column,
    settings_table,
)
from drivelab.models.own.fitting import (
    FittedTarget,
    Settings,
    TableWatch,
    fit_target,
    follow_target,
    law_of,
    left_out_lines,
    refuse_few_groups,
    usable_estimators,
)
from drivelab.models.own.in_order import LastRows, judge_last, learned_rows, stretches
from drivelab.models.own.laws import FEWEST_GROUPS, may_follow, times_first
from drivelab.models.own.names import characteristic_of, is_result
from drivelab.models.own.table import NamedTable, OwnTable, listed, size_factor
from drivelab.models.own.target_model import TargetModel
from drivelab.models.predictor import IntArray
from drivelab.models.trained import BoolArray
from drivelab.near_names import meant
from drivelab.workloads.characteristics import FIELDS, Characteristics
from drivelab.workloads.given import shown

#: Largest number of columns that models see.
MOST_FEATURES: Final = 64
#: So many targets are modelled unasked.
MOST_TARGETS: Final = 8
# Up to so many columns are repeated in an option that is proposed.
_SHOWN_FEATURES: Final = 12
#: Of `features_from`: every column that is not a result.
ALL: Final = "all"


@dataclass(frozen=True)
class Asked:
    """What of a table is to be modelled.

    Attributes
    ----------
    targets
        Names of columns; without any, those whose names say that they are results.
    features
        Names of columns, or ``all``; without any, the eight workload characteristics where all of
        them are there, else all columns that are not results.
    group
        The column whose equal cells are one group.
    seed
        Of folds, estimators and shuffles.
    last_share
        Rows are in the order of time: this share of them, the last ones, is judged on instead of
        learned from. Without a group column, stretches of the others are groups.
    """

    targets: tuple[str, ...] = ()
    features: tuple[str, ...] = ()
    group: str | None = None
    seed: int = 0
    last_share: float | None = None


@dataclass(frozen=True)
class OwnModel:
    """Models of every target of a table.

    Attributes
    ----------
    columns
        What they see, in order.
    targets
        By name.
    group
        The column that named groups; None where equal settings were one.
    files
        What was read, and how many rows each had.
    seed
        Of folds, estimators and shuffles.
    """

    columns: tuple[Column, ...]
    targets: Mapping[str, TargetModel]
    group: str | None
    files: tuple[tuple[str, int], ...]
    seed: int

    @property
    def features(self) -> FeatureSet:
        """What estimators see."""
        return feature_set(self.columns)

    def settings(self, given: Mapping[str, str]) -> FloatArray:
        """Read one setting from texts by column; give it as a table of one row.

        Raises
        ------
        UsageError
            For an unknown or missing column, or a value that is neither a number nor a category.
        """
        known = {column.name: column for column in self.columns}
        factors = dict.fromkeys(known, 1.0)
        values: dict[str, str] = {}
        for name, text in given.items():
            found = characteristic_of(name)
            meant_by, factor = (name, 1.0) if found is None or name in known else found
            if meant_by not in known:
                raise UsageError(
                    f"the model has no column {shown(name)}; {meant(name, known)}it has "
                    f"{listed(known)}"
                )
            values[meant_by], factors[meant_by] = text, factor
        row = [
            self._value(column, values.get(column.name, ""), factors[column.name])
            for column in self.columns
        ]
        table = np.array([row])
        self._refuse_missing(table, lambda _: "what is asked")
        return settings_table(self.columns, table, lambda _: "what is asked")

    def rows_of(self, table: NamedTable) -> FloatArray:
        """Read the settings of every row of a table of files; raises as `settings`."""
        parts = []
        for column in self.columns:
            if column.name not in table.names:
                parts.append(np.full(table.table.rows, np.nan))
            elif column.scale == "words":
                words = table.cells(column.name).words()
                parts.append(
                    np.array(
                        [
                            self._category(column, text, table.table.place(row))
                            for row, text in enumerate(words)
                        ]
                    )
                )
            else:
                parts.append(table.numbers(column.name))
        rows = np.column_stack(parts)
        self._refuse_missing(rows, table.table.place)
        return settings_table(self.columns, rows, table.table.place)

    def beyond(self, table: FloatArray) -> BoolArray:
        """Tell, by row and column, which values lie outside what was read."""
        return np.column_stack(
            [column.beyond(table[:, place]) for place, column in enumerate(self.columns)]
        )

    def outside(self, row: FloatArray) -> list[str]:
        """Say in which way a setting lies outside what was read, a line a column."""
        beyond = self.beyond(row.reshape(1, -1))[0]
        return [
            f"{column.name} is {value:g}, the rows have {column.low:g} to {column.high:g}"
            for column, value, is_beyond in zip(self.columns, row, beyond, strict=True)
            if is_beyond
        ]

    def _value(self, column: Column, text: str, factor: float) -> float:
        if column.scale == "words":
            return self._category(column, text.strip(), "what is asked")
        number = cell_number(column.name, text, size_factor(column.name, factor))
        return number * factor

    @staticmethod
    def _category(column: Column, text: str, where: str) -> float:
        word = text or NO_WORD
        if word not in column.categories:
            if not text:
                raise UsageError(
                    f"{where}: {column.name} is missing; it is one of {listed(column.categories)}"
                )
            raise UsageError(
                f"{where}: {column.name} is {shown(text)}; {meant(text, column.categories)}the "
                f"rows have {listed(column.categories)}"
            )
        return float(column.categories.index(word))

    def _refuse_missing(self, table: FloatArray, place: Callable[[int], str]) -> None:
        first = 0
        if are_workloads(self.columns):
            _fill_defaults(table)
            first = len(FIELDS)
        for number, column in enumerate(self.columns[first:], first):
            missing = np.flatnonzero(np.isnan(table[:, number]))
            if missing.size and not column.may_miss and column.scale != "words":
                raise UsageError(
                    f"{place(int(missing[0]))}: {column.name} is missing; no row that the model "
                    "was fitted to lacks it"
                )
        self._refuse_not_positive(table, place)

    def _refuse_not_positive(self, table: FloatArray, place: Callable[[int], str]) -> None:
        """Refuse settings not above 0 that a result is multiplied or divided by."""
        follows = {
            name: target.name
            for target in self.targets.values()
            if target.law is not None
            for name, _ in target.law.powers
        }
        for number, column in enumerate(self.columns):
            below = np.flatnonzero(table[:, number] <= 0)
            if column.name in follows and below.size:
                raise UsageError(
                    f"{place(int(below[0]))}: {column.name} is {table[below[0], number]:g}; "
                    f"{follows[column.name]} follows from it, so give a value above 0"
                )


def _fill_defaults(table: FloatArray) -> None:
    """Give characteristics that are missing their defaults, as everywhere else."""
    usual = Characteristics().as_tuple()
    for place, value in enumerate(usual):
        table[np.isnan(table[:, place]), place] = value


@dataclass(frozen=True)
class FittedTable:
    """A model, and what it was fitted to.

    Attributes
    ----------
    model
        The model.
    table
        The settings, shape (n, columns).
    places
        Where each row stands in the files.
    fitted
        By target, what was said of the rows.
    remarks
        What was left out and why, a line each.
    last
        By target, how far models are off in the last rows, where they were kept for that.
    in_order
        Whether rows are in the order of time, so that stretches of them are groups.
    """

    model: OwnModel
    table: FloatArray
    places: Sequence[str]
    fitted: Mapping[str, FittedTarget]
    remarks: tuple[str, ...]
    last: Mapping[str, LastRows]
    in_order: bool


def fit_table(
    read: OwnTable,
    mapping: Sequence[tuple[str, str]],
    asked: Asked,
    *,
    watch: TableWatch | None = None,
) -> FittedTable:
    """Fit every estimator to every target of a table.

    Parameters
    ----------
    read
        The files.
    mapping
        Pairs of a file's column and the name that it gets.
    asked
        What is to be modelled.
    watch
        Is told what is done.

    Raises
    ------
    UsageError
        For unknown columns, cells that are not numbers, or too few rows.
    """
    named = read.named(mapping)
    remarks = list(read.remarks)
    targets = _targets(named, asked)
    if asked.group is not None:
        _refuse_grouping_by(asked.group, named, targets)
    columns, table = _features(named, asked, targets, remarks)
    remarks += _partly_named(named, [*targets, *(one.name for one in columns), asked.group])
    first = learned_rows(len(table), asked.last_share)
    if asked.last_share is not None:
        # Of the last rows nothing is learned, not even how far they reach.
        known = [one.of_first(table[:, place], first) for place, one in enumerate(columns)]
        columns = [column for column, _ in known]
        table = np.column_stack([values for _, values in known])
    table = settings_table(columns, table, read.place)
    table, later = table[:first], table[first:]
    if asked.group is not None:
        groups = named.groups(asked.group)[:first]
    else:
        groups = _equal_rows(table) if asked.last_share is None else stretches(first)
    refuse_few_groups(len(np.unique(groups)), "these measurements", asked.group)
    settings = Settings(table, groups, columns, asked.group)
    fitted: dict[str, FittedTarget] = {}
    last: dict[str, LastRows] = {}
    rows = [int(np.count_nonzero(~np.isnan(named.numbers(name)[:first]))) for name in targets]
    left_out = left_out_lines(rows, len(settings.features.features))
    remarks += left_out
    watch = watch or TableWatch()
    watch.table(first, left_out)
    for name in times_first(targets):
        every = named.numbers(name)
        values = _learned(name, every, first)
        there = ~np.isnan(values)
        count = len(np.unique(groups[there]))
        if not asked.targets and len(targets) > 1 and count < FEWEST_WORKLOADS:
            remarks.append(f"{name} is not modelled: {count} groups of rows have a value")
            continue
        usable, _ = usable_estimators(int(np.count_nonzero(there)), len(settings.features.features))
        watch.target(name)
        found = _fitted(name, values, fitted, settings, usable, seed=asked.seed, watch=watch)
        remarks += _following(found.model)
        fitted[name] = found
        if asked.last_share is not None:
            last |= _judged(found.model, later, every, remarks)
        remarks += _below_zero(name, every, read.place)
        remarks += _of_rows(found.model)
    if not fitted:
        refuse_few_groups(0, listed(targets), asked.group)
    remarks += _apart([one.model for one in fitted.values()])
    model = OwnModel(
        columns=tuple(columns),
        targets={name: fitted[name].model for name in targets if name in fitted},
        group=asked.group,
        files=tuple(read.files),
        seed=asked.seed,
    )
    places = [read.place(row) for row in range(len(table))]
    fitted = {name: fitted[name] for name in model.targets}
    return FittedTable(
        model, table, places, fitted, tuple(remarks), last, asked.last_share is not None
    )


def _fitted(
    name: str,
    values: FloatArray,
    others: Mapping[str, FittedTarget],
    settings: Settings,
    estimators: Sequence[str],
    *,
    seed: int,
    watch: TableWatch,
) -> FittedTarget:
    """Fit a target, or have the models of one that it follows from answer for it."""
    law = law_of(name, values, others, settings) if may_follow(name) else None
    if law is None:
        return fit_target(name, values, settings, estimators, seed=seed, watch=watch)
    return follow_target(name, values, settings, law, others[law.target], seed=seed)


def _following(target: TargetModel) -> list[str]:
    """Say from which other target one follows."""
    law = target.law
    if law is None:
        return []
    return [
        f"{target.name} follows from {law.target} as {law.describe()} in these rows: one model "
        "answers for both, so that they never contradict each other"
    ]


def _of_rows(target: TargetModel) -> list[str]:
    """Say which rows have no value, and whether all have the same."""
    found = []
    if target.left_out:
        found.append(f"{target.name}: {target.left_out:,} rows have no value and are left out")
    if target.low == target.high:
        found.append(
            f"{target.name} is {target.low:g} in every row, so that is every answer: nothing can "
            "be learned of it"
        )
    return found


def _apart(targets: Sequence[TargetModel]) -> list[str]:
    """Name the targets that could follow from one another, if too few groups could show it."""
    apart = [
        one.name
        for one in targets
        if one.law is None and one.logarithm and may_follow(one.name) and one.groups < FEWEST_GROUPS
    ]
    if len(apart) < 2:
        return []
    return [
        f"fewer than {FEWEST_GROUPS} groups: results are modelled apart and may contradict each "
        f"other ({listed(apart)})"
    ]


def _below_zero(name: str, values: FloatArray, place: Callable[[int], str]) -> list[str]:
    """Say where a result is below 0, which no time, rate or count can be."""
    below = np.flatnonzero(values < 0)
    if not below.size or not is_result(name):
        return []
    count = f"{below.size:,} row{'s' if below.size > 1 else ''}"
    return [
        f"{name} is below 0 in {count}, the first is {place(int(below[0]))}: a result cannot be; "
        "correct or leave out such rows"
    ]


def _learned(name: str, values: FloatArray, first: int) -> FloatArray:
    """Return the values of a target that are learned from."""
    learned = values[:first]
    if np.isnan(learned).all() and not np.isnan(values).all():
        raise UsageError(
            f"column {shown(name)} has values in the last rows alone, from which nothing is "
            "learned; give a smaller share to be judged on"
        )
    return learned


def _judged(
    target: TargetModel, later: FloatArray, values: FloatArray, remarks: list[str]
) -> dict[str, LastRows]:
    """Judge a target in the last rows, by its name; say where there is nothing to judge."""
    found = judge_last(target, later, values)
    if found is None:
        remarks.append(f"{target.name} is not judged: none of the last rows has a value")
        return {}
    return {target.name: found}


def _targets(named: NamedTable, asked: Asked) -> list[str]:
    if asked.targets:
        for name in asked.targets:
            named.cells(name)
        return list(dict.fromkeys(asked.targets))
    usual = [name for name in named.table.usual_targets if name in named.names]
    found = usual or [name for name in named.names if is_result(name)]
    found = [name for name in found if not named.cells(name).is_words]
    if not found:
        raise UsageError(
            "no column's name says that it is a result, such as latency_us, iops or p99_ms; name "
            f"those to model with --target: the columns are {listed(named.names)}"
        )
    if len(found) > MOST_TARGETS:
        raise UsageError(
            f"{len(found)} columns look like results; name those to model with --target: "
            f"{listed(found)}"
        )
    return found


def _refuse_grouping_by(group: str, named: NamedTable, targets: Sequence[str]) -> None:
    """Refuse a column of results: nearly every row would be a group of its own."""
    named.cells(group)
    if group not in targets and not named.is_result(group):
        return
    settings = [name for name in named.names if name not in targets and not named.is_result(name)]
    why = "named like a result" if is_result(group) else "a result of Drivelab's own export"
    why = "a target" if group in targets else why
    choice = f": {listed(settings)}" if settings else ""
    raise UsageError(
        f"--group {group}: {group} is {why}, and a result cannot group rows; name a column of "
        f"settings{choice}"
    )


def _features(
    named: NamedTable, asked: Asked, targets: Sequence[str], remarks: list[str]
) -> tuple[list[Column], FloatArray]:
    """Choose and read the columns that models see."""
    settings = [
        name
        for name in named.names
        if name not in targets and name != asked.group and not named.is_result(name)
    ]
    by_name = bool(asked.features) and asked.features != (ALL,)
    if by_name:
        chosen = _asked_features(named, asked.features, targets)
    elif asked.features or not set(FIELDS) <= set(settings):
        chosen = settings
    else:
        chosen = list(FIELDS)
    columns: dict[str, Column] = {}
    values: dict[str, FloatArray] = {}
    for name in chosen:
        if name in FIELDS and set(FIELDS) <= set(chosen) and named.cells(name).is_empty:
            # Without effect in any row, or `settings_table` says where it is needed.
            columns[name] = Column(name, "plain", may_miss=True)
            values[name] = np.full(named.table.rows, np.nan)
            continue
        try:
            columns[name], values[name] = read_column(named, name)
        except UsageError as error:
            # What nobody named is left out where it is not a setting.
            if by_name or not (named.cells(name).is_words or named.cells(name).is_empty):
                raise
            remarks.append(f"{error}: left out")
    if not columns:
        raise UsageError(
            "no column is left that models could see; name some with --features-from: the "
            f"columns are {listed(named.names)}"
        )
    if len(columns) > MOST_FEATURES:
        raise UsageError(
            f"{len(columns)} columns for models to see; {MOST_FEATURES} are the most: name some "
            "with --features-from"
        )
    order = [name for name in FIELDS if name in columns]
    order += [name for name in columns if name not in FIELDS]
    if not by_name:
        remarks += _unseen(named, [name for name in settings if name not in chosen], targets)
        remarks += _unseen_group(named, asked.group, order)
    return [columns[name] for name in order], np.column_stack([values[name] for name in order])


def _unseen(named: NamedTable, unused: Sequence[str], targets: Sequence[str]) -> list[str]:
    """Name the settings that models do not see, and the results that only an export tells."""
    exported = [
        name
        for name in named.names
        if named.is_result(name) and not is_result(name) and name not in targets
    ]
    found = []
    if unused:
        found.append(
            f"not seen by the models: {listed(unused)} (--features-from all has them seen)"
        )
    if exported:
        found.append(
            f"results of Drivelab's own export, which models do not see: {listed(exported)} "
            "(--features-from names the columns to see)"
        )
    return found


def _unseen_group(named: NamedTable, group: str | None, seen: Sequence[str]) -> list[str]:
    """Say that models do not see the column that names the groups, and how they do."""
    if group is None:
        return []
    line = f"{group} names the groups, so the models do not see it"
    try:
        read_column(named, group)
    except UsageError:
        # Such as a name for each of many groups.
        return [line]
    if len(seen) > _SHOWN_FEATURES:
        return [f"{line} (--features-from with its name and those of the others has it seen)"]
    return [f"{line} (--features-from {','.join([*seen, group])} has it seen)"]


def _partly_named(named: NamedTable, used: Sequence[str | None]) -> list[str]:
    """Name the columns in use that some files do not have, such as misspelt ones."""
    lacking = {
        name: named.table.files_without(named.names[name][0]) for name in used if name is not None
    }
    partly = [name for name, files in lacking.items() if files]
    if not partly:
        return []
    first = lacking[partly[0]][0]
    return [
        f"only some files have {listed(partly)} ({first} lacks {partly[0]}): rows of the other "
        "files have no value there; if a file has another name for a column, rename it there"
    ]


def _asked_features(
    named: NamedTable, features: Sequence[str], targets: Sequence[str]
) -> list[str]:
    for name in features:
        named.cells(name)
        if name in targets:
            raise UsageError(f"{name} is a target and a feature; a model would copy it")
    return list(dict.fromkeys(features))


def _equal_rows(table: FloatArray) -> IntArray:
    """Return rows that are equal, missing values too, one number from 0 on."""
    known: dict[bytes, int] = {}
    # Zeros of either sign are one value.
    codes = [known.setdefault(row.tobytes(), len(known)) for row in table + 0.0]
    return np.array(codes, dtype=np.int64)
