"""With too little memory, commands answer or say so in one line; they never just die."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.faults
MIB = 2**20
DRIVELAB = "import sys; from drivelab.cli.main import main; sys.exit(main())"
COMMANDS = [
    ["--help"],
    ["drives"],
    ["measure", "sim:x25m", "--requests", "2000"],
    ["simulate", "sim:bench-64gib", "--requests", "2000"],
    [
        *("model", "sim:x25m", "--design", "huang2011:40", "--requests", "200", "--no-sweeps"),
        *("--writes", "burst"),
    ],
    ["profile", "sim:x25m", "--file-size", "40MiB"],
    ["pts", "run", "iops", "sim:x25m", "--scale", "0.01", "--client"],
    ["timeline", "sim:x25m-yoo2014", "--op", "write", "--record", "96KiB"],
    ["reproduce", "yoo2014"],
]
WITH_FOLDER = ("model", "profile", "pts")


def holds(done: subprocess.CompletedProcess[str]) -> None:
    assert done.returncode in (0, 1, 2), done.stderr[-2000:]
    assert "Traceback" not in done.stderr
    assert "panicked" not in done.stderr
    if done.returncode:
        last = done.stderr.splitlines()[-1]
        assert last.startswith("drivelab: ")
        assert "memory" in last


def asked(words: list[str], folder: Path, before: str) -> subprocess.CompletedProcess[str]:
    out = ["--out", str(folder / "run")] if words[0] in WITH_FOLDER else []
    out = ["-o", str(folder / "drawing.svg")] if words[0] == "timeline" else out
    return subprocess.run(
        [
            "/bin/sh",
            "-c",
            f'{before} && exec "$@"',
            "sh",
            sys.executable,
            "-c",
            DRIVELAB,
            *words,
            *out,
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


@pytest.mark.parametrize("mib", [100, 250, 400, 700, 1100, 1500])
@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: words[0])
def test_limited_address_space(words: list[str], mib: int, tmp_path: Path) -> None:
    holds(asked(words, tmp_path, f"ulimit -v {mib * 1024}"))


@pytest.fixture(params=[100, 200, 300, 500, 1000])
def small_group(request: pytest.FixtureRequest) -> Iterator[Path]:
    """Give a cgroup below this process's own, with a limit of so many MB."""
    if os.geteuid() != 0:
        pytest.skip("needs root to make a cgroup")
    lines = [line.split(":", 2) for line in Path("/proc/self/cgroup").read_text().splitlines()]
    paths = {controllers: path.lstrip("/") for _, controllers, path in lines}
    version_1 = Path("/sys/fs/cgroup/memory")
    if "memory" in paths and version_1.is_dir():
        group, name = version_1 / paths["memory"] / "drivelab-test", "memory.limit_in_bytes"
    else:
        group, name = Path("/sys/fs/cgroup") / paths.get("", "") / "drivelab-test", "memory.max"
    try:
        group.mkdir()
    except OSError as error:
        pytest.skip(f"cgroups cannot be made here: {error}")
    try:
        if not (group / name).exists():
            pytest.skip("the memory controller is not delegated here")
        (group / name).write_text(str(request.param * 1_000_000))
        yield group
    finally:
        group.rmdir()


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: words[0])
def test_limited_cgroup(words: list[str], small_group: Path, tmp_path: Path) -> None:
    holds(asked(words, tmp_path, f'echo $$ > "{small_group}/cgroup.procs"'))
