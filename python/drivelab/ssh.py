"""Commands on other machines over OpenSSH's `ssh`, without prompts and with known keys only.

If a machine cannot be reached, ssh's message becomes one line that says what to do.
"""

from __future__ import annotations

import re
import shlex
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from drivelab.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

#: Exit code of ssh if it could not connect or lost the connection.
CONNECTION_FAILED: Final = 255
_OPTIONS: Final = (
    *("-o", "BatchMode=yes", "-o", "StrictHostKeyChecking=yes", "-o", "ConnectTimeout=10"),
    *("-o", "ServerAliveInterval=5", "-o", "ServerAliveCountMax=3", "-o", "ForwardX11=no"),
    *("-o", "ControlPath=none", "-T"),
)
_PLACE: Final = re.compile(
    r"(?:(?P<user>[A-Za-z0-9_][A-Za-z0-9_.-]*)@)?"
    r"(?P<host>[A-Za-z0-9][A-Za-z0-9._-]*|\[[0-9A-Fa-f:.]+(?:%[A-Za-z0-9._-]+)?\])(?::(?P<port>[0-9]{1,5}))?"
)
_MOST_PORT: Final = 65535


@dataclass(frozen=True)
class SshPlace:
    """A machine that is reached over ssh.

    Attributes
    ----------
    user, host, port
        As the user named them; ``None`` leaves the choice to ssh's configuration.
    config
        ssh's configuration file; ``None`` for the default one.
    """

    user: str | None
    host: str
    port: int | None
    config: Path | None = None

    @classmethod
    def parse(cls, text: str, config: Path | None = None, *, what: str = "board") -> SshPlace:
        """Read USER@HOST:PORT; `what` is the word for the machine in error messages.

        Raises
        ------
        UsageError
            When the text has another form.
        """
        found = _PLACE.fullmatch(text)
        port = None if found is None or found["port"] is None else int(found["port"])
        if found is None or (port is not None and not 1 <= port <= _MOST_PORT):
            raise UsageError(
                f"{text!r} names no {what}: write USER@HOST or USER@HOST:PORT, as root@192.0.2.7:22"
            )
        return cls(found["user"], found["host"].strip("[]"), port, config)

    def __str__(self) -> str:
        return self.host if self.user is None else f"{self.user}@{self.host}"

    def command(self, remote: str) -> list[str]:
        """Return the command line that runs `remote` in the machine's shell."""
        ssh = shutil.which("ssh")
        if ssh is None:
            raise UsageError(f"{self} needs OpenSSH's ssh: apt-get install openssh-client")
        words = [ssh, *_OPTIONS]
        if self.config is not None:
            words += ["-F", str(self.config)]
        if self.port is not None:
            words += ["-p", str(self.port)]
        if self.user is not None:
            words += ["-l", self.user]
        return [*words, "--", self.host, f"exec sh -c {shlex.quote(remote)}"]


def ssh_error(place: str, host: str, port: int | None, said: str) -> UsageError:
    """Return the error that explains why ssh gave up.

    Parameters
    ----------
    place
        Name of the machine for people.
    host, port
        Its address.
    said
        What ssh printed.
    """
    known = host if port is None else f"'[{host}]:{port}'"
    at_port = "" if port is None else f" -p {port}"
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    last = lines[-1] if lines else "ssh gave no reason"
    if "IDENTIFICATION HAS CHANGED" in said:
        return UsageError(
            f"{place} shows another key than ssh knows for it: another machine answers, or it "
            f"was set up again; if you know why, remove the old key: ssh-keygen -R {known}"
        )
    if "Host key verification failed" in said or "host key is known for" in said:
        return UsageError(
            f"ssh does not know {place}: look at its key (ssh-keyscan{at_port} {host} | ssh-keygen "
            f"-lf -), compare it with the machine's own, then log in once by hand to keep it (ssh"
            f"{at_port} {place})"
        )
    if "Permission denied" in said or "Too many authentication failures" in said:
        return UsageError(
            f"{place} lets nobody in with the keys of this machine: put a public key there "
            f"(ssh-copy-id{at_port} {place}); no password is asked for"
        )
    return UsageError(f"{place} cannot be reached: {last.removeprefix('ssh: ')}")
