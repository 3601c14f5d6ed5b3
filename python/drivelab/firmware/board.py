"""A board over ssh: the firmware is copied there, run with a thread a worker, and timed.

::

    here                       ssh                        the board
    program, requests ───────────────────────────────> a folder of its own
    "run ..."         ───────────────────────────────> program
    records           <───────────────────────────────   │
    end of input      ───────────────────────────────> program ended, folder removed

A session is one connection on which a shell on the board waits for lines. When it ends, however it
ends, the shell ends what runs and removes the folder. Files go over connections of their own.
OpenSSH's `ssh` asks for nothing and takes no key that it does not know.
"""

from __future__ import annotations

import contextlib
import hashlib
import shlex
import subprocess
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Final, Self

from drivelab.errors import RunError, UsageError
from drivelab.ssh import CONNECTION_FAILED, SshPlace, ssh_error

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from types import TracebackType

#: Processors of boards, as `uname -m` calls them.
PROCESSORS: Final = ("aarch64", "x86_64")
_END_SECONDS: Final = 20
# What is reported before the first line is read: the folder, or why there is none.
_SESSION: Final = """
d=$(mktemp -d "${TMPDIR:-/tmp}/drivelab-firmware.XXXXXX") || exit 1
p=
end() {
  trap '' HUP INT TERM PIPE
  [ -z "$p" ] || kill "$p" 2>/dev/null
  wait
  rm -rf "$d"
}
trap end EXIT
trap 'exit 1' HUP INT TERM PIPE
cd "$d" || exit 1
echo "folder $d"
while read -r line; do
  (
    q=
    trap '[ -z "$q" ] || { kill -9 "$q"; wait "$q"; }; exit 1' TERM
    eval "$line" </dev/null >said 2>&1 &
    q=$!
    wait "$q"
    echo "ended $?"
  ) &
  p=$!
done
"""
_LOOK: Final = (
    "uname -m; uname -n; getconf _NPROCESSORS_ONLN 2>/dev/null || nproc; "
    "cat /etc/machine-id /etc/ssh/ssh_host_*_key.pub 2>/dev/null | cksum; "
    "tr -d '\\000' </proc/device-tree/model 2>/dev/null || "
    "sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1"
)


@dataclass(frozen=True)
class BoardIdentity:
    """What a board is.

    Attributes
    ----------
    processor
        ``aarch64`` or ``x86_64``.
    name
        Its own.
    cores
        How many are on.
    key
        Tells it from others.
    model
        The board's own name; may be empty.
    """

    processor: str
    name: str
    cores: int
    key: str
    model: str


def look_at(place: SshPlace) -> BoardIdentity:
    """Ask a board what it is.

    Raises
    ------
    UsageError
        If it cannot be reached, or is none that the firmware is built for.
    """
    lines = asked(place, _LOOK).decode(errors="replace").splitlines()
    if len(lines) < 4 or not lines[2].strip().isdigit():
        raise UsageError(f"{place} does not say what it is; is it Linux with a usual shell?")
    processor, name, cores, key, *model = (line.strip() for line in lines)
    processor = {"arm64": "aarch64", "amd64": "x86_64"}.get(processor, processor)
    if processor not in PROCESSORS:
        raise UsageError(
            f"{place} is a {processor}, and the firmware is built for {' and '.join(PROCESSORS)}"
        )
    hashed = hashlib.sha256(key.encode()).hexdigest()[:16]
    return BoardIdentity(processor, name, int(cores), hashed, " ".join(model))


def asked(place: SshPlace, remote: str, *, given: IO[bytes] | None = None) -> bytes:
    """Have a board do something in a connection of its own; return what it wrote.

    Raises
    ------
    UsageError, RunError
        When it cannot be reached, or fails.
    """
    done = subprocess.run(
        place.command(remote),
        stdin=subprocess.DEVNULL if given is None else given,
        capture_output=True,
        check=False,
        start_new_session=True,
    )
    if done.returncode == 0:
        return done.stdout
    said = done.stderr.decode(errors="replace")
    if done.returncode == CONNECTION_FAILED:
        raise ssh_error(str(place), place.host, place.port, said)
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    raise RunError(f"{place} failed: {lines[-1] if lines else f'exit code {done.returncode}'}")


class BoardSession:
    """A folder on a board, for as long as this is open.

    Raises
    ------
    UsageError
        When the board cannot be reached.
    RunError
        When it has no room for a folder, or the connection is lost.
    """

    def __init__(self, place: SshPlace) -> None:
        self.place = place
        self._process = subprocess.Popen(
            place.command(_SESSION),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            # Ctrl-C must reach only Drivelab, which then ends the session cleanly.
            start_new_session=True,
        )
        self.folder = ""
        try:
            self.folder = self._line("folder")
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def put(self, path: Path, name: str, *, is_program: bool = False) -> None:
        """Copy a file into the folder."""
        there = shlex.quote(f"{self.folder}/{name}")
        mode = f" && chmod 700 {there}" if is_program else ""
        with path.open("rb") as file:
            asked(self.place, f"cat >{there}{mode}", given=file)

    def get(self, name: str) -> bytes:
        """Return the content of a file in the folder."""
        return asked(self.place, f"cat {shlex.quote(f'{self.folder}/{name}')}")

    def remove(self, *names: str) -> None:
        """Remove files from the folder."""
        paths = " ".join(shlex.quote(f"{self.folder}/{name}") for name in names)
        asked(self.place, f"rm -f {paths}")

    def run(self, words: Sequence[str]) -> tuple[int, str]:
        """Run a program in the folder; return its exit code and its output.

        Raises
        ------
        RunError
            When the connection is lost.
        """
        stdin = self._process.stdin
        if stdin is None:
            raise RunError(f"the connection to {self.place} is closed")
        try:
            stdin.write((" ".join(["exec", *map(shlex.quote, words)]) + "\n").encode())
            stdin.flush()
        except OSError as error:
            raise self._lost() from error
        code = int(self._line("ended"))
        return code, self.get("said").decode(errors="replace")

    def close(self) -> None:
        """End what runs there and remove the folder."""
        process = self._process
        if process.stdin is not None and not process.stdin.closed:
            with contextlib.suppress(OSError):
                process.stdin.close()
        try:
            process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()

    def _line(self, word: str) -> str:
        """Wait for a line that begins with `word`; return the rest."""
        stdout = self._process.stdout
        line = b"" if stdout is None else stdout.readline()
        first, _, rest = line.decode(errors="replace").strip().partition(" ")
        if first != word:
            raise self._lost()
        return rest

    def _lost(self) -> RunError | UsageError:
        process = self._process
        said = b"" if process.stderr is None else process.stderr.read()
        text = said.decode(errors="replace")
        code = process.wait()
        if code == CONNECTION_FAILED and not self.folder:
            return ssh_error(str(self.place), self.place.host, self.place.port, text)
        if not self.folder:
            lines = text.strip().splitlines()
            return RunError(
                f"{self.place} makes no folder: {lines[-1] if lines else f'exit code {code}'}"
            )
        return RunError(
            f"the connection to {self.place} is lost; the board removes {self.folder} when it "
            "notices. If it was switched off meanwhile, remove that folder yourself"
        )
