"""Loss of power: who flushes keeps data, who does not loses them, and file systems come back."""

from __future__ import annotations

import errno
import sqlite3
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from block_drive import BlockDrive
from nbd_client import FLUSH, READ, WRITE, NbdClient, RefusedError

from drivelab.drives.naming import open_simulated
from drivelab.live.serving import Serving
from drivelab.live.settings import PowerCuts, ServeSettings

BLOCK = 4096
# What is written waits for more: it is lost with the power unless somebody flushes.
LOSING = """
[buffer]
write_buffer_bytes = 16_777_216            # assumed: of a drive without capacitors
flush_start_bytes = 8_388_608              # assumed: gathers
flush_stop_bytes = 0                       # assumed: until all is written
"""


@pytest.fixture
def losing(tmp_path: Path) -> str:
    drive = tmp_path / "losing.toml"
    drive.write_text((Path(__file__).parents[2] / "small_drive.toml").read_text() + LOSING)
    return f"sim:{drive}"


def test_who_flushes_keeps_and_who_does_not_loses(losing: str, tmp_path: Path) -> None:
    cuts = PowerCuts(every_ns=1_000_000_000, off_ns=20_000_000, loses_all=True)
    settings = ServeSettings(tmp_path / "s", power_cuts=cuts)
    with open_simulated(losing) as drive, Serving(drive, settings) as serving:
        with NbdClient(tmp_path / "s") as client:
            for place in range(0, 20, 2):
                client.ask(WRITE, place * BLOCK, BLOCK, b"k" * BLOCK)
            client.ask(FLUSH, 0, 0)
            for place in range(1, 20, 2):
                client.ask(WRITE, place * BLOCK, BLOCK, b"l" * BLOCK)
            assert client.ask(READ, BLOCK, BLOCK) == b"l" * BLOCK
            while serving.standing().power_cuts == 0:
                time.sleep(0.01)
            read = when_back(client, 20 * BLOCK)
        served = serving.stop()
    assert read == (b"k" * BLOCK + bytes(BLOCK)) * 10
    assert (served.power_cuts, served.lost_bytes) == (1, 10 * BLOCK)


def when_back(client: NbdClient, size: int) -> bytes:
    """Read the beginning of a drive once its power is back."""
    while True:
        try:
            return client.ask(READ, 0, size)
        except RefusedError as error:
            if error.args != (errno.EIO,):
                raise
            time.sleep(0.01)


@pytest.mark.parametrize("cuts", [2, pytest.param(10, marks=pytest.mark.faults)])
def test_sqlite_on_ext4_comes_back_whole(
    losing: str, tmp_path: Path, require_tool: Callable[[str], Path], cuts: int
) -> None:
    backing = tmp_path / "data"
    words = ("--power-cut-every", "3s", "--power-off-for", "100ms", "--backing", str(backing))
    drive = BlockDrive(tmp_path, *words, drive=losing)
    root = tmp_path / "root"
    root.mkdir()
    committed = 0
    try:
        again_until_done(require_tool("mkfs.ext4"), "-q", "-F", drive.path)
        met, until = 0, time.monotonic() + 60 * cuts
        while met < cuts:
            assert time.monotonic() < until, "nothing is committed between the cuts"
            again_until_done(require_tool("mount"), drive.path, root)
            before, committed = committed, write_until_cut(root / "database", committed)
            again_until_done(require_tool("umount"), root)
            # A busy machine may be slower than the next cut.
            met += committed > before
        output, _ = drive.end()
    finally:
        drive.kill()
        subprocess.run([require_tool("umount"), "--quiet", root], check=False)
    assert "\npower " in output
    # What the drive would have shown, without more cuts.
    again_until_done(require_tool("mount"), "-o", "loop", backing, root)
    try:
        database = sqlite3.connect(root / "database")
        whole = database.execute("PRAGMA integrity_check").fetchall()
        (there,) = database.execute("SELECT COUNT(*) FROM t").fetchone()
        database.close()
    finally:
        again_until_done(require_tool("umount"), root)
    assert whole == [("ok",)]
    # The row that was under way when the power went may be there or not.
    assert 0 < committed <= there <= committed + 1


def again_until_done(*words: object) -> None:
    """Run a program that the next cut may meet, until it succeeds."""
    until = time.monotonic() + 60
    while True:
        result = subprocess.run(words, capture_output=True, text=True, check=False)
        if result.returncode == 0:
            return
        assert time.monotonic() < until, result.stderr
        time.sleep(0.1)


def write_until_cut(path: Path, committed: int) -> int:
    """Commit row after row until the drive fails; answers the last one that was committed."""
    try:
        database = sqlite3.connect(path, isolation_level=None)
    except sqlite3.OperationalError:
        return committed
    try:
        # With FULL a row is durable before its journal is gone for good, and may be rolled back.
        database.execute("PRAGMA synchronous=EXTRA")
        database.execute("CREATE TABLE IF NOT EXISTS t (id INTEGER PRIMARY KEY, value BLOB)")
        (last,) = database.execute("SELECT COALESCE(MAX(id), 0) FROM t").fetchone()
        assert last >= committed
        committed = last
        while True:
            database.execute("INSERT INTO t VALUES (?, randomblob(2000))", (committed + 1,))
            committed += 1
    except sqlite3.Error:
        return committed
    finally:
        database.close()
