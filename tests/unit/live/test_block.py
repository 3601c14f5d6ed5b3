"""A served drive as a block device: programs use it, and nothing of it is left behind."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from block_drive import BlockDrive, is_gone, mounted, write
from nbd_client import READ, NbdClient

from drivelab.cli.main import main

MIB = 2**20


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., BlockDrive]]:
    served: list[BlockDrive] = []

    def begin(*words: str) -> BlockDrive:
        served.append(BlockDrive(tmp_path, *words))
        return served[-1]

    yield begin
    for one in served:
        one.kill()


def sync(path: str) -> None:
    with Path(path).open("r+b") as device:
        os.fsync(device.fileno())


def mounts() -> str:
    return Path("/proc/mounts").read_text()


@pytest.mark.parametrize("block_size", ["512", "4KiB"])
def test_data_come_back(serve: Callable[..., BlockDrive], block_size: str) -> None:
    drive = serve("--block-size", block_size, "--json")
    queue = Path(f"/sys/block/{Path(drive.path).name}/queue")
    wanted = 512 if block_size == "512" else 4096
    assert int((queue / "logical_block_size").read_text()) == wanted
    assert (queue / "write_cache").read_text().strip() == "write back"
    drawn = random.Random(7)
    plain = bytearray(4 * MIB)
    device = os.open(drive.path, os.O_RDWR | os.O_EXCL)
    try:
        assert os.lseek(device, 0, os.SEEK_END) == 2 * 2**30
        for _ in range(40):
            offset = drawn.randrange(3 * MIB)
            data = drawn.randbytes(drawn.randrange(1, MIB))
            plain[offset : offset + len(data)] = data
            assert os.pwrite(device, data, offset) == len(data)
        os.fsync(device)
        os.posix_fadvise(device, 0, 0, os.POSIX_FADV_DONTNEED)
        assert os.pread(device, len(plain), 0) == plain
    finally:
        os.close(device)
    output, error = drive.end()
    assert error == ""
    values = json.loads(output)
    assert values["device"] == drive.path
    assert values["operations"]["flush"]["requests"] >= 1
    assert values["failed_requests"] == 0
    assert is_gone(drive.path)


def test_both_doors_open_to_the_same_data(serve: Callable[..., BlockDrive]) -> None:
    drive = serve()
    write(drive.path, b"x" * 4096)
    sync(drive.path)
    with NbdClient(drive.socket) as client:
        assert client.ask(READ, 0, 4096) == b"x" * 4096


def test_discarded_ranges_read_as_zeroes(
    serve: Callable[..., BlockDrive], require_tool: Callable[[str], Path]
) -> None:
    drive = serve("--json")
    with Path(drive.path).open("r+b") as device:
        device.write(b"x" * MIB)
        device.flush()
        os.fsync(device.fileno())
        words = ["--offset", "0", "--length", str(MIB // 2), drive.path]
        subprocess.run([require_tool("blkdiscard"), *words], check=True)
        words = ["--zeroout", "--offset", str(MIB // 2), "--length", "4096", drive.path]
        subprocess.run([require_tool("blkdiscard"), *words], check=True)
        os.posix_fadvise(device.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        read = os.pread(device.fileno(), MIB, 0)
    assert read == bytes(MIB // 2 + 4096) + b"x" * (MIB // 2 - 4096)
    output, _ = drive.end()
    assert json.loads(output)["operations"]["trim"]["bytes"] == MIB // 2


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nothing_is_left_behind(serve: Callable[..., BlockDrive], number: int) -> None:
    before = mounts()
    drive = serve()
    assert mounts() == before
    # What the kernel still has to write when it ends.
    write(drive.path, os.urandom(8 * MIB))
    drive.end(number)
    assert is_gone(drive.path)
    assert mounts() == before


def test_a_file_system_survives_and_goes_with_the_drive(
    serve: Callable[..., BlockDrive], tmp_path: Path, require_tool: Callable[[str], Path]
) -> None:
    drive = serve("--backing", str(tmp_path / "data"))
    subprocess.run([require_tool("mkfs.ext4"), "-q", "-F", drive.path], check=True)
    root = tmp_path / "root"
    root.mkdir()
    subprocess.run([require_tool("mount"), drive.path, root], check=True)
    (root / "file").write_bytes(b"there" * 1000)
    with (root / "open").open("w") as still_open:
        still_open.write("open")
        still_open.flush()
        # It is unmounted though a file is open, and what was written is there.
        drive.end()
        assert str(root) not in mounts()
    assert is_gone(drive.path)
    again = serve("--backing", str(tmp_path / "data"))
    with mounted(again.path, tmp_path, require_tool) as root:
        assert (root / "file").read_bytes() == b"there" * 1000
        assert (root / "open").read_text() == "open"


def test_a_killed_drive_is_a_dead_one_until_it_is_unmounted(
    serve: Callable[..., BlockDrive], tmp_path: Path, require_tool: Callable[[str], Path]
) -> None:
    drive = serve()
    subprocess.run([require_tool("mkfs.ext4"), "-q", "-F", drive.path], check=True)
    with mounted(drive.path, tmp_path, require_tool) as root:
        drive.end(signal.SIGKILL)
        assert root.is_mount()
        with pytest.raises(OSError, match="Input/output error"):
            Path(drive.path).read_bytes()
    assert is_gone(drive.path)


def test_fio_finds_what_it_wrote(
    serve: Callable[..., BlockDrive], tmp_path: Path, require_tool: Callable[[str], Path]
) -> None:
    drive = serve("--no-delay")
    subprocess.run([require_tool("mkfs.ext4"), "-q", "-F", drive.path], check=True)
    with mounted(drive.path, tmp_path, require_tool) as root:
        words = [
            *("--name=x", f"--directory={root}", "--size=16m", "--rw=randwrite", "--bs=4k"),
            *("--ioengine=libaio", "--direct=1", "--iodepth=16", "--randseed=7", "--fsync=64"),
            *("--verify=crc32c", "--verify_fatal=1", "--verify_state_save=0"),
        ]
        done = subprocess.run([require_tool("fio"), *words], capture_output=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.faults
def test_rocksdb_finds_what_it_wrote(
    serve: Callable[..., BlockDrive], tmp_path: Path, require_tool: Callable[[str], Path]
) -> None:
    drive = serve()
    subprocess.run([require_tool("mkfs.ext4"), "-q", "-F", drive.path], check=True)
    with mounted(drive.path, tmp_path, require_tool) as root:
        words = [
            *("--benchmarks=fillrandom,overwrite,compact,readrandom", "--num=2000", "--sync"),
            *(f"--db={root}/db", "--verify_checksum", "--use_direct_io_for_flush_and_compaction"),
        ]
        done = subprocess.run(
            [require_tool("db_bench"), *words], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        assert "readrandom" in done.stdout


def test_a_performance_test_finds_what_the_simulator_does(
    serve: Callable[..., BlockDrive], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    # Written full in a second: a test preconditions the whole drive, and here in real time.
    Path("tiny.toml").write_text(
        'base = "x25m"\nname = "tiny"\nsummary = "little flash"\n'
        "[geometry]\nblocks_per_plane = 16\nuser_capacity_bytes = 67_108_864\n"
        "[collection]\nreserve_blocks_per_plane = 2\n"
    )
    # The client's write cache is on, and stays as it is on such a device.
    words = ["--client", "--scale", "0.0005", "--json"]
    found = {}
    drive = BlockDrive(tmp_path, drive="sim:tiny.toml")
    try:
        for path, more in (
            ("sim:tiny.toml", []),
            (drive.path, ["--allow-destructive", drive.path]),
        ):
            out = f"run-{len(found)}"
            main(["pts", "run", "wsat", path, "--out", out, *words, *more])
            found[path] = json.loads(Path(out, "result.json").read_text())
    finally:
        drive.kill()
    interface = "NBD" if drive.path.startswith("/dev/nbd") else "loop device"
    assert found[drive.path]["header"]["interface"] == interface
    assert found[drive.path]["range_bytes"] == found["sim:tiny.toml"]["range_bytes"]
    rates = {
        path: each["sections"][0]["response_times"]["iops_mean"] for path, each in found.items()
    }
    live, simulated = rates[drive.path], rates["sim:tiny.toml"]
    # Kernel and fio add to each request, and a busy machine more. Nothing makes it faster, but at
    # the ends of a second 32 requests are counted, or not, of some thousands.
    assert 0.2 * simulated < live < 1.05 * simulated
