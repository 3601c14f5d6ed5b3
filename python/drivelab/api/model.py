"""A model of a drive, fitted to measurements, which predicts any workload."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from drivelab.api.frames import workload_rows
from drivelab.api.html_tables import table_html
from drivelab.api.measurements import Measurements
from drivelab.api.path_text import path_text
from drivelab.api.run import Run
from drivelab.core_panic import panic_errors
from drivelab.errors import UsageError
from drivelab.store import RunStore

if TYPE_CHECKING:
    from drivelab.api.forecast import Forecast
    from drivelab.api.frames import Workloads
    from drivelab.models.model import PerformanceModel
    from drivelab.workloads.trace import Trace


def fit(measured: Run | Measurements) -> Model:
    """Fit models of latency, bandwidth and throughput to measurements.

    Parameters
    ----------
    measured
        A run, or measurements of at least five distinct workloads. All measurements of
        `Drive.measure` are used for training; intervals and off-grid errors need a run, which
        reserves workloads for them.

    Returns
    -------
    Model
        The same models as `drivelab model` fits to the same run.

    Raises
    ------
    DrivelabError
        When there are too few workloads, or the run is damaged.

    Examples
    --------
    >>> import drivelab as dl
    >>> table = {"queue_depth": [1, 2, 4, 8, 16] * 2, "read_size": ["4KiB"] * 5 + ["64KiB"] * 5}
    >>> with dl.drive("sim:x25m") as drive:
    ...     model = dl.fit(drive.measure(table, requests=500))
    >>> model
    <Model of sim:x25m, simulated, fitted to 10 workloads>
    >>> answers = model.predict({"queue_depth": [3, 6], "read_size": "4KiB"})
    >>> list(answers)
    ['latency_ns_mean', 'bandwidth_bytes_per_second', 'iops', 'outside_training']
    >>> len(answers["iops"])
    2
    """
    from drivelab.models import of_run
    from drivelab.models.model import PerformanceModel

    if isinstance(measured, Run):
        with RunStore.open(measured.path) as store:
            return Model(of_run.fit(store)[0])
    if not isinstance(measured, Measurements):
        raise UsageError("models are fitted to a run or to measurements; see drivelab.run")
    provenance = {"drive": {"name": measured.drive, "kind": measured.drive_kind}}
    return Model(PerformanceModel.fit(list(measured), parts=measured.parts, provenance=provenance))


class Model:
    """How fast a drive is under any workload; made by `drivelab.fit` or `Model.load`.

    For each of the three metrics, the model with the smallest cross-validated error answers.
    """

    def __init__(self, fitted: PerformanceModel) -> None:
        self._fitted = fitted

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Model:
        """Read a model from its file, or from the folder of a run that has a report.

        Raises
        ------
        DrivelabError
            When there is no file, or it is not a model.
        """
        from drivelab.models.of_run import load_model

        return cls(load_model(Path(path_text(path, "a model", "runs/x25m"))))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model as one JSON file, which `Model.load` and `drivelab predict` read.

        Raises
        ------
        DrivelabError
            When the file cannot be written.
        """
        self._fitted.save(Path(path_text(path, "a file", "model.json")))

    @property
    def drive(self) -> str | None:
        """Name of the drive; None if the file does not name it."""
        return self._provenance("name")

    @property
    def drive_kind(self) -> str | None:
        """``real``, ``simulated`` or ``closed_form``; None if the file does not say."""
        return self._provenance("kind")

    @property
    def accuracy(self) -> list[dict[str, Any]]:
        """Errors of every model, one row each, for ``pandas.DataFrame(model.accuracy)``.

        ``mre_ratio`` is the mean relative error on workloads that the model has not seen, by
        cross-validation; ``best`` marks the models that answer. docs/json-model.md lists all keys.
        """
        from drivelab.models.of_run import accuracy_rows

        return accuracy_rows(self._fitted)

    def predict(
        self,
        workloads: Workloads,
        *,
        level: float | None = None,
        features: str | None = None,
        estimator: str | None = None,
    ) -> Any:
        """Predict the performance under workloads.

        Parameters
        ----------
        workloads
            A table of workloads or a list of them, as in `Drive.measure`; measurements are read as
            their workloads.
        level
            0.8, 0.9 or 0.95: the mean share of workloads, drawn at random from the population of
            the run's design, whose results an interval contains. By default 0.9 if enough workloads
            were reserved for it; otherwise no intervals.
        features, estimator
            ``basic`` or ``extended``; ``ols``, ``cart``, ``guide``, ``boosted``, ``bottleneck``,
            ``kriging``, ``bottleneck_kriging``, ``queueing_kriging`` or ``combined``. By default
            the best of each metric.

        Returns
        -------
        table
            The same kind and order as `workloads`: a DataFrame with the same index, a pyarrow table
            for an Arrow table, otherwise a dictionary of NumPy arrays. Columns are
            ``latency_ns_mean``, ``bandwidth_bytes_per_second`` and ``iops``, each followed by the
            ends of its interval, such as ``iops_low_90`` and ``iops_high_90``, and finally
            ``outside_training``. For a workload outside the training range, no error is known and
            the ends are NaN.

        Raises
        ------
        DrivelabError
            For a row that is not a workload, an unknown name, or a level for which too few
            workloads were reserved.

        Examples
        --------
        >>> import drivelab as dl
        >>> options = {"check": 0, "sweeps": False, "requests": 200, "progress": False}
        >>> run = dl.run("sim:x25m", "sobol:60", writes="burst", **options)
        >>> answers = dl.fit(run).predict([dl.Characteristics(queue_depth=8, read_size="64KiB")])
        >>> list(answers)[:3]
        ['latency_ns_mean', 'latency_ns_mean_low_90', 'latency_ns_mean_high_90']
        """
        from drivelab.models.bulk import OUTSIDE, bulk_predictor
        from drivelab.models.measured import METRICS

        table, made_of = workload_rows(workloads)
        predictor, without = bulk_predictor(
            self._fitted, level=level, features=features, estimator=estimator
        )
        columns = predictor.columns(table)
        if without:
            columns = {name: columns[name] for name in (*METRICS, OUTSIDE)}
        return made_of({**columns})

    def forecast(self, trace: Trace, *, window_seconds: float = 60.0) -> Forecast:
        r"""Predict the latencies of a recorded trace that never ran on the drive.

        Parameters
        ----------
        trace
            A trace from `drivelab.trace`, at its recorded times or faster.
        window_seconds
            Length of the windows to predict, in recorded time.

        Returns
        -------
        Forecast
            Latencies, and the windows in which the drive would fall behind. It has no interval;
            docs/forecast.md says what is known about its error.

        Raises
        ------
        DrivelabError
            When the model cannot predict traces, or this trace has no times or does not fit.

        Examples
        --------
        >>> import drivelab as dl
        >>> from pathlib import Path
        >>> lines = (f"0,{512 * place},4096,r,{place / 100}" for place in range(200))
        >>> _ = Path("example.spc").write_text("\n".join(lines))
        >>> options = {"check": 0, "sweeps": False, "requests": 200, "progress": False}
        >>> run = dl.run("sim:x25m", "sobol:60", writes="burst", **options)
        >>> dl.fit(run).forecast(dl.trace("example.spc"))
        <Forecast of example.spc on sim:x25m: ... mean latency, keeps up>
        """
        from drivelab.api.forecast import forecast_of

        with panic_errors():
            return forecast_of(self._fitted, trace, window_seconds)

    def __repr__(self) -> str:
        return f"<Model of {self._described()}>"

    def _repr_html_(self) -> str:
        from drivelab.models.exhibits.accuracy_words import accuracy_meaning, relative_errors

        evaluation = self._fitted.evaluation
        meaning = "".join(accuracy_meaning(evaluation))
        return table_html(relative_errors(evaluation), f"Model of {self._described()} {meaning}")

    def _described(self) -> str:
        from drivelab.exhibits.quantities import PROVENANCE

        provenance = PROVENANCE.get(self.drive_kind or "")
        origin = "of unknown origin" if provenance is None else provenance.adjective
        rows = len(self._fitted.evaluation.indices)
        return f"{self.drive or 'a drive without a name'}, {origin}, fitted to {rows:,} workloads"

    def _provenance(self, key: str) -> str | None:
        # The file may come from anybody, so this value may be anything.
        part = self._fitted.provenance.get("drive")
        value = part.get(key) if isinstance(part, dict) else None
        return value if isinstance(value, str) else None
