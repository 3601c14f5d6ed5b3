"""Files take their place whole, and never the place of what is no file."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from drivelab.cli import main as cli
from drivelab.whole_file import write_whole


@pytest.mark.parametrize("kind", ["pipe", "folder", "link to a pipe"])
def test_what_is_no_file_keeps_its_place(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "there"
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        os.mkfifo(tmp_path / "pipe")
        path.symlink_to("pipe")
    before = path.lstat()
    with pytest.raises(OSError, match="it is not a regular file"):
        write_whole(path, "text")
    assert path.lstat().st_ino == before.st_ino
    assert not [entry for entry in tmp_path.iterdir() if entry.name.startswith(".")]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "link").symlink_to("elsewhere/file")
    write_whole(tmp_path / "link", "first")
    write_whole(tmp_path / "link", "second")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "elsewhere" / "file").read_text() == "second"


def test_drawing_into_a_pipe_is_a_mistake(tmp_path: Path, capsys) -> None:
    pipe = tmp_path / "drawing.svg"
    os.mkfifo(pipe)
    words = ("timeline", "sim:x25m-yoo2014", "--op", "read", "--record", "4KiB", "-o", str(pipe))
    assert cli.main(list(words)) == 2
    complaint = capsys.readouterr().err
    assert complaint == (
        f"drivelab: {pipe} cannot be written: it is not a regular file; name another place\n"
    )
    assert pipe.is_fifo()
