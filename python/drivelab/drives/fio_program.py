"""fio as a program: found, checked, run in a process group of its own, and ended in time.

fio is trusted with nothing: it may be missing, old, hang, be killed, ignore SIGTERM, or leave
output that is no JSON. Each of these is an error here. What its numbers mean is the business
of `drivelab.drives.fio_result`.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from drivelab.errors import RunError, UsageError

# 3.20 is the first that Debian and Ubuntu still carried with everything used here: io_uring
# (3.13), latency percentiles of submission to completion with their bins (3.18).
MIN_VERSION: Final = (3, 20)
REMEDY: Final = "`make system-packages` installs one"
# After SIGTERM fio may wait for requests in flight; after SIGKILL only the kernel can.
_TERMINATE_SECONDS: Final = 3.0
_KILL_SECONDS: Final = 10.0
_VERSION_SECONDS: Final = 20.0
# fio goes on without the option that it complains about, so the stream would be another one.
_CHANGED_STREAM: Final = re.compile(r"ignor|capped|unsupported|not supported|drop", re.IGNORECASE)


@dataclass(frozen=True)
class FioProgram:
    """A fio that was found and is recent enough.

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
    """What a run of fio left: its JSON and the lines around it."""

    report: dict[str, Any]
    remarks: tuple[str, ...]


def find_fio() -> FioProgram:
    """Find fio on the path and check its version.

    Raises
    ------
    UsageError
        When it is missing, too old, or no fio.
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
            f"{path} does not tell its version within {_VERSION_SECONDS:.0f} s; {REMEDY}"
        ) from error
    match = re.match(r"fio-(\d+)\.(\d+)\S*", result.stdout.strip())
    if match is None or result.returncode != 0:
        said = (result.stdout or result.stderr).strip().splitlines()
        raise UsageError(
            f"{path} does not tell a version of fio ({said[0] if said else 'nothing'}); {REMEDY}"
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
) -> FioOutput:
    """Run one fio job and return its JSON.

    Parameters
    ----------
    program
        From `find_fio`.
    options
        Without the leading dashes, such as ``bs=4096``.
    deadline_seconds
        When it is not done by then, it and its children are killed.
    descriptors
        Open files that fio inherits.

    Raises
    ------
    RunError
        When fio fails, is killed, hangs, or leaves no JSON.
    """
    command = [*_ended_with_us(), program.path, *(f"--{option}" for option in options)]
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            pass_fds=tuple(descriptors),
            # Of its own, so that Ctrl-C reaches Drivelab alone, which then ends fio in order.
            start_new_session=True,
        )
    except OSError as error:
        raise RunError(f"{program.path} does not start: {error.strerror}") from error
    try:
        output, complaints = process.communicate(timeout=deadline_seconds)
    except subprocess.TimeoutExpired as error:
        raise RunError(
            f"fio was not done {deadline_seconds:.0f} s after its start and was killed"
        ) from error
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


def _ended_with_us() -> list[str]:
    """Give the words before a command that the kernel is to kill when Drivelab is killed.

    Without them (`setpriv` belongs to util-linux) fio goes on until its run time is over,
    and the next run waits for the file's lock.
    """
    setpriv = shutil.which("setpriv")
    return [] if setpriv is None else [setpriv, "--pdeathsig", "KILL", "--"]


def _check_end(code: int, report: dict[str, Any], remarks: tuple[str, ...]) -> None:
    if code < 0:
        with contextlib.suppress(ValueError):
            raise RunError(f"fio was killed by {signal.Signals(-code).name}{_told(remarks)}")
        raise RunError(f"fio was killed by signal {-code}{_told(remarks)}")
    if code > 0:
        raise RunError(f"fio failed with exit code {code}{_told(remarks)}")
    if not report:
        raise RunError(f"fio printed no JSON{_told(remarks)}")
    changed = next((line for line in remarks if _CHANGED_STREAM.search(line)), None)
    if changed is not None:
        raise RunError(f"fio did not do what it was asked: {changed}")


def message_of(remarks: Sequence[str]) -> str | None:
    """Pick fio's own message from the lines around its JSON."""
    said = [line for line in remarks if line.startswith("fio:")]
    return next(iter([*said, *remarks]), None)


def _told(remarks: Sequence[str]) -> str:
    message = message_of(remarks)
    return f": {message[:300]}" if message else ""


def _split(output: str) -> tuple[str, dict[str, Any], str]:
    """Find the JSON object that starts on a line of its own; fio prints warnings before it."""
    match = re.search(r"^\{", output, re.MULTILINE)
    if match is None:
        return output, {}, ""
    try:
        report, end = json.JSONDecoder().raw_decode(output, match.start())
    except ValueError:
        return output[: match.start()], {}, ""
    return output[: match.start()], report, output[end:]


def _end_group(process: subprocess.Popen[str]) -> None:
    """End the process group of a program that is not done; a program that ended is left alone.

    The leader is reaped last: until then nobody else can get its number.
    """
    try:
        if process.returncode is not None:
            return
        os.killpg(process.pid, signal.SIGTERM)
        patience = time.monotonic() + _TERMINATE_SECONDS
        ended = os.WEXITED | os.WNOWAIT | os.WNOHANG
        while time.monotonic() < patience and not os.waitid(os.P_PID, process.pid, ended):
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(_KILL_SECONDS)
    except subprocess.TimeoutExpired as error:
        raise RunError(
            f"fio (process {process.pid}) cannot be killed: the drive does not answer it"
        ) from error
    finally:
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()
