"""A forecast of a trace on a drive that it never ran on: made by `Model.forecast`."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from drivelab.api.html_tables import rows_html
from drivelab.api.saved import write_page
from drivelab.api.spelled import spelled_in_python
from drivelab.errors import UsageError
from drivelab.workloads.given import is_number, shown
from drivelab.workloads.trace import Trace

if TYPE_CHECKING:
    import pandas as pd

    from drivelab.models.model import PerformanceModel
    from drivelab.models.trace_forecast import TraceForecast

_LONGEST_SECONDS = 366 * 86_400


@dataclasses.dataclass(frozen=True, repr=False, eq=False)
class Forecast:
    """How long the requests of a trace would take, and where the drive would fall behind."""

    _found: TraceForecast
    _trace: Trace
    _answer: dict[str, Any]
    _error: float

    @property
    def drive(self) -> str | None:
        """Name of the drive; None if the model does not name it."""
        drive: str | None = self._answer["drive"]
        return drive

    @property
    def latency_ns_mean(self) -> float:
        """Mean latency of all reads and writes, from being sent to completion."""
        return float(self._answer["latency_ns_mean"])

    @property
    def late_ratio(self) -> float:
        """Share of the requests that would be sent more than 1 ms late."""
        return float(self._answer["late_ratio"])

    @property
    def saturated_windows(self) -> int:
        """Number of windows in which the drive would fall behind the recorded times."""
        return int(self._answer["saturated_windows"])

    @property
    def windows(self) -> dict[str, list[Any]]:
        """Columns by name, one entry per window; docs/json-trace.md lists the names."""
        return {name: list(values) for name, values in self._answer["windows"].items()}

    def to_pandas(self) -> pd.DataFrame:
        """Return the windows as a DataFrame."""
        try:
            import pandas
        except ImportError as error:
            raise UsageError("to_pandas needs pandas; install it, or use windows") from error
        return pandas.DataFrame(self.windows)

    def to_json(self) -> dict[str, Any]:
        """Return all results, as ``drivelab predict --trace --json`` prints them."""
        return {**self._answer, "windows": self.windows}

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Write the report page, its tables and the result into a folder.

        Returns
        -------
        Path
            Path of the page, ``report.html``.

        Raises
        ------
        DrivelabError
            When the folder holds other files, or cannot be written.
        """
        from drivelab.models.exhibits.forecast import forecast_report

        report = forecast_report(self._answer, self._trace, self._found, self._error)
        of = f"the forecast of {self._trace.describe()} on {self.drive}, in Python"
        return write_page(report, path, of)

    def __repr__(self) -> str:
        from drivelab.exhibits.quantities import latency_text

        name = "a trace" if self._trace.files is None else self._trace.files.name
        count, behind = self._answer["window_count"], self.saturated_windows
        kept = f"behind in {behind:,} of {count:,} windows" if behind else "keeps up"
        mean = latency_text(self.latency_ns_mean)
        return f"<Forecast of {name} on {self.drive}: {mean} mean latency, {kept}>"

    def _repr_html_(self) -> str:
        from drivelab.exhibits.quantities import latency_text, share_text

        rows = [
            ("predicted", f"{self.drive or 'a drive without a name'}, on which it never ran"),
            ("trace", self._trace.describe()),
            ("mean latency", latency_text(self.latency_ns_mean)),
            ("sent late", share_text(self.late_ratio)),
            ("falls behind", f"in {self.saturated_windows:,} windows"),
        ]
        return rows_html(rows)


def forecast_of(model: PerformanceModel, trace: object, window_seconds: object) -> Forecast:
    """Return the forecast of a trace, as `Model.forecast` does."""
    from drivelab.models.forecast_tables import forecast_answer
    from drivelab.models.trace_forecast import closed_loop_error, forecast_trace, speed_of
    from drivelab.traces.characterization import characterize

    if not isinstance(trace, Trace) or trace.files is None:
        raise UsageError(f"{shown(trace)} is not a trace; give drivelab.trace('web.spc.gz')")
    if not (is_number(window_seconds) and 1e-9 <= window_seconds <= _LONGEST_SECONDS):
        raise UsageError(
            f"window_seconds is {shown(window_seconds)}; allowed: 1e-9 to {_LONGEST_SECONDS}"
        )
    speed_of(trace)
    window_ns = round(window_seconds * 1e9)
    with spelled_in_python():
        windows = characterize(trace.files, window_ns=window_ns).windows
        found = forecast_trace(model, trace, windows, window_ns)
    answer = forecast_answer(found, trace, model.provenance, None)
    return Forecast(found, trace, answer, closed_loop_error(model))
