"""Results of measuring a drive: a single measurement, and tables of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final, Self, overload

from drivelab.api.html_tables import rows_html, table_html
from drivelab.drives import measurement as drives_measurement
from drivelab.errors import UsageError

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from drivelab.runs.columns import Column
    from drivelab.workloads.parts import Parts

# Most rows of a table in a notebook.
_ROWS_SHOWN: Final = 10


@dataclasses.dataclass(frozen=True, repr=False)
class Measurement(drives_measurement.Measurement):
    """The result of one workload on one drive; returned by `Drive.measure`.

    Attributes
    ----------
    drive, drive_kind
        Name of the drive, and its kind: ``real``, ``simulated`` or ``closed_form``.
    characteristics
        The workload.
    index
        Its position among those measured together; part of the key of its random numbers.
    requests, bytes
        Number and bytes of the counted requests, reads and writes together.
    duration_ns
        Time from the first counted request to the last completion, in the drive's time.
    latency_ns_mean, latency_ns_max
        In nanoseconds; `percentile_ns` gives percentiles.
    bandwidth_bytes_per_second, iops
        Rates of reads and writes together.
    half_width_ratio
        95 % half-width of the mean latency over that mean; None if unknown.
    read, write
        The same values for reads and for writes; None without such requests.
    streams
        Results of each stream by name, for workloads with several streams; otherwise empty.
    extra
        Values that only some drives report, such as ``write_amplification_ratio``.
    stopped_by
        ``requests``, ``seconds``, ``half_width`` (reached) or ``max_requests`` (not
        reached, or the end of a burst).

    Examples
    --------
    >>> import drivelab as dl
    >>> with dl.drive("sim:x25m") as drive:
    ...     measurement = drive.measure(dl.Characteristics(queue_depth=4), requests=1000)
    >>> measurement
    <Measurement of sim:x25m, simulated: 4 KiB random reads, queue depth 4: 116 us mean latency>
    >>> measurement.requests
    1000
    >>> measurement.percentile_ns(99) > measurement.latency_ns_mean
    True
    """

    drive: str = ""
    drive_kind: str = "real"

    @classmethod
    def of(cls, found: drives_measurement.Measurement, drive: str, drive_kind: str) -> Self:
        """Wrap a measurement by a drive of this name and kind."""
        values = {
            field.name: getattr(found, field.name)
            for field in dataclasses.fields(drives_measurement.Measurement)
        }
        return cls(**values, drive=drive, drive_kind=drive_kind)

    def __repr__(self) -> str:
        from drivelab.exhibits.quantities import PROVENANCE, workload_text
        from drivelab.units import format_duration_ns

        return (
            f"<Measurement of {self.drive}, {PROVENANCE[self.drive_kind].adjective}: "
            f"{workload_text(self.workload)}: "
            f"{format_duration_ns(self.latency_ns_mean)} mean latency>"
        )

    def _repr_html_(self) -> str:
        from drivelab.campaign.exhibits.measurement_words import measurement_rows

        return rows_html(measurement_rows(self, self.drive, self.drive_kind))


# Not a `Sequence`: libraries would take it for a list of objects instead of a table.
class Measurements:
    """Measurements of one drive, in order; usable as a list and as a table.

    It is also an Arrow stream (``__arrow_c_stream__``), so ``polars.DataFrame(measurements)``,
    ``pyarrow.table(measurements)`` and DuckDB read it directly. Its columns are those of a run's
    ``measurements.csv``, with the unit last in the name; a cell is empty if it has no value.

    Attributes
    ----------
    drive, drive_kind
        Name of the drive, and its kind: ``real``, ``simulated`` or ``closed_form``.

    Examples
    --------
    >>> import drivelab as dl
    >>> workloads = [dl.Characteristics(queue_depth=depth) for depth in (1, 4, 16)]
    >>> with dl.drive("sim:x25m") as drive:
    ...     measurements = drive.measure(workloads, requests=1000)
    >>> len(measurements)
    3
    >>> [one.characteristics.queue_depth for one in measurements]
    [1, 4, 16]
    >>> measurements.to_columns()["latency_ns_mean"][0] == measurements[0].latency_ns_mean
    True
    """

    def __init__(
        self,
        found: Iterable[drives_measurement.Measurement],
        drive: str,
        drive_kind: str,
        parts: Parts | None = None,
    ) -> None:
        self.drive = drive
        self.drive_kind = drive_kind
        self._parts = parts
        self._found = [Measurement.of(one, drive, drive_kind) for one in found]

    def __len__(self) -> int:
        return len(self._found)

    @overload
    def __getitem__(self, place: int) -> Measurement: ...
    @overload
    def __getitem__(self, place: slice) -> Measurements: ...
    def __getitem__(self, place: int | slice) -> Measurement | Measurements:
        if isinstance(place, slice):
            return Measurements(self._found[place], self.drive, self.drive_kind, self._parts)
        return self._found[place]

    def __iter__(self) -> Iterator[Measurement]:
        return iter(self._found)

    @property
    def parts(self) -> Parts | None:
        """The purpose of each measurement, by index; None if all are for training."""
        return self._parts

    def to_columns(self) -> dict[str, list[Any]]:
        """Return the columns as lists by name; an empty cell is None."""
        return {column.name: column.cells for column in self._columns()}

    def to_pandas(self) -> pd.DataFrame:
        """Return the table as a pandas DataFrame.

        Whole numbers stay whole: a column with empty cells has pandas' type ``Int64``.

        Raises
        ------
        UsageError
            When pandas is not installed.
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise UsageError("to_pandas needs pandas: `pip install pandas`") from error
        dtypes = {"text": "object", "integer": "int64", "real": "float64"}
        series = {}
        for column in self._columns():
            has_empty = column.kind == "integer" and None in column.cells
            dtype = "Int64" if has_empty else dtypes[column.kind]
            series[column.name] = pd.Series(column.cells, dtype=dtype)
        return pd.DataFrame(series)

    def to_arrow(self) -> pa.Table:
        """Return the table as a pyarrow Table.

        Other libraries read the measurements themselves: ``polars.DataFrame(measurements)``.

        Raises
        ------
        UsageError
            When pyarrow is not installed.
        """
        try:
            import pyarrow as pa
        except ImportError as error:
            raise UsageError(
                "to_arrow needs pyarrow: `pip install pyarrow`; other libraries read "
                "measurements as they are, such as polars.DataFrame(measurements)"
            ) from error
        return pa.table(self)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return the table as a capsule of the Arrow C stream interface.

        A requested schema is ignored; the interface allows this, and the consumer converts.
        """
        from drivelab.api.arrow_stream import arrow_stream

        del requested_schema
        # The columns contain no histograms.
        return arrow_stream(
            {one.name: (one.kind, one.cells) for one in self._columns() if one.kind != "integers"}
        )

    def __repr__(self) -> str:
        return f"<{len(self)} measurements of {self.drive}, {self._adjective()}>"

    def _repr_html_(self) -> str:
        from drivelab.exhibits import Table
        from drivelab.exhibits.quantities import METRICS, latency_text, workload_text

        columns = ("workload", "mean latency", "99 % within", "bandwidth", "throughput")
        rows = []
        for one in self._found[:_ROWS_SHOWN]:
            texts = {name: metric.text(getattr(one, name)) for name, metric in METRICS.items()}
            mean, *rates = texts.values()
            tail = latency_text(one.percentile_ns(99))
            rows.append((workload_text(one.workload), mean, tail, *rates))
        left = len(self) - _ROWS_SHOWN
        more = f", the first {_ROWS_SHOWN} shown" if left > 0 else ""
        note = f"{len(self):,} workloads {self._adjective()} on {self.drive}{more}"
        return table_html(Table("measurements", columns, tuple(rows)), note)

    def _adjective(self) -> str:
        from drivelab.exhibits.quantities import PROVENANCE

        return PROVENANCE[self.drive_kind].adjective

    def _columns(self) -> list[Column]:
        from drivelab.campaign.kind import campaign_rows
        from drivelab.runs.columns import scalar_columns

        rows = campaign_rows(self._found, self._parts)
        return scalar_columns(rows, {"name": self.drive, "kind": self.drive_kind})
