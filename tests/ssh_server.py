"""An ssh server of the tests' own on this machine, with keys that are thrown away."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from drivelab.ssh import SshPlace


@dataclass
class Server:
    """An ssh server on this machine."""

    folder: Path
    port: int

    @property
    def name(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def config(self) -> Path:
        return self.folder / "config"

    @property
    def place(self) -> SshPlace:
        return SshPlace.parse(self.name, self.config)

    @property
    def words(self) -> list[str]:
        return ["--board", self.name, "--ssh-config", str(self.config)]

    def left(self) -> list[str]:
        return sorted(each.name for each in (self.folder / "tmp").iterdir())

    def knows(self, key: str = "host.pub") -> None:
        text = (self.folder / key).read_text()
        (self.folder / "known").write_text(f"[127.0.0.1]:{self.port} {text}")


@contextlib.contextmanager
def serving(folder: Path, sshd: Path) -> Iterator[Server]:
    """Serve whoever has the key of the folder."""
    (folder / "tmp").mkdir(parents=True)
    for name in ("host", "user", "other"):
        command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)]
        subprocess.run(command, check=True)
    (folder / "keys").write_bytes((folder / "user.pub").read_bytes())
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    temporary = folder / "tmp"
    (folder / "sshd_config").write_text(
        f"Port {port}\nListenAddress 127.0.0.1\nHostKey {folder}/host\n"
        f"AuthorizedKeysFile {folder}/keys\nStrictModes no\nUsePAM no\nPidFile none\n"
        f"PasswordAuthentication no\nSetEnv TMPDIR={temporary}\n"
    )
    (folder / "config").write_text(
        f"Host *\n  IdentityFile {folder}/user\n  IdentitiesOnly yes\n"
        f"  UserKnownHostsFile {folder}/known\n  GlobalKnownHostsFile none\n"
    )
    if os.geteuid() == 0:
        # Where the server of a system puts it.
        Path("/run/sshd").mkdir(exist_ok=True)
    command = [str(sshd), "-D", "-e", "-f", str(folder / "sshd_config")]
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(command, stderr=log, stdin=subprocess.DEVNULL)
    found = Server(folder, port)
    found.knows()
    wait_until(lambda: "Server listening" in (folder / "log").read_text())
    try:
        yield found
    finally:
        process.terminate()
        process.wait()


def wait_until(is_so: Callable[[], bool], seconds: float = 60) -> None:
    """Wait for something to be so; it is a failure where it takes longer."""
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.05)
