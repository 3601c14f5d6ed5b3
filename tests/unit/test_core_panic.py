"""A panic of the native core, provoked for real: one line to report, whatever process it is in."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from drivelab import _core
from drivelab.cli.main import guarded
from drivelab.cli.side_by_side import run_side_by_side
from drivelab.core_panic import panic_error
from drivelab.errors import PanicError
from drivelab.reproduce.processes import in_processes

PLACE = r"crates/python/src/panics\.rs:[0-9]+:[0-9]+"
# The real command line, whose work meets a mistake of the core.
SCRIPT = """
import sys
from drivelab import _core
from drivelab.cli import drives
from drivelab.cli.main import main
drives.run = lambda args: _core.panic_on_purpose({in_thread})
sys.exit(main())
"""


def panics(job: bool) -> int:
    _core.panic_on_purpose(job)
    return 0


@pytest.mark.parametrize(
    ("in_thread", "message"), [(False, "on purpose"), (True, "on purpose, in a thread")]
)
def test_a_panic_is_one_line_to_report(in_thread: bool, message: str) -> None:
    result = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(in_thread=in_thread), "drives", "show", "a file"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 1
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.startswith(
        "drivelab: this is a bug in Drivelab, its native core panicked at crates/"
    )
    expected = (
        rf"at {PLACE}: {message}; .* report this line: version \S+, drivelab drives show 'a file'$"
    )
    assert re.search(expected, line), line


def test_the_first_of_two_panics_is_reported_once() -> None:
    with pytest.raises(_core.PanicException, match="a scoped thread panicked") as caught:
        _core.panic_on_purpose(True)
    error = panic_error(caught.value)
    assert error is not None
    assert str(error).endswith("on purpose, in a thread")
    assert _core.take_panic() is None
    assert panic_error(KeyboardInterrupt()) is None


def test_a_panic_while_other_drives_run(capfd: pytest.CaptureFixture[str]) -> None:
    def work(name: str) -> list[dict[str, str]]:
        if name == "bad":
            _core.panic_on_purpose(False)
        return [{"name": name}]

    good, bad = run_side_by_side(["good", "bad"], work, guarded, at_once=2)
    assert (good.code, good.answers) == (0, [{"name": "good"}])
    assert (bad.code, bad.answers) == (1, [])
    assert "its native core panicked at crates/python/src/panics.rs" in bad.complaint
    assert capfd.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("in_thread", [False, True])
def test_a_panic_of_a_job_comes_home(in_thread: bool, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(PanicError, match=rf"panicked at {PLACE}: on purpose"):
        in_processes(panics, [in_thread], what="jobs", name=str)
    assert "panicked" not in capfd.readouterr().err


def test_a_traceback_is_there_for_whoever_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRIVELAB_TRACEBACK", "1")
    with pytest.raises(_core.PanicException, match="on purpose"):
        guarded(lambda: panics(False))
