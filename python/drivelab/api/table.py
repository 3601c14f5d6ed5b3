"""Models of existing measurements, from a table of any library or from files."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from drivelab.api.frames import columns_of, maker_like
from drivelab.api.path_text import path_text
from drivelab.errors import UsageError
from drivelab.workloads.given import is_number, shown

if TYPE_CHECKING:
    from drivelab.api.frames import ArrowTable
    from drivelab.models.own.model import OwnModel
    from drivelab.models.own.table import OwnTable

    Table = Mapping[str, Any] | ArrowTable | str | os.PathLike[str]

_WHERE = "the table"


def fit_table(
    table: Table,
    *,
    targets: Sequence[str] = (),
    features: Sequence[str] = (),
    group: str | None = None,
    columns: Mapping[str, str] | None = None,
    seed: int = 0,
    last_share: float | None = None,
) -> TableModel:
    """Fit models to existing measurements, as ``drivelab model --from`` does.

    Parameters
    ----------
    table
        A mapping of columns, a DataFrame, an Arrow table; or a path to CSV, Parquet or fio's JSON.
    targets
        Columns to model; by default those whose names mark them as results.
    features
        Columns that models use; by default the eight workload characteristics if all are present,
        otherwise every column that is not a result.
    group
        Column whose equal values form a group. Cross-validation never splits a group. By default,
        rows with equal settings form one.
    columns
        Renamed columns: from a name that the models know to the name in the table.
    seed
        Seed of folds, estimators and shuffles; 0 or more.
    last_share
        If rows are in the order of time: the share of rows, at the end, that is kept out of
        training. `last` has the errors of the answers for these rows.

    Raises
    ------
    DrivelabError
        For unknown columns, cells that are not numbers, or fewer than five groups.

    Examples
    --------
    >>> import drivelab as dl
    >>> table = {"depth": [1, 2, 4, 8, 16, 32], "latency_us": [90, 95, 110, 160, 300, 590]}
    >>> dl.fit_table(table)
    <TableModel of latency_us by depth: 6 rows>
    """
    from drivelab.models.own.model import Asked, fit_table

    if not isinstance(seed, int) or isinstance(seed, bool) or not 0 <= seed < 2**63:
        raise UsageError(f"seed is {shown(seed)}; allowed: a whole number from 0 on")
    for name, value in (("targets", targets), ("features", features)):
        if isinstance(value, str):
            raise UsageError(f"{name} is {shown(value)}; give a list of names")
    mapping = [(column, name) for name, column in (columns or {}).items()]
    if last_share is not None and not (is_number(last_share) and 0 < last_share < 1):
        raise UsageError(f"last_share is {shown(last_share)}; allowed: above 0 and below 1")
    asked = Asked(tuple(targets), tuple(features), group, seed, last_share)
    found = fit_table(_read(table), mapping, asked)
    last = {name: one.to_json() for name, one in found.last.items()}
    return TableModel(found.model, found.remarks, last)


class TableModel:
    """Models of the columns of a table; made by `drivelab.fit_table` or `TableModel.load`."""

    def __init__(
        self,
        fitted: OwnModel,
        remarks: tuple[str, ...] = (),
        last: Mapping[str, Any] | None = None,
    ) -> None:
        self._fitted = fitted
        self._remarks = remarks
        self._last = dict(last or {})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> TableModel:
        """Read a model from its file, or from a folder that ``drivelab model --from`` made.

        Raises
        ------
        DrivelabError
            When there is no file, or it is not a model.
        """
        from drivelab.models.own.model_file import load

        return cls(load(Path(path_text(path, "a model", "models/mine"))))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model as one JSON file, which `load` and ``drivelab predict`` read.

        Raises
        ------
        DrivelabError
            When the file cannot be written.
        """
        from drivelab.models.own.model_file import save

        save(Path(path_text(path, "a file", "model.json")), self._fitted)

    @property
    def targets(self) -> tuple[str, ...]:
        """The columns that are modelled."""
        return tuple(self._fitted.targets)

    @property
    def features(self) -> tuple[str, ...]:
        """The columns that models use."""
        return tuple(column.name for column in self._fitted.columns)

    @property
    def remarks(self) -> tuple[str, ...]:
        """What was left out and why, one line each; empty for a loaded model."""
        return self._remarks

    @property
    def last(self) -> dict[str, Any]:
        """Errors of the answers for the last rows, by target; docs/json-own.md lists the keys.

        Empty without `last_share`, and for a loaded model.
        """
        return self._last

    @property
    def accuracy(self) -> list[dict[str, Any]]:
        """Errors of every model, one row each, for ``pandas.DataFrame(model.accuracy)``.

        ``mre_ratio`` is the mean relative error on groups that the model has not seen; ``best``
        marks the models that answer.
        """
        return [
            {
                "target": target.name,
                "estimator": name,
                "best": name == target.best,
                **accuracy.to_json(),
            }
            for target in self._fitted.targets.values()
            for name, accuracy in target.cross_validated.items()
        ]

    def predict(self, table: Table, *, level: float = 0.9, estimator: str | None = None) -> Any:
        """Predict every target for the settings in a table.

        Parameters
        ----------
        table
            As in `drivelab.fit_table`; other columns are ignored.
        level
            0.8, 0.9 or 0.95: the mean share of new settings whose results an interval contains.
        estimator
            Name of a model, such as ``boosted``; by default the best for each target.

        Returns
        -------
        table
            The same kind and order as `table`; for a file, a dictionary of NumPy arrays. Each
            target is followed by the ends of its interval, such as ``p99_ms_low_90``. The ends are
            NaN if the setting is outside the measured range or there are too few groups. The last
            column is ``outside_training``.

        Raises
        ------
        DrivelabError
            For a missing column, or a value that the model does not know.
        """
        import numpy as np

        from drivelab.models import intervals
        from drivelab.models.own.target_model import best_of

        intervals.check_level(level)
        model = self._fitted
        rows = model.rows_of(_read(table).named([]))
        outside = np.any(model.beyond(rows), axis=1)
        found: dict[str, Any] = {}
        for name, target in model.targets.items():
            chosen = best_of(target.cross_validated, estimator)
            found[name] = target.predict(rows, chosen)
            ends = target.interval(found[name], level, chosen)
            ends[outside] = np.nan
            found[f"{name}_low_{100 * level:g}"] = ends[:, 0]
            found[f"{name}_high_{100 * level:g}"] = ends[:, 1]
        found["outside_training"] = outside
        return dict(found) if isinstance(table, str | os.PathLike) else maker_like(table)(found)

    def __repr__(self) -> str:
        rows = sum(rows for _, rows in self._fitted.files)
        return (
            f"<TableModel of {', '.join(self.targets)} by {', '.join(self.features)}: "
            f"{rows:,} rows>"
        )


def _read(table: Table) -> OwnTable:
    from drivelab.models.own.reading import read_files
    from drivelab.models.own.table import OwnTable

    if isinstance(table, str | os.PathLike):
        return read_files([Path(path_text(table, "a file", "results.csv"))])
    columns = columns_of(table)
    if columns is None:
        raise UsageError(
            f"{shown(table)} is not a table; give a mapping of columns, a DataFrame, ..."
        )
    read = OwnTable()
    read.fill(_WHERE, {str(name): _cells(str(name), cells) for name, cells in columns.items()})
    return read


def _cells(name: str, cells: Any) -> list[object]:
    if isinstance(cells, str) or not hasattr(cells, "__iter__"):
        raise UsageError(f"{_WHERE}: {name} is {shown(cells)}; give a list of values")
    return list(cells)
