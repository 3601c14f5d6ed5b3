"""Where a worker may run, and the process here through which it is talked to."""

from __future__ import annotations

import contextlib
import os
import queue
import shlex
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import IO, Final, Protocol

from drivelab.errors import DrivelabError, RunError
from drivelab.runs.workers.messages import HELLO, Message, line_of, message_of, this_version
from drivelab.ssh import CONNECTION_FAILED, SshPlace, ssh_error

# Of a shell that greets whoever logs in.
_MOST_LINES_BEFORE: Final = 200
_LINES_KEPT: Final = 20
_END_SECONDS: Final = 5
_WORKER: Final = (
    "import sys; from drivelab.cli.main import main; sys.exit(main(['worker', '--stdio']))"
)


class Place(Protocol):
    """Where a worker may run."""

    @property
    def name(self) -> str:
        """What people call it."""
        ...

    @property
    def threads(self) -> int | None:
        """Threads of a worker there; ``None`` is one a core."""
        ...

    def command(self) -> list[str]:
        """Return the command line that starts a worker which answers by its output."""
        ...

    def lost(self, code: int, said: str) -> DrivelabError:
        """Give the error for a worker that ended with that code, having written that."""
        ...


@dataclass(frozen=True)
class ProcessPlace:
    """A process of this machine.

    Attributes
    ----------
    number
        Tells it from others.
    threads
        As in `Place`.
    """

    number: int
    threads: int | None = 1

    @property
    def name(self) -> str:
        """See `Place`."""
        return f"worker {self.number}"

    def command(self) -> list[str]:
        """See `Place`."""
        return [sys.executable, "-c", _WORKER]

    def lost(self, code: int, said: str) -> DrivelabError:
        """See `Place`."""
        return RunError(f"{self.name} {_how_it_ended(code)}{_last_words(said)}")


@dataclass(frozen=True)
class SshHost:
    """A machine that ssh reaches, where Drivelab is installed.

    Attributes
    ----------
    place
        How it is reached.
    threads
        As in `Place`.
    drivelab
        The command there.
    """

    place: SshPlace
    threads: int | None = None
    drivelab: str = "drivelab"

    @property
    def name(self) -> str:
        """See `Place`."""
        return str(self.place) if self.place.port is None else f"{self.place}:{self.place.port}"

    def command(self) -> list[str]:
        """See `Place`."""
        return self.place.command(f"exec {shlex.quote(self.drivelab)} worker --stdio")

    def lost(self, code: int, said: str) -> DrivelabError:
        """See `Place`."""
        if code == CONNECTION_FAILED:
            return ssh_error(self.name, self.place.host, self.place.port, said)
        if code in (126, 127):
            return RunError(
                f"{self.name} has no command {self.drivelab}: install Drivelab {this_version()} "
                'there, or say where it is (drivelab = "/path/to/drivelab" of its [[host]])'
            )
        return RunError(f"{self.name} {_how_it_ended(code)}{_last_words(said)}")


@dataclass
class Talk:
    """A worker that is under way, seen from here.

    Attributes
    ----------
    place
        Where it is.
    heard
        Gets what it says, with this; ``None`` when it has ended.
    threads
        What it was told to use.
    """

    place: Place
    heard: queue.SimpleQueue[tuple[Talk, Message | DrivelabError | None]]
    _process: subprocess.Popen[bytes] = field(init=False)
    _said: deque[str] = field(init=False, default_factory=lambda: deque(maxlen=_LINES_KEPT))
    _readers: Sequence[threading.Thread] = field(init=False)

    def __post_init__(self) -> None:
        self._process = subprocess.Popen(
            self.place.command(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            # Ctrl-C reaches the run alone, which ends its workers in order.
            start_new_session=True,
        )
        self._readers = [
            threading.Thread(target=self._keep_words, daemon=True),
            threading.Thread(target=self._hear, daemon=True),
        ]
        for reader in self._readers:
            reader.start()

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: object) -> bool:
        return self is other

    @property
    def process_id(self) -> int:
        """Of the process here."""
        return self._process.pid

    def tell(self, message: Message) -> None:
        """Send a message; one that it does not live to read is lost, and `heard` says so."""
        stdin = self._process.stdin
        with contextlib.suppress(OSError, ValueError):
            if stdin is not None:
                stdin.write(line_of(message))
                stdin.flush()

    def why_it_ended(self) -> DrivelabError:
        """Give the error for its end."""
        # Ended already, or about to: its output is closed.
        code = self._wait()
        self._readers[0].join(_END_SECONDS)
        return self.place.lost(code, "\n".join(self._said))

    def close(self) -> None:
        """End it, if it has not ended."""
        if self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.close()
        self._wait()
        for reader in self._readers:
            reader.join(_END_SECONDS)

    def _wait(self) -> int:
        try:
            return self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            return self._process.wait()

    def _hear(self) -> None:
        stdout = self._process.stdout
        if stdout is None:
            return
        with stdout:
            try:
                self._greet(stdout)
                for line in stdout:
                    self.heard.put((self, message_of(line)))
            except DrivelabError as error:
                self.heard.put((self, error))
        self.heard.put((self, None))

    def _greet(self, stdout: IO[bytes]) -> None:
        """Read to its first line, and refuse another version."""
        for line in (stdout.readline() for _ in range(_MOST_LINES_BEFORE)):
            if not line:
                return
            if HELLO.encode() not in line:
                continue
            found = message_of(line).get(HELLO)
            if found != this_version():
                raise RunError(
                    f"{self.place.name} has Drivelab {found}, and this is {this_version()}: "
                    "install the same there"
                )
            self.heard.put((self, {HELLO: found}))
            return
        raise RunError(f"{self.place.name} says much, and nothing of Drivelab")

    def _keep_words(self) -> None:
        stderr = self._process.stderr
        if stderr is None:
            return
        with stderr:
            for line in stderr:
                self._said.append(line.decode(errors="replace").rstrip())


def _how_it_ended(code: int) -> str:
    if code < 0:
        return f"was ended by {signal.Signals(-code).name}"
    return f"ended with exit code {code}"


def _last_words(said: str) -> str:
    lines = [line for line in said.splitlines() if line.strip()]
    return f": {lines[-1]}" if lines else ""
