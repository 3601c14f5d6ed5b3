"""What a profile was made with: programs and their initial states are the same, or refused."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from made_firmware_records import made_profiled

from drivelab.cli.main import main
from drivelab.errors import UsageError
from drivelab.firmware import made_with, placed, profile, programs
from drivelab.firmware.programs import observers
from drivelab.store import RunStore

WORDS = ["firmware", "profile", "RR", "--part", "1", "--out", "run"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(profile, "observe", lambda label, *_: made_profiled(label, 0.5, records=4))
    return tmp_path


def refusal(capsys: pytest.CaptureFixture[str]) -> str:
    assert main(WORDS) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    return error


def test_a_profile_of_other_programs_is_not_continued(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(WORDS) == 0
    with RunStore.open(Path("run")) as store:
        kept = store.header["plan"]["programs"]
    assert kept.keys() == {
        f"{name}_sha256" for name in ("host", "target", "native", "plugin", "start")
    }
    assert main(WORDS) == 0
    other = folder / "programs"
    shutil.copytree(programs.FOLDER, other)
    with (other / "drivelab-firmware-aarch64").open("ab") as file:
        file.write(b"\0")
    host, target = observers(other)
    with monkeypatch.context() as patched:
        patched.setattr(programs, "observers", lambda **_: (host, target))
        capsys.readouterr()
        said = refusal(capsys)
    # The plugin and the host's program are copies.
    assert "run was profiled with other programs (target) than this version" in said
    assert "choose another --out" in said
    monkeypatch.setattr(made_with, "START", {**placed.START, "path_bytes": 300})
    assert "with programs that began otherwise in memory than" in refusal(capsys)


def test_a_profile_that_does_not_say_what_it_was_made_with_is_not_continued(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(profile, "made_with", lambda _: {})
        assert main(WORDS) == 0
    capsys.readouterr()
    said = refusal(capsys)
    assert "other programs (native, host, target, plugin)" in said


def test_what_else_differs_is_said_first(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(WORDS) == 0
    monkeypatch.setattr(made_with, "START", {})
    capsys.readouterr()
    assert main([*WORDS, "--cores", "3"]) == 2
    error = capsys.readouterr().err
    assert "workers: 4 before, 3 now" in error
    assert "SHA" not in error


@pytest.mark.parametrize("length", [*range(1, 24, 4), 100, 160, 166, 167, 168, 169, 170, 171, 200])
def test_a_program_has_a_path_of_one_length_and_no_long_names(tmp_path: Path, length: int) -> None:
    program = tmp_path / "program"
    program.write_text("")
    base = tmp_path / "b"
    here = len(os.fsencode(base.resolve())) + 1
    below = base / ("n" * (length - here)) if length > here else base
    below.mkdir(parents=True)
    for name in ("host", "target"):
        path = placed.placed(program, name, below)
        assert len(os.fsencode(path)) == 280
        # What file systems with short names take, and nothing that is the folder itself.
        dotted = path.relative_to(below.resolve()).parts[:-1]
        assert dotted
        assert all(3 <= len(part) <= 100 and set(part) == {"."} for part in dotted)
        assert path.read_text() == ""


def test_a_folder_whose_path_is_too_long_is_refused(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text("")
    long = tmp_path
    while len(os.fsencode(long.resolve())) < 260:
        long /= "n" * 30
    folder = long / "drivelab-firmware-x"
    folder.mkdir(parents=True)
    with pytest.raises(UsageError, match=r"set TMPDIR to a folder with a shorter path"):
        placed.placed(program, "host", folder)
