"""`benches/against_mqsim.py`: one line if a folder is not MQSim's source or does not compile."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[3] / "benches" / "against_mqsim.py"
CASE = ("--cases", "depth 1")


def refused(*words: str | Path) -> str:
    ended = subprocess.run(
        [sys.executable, BENCH, *words], check=False, capture_output=True, text=True, timeout=60
    )
    assert ended.returncode == 1
    assert ended.stdout == ""
    assert ended.stderr.count("\n") == 1
    return ended.stderr


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "source"
    (folder / "src").mkdir(parents=True)
    for name in ("src/main.cpp", "ssdconfig.xml", "workload.xml"):
        (folder / name).write_text("")
    (folder / "Makefile").write_text("all:\n\t@true\n")
    return folder


def test_a_folder_that_is_not_there_is_named() -> None:
    assert refused("/nope").startswith("/nope is not a folder; name one with MQSim's source, https")


def test_what_a_folder_that_is_not_mqsim_s_lacks_is_listed(source: Path) -> None:
    (source / "src" / "main.cpp").unlink()
    (source / "workload.xml").unlink()
    said = refused(source, *CASE)
    assert "is not MQSim's source: src/main.cpp, workload.xml missing; name a folder" in said
    # Traces are needed only by the cases that replay them.
    assert "traces/tpcc-small.trace" in refused(source, "--cases", "tpcc")


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
@pytest.mark.parametrize(
    ("commands", "said"),
    [
        (
            "@echo 'a.cpp:3:1: error: no such thing' >&2; echo '3 | #error no' >&2; false",
            "a.cpp:3:1: error: no such thing\n",
        ),
        (
            "@echo 'ld: cannot find -lm' >&2; echo 'collect2: error: ld returned 1' >&2; false",
            "ld: cannot find -lm\n",
        ),
        ("@/nowhere/g++", "make: /nowhere/g++: No such file or directory\n"),
        ("@true", "make builds no program MQSim\n"),
    ],
)
def test_a_source_that_does_not_compile_ends_with_the_compiler_s_error(
    commands: str, said: str, source: Path
) -> None:
    (source / "Makefile").write_text(f"all:\n\t{commands}\n")
    assert refused(source, *CASE) == f"MQSim in {source} does not compile: {said}"


def test_options_that_leave_nothing_to_run_are_refused(source: Path) -> None:
    assert "no case's name holds 'tape'; the cases are: reads" in refused(source, "--cases", "tape")
    assert refused(source, "--repeats", "0") == "--repeats is 0; allowed: at least 1\n"
