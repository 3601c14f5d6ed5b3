"""fio as a program: found, checked, run in its own process group, and ended in time.

fio may be missing, old, hang, be killed, ignore SIGTERM, or leave output that is not JSON. Each of
these is an error here. `drivelab.drives.real.fio.result` interprets its numbers.
"""

from __future__ import annotations

import contextlib
import os
import re
import selectors
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from drivelab.bounded_json import UnreadableJsonError, end_of_json, parse_json
from drivelab.errors import RunError, UsageError

# Debian 11 has 3.25, with everything used here: io_uring, bins of the latency from submission to
# completion, space for a whole latency log.
MIN_VERSION: Final = (3, 25)
REMEDY: Final = "`make system-packages` installs one"
# After SIGTERM fio may wait for outstanding requests; after SIGKILL only the kernel can.
_TERMINATE_SECONDS: Final = 2.0
_KILL_SECONDS: Final = 5.0
# How long output may still arrive from a program that has ended.
_LAST_WORDS_SECONDS: Final = 1.0
_LOOK_SECONDS: Final = 0.25
# fio's JSON with every bin takes some hundred KiB.
_MOST_OUTPUT_BYTES: Final = 16 * 2**20
_VERSION_SECONDS: Final = 20.0
# fio continues without the option that it complains about, so it would send another stream.
_CHANGED_STREAM: Final = re.compile(r"ignor|capped|unsupported|not supported|drop", re.IGNORECASE)


class FioHungError(RunError):
    """fio did not finish in time."""


@dataclass(frozen=True)
class FioProgram:
    """An installed fio that is recent enough.

    Parameters
    ----------
    path
        The executable.
    version
        As it prints it, such as ``fio-3.33``.
    """

    path: str
    version: str


@dataclass(frozen=True)
class FioOutput:
    """The output of a fio run: its JSON and the lines around it."""

    report: dict[str, Any]
    remarks: tuple[str, ...]


def find_fio() -> FioProgram:
    """Find fio on the path and check its version.

    Raises
    ------
    UsageError
        If it is missing, too old, or not fio.
    """
    path = shutil.which("fio")
    if path is None:
        raise UsageError(f"real drives are measured with fio, which is not installed; {REMEDY}")
    try:
        result = subprocess.run(
            [path, "--version"],
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=_VERSION_SECONDS,
            stdin=subprocess.DEVNULL,
        )
    except OSError as error:
        raise UsageError(f"{path} does not run ({error.strerror}); {REMEDY}") from error
    except subprocess.TimeoutExpired as error:
        raise UsageError(
            f"{path} does not print its version within {_VERSION_SECONDS:.0f} s; {REMEDY}"
        ) from error
    match = re.match(r"fio-([0-9]{1,9})\.([0-9]{1,9})(?![0-9])\S*", result.stdout.strip())
    if match is None or result.returncode != 0:
        said = (result.stdout or result.stderr).strip().splitlines()
        raise UsageError(
            f"{path} does not print a version of fio ({(said[0] if said else 'nothing')}); {REMEDY}"
        )
    if (int(match[1]), int(match[2])) < MIN_VERSION:
        least = ".".join(map(str, MIN_VERSION))
        raise UsageError(f"{path} is {match[0]}; {least} or later is needed: {REMEDY}")
    return FioProgram(path, match[0])


def run_fio(
    program: FioProgram,
    options: Sequence[str],
    *,
    deadline_seconds: float,
    descriptors: Sequence[int] = (),
    log: tuple[Sequence[int], int] | None = None,
    watch: Callable[[], None] | None = None,
    patience_seconds: float | None = None,
) -> FioOutput:
    """Run one fio job and return its JSON.

    Parameters
    ----------
    program
        From `find_fio`.
    options
        Options without the leading dashes, such as ``bs=4096``.
    deadline_seconds
        After this time it and its children are killed.
    descriptors
        Open files that fio inherits.
    log
        Descriptors of files that fio writes, and the size in bytes that they may reach together.
    watch
        Called several times a second while fio runs.
    patience_seconds
        After its deadline it may continue as long as it reads or writes something within this time.

    Raises
    ------
    RunError
        If fio fails, is killed, leaves no JSON, or writes without end.
    FioHungError
        If it does not finish in time.
    """
    command = [*_ended_with_us(), program.path, *(f"--{option}" for option in options)]
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=tuple(descriptors),
            # In its own group, so that Ctrl-C reaches only Drivelab, which then ends fio cleanly.
            start_new_session=True,
        )
    except OSError as error:
        raise RunError(f"{program.path} does not start: {error.strerror}") from error
    try:
        deadline = _Deadline(process.pid, deadline_seconds, patience_seconds)
        output, complaints = _collect(process, deadline, log, watch)
    finally:
        _end_group(process)
    before, report, after = _split(output)
    remarks = tuple(
        line.strip()
        for text in (before, complaints, after)
        for line in text.splitlines()
        if line.strip()
    )
    _check_end(process.returncode, report, remarks)
    return FioOutput(report, remarks)


class _Deadline:
    """The time by which a program has to finish, or to show that it still does something."""

    def __init__(self, pid: int, seconds: float, patience_seconds: float | None) -> None:
        self._pid = pid
        self._patience = patience_seconds
        self._started = time.monotonic()
        self._ends = self._started + seconds
        self._calls: str | None = None

    def check(self, now: float) -> None:
        """Raise `FioHungError` after the deadline."""
        if now <= self._ends:
            return
        calls = None if self._patience is None else _calls_of(self._pid)
        if calls == self._calls:
            raise FioHungError(
                f"fio did not finish within {now - self._started:.0f} s and was killed: "
                "the drive does not answer, or fio hangs"
            )
        self._calls, self._ends = calls, now + (self._patience or 0.0)


def _calls_of(pid: int) -> str | None:
    """Return how many reads and writes a program's threads have finished; `None` if unknown."""
    try:
        lines = Path(f"/proc/{pid}/io").read_text().splitlines()
    except OSError:
        return None
    return " ".join(line for line in lines if line.startswith("sysc"))


def _collect(
    process: subprocess.Popen[bytes],
    deadline: _Deadline,
    log: tuple[Sequence[int], int] | None,
    watch: Callable[[], None] | None,
) -> tuple[str, str]:
    """Read standard output and error until both end or the program does."""
    ended_at: float | None = None
    pipes = (pipe for pipe in (process.stdout, process.stderr) if pipe is not None)
    texts = {pipe.fileno(): bytearray() for pipe in pipes}
    with selectors.DefaultSelector() as selector:
        for descriptor in texts:
            selector.register(descriptor, selectors.EVENT_READ)
        while selector.get_map() or not _has_ended(process):
            now = time.monotonic()
            if ended_at is None and _has_ended(process):
                ended_at = now
            if ended_at is not None and now > ended_at + _LAST_WORDS_SECONDS:
                break  # a child of fio's holds its output open
            if ended_at is None:
                deadline.check(now)
            _check_log(log)
            if watch is not None:
                watch()
            # When the output has ended, wait only for the program's end.
            for key, _ in selector.select(_LOOK_SECONDS if selector.get_map() else 0.01):
                part = os.read(key.fd, 2**16)
                texts[key.fd] += part
                if not part:
                    selector.unregister(key.fd)
            if sum(map(len, texts.values())) > _MOST_OUTPUT_BYTES:
                raise RunError(
                    f"fio printed more than {_MOST_OUTPUT_BYTES // 2**20} MiB and was killed"
                )
    output, complaints = (bytes(text).decode(errors="replace") for text in texts.values())
    return output, complaints


def _check_log(log: tuple[Sequence[int], int] | None) -> None:
    if log is not None and sum(os.fstat(each).st_size for each in log[0]) > log[1]:
        raise RunError(f"fio's latency log grew past {log[1]} bytes; it was killed")


def _ended_with_us() -> list[str]:
    """Return a command prefix that makes the kernel kill the program if Drivelab is killed.

    Without it (`setpriv` belongs to util-linux) fio runs until its run time is over, and the next
    run waits for the file's lock.
    """
    setpriv = shutil.which("setpriv")
    return [] if setpriv is None else [setpriv, "--pdeathsig", "KILL", "--"]


def _check_end(code: int, report: dict[str, Any], remarks: tuple[str, ...]) -> None:
    if code < 0:
        with contextlib.suppress(ValueError):
            raise RunError(
                f"fio was killed by {signal.Signals(-code).name}{_remarks_text(remarks)}"
            )
        raise RunError(f"fio was killed by signal {-code}{_remarks_text(remarks)}")
    if code > 0:
        raise RunError(f"fio failed with exit code {code}{_remarks_text(remarks)}")
    if not report:
        raise RunError(f"fio printed no JSON{_remarks_text(remarks)}")
    changed = next((line for line in remarks if _CHANGED_STREAM.search(line)), None)
    if changed is not None:
        raise RunError(f"fio did not do what it was asked: {changed}")


def message_of(remarks: Sequence[str]) -> str | None:
    """Pick fio's own message from the lines around its JSON."""
    said = [line for line in remarks if line.startswith("fio:")]
    return next(iter([*said, *remarks]), None)


def _remarks_text(remarks: Sequence[str]) -> str:
    message = message_of(remarks)
    return f": {message[:300]}" if message else ""


def _split(output: str) -> tuple[str, dict[str, Any], str]:
    """Find the JSON object that starts on its own line; fio prints warnings before it."""
    match = re.search(r"^\{", output, re.MULTILINE)
    if match is None:
        return output, {}, ""
    begin, end = match.start(), end_of_json(output, match.start())
    try:
        report = parse_json(output[begin:end], same_names=True)
    except UnreadableJsonError:
        return output[:begin], {}, ""
    return output[:begin], report, output[end:]


def _has_ended(process: subprocess.Popen[bytes]) -> bool:
    """Return whether a program ended, without releasing its process number."""
    ended = os.WEXITED | os.WNOWAIT | os.WNOHANG
    return os.waitid(os.P_PID, process.pid, ended) is not None


def _end_group(process: subprocess.Popen[bytes]) -> None:
    """End a program and the rest of its process group.

    The leader is reaped last: until then no other process can get its number.
    """
    try:
        if not _has_ended(process):
            os.killpg(process.pid, signal.SIGTERM)
            patience = time.monotonic() + _TERMINATE_SECONDS
            while time.monotonic() < patience and not _has_ended(process):
                time.sleep(0.01)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(_KILL_SECONDS)
    except subprocess.TimeoutExpired as error:
        raise FioHungError(
            f"fio (process {process.pid}) cannot be killed: the drive does not answer it"
        ) from error
    finally:
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()
