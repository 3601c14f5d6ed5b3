"""Answers for tables and files of workloads: many at once, every metric, with its interval.

Of a file a block of rows is read, answered and written by one thread, and the blocks are shared
between the cores; they are put together in their order. No more blocks are under way than keep
the cores busy, so memory does not grow with the file.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from drivelab import _core
from drivelab.errors import CannotAnswerError
from drivelab.models import intervals
from drivelab.models.combination import Asked
from drivelab.models.features import FloatArray, effective_table
from drivelab.models.measured import METRICS
from drivelab.models.model import PerformanceModel
from drivelab.models.trained import BoolArray
from drivelab.workloads.characteristics import FIELDS
from drivelab.workloads.csv_table import CsvBlock, WorkloadCsv

#: Default share of workloads that an interval contains.
DEFAULT_LEVEL: Final = 0.9
#: Type of a column of answers: numbers, or whether a row is outside the trained range.
Column = FloatArray | BoolArray
#: The name of the last column.
OUTSIDE: Final = "outside_training"
_WORKLOAD_COLUMNS: Final = tuple(
    f"{name}_bytes" if name.endswith(("_size", "_stride")) else name for name in FIELDS
)


@dataclass(frozen=True)
class Answered:
    """A block of rows as CSV, its number of rows, and the number outside the trained range."""

    text: bytes
    rows: int
    outside: int


class BulkPredictor:
    """Answers many workloads by a model.

    Parameters
    ----------
    model
        Whom to ask.
    level
        Level of the intervals; None leaves them empty.
    features, estimator
        The model to use; default: the best of each metric.

    Raises
    ------
    UsageError
        For an unknown name or level.
    CannotAnswerError
        When too few workloads were reserved for the level.
    """

    def __init__(
        self,
        model: PerformanceModel,
        *,
        level: float | None,
        features: str | None = None,
        estimator: str | None = None,
    ) -> None:
        if level is not None:
            intervals.check_level(level)
        self._model = model
        self._keys = {metric: model.key(metric, features, estimator) for metric in METRICS}
        # Of a workload as hard as 1.
        self._widths = (
            None
            if level is None
            else {
                metric: intervals.half_width(model.scores[key], level)
                for metric, key in self._keys.items()
            }
        )
        percent = "" if level is None else f"_{100 * level:g}"
        self._answer_names = {
            metric: (metric, f"{metric}_low{percent}", f"{metric}_high{percent}")
            for metric in METRICS
        }

    @property
    def header(self) -> bytes:
        """The names of the columns, as a line."""
        answers = [name for names in self._answer_names.values() for name in names]
        return (",".join([*_WORKLOAD_COLUMNS, *answers, OUTSIDE]) + "\n").encode()

    def columns(self, table: FloatArray) -> dict[str, Column]:
        """Answer a table of workloads.

        Parameters
        ----------
        table
            Shape (n, 8), columns in the order of `FIELDS`; what has no effect may be anything.

        Returns
        -------
        dict
            Of arrays of shape (n,): each metric in its unit, NaN where no number can hold the
            answer; the ends of its interval, such as ``iops_low_90``, NaN for workloads outside
            what was trained and without a level; and ``outside_training``.
        """
        asked = Asked(effective_table(table))
        outside = self._model.trained.outside(asked.table)
        if self._widths is None:
            widths = dict.fromkeys(METRICS, np.full(len(table), np.nan))
        else:
            # Every metric is asked of the same surface.
            hard = self._model.difficulty(self._keys[METRICS[0]].surface, asked)
            widths = {metric: width * hard for metric, width in self._widths.items()}
        columns: dict[str, Column] = {}
        for metric, key in self._keys.items():
            with np.errstate(over="ignore", under="ignore"):
                answers = np.exp(self._model.predictors[key].of(asked))
            # Too far outside for any number: no answer.
            answers[~((answers > 0) & (answers < np.inf))] = np.nan
            known = np.where(outside, np.nan, answers)
            low, high = intervals.ends_around(known, widths[metric]).T
            columns |= zip(self._answer_names[metric], (answers, low, high), strict=True)
        return columns | {OUTSIDE: outside}

    def answers(self, source: WorkloadCsv) -> Iterator[Answered]:
        """Answer a file block by block, in its order.

        Raises
        ------
        UsageError
            For the first row that is not a workload; what was answered before it was given.
        """
        workers = len(os.sched_getaffinity(0))
        under_way: deque[Future[Answered]] = deque()
        with ThreadPoolExecutor(workers) as pool:
            try:
                for block in source.blocks():
                    under_way.append(pool.submit(self._answer, source, block))
                    if len(under_way) > 2 * workers:
                        yield under_way.popleft().result()
                while under_way:
                    yield under_way.popleft().result()
            finally:
                pool.shutdown(cancel_futures=True)

    def _answer(self, source: WorkloadCsv, block: CsvBlock) -> Answered:
        table = effective_table(source.table(block))
        answers = self.columns(table)
        outside = answers.pop(OUTSIDE)
        columns: list[tuple[str, Any]] = [
            ("exact", table[:, column]) for column in range(len(FIELDS))
        ]
        columns += [("rounded", one) for one in answers.values()]
        columns.append(("flag", outside.astype(np.float64)))
        text = _core.write_cells([(kind, np.ascontiguousarray(one)) for kind, one in columns])
        return Answered(text, len(table), int(np.count_nonzero(outside)))


def bulk_predictor(
    model: PerformanceModel,
    *,
    level: float | None = None,
    features: str | None = None,
    estimator: str | None = None,
) -> tuple[BulkPredictor, str]:
    """Return what predicts, and why it has no intervals; empty if it has them.

    Without a level it is `DEFAULT_LEVEL`, and no interval where too few workloads were reserved
    for that.

    Raises
    ------
    CannotAnswerError
        When too few were reserved for a level that was asked for.
    """
    asked = DEFAULT_LEVEL if level is None else level
    try:
        return BulkPredictor(model, level=asked, features=features, estimator=estimator), ""
    except CannotAnswerError as error:
        if level is not None:
            raise
        without = BulkPredictor(model, level=None, features=features, estimator=estimator)
        return without, f"no intervals: {error}"
