"""A worker: opens the drive that it is told, and measures on it until its input ends."""

from __future__ import annotations

import os
import queue
import select
import threading
from collections.abc import Iterator
from contextlib import closing
from typing import IO, Any, Final

from drivelab._core import available_cores
from drivelab.core_panic import panics_told
from drivelab.drives.measurement import Measurement
from drivelab.drives.plan import MeasurementPlan
from drivelab.drives.protocol import Drive
from drivelab.errors import DrivelabError, RunError, UsageError
from drivelab.runs.executor import DriveExecutor, Work
from drivelab.runs.workers.messages import (
    ALIVE,
    HELLO,
    SIGN_SECONDS,
    Message,
    Opening,
    drive_of,
    error_message,
    line_of,
    message_of,
    sum_of,
    this_version,
)
from drivelab.workloads.workload import workload_of_json

# Whoever asked is gone when it has given no sign for so long, whatever the connection says.
_SILENCE_SECONDS: Final = 120
_PIECE_BYTES: Final = 1 << 16


class _Gone(Exception):  # noqa: N818
    """Nobody listens any more."""


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
        self._plan = MeasurementPlan()

    def run(self) -> None:
        """Answer until the input ends. Then the process ends at once: whoever asked is gone."""
        threading.Thread(target=self._listen, daemon=True).start()
        try:
            # What a shell said before may have left its line open.
            self._write(b"\n")
            self._tell({HELLO: this_version()})
            threading.Thread(target=self._give_signs, daemon=True).start()
            while True:
                self._answer(self._asked.get())
        except _Gone:
            return
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
                os._exit(0)
            *lines, left = (left + piece).split(b"\n") if b"\n" in piece else (left + piece,)
            for line in lines:
                self._hear(line)

    def _hear(self, line: bytes) -> None:
        try:
            message = message_of(line)
        except RunError as error:
            message = {"unheard": str(error)}
        if ALIVE not in message:
            self._asked.put(message)

    def _give_signs(self) -> None:
        while True:
            threading.Event().wait(SIGN_SECONDS)
            try:
                self._tell({ALIVE: True})
            except _Gone:
                os._exit(0)

    def _answer(self, message: Message) -> None:
        if "open" in message:
            opening = Opening.of_json(message)
            with panics_told():
                self._drive = drive_of(opening.drive)
            self._plan = opening.plan
            threads = self._plan.workers or available_cores()
            self._tell({"opened": sum_of(self._drive), "threads": threads})
        elif "measure" in message:
            for answer in self._measured(self._waiting(message)):
                self._tell(answer)
        else:
            raise RunError(f"a worker is asked for {', '.join(map(str, message)) or 'nothing'}")

    def _waiting(self, message: Message) -> list[Any]:
        """Give everything that waits to be measured, so that no thread waits for it."""
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
        work = _work_of(asked)
        with panics_told(), closing(DriveExecutor(self._drive).measure(work, self._plan)) as found:
            for answer in found:
                if isinstance(answer, Measurement):
                    yield {"measurement": answer.to_json()}
                else:
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


def _work_of(asked: list[Any]) -> list[Work]:
    try:
        return [(int(index), workload_of_json(workload)) for index, workload in asked]
    except (TypeError, ValueError, UsageError) as error:
        raise RunError(f"a worker is asked to measure what is no workload: {error}") from error
