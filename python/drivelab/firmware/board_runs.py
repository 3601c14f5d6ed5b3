"""The firmware on a board, workload by workload: what a record takes there on the board's clock."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from drivelab.errors import RunError, UsageError
from drivelab.firmware.board import BoardSession
from drivelab.firmware.programs import why_failed
from drivelab.firmware.record_logs import RecordColumn, RecordLog, read_counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from types import TracebackType
    from typing import Self

    from drivelab.firmware.board import BoardIdentity
    from drivelab.ssh import SshPlace

_PROGRAM: Final = "drivelab-firmware"
_COLUMNS: Final = (
    RecordColumn("time_ns", "ns", "measured", "time of the record on the board's clock"),
    RecordColumn("lock_waits", "count", "counted", "locks that another worker held"),
)


@dataclass
class Board:
    """A board that runs the firmware, connected from the first workload on.

    Attributes
    ----------
    place
        Where it is.
    identity
        What it is.
    program
        The firmware for its processor.
    snapshot_words
        How the program makes the drive that every workload begins with; ``None`` where it makes
        it anew each time.
    """

    place: SshPlace
    identity: BoardIdentity
    program: Path
    snapshot_words: Sequence[str] | None
    _session: BoardSession | None = field(default=None, init=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._session is not None:
            self._session.close()

    def described(self) -> dict[str, Any]:
        """Return what a run says of the board."""
        return asdict(self.identity)

    def observe(self, requests: Path, words: Sequence[str], folder: Path) -> RecordLog:
        """Run a list of requests, a thread a worker.

        Parameters
        ----------
        requests
            The list.
        words
            How the program is run.
        folder
            For files that only this takes.

        Raises
        ------
        RunError
            When the board or the firmware fails.
        """
        session = self._open()
        session.put(requests, "requests")
        asked = ["--requests", "requests", "--records", "records", "--threads", *words]
        self._ran(session, asked)
        path = folder / "board.jsonl"
        path.write_bytes(session.get("records"))
        session.remove("requests", "records")
        counted = read_counted(path)
        values = np.column_stack([counted.column("wall_ns"), counted.column("lock_waits")])
        return RecordLog(_COLUMNS, values, {"board": self.described()})

    def _open(self) -> BoardSession:
        if self._session is None:
            self._session = BoardSession(self.place)
            self._session.put(self.program, _PROGRAM, is_program=True)
            if self.snapshot_words is not None:
                self._ran(self._session, ["snapshot", "--out", "snapshot", *self.snapshot_words])
        return self._session

    def _ran(self, session: BoardSession, words: Sequence[str]) -> None:
        code, said = session.run([f"./{_PROGRAM}", *words])
        if code > 128:
            # A shell's way to tell a signal.
            code = 128 - code
        if code != 0:
            why = why_failed(code, said).removeprefix("drivelab-firmware: ")
            raise RunError(f"the firmware failed on {self.place}: {why}")


def check_cores(identity: BoardIdentity, place: SshPlace, workers: int) -> None:
    """Refuse a board on which workers would have to share cores.

    Raises
    ------
    UsageError
        With the number that works.
    """
    if identity.cores < workers:
        raise UsageError(
            f"{place} has {identity.cores} cores for {workers} workers, which would wait for each "
            f"other: use --cores {max(identity.cores, 2)}"
        )


def check_same_board(header: Mapping[str, Any], described: Mapping[str, Any] | None) -> None:
    """Refuse to resume a run with another board, or without the one that it began with.

    Raises
    ------
    UsageError
        With both.
    """
    before = (header.get("plan") or {}).get("board")
    if before == described:
        return
    names = [
        "an emulated target" if one is None else f"the board {one.get('name')} ({one.get('model')})"
        for one in (before, described)
    ]
    raise UsageError(
        f"the run began with {names[0]}, and this is {names[1]}: resume with the first, or choose "
        "another --out"
    )
