"""Where a worker may run: a process of this machine, or a machine behind ssh."""

from __future__ import annotations

import contextlib
import shlex
import signal
import sys
from dataclasses import dataclass
from typing import Final, Protocol

from drivelab.errors import DrivelabError, RunError, UsageError
from drivelab.runs.workers.messages import this_version
from drivelab.ssh import CONNECTION_FAILED, SshPlace, ssh_error

_WORKER: Final = (
    "import sys; from drivelab.cli.main import main; sys.exit(main(['worker', '--stdio']))"
)
#: Exit codes of a shell that has no such command, or may not run it.
_NO_COMMAND: Final = (126, 127)


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

    @property
    def is_elsewhere(self) -> bool:
        """Whether another Drivelab measures there than this one."""
        ...

    def command(self) -> list[str]:
        """Return the command line that starts a worker which answers by its output."""
        ...

    def lost(self, code: int, said: str, *, has_answered: bool) -> DrivelabError:
        """Return the error for a worker that ended.

        Parameters
        ----------
        code
            As `subprocess` gives it.
        said
            The last lines that it wrote on standard error.
        has_answered
            Whether it had said which Drivelab it is.

        Returns
        -------
        DrivelabError
            A `UsageError` where it will end so again.
        """
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

    @property
    def is_elsewhere(self) -> bool:
        """See `Place`."""
        return False

    def command(self) -> list[str]:
        """See `Place`. Files of the folder in which we are take the place of no module."""
        return [sys.executable, "-P", "-c", _WORKER]

    def lost(self, code: int, said: str, *, has_answered: bool) -> DrivelabError:  # noqa: ARG002
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

    @property
    def is_elsewhere(self) -> bool:
        """See `Place`."""
        return True

    def command(self) -> list[str]:
        """See `Place`."""
        return self.place.command(f"exec {shlex.quote(self.drivelab)} worker --stdio")

    def lost(self, code: int, said: str, *, has_answered: bool) -> DrivelabError:
        """See `Place`."""
        if code == CONNECTION_FAILED and has_answered:
            return RunError(f"the worker on {self.name} was killed, or the connection was lost")
        if code == CONNECTION_FAILED:
            error = ssh_error(str(self.place), self.place.host, self.place.port, said)
            if "cannot be reached" in str(error):
                return RunError(f"{self.name} cannot be reached: {_reason(said)}")
            return error
        if code in _NO_COMMAND and not has_answered:
            return UsageError(
                f"{self.name} has no command {self.drivelab}: install Drivelab {this_version()} "
                'there, or say where it is (drivelab = "/path/to/drivelab" of its [[host]])'
            )
        return RunError(f"{self.name} {_how_it_ended(code)}{_last_words(said)}")


def _how_it_ended(code: int) -> str:
    if code >= 0:
        return f"ended with exit code {code}"
    name = f"signal {-code}"
    with contextlib.suppress(ValueError):
        name = signal.Signals(-code).name
    return f"was ended by {name}"


def _reason(said: str) -> str:
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    return lines[-1].removeprefix("ssh: ") if lines else "ssh gave no reason"


def _last_words(said: str) -> str:
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    return f": {lines[-1]}" if lines else ""
