"""A served drive: data come back, times are the simulator's, what was flushed survives."""

from __future__ import annotations

import dataclasses
import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from nbd_client import (
    FLUSH,
    FORCED,
    READ,
    TRIM,
    WRITE,
    WRITE_ZEROES,
    NbdClient,
    RefusedError,
    when_served,
)

from drivelab.drives.naming import open_simulated
from drivelab.drives.simulated.drive import SimulatedDrive
from drivelab.errors import UsageError
from drivelab.live.backing import check_backing, mark_backing
from drivelab.live.serving import Serving
from drivelab.live.settings import ServeSettings, memory_for_data, usual_socket

SMALL = f"sim:{Path(__file__).parents[2] / 'small_drive.toml'}"
COMMAND = [sys.executable, "-c", "import sys; from drivelab.cli.main import main; sys.exit(main())"]
MIB = 2**20


@pytest.fixture(scope="module")
def drive() -> SimulatedDrive:
    return open_simulated(SMALL)


@pytest.mark.parametrize("structured", [False, True])
def test_data_come_back(drive: SimulatedDrive, tmp_path: Path, structured: bool) -> None:
    socket = tmp_path / "s"
    drawn = random.Random(7)
    plain = bytearray(4 * MIB)
    with Serving(drive, ServeSettings(socket)) as serving:
        assert serving.uri == f"nbd+unix:///?socket={socket}"
        with NbdClient(socket, structured=structured) as client, NbdClient(socket) as other:
            assert client.size_bytes == drive.capacity_bytes
            assert client.block_sizes == (512, 4096, 32 * MIB)
            for _ in range(60):
                sector = drawn.randrange(8000)
                length = drawn.randint(1, min(192, 8192 - sector)) * 512
                kind = drawn.choice([READ, WRITE, WRITE, TRIM, WRITE_ZEROES])
                offset = sector * 512
                here = slice(offset, offset + length)
                if kind == WRITE:
                    plain[here] = data = drawn.randbytes(length)
                    client.ask(WRITE, offset, length, data, drawn.choice([0, FORCED]))
                    continue
                if kind in (TRIM, WRITE_ZEROES):
                    plain[here] = bytes(length)
                read = client.ask(kind, offset, length)
                assert read == (plain[here] if kind == READ else b"")
            client.ask(FLUSH, 0, 0)
            assert other.ask(READ, 0, len(plain)) == plain
            with pytest.raises(RefusedError):
                client.ask(READ, drive.capacity_bytes, 512)
        served = serving.stop()
    assert not socket.exists()
    assert served.clients == 2
    assert served.failure is None
    assert served.operations["flush"].requests == 1
    assert served.lateness is not None
    assert served.lateness.requests == served.requests == 62


def test_times_are_the_simulators(drive: SimulatedDrive, tmp_path: Path) -> None:
    # One read after the other on an idle drive: each finds it as the first did.
    with Serving(drive, ServeSettings(tmp_path / "s")) as serving:
        with NbdClient(tmp_path / "s") as client:
            for place in range(50):
                client.ask(READ, place * MIB, 4096)
        read = serving.stop().operations["read"]
    (stream,) = drive.simulate(_reads(), requests=50).values["streams"]
    assert read.latency_ns_mean == pytest.approx(
        stream["operations"]["read"]["latency_ns_mean"], rel=0.01
    )


def _reads():
    from drivelab.workloads.characteristics import Characteristics

    return Characteristics(queue_depth=1)


def test_a_dilated_drive_reports_its_own_time(drive: SimulatedDrive, tmp_path: Path) -> None:
    settings = ServeSettings(tmp_path / "s", dilation=50)
    with Serving(drive, settings) as serving:
        with NbdClient(tmp_path / "s") as client:
            client.ask(READ, 0, 4096)
        served = serving.stop()
    latency_ns = served.operations["read"].latency_ns_mean
    assert latency_ns < 1_000_000
    assert served.wall_ns > 50 * latency_ns


def test_late_replies_are_counted(drive: SimulatedDrive, tmp_path: Path) -> None:
    # Later than 0 ns is every reply.
    with Serving(drive, ServeSettings(tmp_path / "s", late_ns=0)) as serving:
        with NbdClient(tmp_path / "s") as client:
            client.ask(READ, 0, 4096)
        served = serving.stop()
    assert served.late_replies == 1
    caution = served.caution()
    assert caution is not None
    assert "--dilate 10" in caution
    assert dataclasses.replace(served, late_replies=0).caution() is None


def test_without_delay_nothing_is_simulated(drive: SimulatedDrive, tmp_path: Path) -> None:
    settings = ServeSettings(tmp_path / "s", has_delay=False)
    with Serving(drive, settings) as serving:
        with NbdClient(tmp_path / "s") as client:
            client.ask(WRITE, 0, 512, bytes(512))
        assert serving.stop().operations["write"].latency_ns_max == 0


def test_memory_has_a_bound(drive: SimulatedDrive, tmp_path: Path) -> None:
    settings = ServeSettings(tmp_path / "s", memory_bytes=MIB)
    with Serving(drive, settings) as serving:
        with NbdClient(tmp_path / "s") as client:
            client.ask(WRITE, 0, MIB, bytes(MIB))
            with pytest.raises(RefusedError, match="28"):
                client.ask(WRITE, MIB, 512, bytes(512))
            client.ask(TRIM, 0, MIB)
            client.ask(WRITE, MIB, 512, bytes(512))
        assert serving.stop().no_space == 1
    assert memory_for_data(2 * MIB, 0) == 2 * MIB
    assert memory_for_data(None, 0) > MIB
    for asked in (512, 2**60):
        with pytest.raises(UsageError, match="--memory"):
            memory_for_data(asked, 0)


def test_what_was_flushed_survives_a_kill(tmp_path: Path) -> None:
    socket, backing = tmp_path / "s", tmp_path / "data"
    words = ["serve", SMALL, "--socket", str(socket), "--backing", str(backing)]
    data = random.Random(3).randbytes(MIB)
    with subprocess.Popen([*COMMAND, *words], stdout=subprocess.PIPE) as process:
        with when_served(socket) as client:
            client.ask(WRITE, 8 * MIB, MIB, data)
            client.ask(WRITE, 64 * MIB, MIB, data)
            client.ask(TRIM, 64 * MIB, MIB)
            client.ask(FLUSH, 0, 0)
            client.ask(WRITE, 32 * MIB, MIB, data, FORCED)
        process.send_signal(signal.SIGKILL)
    # The socket that it left is taken over, and so is the file that it made.
    assert socket.exists()
    drive = open_simulated(SMALL)
    assert backing.stat().st_size == drive.capacity_bytes
    assert backing.stat().st_blocks * 512 < 4 * MIB
    if not hasattr(os, "getxattr") or not _has_mark(backing):
        pytest.skip("this file system keeps no extended attributes")
    with (
        Serving(drive, ServeSettings(socket, backing=backing)) as serving,
        NbdClient(socket) as client,
    ):
        assert client.ask(READ, 8 * MIB, MIB) == data
        assert client.ask(READ, 32 * MIB, MIB) == data
        assert client.ask(READ, 64 * MIB, MIB) == bytes(MIB)
        assert serving.standing().failure is None
    assert not socket.exists()
    assert backing.exists()


def _has_mark(path: Path) -> bool:
    return bool(os.listxattr(path))


def test_a_file_of_somebody_else_has_to_be_named_twice(tmp_path: Path) -> None:
    path = tmp_path / "mine"
    check_backing(path, None)
    path.write_text("precious")
    with pytest.raises(UsageError, match="--allow-destructive="):
        check_backing(path, None)
    with pytest.raises(UsageError, match="name that one"):
        check_backing(path, str(tmp_path / "other"))
    check_backing(path, str(path))
    mark_backing(path)
    if _has_mark(path):
        check_backing(path, None)


def test_a_socket_has_a_name_that_every_folder_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    assert usual_socket("my drive/x") == tmp_path / "drivelab-my-drive-x.sock"
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "missing"))
    assert usual_socket("x").parent.is_dir()


def test_equations_answer_where_they_hold(tmp_path: Path) -> None:
    from drivelab.drives.closed_form.drive import AnalyticDrive

    with open_simulated("sim:x25m-yoo2014") as formula:
        settings = ServeSettings(tmp_path / "s", by_equations=True)
        with Serving(formula, settings) as serving:
            with NbdClient(tmp_path / "s") as client:
                client.ask(WRITE, 0, 128 * 1024, bytes(128 * 1024))
                client.ask(READ, 0, 4096)
            served = serving.stop()
    equations = AnalyticDrive.open("analytic:x25m-yoo2014").closed_form
    for name, size in (("read", 4096), ("write", 128 * 1024)):
        wanted = equations.record(name, size)["record_ns"]
        assert served.operations[name].latency_ns_mean == wanted


def test_a_drive_faster_than_the_way_to_it_is_refused(
    drive: SimulatedDrive, monkeypatch: pytest.MonkeyPatch
) -> None:
    from drivelab import _core
    from drivelab.live.haste import check_haste

    assert 500 < _core.live_round_trip_ns() < 10_000_000
    monkeypatch.setattr(_core, "live_round_trip_ns", lambda: 1_000)
    check_haste(drive, 1.0)
    monkeypatch.setattr(_core, "live_round_trip_ns", lambda: 1_000_000)
    with pytest.raises(UsageError, match=r"answers a read in .* add --dilate 1[0-9][0-9],"):
        check_haste(drive, 1.0)
    check_haste(drive, 200.0)
