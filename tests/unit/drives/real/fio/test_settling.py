"""What fio writes to a file before workloads with sustained writes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from drivelab.drives.plan import MeasurementPlan
from drivelab.drives.real.fio import session as fio_session
from drivelab.drives.real.fio.drive import FioDrive, open_real_drive
from drivelab.drives.real.fio.program import FioOutput, run_fio
from drivelab.errors import CannotAnswerError, RunError
from drivelab.workloads.characteristics import Characteristics
from drivelab.workloads.whole_pass import WholePass

KIB, MIB = 2**10, 2**20
CAPACITY = 4 * MIB
READ = Characteristics()
SMALL = Characteristics(write_ratio=0.5)
LARGE = Characteristics(write_ratio=1.0, write_size=256 * KIB)
IN_ORDER = Characteristics(write_ratio=1.0, write_random=0.0)
BURST = MeasurementPlan(warmup_requests=0, requests=20)
SUSTAINED = replace(BURST, writes="sustained")


@pytest.fixture
def drive(require_tool: Callable[[str], Path], drive_folder: Path) -> Iterator[FioDrive]:
    require_tool("fio")
    with open_real_drive(str(drive_folder / "settling.bin"), size_bytes=CAPACITY) as drive:
        yield drive


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str, int]]:
    """Give what was written before: how, in which pieces, how much."""
    found: list[tuple[str, str, int]] = []

    def seen(program: Any, options: list[str], **others: Any) -> FioOutput:
        output = run_fio(program, options, **others)
        asked = dict(option.lstrip("-").partition("=")[::2] for option in options)
        [job] = output.report["jobs"]
        found.append((asked["rw"], asked.get("bs") or asked["bssplit"], job["write"]["io_bytes"]))
        return output

    monkeypatch.setattr(fio_session, "run_fio", seen)
    return found


def measured(drive: FioDrive, plan: MeasurementPlan, *workloads: Any) -> None:
    for one in drive.measure(list(enumerate(workloads)), plan):
        assert one.requests > 0


def test_the_drive_is_written_twice_before_each_kind_of_writing(
    drive: FioDrive, settled: list[tuple[str, str, int]], capsys
) -> None:
    measured(drive, SUSTAINED, READ)
    assert settled == []
    measured(drive, SUSTAINED, IN_ORDER, READ, IN_ORDER, LARGE, READ, SMALL, SMALL)
    assert [(rw, written) for rw, _, written in settled] == [
        ("write", 2 * CAPACITY),
        ("randwrite", 2 * CAPACITY),
        ("randwrite", 2 * CAPACITY),
    ]
    sizes = [bytes_of for _, bytes_of, _ in settled]
    assert [size.split("/")[0] for size in sizes] == ["131072", "131072", "4096"]
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 3
    assert said[0].startswith(f"drivelab: writing 8 MiB to {drive.name}, in order, before")


def test_whatever_else_writes_unsettles_it(
    drive: FioDrive, settled: list[tuple[str, str, int]]
) -> None:
    measured(drive, SUSTAINED, SMALL)
    measured(drive, BURST, READ)
    measured(drive, SUSTAINED, SMALL)
    assert len(settled) == 1
    measured(drive, BURST, SMALL)
    assert len(settled) == 1
    measured(drive, SUSTAINED, SMALL)
    assert len(settled) == 2
    a_pass = WholePass("write", is_random=False, request_bytes=64 * KIB, file_bytes=1 * MIB)
    measured(drive, replace(SUSTAINED, requests=None), a_pass)
    measured(drive, SUSTAINED, SMALL)
    assert len(settled) == 3
    measured(drive, replace(SUSTAINED, content="zero"), SMALL)
    assert len(settled) == 4


def test_what_failed_is_written_again(
    drive: FioDrive, settled: list[tuple[str, str, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:

        def fails(*_: Any, **__: Any) -> FioOutput:
            raise RunError("fio ended with status 1")

        patch.setattr(fio_session, "run_fio", fails)
        with pytest.raises(RunError, match="status 1"):
            measured(drive, SUSTAINED, SMALL)
    measured(drive, SUSTAINED, SMALL)
    assert len(settled) == 1


def test_nothing_is_written_to_what_may_only_be_read(
    require_tool: Callable[[str], Path], drive_folder: Path, settled: list[tuple[str, str, int]]
) -> None:
    require_tool("fio")
    path = drive_folder / "found.bin"
    path.write_bytes(bytes(CAPACITY))
    with open_real_drive(str(path)) as drive:
        measured(drive, SUSTAINED, READ)
        with pytest.raises(CannotAnswerError, match="no writes on"):
            measured(drive, SUSTAINED, SMALL)
    assert settled == []
    assert path.read_bytes() == bytes(CAPACITY)
    path.unlink()
