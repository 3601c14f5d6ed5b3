"""A file that a user names: if it cannot be read, one line says why and what to do."""

from __future__ import annotations

import contextlib
import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from drivelab.cli import main as cli
from drivelab.errors import UsageError
from drivelab.named_file import opened_elsewhere, read_text_file, reason_unread

INSTEAD = "name a plan"
#: A user without rights.
NOBODY = 65534


def read(path: Path) -> str:
    return read_text_file(path, "a plan", 100, INSTEAD)


def test_a_file_is_its_text_without_mark_and_with_line_feeds(tmp_path: Path) -> None:
    path = tmp_path / "plan"
    path.write_bytes(b"\xef\xbb\xbfa\r\nb\rc\n")
    assert read(path) == "a\nb\nc\n"


def made(folder: Path, name: str) -> Path:
    """Make what cannot be read as a plan."""
    path = folder / name
    if name == "folder":
        path.mkdir()
    elif name == "pipe":
        os.mkfifo(path)
    elif name == "huge":
        path.write_bytes(b" " * 101)
    elif name == "binary":
        path.write_bytes(b"\xff\xfe")
    elif name == "loop":
        path.symlink_to(path)
    elif name == "locked":
        path.write_text("x")
        path.chmod(0)
    return path


@pytest.fixture
def folder() -> Iterator[Path]:
    """Give a folder that every user may look into."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


@contextlib.contextmanager
def without_rights() -> Iterator[None]:
    """Read as somebody who is not allowed everything, even if root runs the tests."""
    own = os.geteuid()
    os.seteuid(NOBODY if own == 0 else own)
    try:
        yield
    finally:
        os.seteuid(own)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("missing", "there is no file {}; name a plan"),
        ("folder", "{} is a folder, not a plan; name a file"),
        ("pipe", "{} cannot be read as a plan: it is not a regular file"),
        ("huge", "{} is larger than a plan can be (100 B)"),
        ("binary", "{} cannot be read as a plan: it is not UTF-8 text"),
        ("loop", "{} cannot be read as a plan: Too many levels of symbolic links"),
        ("locked", "{} cannot be read as a plan: Permission denied; allow it first with chmod"),
    ],
)
def test_what_cannot_be_read_is_one_line(name: str, said: str, folder: Path) -> None:
    path = made(folder, name)
    wanted = f"^{re.escape(said.format(path))}$"
    with pytest.raises(UsageError, match=wanted), without_rights():
        read(path)


def test_a_permission_comes_with_its_remedy() -> None:
    assert reason_unread(PermissionError(13, "Permission denied")).endswith("first with chmod")
    assert reason_unread(OSError(5, "Input/output error")) == "Input/output error"
    assert reason_unread(ValueError("embedded null byte")) == "embedded null byte"


@pytest.mark.parametrize("name", ["missing", "folder", "loop", "locked"])
def test_the_core_error_for_an_unopened_file_is_explained(name: str, folder: Path) -> None:
    path = made(folder, name)
    with pytest.raises(UsageError) as own, without_rights():
        read(path)
    fine = folder / "fine"
    fine.write_text("")
    with (
        pytest.raises(UsageError, match=f"^{re.escape(str(own.value))}$"),
        without_rights(),
        opened_elsewhere([fine, path], "a plan", INSTEAD),
    ):
        raise UsageError("cannot be opened (os error 2)")


@pytest.mark.parametrize("name", ["fine", "pipe"])
def test_another_error_of_the_core_passes(name: str, tmp_path: Path) -> None:
    path = made(tmp_path, name)
    if name == "fine":
        path.write_text("")
    with (
        pytest.raises(UsageError, match="line 3 is wrong"),
        opened_elsewhere([path], "a plan", INSTEAD),
    ):
        raise UsageError("line 3 is wrong")


#: Commands, and what they say if the file FILE is missing.
COMMANDS = {
    "trace info FILE": "name the file of a trace",
    "trace characterize FILE": "name the file of a trace",
    "trace convert FILE -o out.spc --to spc": "name the file of a trace",
    "trace cut FILE -o out.spc --to 1s": "name the file of a trace",
    "trace fit FILE -o out.toml": "name the file of a trace",
    "simulate sim:x25m --trace FILE": "name the file of a trace",
    "choose --drives sim:x25m,sim:bench-64gib --trace FILE": "name the file of a trace",
    "simulate sim:x25m --firmware FILE": "name FILE.so",
    "firmware profile vector-search --out out --target FILE": "name one such as processors/",
    "measure sim:FILE.toml": "`drivelab drives` lists the package's presets",
    "simulate sim:x25m --from-state FILE": "name the state of a drive",
    "simulate sim:x25m --scenario FILE.toml": "the scenarios of the package are",
    "model sim:x25m --design FILE.csv": "name a CSV file of workloads",
    "model --from FILE.csv --out out": "name a CSV file of measurements",
    "place FILE.toml": "`drivelab place --example > plan.toml` writes one",
    "drives import FILE -o out.toml": "name MQSim's ssdconfig.xml",
}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_missing_file_is_one_line_that_says_what_to_do(
    command: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(command.replace("FILE", "missing").split()) == 2
    error = capsys.readouterr().err
    assert re.match(r"drivelab: there is no file missing(\.\w+)?; ", error)
    assert COMMANDS[command] in error
    assert "os error" not in error
    assert error.count("\n") == 1


@pytest.mark.parametrize("command", COMMANDS)
def test_a_folder_is_called_one(
    command: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    name = command.partition("FILE")[2].partition(" ")[0]
    (tmp_path / f"folder{name}").mkdir()
    words = command.replace("FILE", "folder").split()
    assert cli.main(words) == 2
    error = capsys.readouterr().err
    assert f"folder{name}" in error
    assert "folder, not " in error or " is a folder; name" in error or "the folder " in error
    assert error.count("\n") == 1
