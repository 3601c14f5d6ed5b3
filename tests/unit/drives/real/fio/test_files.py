"""fio's logs are in memory; the link that leads to one is removed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from drivelab.drives.real.fio.files import FioFiles
from drivelab.errors import RunError


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def left(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_what_a_program_writes_is_read_from_memory(folder: Path) -> None:
    with FioFiles() as files:
        assert len(left(folder)) == 1
        with files.holding(b"the requests"):
            script = (
                f"open({files.log_prefix!r} + '_lat.1.log', 'w')"
                f".write(open({files.iolog!r}).read().upper())"
            )
            subprocess.run([sys.executable, "-c", script], check=True, pass_fds=files.descriptors)
            assert files.latency_log() == b"THE REQUESTS"
            link = Path(f"{files.log_prefix}_lat.1.log")
            assert link.is_symlink()
        assert files.latency_log() == b""
        with files.holding(b"less"):
            assert Path(files.iolog).read_bytes() == b"less"
    assert left(folder) == []
    files.close()


def test_what_a_killed_process_left_is_removed_by_the_next(folder: Path) -> None:
    script = (
        "import os, signal, tempfile\n"
        f"tempfile.tempdir = {str(folder)!r}\n"
        "from drivelab.drives.real.fio.files import FioFiles\n"
        "files = FioFiles()\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    result = subprocess.run([sys.executable, "-c", script], check=False)
    assert result.returncode == -signal.SIGKILL
    (behind,) = left(folder)
    with FioFiles() as files:
        assert behind not in left(folder)
        assert len(left(folder)) == 1
        # Those of a living process stay.
        with FioFiles():
            assert Path(files.log_prefix).parent.name in left(folder)
    assert left(folder) == []


def test_what_others_called_alike_stays(folder: Path) -> None:
    (folder / "drivelab-fio-file").write_text("mine")
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    (folder / "drivelab-fio-link").symlink_to(elsewhere)
    with FioFiles():
        pass
    assert left(folder) == ["drivelab-fio-file", "drivelab-fio-link", "elsewhere"]


def test_no_place_is_an_error(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(folder / "missing"))
    with pytest.raises(RunError, match=r"fio's logs have no place in .*missing: No such file"):
        FioFiles()


def test_nothing_stays_open_when_there_is_no_memory(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> int:
        raise OSError(12, "Cannot allocate memory")

    before = os.listdir("/proc/self/fd")  # noqa: PTH208
    monkeypatch.setattr(os, "memfd_create", fail)
    with pytest.raises(RunError, match="Cannot allocate memory"):
        FioFiles()
    assert os.listdir("/proc/self/fd") == before  # noqa: PTH208
    assert left(folder) == []
