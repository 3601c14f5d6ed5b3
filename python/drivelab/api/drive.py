"""A drive: opened by name, measured under workloads."""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterator
from contextlib import closing
from typing import TYPE_CHECKING, Any, overload

from drivelab.api.frames import workloads_of
from drivelab.api.html_tables import rows_html
from drivelab.api.measurements import Measurement, Measurements
from drivelab.api.path_text import path_text
from drivelab.closed_on_exit import ClosedOnExit
from drivelab.core_panic import panic_errors
from drivelab.drives.asked import plan_for, refuse_without_effect
from drivelab.drives.in_order import measured_in_order
from drivelab.drives.naming import open_drive
from drivelab.errors import UsageError
from drivelab.units import format_size, parse_size
from drivelab.workloads.characteristics import Characteristics
from drivelab.workloads.given import shown

if TYPE_CHECKING:
    from drivelab.api.frames import ManyWorkloads, Workloads
    from drivelab.drives import protocol
    from drivelab.drives.plan import MeasurementPlan


def drive(
    name: str | os.PathLike[str],
    *,
    allow_destructive: str | os.PathLike[str] | None = None,
    size: int | str | None = None,
    keep: bool = False,
    variability: bool = True,
) -> Drive:
    """Open a drive by its name.

    Parameters
    ----------
    name
        ``"sim:x25m"`` or ``"sim:file.toml"``, a simulated drive; ``"analytic:x25m-yoo2014"``, a
        formula; ``"/dev/nvme0n1"``, a block device; ``"./bench.bin"``, a file on a real drive,
        which is made when it does not exist.
    allow_destructive
        For real drives: the path that may be overwritten; it must be the path of the drive. Without
        it an existing device or file is only read, unless Drivelab made the file.
    size
        Size of a file to make: bytes, or text such as ``"4GiB"``. 1 GiB by default.
    keep
        Whether to keep a file that was made when the drive is closed.
    variability
        For simulated drives: whether runs vary as the preset says. With False every run uses the
        preset's own times.

    Returns
    -------
    Drive
        A context manager. Without ``with``, `Drive.close` closes it, or garbage collection does.

    Raises
    ------
    DrivelabError
        When there is no such drive, it may not be used, or an option does not apply to it.

    Examples
    --------
    >>> import drivelab as dl
    >>> with dl.drive("sim:x25m") as drive:
    ...     drive.kind
    'simulated'
    >>> dl.drive("sim:x52m")
    Traceback (most recent call last):
    ...
    drivelab.errors.UsageError: there is no drive 'sim:x52m'; did you mean sim:x25m? ...
    """
    name = path_text(name, "a drive", "sim:x25m")
    if not isinstance(variability, bool):
        raise UsageError(f"variability is {shown(variability)}; allowed: True, False")
    size_bytes = parse_size(size) if isinstance(size, str) else size
    allowed = None
    if allow_destructive is not None:
        allowed = path_text(allow_destructive, "what may be overwritten", "./bench.bin")
    asked = {
        "size": size_bytes,
        "keep": keep,
        "allow_destructive": allowed,
        "no_variability": not variability,
    }
    refuse_without_effect(name, asked, _word)
    return Drive(
        open_drive(
            name,
            allow_destructive=allowed,
            size_bytes=size_bytes,
            keep=keep,
            varies=variability,
        )
    )


class Drive(ClosedOnExit):
    """An open drive; made by `drivelab.drive`."""

    def __init__(self, opened: protocol.Drive) -> None:
        self._opened = opened
        # Otherwise a file that was made for it would remain after a notebook is closed.
        self._finalizer = weakref.finalize(self, opened.close)

    @property
    def name(self) -> str:
        """Its name, such as ``sim:x25m``, valid everywhere in Drivelab."""
        return self._opened.name

    @property
    def kind(self) -> str:
        """``real``, ``simulated`` or ``closed_form``."""
        return self._opened.kind

    @property
    def capacity_bytes(self) -> int:
        """Bytes that workloads may address."""
        return self._opened.capacity_bytes

    @property
    def identity(self) -> dict[str, Any]:
        """Everything that identifies the drive; for a simulated drive its whole preset."""
        return self._opened.identity()

    @property
    def opened(self) -> protocol.Drive:
        """The drive as the rest of Drivelab uses it."""
        return self._opened

    @overload
    def measure(
        self,
        workloads: Characteristics,
        *,
        seed: int = 0,
        seconds: float | None = None,
        requests: int | None = None,
        half_width_ratio: float | None = None,
        max_requests: int | None = None,
        warmup_seconds: float | None = None,
        warmup_requests: int | None = None,
        workers: int | None = None,
        content: str | None = None,
        writes: str | None = None,
        progress: bool = False,
    ) -> Measurement: ...
    @overload
    def measure(
        self,
        workloads: ManyWorkloads,
        *,
        seed: int = 0,
        seconds: float | None = None,
        requests: int | None = None,
        half_width_ratio: float | None = None,
        max_requests: int | None = None,
        warmup_seconds: float | None = None,
        warmup_requests: int | None = None,
        workers: int | None = None,
        content: str | None = None,
        writes: str | None = None,
        progress: bool = False,
    ) -> Measurements: ...
    def measure(
        self,
        workloads: Workloads,
        *,
        seed: int = 0,
        seconds: float | None = None,
        requests: int | None = None,
        half_width_ratio: float | None = None,
        max_requests: int | None = None,
        warmup_seconds: float | None = None,
        warmup_requests: int | None = None,
        workers: int | None = None,
        content: str | None = None,
        writes: str | None = None,
        progress: bool = False,
    ) -> Measurement | Measurements:
        """Measure one workload, or several one after the other.

        Each measurement starts with the drive in its stated condition, so none depends on another.
        Nothing is stored on disk; `drivelab.run` stores everything.

        Parameters
        ----------
        workloads
            `Characteristics`, a list of them, or a table: a mapping of columns, a DataFrame, an
            Arrow table. Columns have the names of the characteristics; a missing column has the
            default value.
        seed
            Key of all random numbers.
        seconds
            Length of the counted part in the drive's time, which is simulated for a simulated
            drive.
        requests
            Number of requests to count; with `half_width_ratio`, the least number.
        half_width_ratio
            Count until the 95 % half-width of the mean latency is at most this share of the mean.
            Without any limit, simulated drives count until it is 0.01, or in a burst until 1 % of
            the drive has been written; real drives for one second, and formulas 20,000 requests.
        max_requests
            Most requests to count if `half_width_ratio` is not reached.
        warmup_seconds, warmup_requests
            Counting starts when this time has passed and this many requests are complete.
        workers
            Threads for simulated drives; results do not depend on the number.
        content
            Content of written data, for a drive that compresses: ``zero``, ``database`` or
            ``random``.
        writes
            State in which writes find the drive. ``"burst"``, the default here: the drive as it is.
            ``"sustained"``: the drive after it was written in the same way until more writing
            changes nothing. A real drive is written before each change of the kind of writes.
        progress
            Whether to show progress on standard error.

        Returns
        -------
        Measurement or Measurements
            One `Measurement` for a single workload, `Measurements` otherwise.

        Raises
        ------
        DrivelabError
            When the drive cannot run a workload, options contradict each other, or the drive fails.

        Examples
        --------
        >>> import drivelab as dl
        >>> with dl.drive("sim:x25m") as drive:
        ...     one = drive.measure(dl.Characteristics(write_ratio=0.3, queue_depth=4), seconds=0.1)
        ...     swept = drive.measure({"queue_depth": [1, 8], "read_size": "64KiB"}, requests=500)
        >>> one.duration_ns <= 100_000_000
        True
        >>> swept[1].iops > swept[0].iops
        True
        """
        asked = {
            "seconds": seconds,
            "requests": requests,
            "half_width_ratio": half_width_ratio,
            "max_requests": max_requests,
            "warmup_seconds": warmup_seconds,
            "warmup_requests": warmup_requests,
            "workers": workers,
            "content": content,
            "writes": writes,
        }
        refuse_without_effect(self.name, asked, _word)
        plan = plan_for(self.name, seed=seed, asked=asked)
        listed = workloads_of(workloads)
        with panic_errors():
            found = Measurements(self._measured(listed, plan, progress), self.name, self.kind)
        return found[0] if isinstance(workloads, Characteristics) else found

    def close(self) -> None:
        """Close the drive; remove a file that was made for it."""
        self._finalizer()

    def __repr__(self) -> str:
        return f"<Drive {self.name}, {format_size(self.capacity_bytes)}>"

    def _repr_html_(self) -> str:
        from drivelab.exhibits.quantities import PROVENANCE

        rows = [("drive", self.name), ("capacity", format_size(self.capacity_bytes))]
        summary = self.identity.get("preset", {}).get("summary")
        if summary:
            rows.append(("preset", str(summary)))
        return rows_html([("", PROVENANCE[self.kind].label), *rows])

    def _measured(
        self, workloads: list[Characteristics], plan: MeasurementPlan, progress: bool
    ) -> Iterator[Any]:
        from drivelab.runs.progress import Progress

        answers = measured_in_order(self._opened, workloads, plan)
        with closing(answers), Progress(len(workloads), 0, "measurements", shown=progress) as bar:
            for answer in answers:
                yield answer
                bar.advance()


def _word(name: str) -> str:
    return "variability=False" if name == "no_variability" else name
