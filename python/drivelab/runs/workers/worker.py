"""A worker: opens the drive that it is told, and measures on it until its input ends."""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Iterator
from contextlib import closing
from typing import IO, Any

from drivelab._core import available_cores
from drivelab.core_panic import panics_told
from drivelab.drives.measurement import Measurement
from drivelab.drives.plan import MeasurementPlan
from drivelab.drives.protocol import Drive
from drivelab.errors import DrivelabError, RunError, UsageError
from drivelab.runs.executor import DriveExecutor, Work
from drivelab.runs.workers.messages import (
    HELLO,
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


class _Gone(Exception):  # noqa: N818
    """Nobody listens any more."""


class Worker:
    """One worker, which is asked by lines and answers by lines.

    Parameters
    ----------
    given, told
        What it is asked through, and where it answers.
    """

    def __init__(self, given: IO[bytes], told: IO[bytes]) -> None:
        self._given = given
        self._told = told
        self._asked: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._drive: Drive | None = None
        self._plan = MeasurementPlan()

    def run(self) -> None:
        """Answer until the input ends. Then the process ends at once: whoever asked is gone."""
        threading.Thread(target=self._listen, daemon=True).start()
        try:
            self._tell({HELLO: this_version()})
            while True:
                self._answer(message_of(self._asked.get()))
        except _Gone:
            return
        except DrivelabError as error:
            self._tell(error_message(error))
            # What was written is read before the end of this process is seen.
            threading.Event().wait()

    def _listen(self) -> None:
        for line in self._given:
            self._asked.put(line)
        # A measurement may be under way that nobody waits for.
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
            for answer in self._measured(message["measure"]):
                self._tell(answer)
        else:
            raise RunError(f"a worker is asked for {', '.join(message) or 'nothing'}")

    def _measured(self, asked: Any) -> Iterator[Message]:
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
        try:
            self._told.write(line_of(message))
            self._told.flush()
        except OSError as error:
            raise _Gone from error


def _work_of(asked: Any) -> list[Work]:
    try:
        return [(int(index), workload_of_json(workload)) for index, workload in asked]
    except (TypeError, ValueError, UsageError) as error:
        raise RunError(f"a worker is asked to measure what is no workload: {error}") from error
