"""What a report shows of models of somebody's own measurements."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

from drivelab.exhibits import (
    Axis,
    BarFigure,
    Cell,
    Facts,
    Line,
    LineFigure,
    Multiples,
    ScatterFigure,
    Table,
)
from drivelab.exhibits.quantities import NOTHING, listed, mre_text
from drivelab.models.own.names import unit_of
from drivelab.models.predictors import ESTIMATORS
from drivelab.units import format_duration_ns, format_rate

if TYPE_CHECKING:
    from drivelab.models.accuracy import Accuracy
    from drivelab.models.own.columns import Column
    from drivelab.models.own.fitting import FittedTarget
    from drivelab.models.own.model import FittedTable, OwnModel
    from drivelab.models.own.target_model import TargetModel

#: Number of rows that are drawn.
MOST_DOTS: Final = 2_000
#: Columns of a bar figure, the most important ones of the first target.
MOST_BARS: Final = 12
#: Of more files than these the first and the last are named.
MOST_FILES: Final = 5
#: Level of the intervals shown with predictions.
LEVEL: Final = 0.9


def value_text(target: str, value: float) -> str:
    """Write a value of a target with its unit; of ns and bytes a second with one for people."""
    unit = unit_of(target)[1]
    if unit.factor == 1 and value > 0:
        if unit.kind == "time":
            return format_duration_ns(value)
        if unit.kind == "rate":
            return format_rate(value)
    number = f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    return f"{number} {unit.text}".strip()


def error_text(target: TargetModel, accuracy: Accuracy) -> str:
    """Write an error: relative, or absolute where the target is not above 0."""
    # The last rows may hold what the logarithm does not.
    if target.logarithm and not math.isnan(accuracy.mre):
        return mre_text(accuracy.mre)
    return value_text(target.name, accuracy.mae)


def read_words(found: FittedTable) -> str:
    """Say in a line what was read."""
    model = found.model
    rows = sum(rows for _, rows in model.files)
    files = model.files[0][0] if len(model.files) == 1 else f"{len(model.files)} files"
    names = ", ".join(column.name for column in model.columns)
    groups = max(one.groups for one in model.targets.values())
    of = f"by {model.group}" if model.group else _usual_groups(found)
    return f"{rows:,} rows of {files} in {groups:,} groups {of}; models see {names}"


def _usual_groups(found: FittedTable) -> str:
    return "that follow each other" if found.in_order else "of equal settings"


def accuracy_lines_table(model: OwnModel) -> Table:
    """Return the error of every model, a row each, the one that answers marked."""
    rows: list[tuple[Cell, ...]] = []
    marked = set()
    for target in model.targets.values():
        for name, accuracy in target.cross_validated.items():
            if name == target.best:
                marked.add((len(rows), 3))
            rows.append(
                (
                    target.name if name == next(iter(target.cross_validated)) else "",
                    ESTIMATORS[name].label,
                    error_text(target, target.in_sample[name]),
                    error_text(target, accuracy),
                )
            )
    columns = ("mean error", "", "in-sample", "unseen")
    return Table("errors", columns, tuple(rows), marked=frozenset(marked), right=True)


def last_rows_table(found: FittedTable) -> Table:
    """Return how far answers for the last rows are off, next to two that need no model."""
    rows: list[tuple[Cell, ...]] = []
    for name, last in found.last.items():
        target = found.model.targets[name]
        errors = (last.accuracy[target.best], last.row_before, last.constant)
        rows.append((name, last.constant.rows, *(error_text(target, one) for one in errors)))
    return Table(
        "last",
        ("error in the last rows", "rows", "model", "as the row before", "constant"),
        tuple(rows),
        title="How far it is off in the last rows, from which nothing was learned",
        note="Rows are in the order of time; constant is the mean of those learned from.",
        right=True,
    )


def read_facts(found: FittedTable) -> Facts:
    """Say what was read, what models see of it, and what was left out."""
    model = found.model
    facts = [(file, f"{rows:,} rows") for file, rows in model.files]
    if len(facts) > MOST_FILES:
        rows = sum(rows for _, rows in model.files)
        facts = [
            (
                f"{model.files[0][0]} ... {model.files[-1][0]}",
                f"{len(facts):,} files, {rows:,} rows",
            )
        ]
    facts += [(column.name, _seen_as(column)) for column in model.columns]
    facts += [(target.name, _target_words(target)) for target in model.targets.values()]
    of = f"rows with the same {model.group}" if model.group else f"rows {_usual_groups(found)}"
    facts.append(("groups", f"{of}; never on both sides of cross-validation"))
    facts += [("remark", remark) for remark in found.remarks]
    return Facts("", tuple(facts))


def _seen_as(column: Column) -> str:
    if column.scale == "words":
        return f"seen by models: one of {listed(list(column.categories))}"
    unit = unit_of(column.name)[1].text
    how = ", on the logarithm" if column.scale == "log2" else ""
    missing = "; missing in some rows" if column.may_miss else ""
    return f"seen by models: {column.low:g} to {column.high:g} {unit}".rstrip() + how + missing


def _target_words(target: TargetModel) -> str:
    ends = f"{value_text(target.name, target.low)} to {value_text(target.name, target.high)}"
    how = "fitted on the logarithm" if target.logarithm else "not all above 0: fitted as it is"
    if target.law is not None:
        how = f"answered as {target.law.describe()}"
    left_out = f"; {target.left_out:,} rows have none" if target.left_out else ""
    return f"modelled: {ends} in {target.rows:,} rows, {how}{left_out}"


def accuracy_table(model: OwnModel) -> Table:
    """Return R2, MAE and MRE of every model, on rows seen and unseen."""
    rows: list[tuple[Cell, ...]] = []
    groups = []
    marked = set()
    for target in model.targets.values():
        groups.append((target.name, len(target.cross_validated)))
        for name, accuracy in target.cross_validated.items():
            if name == target.best:
                marked.add((len(rows), 6))
            cells = [_cells(target, one) for one in (target.in_sample[name], accuracy)]
            rows.append((ESTIMATORS[name].label, *cells[0], *cells[1]))
    return Table(
        "accuracy",
        ("Model", *(("R²", "MAE (mean)", "MRE") * 2)),
        tuple(rows),
        title="How far off each model is",
        heads=(("1) Seen", 3), ("2) Unseen", 3)),
        groups=tuple(groups),
        marked=frozenset(marked),
        right=True,
        saved=(saved_accuracy(model),),
        note="1) Seen: on the rows that the model was fitted to, which makes errors look too "
        "small. 2) Unseen: on rows of groups that were left out of the fit (cross-validation). "
        "Blue is the model that answers: the one with the smallest error, or the combination if "
        "no model is better by a tenth.",
    )


def _cells(target: TargetModel, accuracy: Accuracy) -> tuple[str, str, str]:
    return (
        NOTHING if np.isnan(accuracy.r2) else f"{accuracy.r2:.3f}",
        f"{value_text(target.name, accuracy.mae)} ({value_text(target.name, accuracy.mean)})",
        NOTHING if np.isnan(accuracy.mre) else mre_text(accuracy.mre),
    )


def saved_accuracy(model: OwnModel) -> Table:
    """Return a row a target, estimator and what it was judged on."""
    columns = ("target", "estimator", "judged_on", "r2", "mae", "mean", "mre", "rows")
    rows = tuple(
        (
            *(target.name, name, judged),
            *(_known(one) for one in (score.r2, score.mae, score.mean, score.mre)),
            score.rows,
        )
        for target in model.targets.values()
        for judged, scores in (
            ("in_sample", target.in_sample),
            ("cross_validated", target.cross_validated),
        )
        for name, score in scores.items()
    )
    return Table("accuracy", columns, rows)


def _known(value: float) -> float | None:
    return None if np.isnan(value) else value


def predictions_table(found: FittedTable) -> Table:
    """Return every row: settings, measurement, and prediction by a fit without it."""
    model = found.model
    count = len(found.table)
    columns: dict[str, list[Cell]] = {"row": list(found.places)}
    for place, column in enumerate(model.columns):
        values = found.table[:, place].tolist()
        columns[column.name] = (
            [column.text(value) for value in values]
            if column.scale == "words"
            else [_known(value) for value in values]
        )
    for name, fitted in found.fitted.items():
        said = fitted.out_of_fold[fitted.model.best]
        ends = fitted.model.interval(said, LEVEL)
        percent = f"{100 * LEVEL:g}"
        for title, values in (
            (f"{name} measured", fitted.observed),
            (f"{name} predicted", said),
            (f"{name} low_{percent}", ends[:, 0]),
            (f"{name} high_{percent}", ends[:, 1]),
        ):
            cells: list[Cell] = [None] * count
            for row, value in zip(fitted.kept.tolist(), values.tolist(), strict=True):
                cells[row] = _known(value)
            columns[title] = cells
    return Table("predictions", tuple(columns), tuple(zip(*columns.values(), strict=True)))


def predictions_figures(found: FittedTable) -> list[Multiples]:
    """Show predicted against measured, a figure a target; those on the logarithm come first."""
    numbered = list(enumerate(found.fitted.values(), 1))
    shown = []
    for name, logarithm in (("predicted", True), ("predicted-plain", False)):
        ours = [(place, one) for place, one in numbered if one.model.logarithm == logarithm]
        if not ours:
            continue
        figures = tuple(_predictions_of(place, found, one) for place, one in ours)
        band = any(LEVEL in one.model.half_widths[one.model.best] for _, one in ours)
        note = (
            "Each dot is one row: across is the measured value, up is the prediction of a model "
            "that was fitted without the row's group. On the line the prediction is exact"
        )
        if logarithm and band:
            note += f"; about {100 * LEVEL:g} % of new settings are in the band"
        shown.append(Multiples(name, "", figures, note=f"{note}.", saved=()))
    return shown


def _predictions_of(
    number: int, found: FittedTable, fitted: FittedTarget
) -> ScatterFigure | LineFigure:
    target = fitted.model
    some = np.linspace(0, len(fitted.kept) - 1, min(len(fitted.kept), MOST_DOTS)).astype(int)
    across = tuple(fitted.observed[some].tolist())
    up = tuple(fitted.out_of_fold[target.best][some].tolist())
    texts = tuple(_setting_text(found, int(row)) for row in fitted.kept[some])
    width = target.half_widths[target.best].get(LEVEL)
    unit = unit_of(target.name)[1]
    name = f"predictions-{number}"
    if target.logarithm:
        # Times of any unit are written with the one that fits them.
        is_time = unit.kind == "time"
        factor = unit.factor if is_time else 1.0
        across, up = (tuple(factor * one for one in values) for values in (across, up))
        x, y = (
            Axis(
                f"{word} {target.name}",
                "log10",
                quantity="duration" if is_time else "number",
                also=(min(across + up), max(across + up)),
            )
            for word in _BOTH
        )
        band = None if width is None else min(float(np.exp(width)), 1e6)
        return ScatterFigure(name, target.name, x, y, across, up, "rows", factor=band, texts=texts)
    x, y = (Axis(f"{word} {target.name}") for word in _BOTH)
    ends = (min(across), max(across))
    lines = [Line("exact", ends, ends, "guide"), Line("rows", across, up, "cloud", texts=texts)]
    return LineFigure(name, target.name, x, y, tuple(lines))


_BOTH: Final = ("measured", "predicted")


def _setting_text(found: FittedTable, row: int) -> str:
    values = found.table[row].tolist()
    said = [
        f"{column.name} {column.text(value)}"
        for column, value in zip(found.model.columns, values, strict=True)
        if not np.isnan(value)
    ]
    return ", ".join(said[:10])


def importance_figures(model: OwnModel) -> list[BarFigure]:
    """Show how much worse predictions get without each column; relative errors share a figure."""
    relative = [one for one in model.targets.values() if one.logarithm]
    absolute = [one for one in model.targets.values() if not one.logarithm]
    sets = [relative] if relative else []
    sets += [[one] for one in absolute]
    return [_importance_of(number, targets) for number, targets in enumerate(sets, 1)]


def _importance_of(number: int, targets: list[TargetModel]) -> BarFigure:
    by_target = [{one.column: one for one in target.importance} for target in targets]
    intact = [target.error(target.best) for target in targets]
    names = list(dict.fromkeys(name for found in by_target for name in found))[:MOST_BARS]
    bars = tuple(
        (
            name,
            tuple(
                error + found[name].increase if name in found else None
                for error, found in zip(intact, by_target, strict=True)
            ),
            (None,) * len(targets),
        )
        for name in names
    )
    is_relative = targets[0].logarithm
    columns = ("target", "column", "error_intact", "error_increase", "error_increase_deviation")
    rows = tuple(
        (target.name, one.column, error, one.increase, one.deviation)
        for target, error in zip(targets, intact, strict=True)
        for one in target.importance
    )
    return BarFigure(
        f"importance-{number}",
        "What each column is worth",
        Axis("error if shuffled", quantity="share" if is_relative else "number"),
        tuple(target.name for target in targets),
        bars,
        f"How large the mean {'relative' if is_relative else 'absolute'} error becomes if the "
        "values of one column are shuffled among the rows. The dashed line is the error with the "
        "right values. A column whose bar barely passes it does not matter.",
        guides=tuple(intact),
        columns=3,
        saved=(Table(f"importance-{number}", columns, rows),),
    )
