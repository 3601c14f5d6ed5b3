"""The process here through which a worker is talked to, wherever that is."""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import subprocess
import threading
import time
from collections import deque
from typing import IO, Final, Protocol, runtime_checkable

from drivelab.errors import DrivelabError, RunError, UsageError
from drivelab.runs.workers.messages import (
    ALIVE,
    HELLO,
    SIGN_SECONDS,
    Message,
    line_of,
    message_of,
    this_version,
)
from drivelab.runs.workers.place import Place

# Lines of a shell that greets each login.
_MOST_LINES_BEFORE: Final = 200
_MOST_LINE_BYTES: Final = 1 << 28
_LINES_KEPT: Final = 20
_END_SECONDS: Final = 5.0
# How Drivelab begins what it says to people, and the word under which that is heard.
_OWN_WORDS: Final = "drivelab: "
NOTE: Final = "note"

#: A worker's message, or why it cannot be understood; ``None`` when it has ended.
Heard = Message | DrivelabError | None


class Talking(Protocol):
    """A worker that is under way, seen from here, however it is reached.

    Made with a queue that gets what it says, with this: `Heard`.
    """

    @property
    def machine(self) -> str | None:
        """What the machine is called that it is on; ``None`` is this one, or not known yet."""
        ...

    def tell(self, message: Message) -> None:
        """Send a message; one that it does not live to read is lost, and the queue says so."""
        ...

    def why_it_ended(self) -> DrivelabError:
        """Return the error for its end."""
        ...

    def end(self) -> None:
        """Have it end; `wait` for it."""
        ...

    def wait(self, until: float) -> None:
        """Wait until it has ended, or end it at that moment of the monotonic clock."""
        ...

    def close(self) -> None:
        """End it, if it has not ended."""
        ...


@runtime_checkable
class TalkingPlace(Protocol):
    """A place that is reached in a way of its own, by no command line."""

    @property
    def name(self) -> str:
        """See `Place`."""
        ...

    @property
    def threads(self) -> int | None:
        """See `Place`."""
        ...

    @property
    def is_elsewhere(self) -> bool:
        """See `Place`."""
        ...

    def begin(self, heard: queue.SimpleQueue[tuple[Talking, Heard]]) -> Talking:
        """Start a worker there."""
        ...


class Talk:
    """A worker behind a process of this machine; see `Talking`.

    Parameters
    ----------
    place
        Where it is.
    heard
        Gets what it says, with this.

    Raises
    ------
    RunError
        When no process can be started.
    """

    def __init__(self, place: Place, heard: queue.SimpleQueue[tuple[Talking, Heard]]) -> None:
        self.place = place
        self.machine = place.name if place.is_elsewhere else None
        self._heard = heard
        self._has_answered = False
        self._said: deque[str] = deque(maxlen=_LINES_KEPT)
        # Written by a thread: a worker that takes nothing must hold nobody up.
        self._to_tell: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        try:
            self._process = subprocess.Popen(
                place.command(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                # Ctrl-C reaches the run alone, which ends its workers in order.
                start_new_session=True,
            )
        except OSError as error:
            raise RunError(
                f"{place.name} cannot be started: {error.strerror}; use fewer workers"
            ) from error
        targets = (self._tell_all, self._keep_words, self._hear)
        self._threads = [threading.Thread(target=each, daemon=True) for each in targets]
        for thread in self._threads:
            thread.start()

    @property
    def process_id(self) -> int:
        """Of the process here."""
        return self._process.pid

    def tell(self, message: Message) -> None:
        """Send a message; one that it does not live to read is lost, and `heard` says so."""
        self._to_tell.put(line_of(message))

    def why_it_ended(self) -> DrivelabError:
        """Return the error for its end."""
        # Ended already, or about to: its output is closed.
        code = self._wait(_END_SECONDS)
        self._threads[1].join(_END_SECONDS)
        return self.place.lost(code, "\n".join(self._said), has_answered=self._has_answered)

    def end(self) -> None:
        """Have it end; `wait` for it."""
        self._to_tell.put(None)

    def wait(self, until: float) -> None:
        """Wait until it has ended, or end it at that moment of the monotonic clock."""
        self._wait(max(until - time.monotonic(), 0.0))
        for thread in self._threads:
            thread.join(_END_SECONDS)

    def close(self) -> None:
        """End it, if it has not ended."""
        self.end()
        self.wait(time.monotonic() + _END_SECONDS)

    def _wait(self, seconds: float) -> int:
        try:
            return self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            return self._process.wait()

    def _tell_all(self) -> None:
        stdin = self._process.stdin
        if stdin is None:
            return
        with contextlib.suppress(OSError, ValueError), stdin:
            while True:
                try:
                    line = self._to_tell.get(timeout=SIGN_SECONDS)
                except queue.Empty:
                    line = line_of({ALIVE: True})
                if line is None:
                    return
                stdin.write(line)
                stdin.flush()

    def _hear(self) -> None:
        stdout = self._process.stdout
        try:
            if stdout is not None:
                with stdout:
                    self._greet(stdout)
                    while line := stdout.readline(_MOST_LINE_BYTES):
                        self._heard.put((self, message_of(line)))
        except DrivelabError as error:
            self._heard.put((self, type(error)(f"{self.place.name}: {error}")))
        finally:
            self._heard.put((self, None))

    def _greet(self, stdout: IO[bytes]) -> None:
        """Read to its first line, and refuse another version."""
        for line in (stdout.readline(_MOST_LINE_BYTES) for _ in range(_MOST_LINES_BEFORE)):
            if not line:
                return
            if HELLO.encode() not in line:
                continue
            found = message_of(line).get(HELLO)
            if found != this_version():
                raise UsageError(
                    f"it has Drivelab {found}, and this is {this_version()}: install the same there"
                )
            self._has_answered = True
            self._heard.put((self, {HELLO: found}))
            return
        raise UsageError("it prints much, and nothing that Drivelab prints")

    def _keep_words(self) -> None:
        stderr = self._process.stderr
        if stderr is None:
            return
        with stderr:
            while line := stderr.readline(_MOST_LINE_BYTES):
                text = line.decode(errors="replace").rstrip()
                self._said.append(text)
                if text.startswith(_OWN_WORDS):
                    self._heard.put((self, {NOTE: text.removeprefix(_OWN_WORDS)}))
