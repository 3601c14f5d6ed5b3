"""A worker: opens the drive that it is asked for, and measures on it until its input ends.

Its process ends with its input. Of a simulated drive nothing remains, so it ends at once. A real
drive is given back in order: fio is ended first, and a file that was made for the run stays for the
worker that goes on, unless the run has said that it is complete.
"""

from __future__ import annotations

import hashlib
import os
import queue
import select
import signal
import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, NoReturn

from drivelab._core import available_cores
from drivelab.core_panic import panic_errors
from drivelab.drives.measurement import Measurement
from drivelab.drives.plan import MeasurementPlan
from drivelab.drives.protocol import Drive
from drivelab.drives.simulated.alike import DrivesAlike
from drivelab.errors import DrivelabError, RunError, UsageError
from drivelab.runs.executor import DriveExecutor, Work
from drivelab.runs.header import this_start
from drivelab.runs.workers.messages import (
    ALIVE,
    HELLO,
    SIGN_SECONDS,
    Message,
    drive_of,
    error_message,
    line_of,
    message_of,
    plan_of,
    preview_of,
    sum_of,
    this_version,
)
from drivelab.workloads.workload import workload_of_json

if TYPE_CHECKING:
    from types import FrameType

    from drivelab.drives.real.fio.drive import FioDrive
    from drivelab.runs.workers.host_journal import HostJournal

# The asking side is gone if it gives no sign for this long, whatever the connection says.
_SILENCE_SECONDS: Final = 120
_PIECE_BYTES: Final = 1 << 16
# In which a real drive is given back: fio ends at once, removing a large file may take a while.
_GIVING_BACK_SECONDS: Final = 30.0
_MACHINE_ID: Final = Path("/etc/machine-id")


class _Gone(BaseException):
    """Nobody listens any more. No `Exception`: nothing on its way may take it for a failure."""


class Worker:
    """One worker, which is asked by lines and answers by lines.

    Parameters
    ----------
    given
        Number of the file that it is asked through.
    told
        Where it answers.
    """

    def __init__(self, given: int, told: IO[bytes]) -> None:
        self._given = given
        self._told = told
        self._telling = threading.Lock()
        self._asked: queue.SimpleQueue[Message] = queue.SimpleQueue()
        self._drive: Drive | None = None
        self._alike = DrivesAlike()
        self._real: FioDrive | None = None
        self._plan = MeasurementPlan()
        self._keep: str | None = None
        self._journal: HostJournal | None = None
        #: Whether a real drive is open, or about to be.
        self._gives_back = False
        #: Whether the run is complete: nobody goes on with a file that was made for it.
        self._is_complete = False
        self._has_measured = False

    def run(self) -> None:
        """Answer until the input ends. Then the process ends: whoever asked is gone."""
        threading.Thread(target=self._listen, daemon=True).start()
        try:
            self._answer_all()
        except _Gone:
            return
        finally:
            self._give_back()

    def _answer_all(self) -> None:
        try:
            # An earlier shell message may have left its line open.
            self._write(b"\n")
            self._tell({HELLO: this_version()})
            threading.Thread(target=self._give_signs, daemon=True).start()
            while not self._is_complete:
                self._answer(self._asked.get())
        except DrivelabError as error:
            self._end_with(error)
        except MemoryError:
            self._end_with(RunError("out of memory: use a smaller drive or fewer workers"))
        except Exception as error:
            self._end_with(RunError(f"{type(error).__name__}: {error}"))

    def _end_with(self, error: DrivelabError) -> None:
        self._tell(error_message(error))
        # What was written is read before the end of this process is seen.
        threading.Event().wait()

    def _listen(self) -> None:
        """Take lines, and end the process where they end: its measurement is nobody's."""
        left = b""
        while True:
            ready, _, _ = select.select([self._given], [], [], _SILENCE_SECONDS)
            piece = os.read(self._given, _PIECE_BYTES) if ready else b""
            if not piece:
                self._end()
            *lines, left = (left + piece).split(b"\n") if b"\n" in piece else (left + piece,)
            for line in lines:
                self._hear(line)

    def _end(self) -> None:
        """End this process; what measures on a real drive is interrupted, and gives it back."""
        if self._gives_back:
            if not self._is_complete:
                os.kill(os.getpid(), signal.SIGTERM)
            threading.Event().wait(_GIVING_BACK_SECONDS)
        os._exit(0)

    def _hear(self, line: bytes) -> None:
        try:
            message = message_of(line)
        except RunError as error:
            message = {"unheard": str(error)}
        if "close" in message:
            self._is_complete = True
        if ALIVE not in message:
            self._asked.put(message)

    def _give_signs(self) -> None:
        while True:
            threading.Event().wait(SIGN_SECONDS)
            try:
                self._tell({ALIVE: True})
            except _Gone:
                self._end()

    def _answer(self, message: Message) -> None:
        if "open" in message:
            self._tell(self._opened(message))
        elif "plan" in message:
            self._plan, self._keep = plan_of(message), message.get("keep")
            self._journal = self._journal_to_keep()
        elif "close" in message:
            return
        elif "measure" in message:
            for answer in self._measured(self._waiting(message)):
                self._tell(answer)
        else:
            raise RunError(f"a worker is asked for {', '.join(map(str, message)) or 'nothing'}")

    def _opened(self, message: Message) -> Message:
        """Open a drive, and say what it is."""
        if message["open"].get("look"):
            return {"opened": asdict(preview_of(message["open"]))}
        if message["open"].get("kind") == "real":
            self._gives_back = True
            signal.signal(signal.SIGTERM, _stop)
            real = drive_of(message["open"], self._alike)
            self._drive = self._real = real  # type: ignore[assignment]
            return _description(real)  # type: ignore[arg-type]
        with panic_errors():
            # The one before goes first: both may not have room.
            self._drive = None
            self._drive = drive_of(message["open"], self._alike)
        threads = message.get("threads") or available_cores()
        return {"opened": sum_of(self._drive), "threads": threads}

    def _journal_to_keep(self) -> HostJournal | None:
        from drivelab.runs.workers.host_journal import HostJournal

        if self._journal is not None:
            self._journal.close()
        if self._keep is None or self._real is None:
            return None
        return HostJournal(self._keep, self._real, self._plan)

    def _give_back(self) -> None:
        """Close a real drive; a file that was made for it stays unless the run is complete."""
        if self._real is None:
            return
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        if self._journal is not None:
            self._journal.close()
        if not self._is_complete:
            self._real.leave(only_found=not self._has_measured)
        self._real.close()

    def _waiting(self, message: Message) -> list[Any]:
        """Return everything that waits to be measured, so that no thread waits for it."""
        asked = list(message["measure"])
        while not self._asked.empty():
            following = self._asked.get()
            if "measure" not in following:
                raise RunError("a worker is asked for another drive before it has answered")
            asked += following["measure"]
        return asked

    def _measured(self, asked: list[Any]) -> Iterator[Message]:
        if self._drive is None:
            raise RunError("a worker is asked to measure before it has a drive")
        work = []
        for index, workload in _work_of(asked):
            known = None if self._journal is None else self._journal.answer(index, workload)
            if known is None:
                work.append((index, workload))
            else:
                yield {"measurement": known.to_json()}
        with (
            panic_errors(),
            closing(DriveExecutor(self._drive).measure(work, self._plan)) as found,
        ):
            for answer in found:
                self._has_measured = True
                if isinstance(answer, Measurement):
                    if self._journal is not None:
                        self._journal.keep(answer)
                    yield {"measurement": answer.to_json()}
                else:
                    if self._journal is not None:
                        self._journal.keep_failure(answer.index, answer.reason, answer.workload)
                    yield {"failed": answer.index, **error_message(answer.reason)}

    def _tell(self, message: Message) -> None:
        self._write(line_of(message))

    def _write(self, line: bytes) -> None:
        try:
            with self._telling:
                self._told.write(line)
                self._told.flush()
        except (OSError, ValueError) as error:
            raise _Gone from error


def _stop(_number: int, _frame: FrameType | None) -> NoReturn:
    raise _Gone


def _description(drive: FioDrive) -> Message:
    """Say what a real drive is, so that it can be asked from elsewhere."""
    left = drive.leave()
    drive.take_up()
    return {
        "opened": drive.identity(),
        "capacity_bytes": drive.capacity_bytes,
        "block_bytes": drive.block_bytes,
        "engine": drive.engine,
        "write_refusal": drive.target.write_refusal,
        "file": drive.file,
        "left": None if left is None else str(left),
        "machine": _machine(),
        "machine_id": _machine_id(),
        "threads": 1,
    }


def _machine() -> Message:
    """Describe this machine as every start of a run does."""
    start = this_start(None)
    return {key: value for key, value in start.items() if key not in ("command", "started_at")}


def _machine_id() -> str | None:
    """Tell this machine from others, by a sum of what it keeps to itself."""
    try:
        text = _MACHINE_ID.read_text().strip()
    except (OSError, ValueError):
        return None
    return hashlib.sha256(f"drivelab {text}".encode()).hexdigest()[:16] if text else None


def _work_of(asked: list[Any]) -> list[Work]:
    try:
        return [(int(index), workload_of_json(workload)) for index, workload in asked]
    except (TypeError, ValueError, UsageError) as error:
        raise RunError(f"a worker is asked to measure what is not a workload: {error}") from error
