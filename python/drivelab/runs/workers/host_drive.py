"""A real drive of another machine, measured by a worker there and asked from here.

::

    here                                         the drive's machine
    run, journal, models, report  <── ssh ──>    worker: the drive's lock, fio, a journal

The rules that protect what is on a drive are decided there, by the same code as for a drive of this
machine. The machine is known by its ssh key and its machine-id, the drive by its identity: model,
serial, size; a file by its inode. A worker that goes on must find the same ones.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Final, Literal

from drivelab.closed_on_exit import ClosedOnExit
from drivelab.drives.measurement import Measurement
from drivelab.drives.plan import MeasurementPlan
from drivelab.drives.real.fio.asked import check_with_engine
from drivelab.drives.real.side_file import removing
from drivelab.drives.session import DriveSession
from drivelab.errors import CannotAnswerError, DrivelabError, RunError, UsageError
from drivelab.notes import print_note
from drivelab.runs.executor import Failed, Work
from drivelab.runs.workers.host_journal import drive_differences
from drivelab.runs.workers.messages import Message, real_message
from drivelab.runs.workers.place import Place
from drivelab.runs.workers.pool import WorkersExecutor
from drivelab.store import RunStore, is_run
from drivelab.workloads.workload import Workload

_NO_LETTERS: Final = re.compile(r"[^A-Za-z0-9]+")
_LONGEST_WORD: Final = 40


@dataclass(frozen=True)
class _Opened:
    """What a worker said of the drive that it opened."""

    identity: dict[str, Any]
    capacity_bytes: int
    block_bytes: int
    engine: str
    write_refusal: str | None
    file: dict[str, int | None] | None
    left: str | None
    machine: dict[str, Any]
    machine_id: str | None

    @classmethod
    def of_message(cls, message: Message) -> _Opened:
        """Read it; `RunError` where it is not that."""
        try:
            return cls(
                dict(message["opened"]),
                int(message["capacity_bytes"]),
                int(message["block_bytes"]),
                str(message["engine"]),
                message["write_refusal"],
                message["file"],
                message["left"],
                dict(message["machine"]),
                message["machine_id"],
            )
        except (KeyError, TypeError, ValueError) as error:
            raise RunError(f"a worker describes no drive: {error!r}") from error

    def compared(self) -> dict[str, Any]:
        """Return what stays the same as long as it is the same drive."""
        return {"identity": self.identity, "file": self.file, "machine": self.machine_id}


class HostDrive(ClosedOnExit):
    """A real drive behind a worker on its own machine. Close it.

    Parameters
    ----------
    name
        As the user named it: ``node1:/dev/nvme0n1``.
    host
        Its machine.
    path
        The device or file there.
    journal
        Name of the journal there: `stored_journal`.
    size_bytes, keep, allow_destructive
        As `drivelab.drives.real.fio.drive.open_real_drive` takes them; `allow_destructive` is a
        path of that machine.

    Raises
    ------
    UsageError
        When the machine lets nobody in, or the drive cannot be measured.
    RunError
        When the machine cannot be reached.
    """

    kind: Literal["real"] = "real"

    def __init__(
        self,
        name: str,
        host: Place,
        path: str,
        *,
        journal: str,
        size_bytes: int | None = None,
        keep: bool = False,
        allow_destructive: str | None = None,
    ) -> None:
        self.name = name
        self.opening = real_message(
            path, size_bytes=size_bytes, keep=keep, allow_destructive=allow_destructive
        )
        self._host = host
        self._journal = journal
        self._is_left = False
        self._first: _Opened | None = None
        self._pool = WorkersExecutor(self, [host], lone=self)
        self._pool.open()

    @property
    def _opened(self) -> _Opened:
        if self._first is None:
            raise ValueError(f"{self.name} is not open yet")
        return self._first

    def meet(self, message: Message) -> None:
        """See `drivelab.runs.workers.pool.Lone`."""
        found = _Opened.of_message(message)
        if self._first is None:
            self._first = found
            return
        unlike = drive_differences(self._first.compared(), found.compared())
        if unlike:
            raise UsageError(f"{self.name} is another drive than before ({unlike})")

    @property
    def capacity_bytes(self) -> int:
        """Bytes that requests may address."""
        return self._opened.capacity_bytes

    @property
    def block_bytes(self) -> int:
        """The smallest request past the page cache that it takes."""
        return self._opened.block_bytes

    @property
    def file(self) -> dict[str, int | None] | None:
        """Which file it is there; ``None`` of a device."""
        return self._opened.file

    @property
    def machine(self) -> dict[str, Any]:
        """Where it is measured: what every start of a run says of its machine."""
        return self._opened.machine

    def identity(self) -> dict[str, Any]:
        """Return what identifies the drive and its machine, and under ``volatile`` its journal."""
        found = self._opened
        volatile = {**found.identity.get("volatile", {}), "journal": self._journal}
        host = {"name": self._host.name, "machine_id": found.machine_id}
        return {"host": host, **found.identity, "volatile": volatile}

    def check(self, workload: Workload) -> None:
        """Raise when this drive cannot be asked for `workload`, as a drive of this machine does."""
        found = self._opened
        check_with_engine(
            workload,
            self.name,
            found.capacity_bytes,
            found.block_bytes,
            engine=found.engine,
            write_refusal=found.write_refusal,
        )

    def measure(
        self, work: Sequence[tuple[int, Workload]], plan: MeasurementPlan
    ) -> Iterator[Measurement]:
        """Measure one workload after the other; what comes of it is kept nowhere there.

        Raises
        ------
        RunError
            When a measurement fails, or the machine is lost.
        """
        with closing(self._asked(work, plan, None)) as answers:
            for answer in answers:
                if isinstance(answer, Failed):
                    raise answer.reason
                yield answer

    def kept(self) -> _Kept:
        """Return an executor that measures here, and has each result kept there too."""
        return _Kept(self)

    def asked_and_kept(
        self, work: Sequence[Work], plan: MeasurementPlan
    ) -> Generator[Measurement | Failed, None, None]:
        """See `kept`."""
        return self._asked(work, plan, self._journal)

    def _asked(
        self, work: Sequence[Work], plan: MeasurementPlan, keep: str | None
    ) -> Generator[Measurement | Failed, None, None]:
        self._pool.keep = keep
        return self._pool.measure(work, plan)

    def session(self, *, seed: int = 0) -> DriveSession:  # noqa: ARG002
        """Raise: steps that go on from each other are taken on the drive's own machine.

        Raises
        ------
        CannotAnswerError
            Always.
        """
        raise CannotAnswerError(f"{self.name} takes no session: run the command on its machine")

    def leave(self, *, only_found: bool = False) -> Path | None:
        """Let a file that was made stay there, for whoever goes on; ``None``: no path is here.

        The worker decides about a file that is new: it stays once something was measured on it.
        """
        if self._opened.left is not None and not self._is_left and not only_found:
            path = Path(self._opened.left)
            print_note(
                f"{self.name} stays there until the run is complete (to remove it there: "
                f"{removing(path)})"
            )
        self._is_left = True
        return None

    def take_up(self) -> None:
        """Go on with a file that `leave` let stay: it is removed when this drive is closed."""
        self._is_left = False

    def close(self) -> None:
        """Have the worker give the drive back, and end it."""
        if not self._is_left:
            self._pool.give_back()
        self._pool.close()


class _Kept:
    """Measures on a drive of another machine, where each result is kept; see `Executor`."""

    def __init__(self, drive: HostDrive) -> None:
        self._drive = drive

    def measure(
        self, work: Sequence[Work], plan: MeasurementPlan
    ) -> Generator[Measurement | Failed, None, None]:
        """See `drivelab.runs.executor.Executor`."""
        return self._drive.asked_and_kept(work, plan)


def stored_journal(run: Path, path: str) -> str:
    """Name the journal on the drive's machine: the one that a run has begun, or a new one.

    Parameters
    ----------
    run
        The run's folder here, where there is one.
    path
        The drive there.
    """
    if is_run(run):
        try:
            with RunStore.open(run) as store:
                found = store.header["drive"]["identity"]["volatile"]["journal"]
        except (DrivelabError, KeyError, TypeError):
            # Whoever opens it to go on says what is wrong.
            found = None
        if isinstance(found, str):
            return found
    word = _NO_LETTERS.sub("-", PurePosixPath(path).name).strip("-")[:_LONGEST_WORD] or "drive"
    return f"{word}-{uuid.uuid4().hex[:12]}"
