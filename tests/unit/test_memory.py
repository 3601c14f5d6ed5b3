"""How much memory is available, compared with the kernel's files, which the test writes."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

import pytest

from drivelab import memory
from drivelab.errors import UsageError
from drivelab.memory import MemoryRoots, Need, available_bytes, limits, require

KIB, MIB, GIB = 2**10, 2**20, 2**30
MARGIN = 32 * MIB


@pytest.fixture
def roots(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MemoryRoots:
    """A machine with 8 GiB free and no limits."""
    monkeypatch.setattr(memory, "_required", memory._required[:1])
    unlimited = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
    monkeypatch.setattr(resource, "getrlimit", lambda _: unlimited)
    proc = tmp_path / "proc"
    (proc / "self").mkdir(parents=True)
    (proc / "meminfo").write_text(
        f"MemTotal: {16 * MIB} kB\nMemFree: 1 kB\nMemAvailable: {8 * MIB} kB\n"
    )
    (proc / "self" / "status").write_text(f"Name:\tpython\nVmSize:\t{100 * KIB} kB\n")
    return MemoryRoots(proc)


def mounted(roots: MemoryRoots, *lines: str) -> None:
    (roots.proc / "self" / "mountinfo").write_text("".join(f"{line}\n" for line in lines))


def belongs_to(roots: MemoryRoots, *lines: str) -> None:
    (roots.proc / "self" / "cgroup").write_text("".join(f"{line}\n" for line in lines))


def group(folder: Path, **files: object) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / f"memory.{name}").write_text(f"{content}\n")


def least(roots: MemoryRoots) -> tuple[int, str]:
    limit = limits(roots)[0]
    return limit.free_bytes, limit.what


def test_without_limits_it_is_free_memory_less_a_margin(roots: MemoryRoots) -> None:
    assert least(roots) == (8 * GIB, "free memory")
    assert available_bytes(roots) == 8 * GIB - MARGIN
    assert available_bytes(MemoryRoots(roots.proc / "nothing")) is None


def test_a_limit_of_version_2_counts_what_is_used_and_cannot_be_given_back(
    roots: MemoryRoots, tmp_path: Path
) -> None:
    point = tmp_path / "with space"
    written = str(point).replace(" ", "\\040")
    mounted(roots, f"30 1 0:26 / {written} rw - cgroup2 cgroup2 rw")
    belongs_to(roots, "0::/job")
    stat = f"anon 5\ninactive_file {100 * MIB}\nactive_file {50 * MIB}"
    group(point / "job", max=500 * MIB, high="max", current=300 * MIB, stat=stat)
    assert least(roots) == (300 * MIB, "the memory limit of the cgroup job")
    group(point / "job", high=450 * MIB)
    assert least(roots)[0] == 250 * MIB


def test_the_least_of_nested_groups_counts(roots: MemoryRoots, tmp_path: Path) -> None:
    point = tmp_path / "cgroup"
    mounted(roots, f"30 1 0:26 / {point} rw - cgroup2 cgroup2 rw")
    belongs_to(roots, "0::/outer/inner")
    group(point / "outer" / "inner", max="max", current=MIB)
    group(point / "outer", max=GIB, current=GIB - 7 * MIB)
    group(point, current=3)
    assert least(roots) == (7 * MIB, "the memory limit of the cgroup outer")


def test_version_1_and_its_no_limit(roots: MemoryRoots, tmp_path: Path) -> None:
    point = tmp_path / "memory"
    mounted(
        roots,
        f"30 1 0:26 / {tmp_path} rw - cgroup cgroup rw,cpu",
        f"31 1 0:27 / {point} rw - cgroup cgroup rw,memory",
        f"32 1 0:28 / {tmp_path / 'unified'} rw - cgroup2 cgroup2 rw",
    )
    belongs_to(roots, "5:cpu,cpuacct:/job", "4:memory:/job", "0::/")
    group(point, limit_in_bytes=9223372036854771712, usage_in_bytes=GIB)
    stat = f"inactive_file 1\ntotal_inactive_file {10 * MIB}"
    group(point / "job", limit_in_bytes=500 * MIB, usage_in_bytes=450 * MIB, stat=stat)
    assert least(roots) == (60 * MIB, "the memory limit of the cgroup job")


def test_a_container_sees_its_own_group_at_the_root(roots: MemoryRoots, tmp_path: Path) -> None:
    point = tmp_path / "cgroup"
    # Without a namespace of its own, its group is mounted where the whole tree would be.
    mounted(roots, f"30 1 0:26 /docker/abc {point} ro - cgroup2 cgroup rw")
    belongs_to(roots, "0::/docker/abc")
    group(point, max=GIB, current=GIB // 2)
    assert least(roots) == (GIB // 2, "the memory limit of this container")
    belongs_to(roots, "0::/../../elsewhere")
    assert least(roots) == (GIB // 2, "the memory limit of this container")


@pytest.mark.parametrize("text", ["", "lots", "-5", "1" * 40, "\0\xff"])
def test_rubbish_is_no_limit(roots: MemoryRoots, tmp_path: Path, text: str) -> None:
    point = tmp_path / "cgroup"
    mounted(roots, f"30 1 0:26 / {point} rw - cgroup2 cgroup2 rw", "short", "")
    belongs_to(roots, "0::/job", "nonsense", "")
    group(point / "job", max=text, current=text)
    assert least(roots) == (8 * GIB, "free memory")
    (roots.proc / "meminfo").write_text(text)
    assert limits(roots) == []


def test_limits_of_the_process_count_address_space(
    roots: MemoryRoots, monkeypatch: pytest.MonkeyPatch
) -> None:
    allowed = {resource.RLIMIT_AS: GIB}
    monkeypatch.setattr(
        resource, "getrlimit", lambda kind: (allowed.get(kind, resource.RLIM_INFINITY), -1)
    )
    assert least(roots) == (GIB - 100 * MIB, "`ulimit -v`")
    allowed[resource.RLIMIT_DATA] = 50 * MIB
    assert least(roots) == (50 * MIB, "`ulimit -d`")
    require("it", Need(touched_bytes=GIB, address_bytes=MIB), roots)
    with pytest.raises(UsageError) as caught:
        require("it", Need(touched_bytes=MIB, address_bytes=60 * MIB), roots)
    assert str(caught.value) == (
        "it needs 60 MiB of memory, and `ulimit -d` leaves 50 MiB: raise it with `ulimit -d`"
    )


def test_what_a_command_needs_is_kept_until_it_is_taken(roots: MemoryRoots) -> None:
    status = roots.proc / "self" / "status"
    status.write_text(f"VmRSS: {20 * KIB} kB\n")
    require("it", Need(touched_bytes=GIB, address_bytes=GIB), roots)
    assert available_bytes(roots) == 7 * GIB - MARGIN
    status.write_text(f"VmRSS: {(20 + 256) * KIB} kB\n")
    assert available_bytes(roots) == 7 * GIB + 256 * MIB - MARGIN
    status.write_text(f"VmRSS: {4 * MIB} kB\n")
    assert available_bytes(roots) == 8 * GIB - MARGIN


LIMITED = """
import resource, sys
kind, limit = getattr(resource, sys.argv[1]), int(sys.argv[2])
resource.setrlimit(kind, (limit, limit))
from drivelab.cli.main import main
sys.exit(main(sys.argv[3:]))
"""


def limited(kind: str, limit: int, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", LIMITED, kind, str(limit), *words],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["report", "runs/none"], 2, "drivelab report needs 1 GiB of memory, and `ulimit -v`"),
        (["measure", "sim:x25m"], 1, "sim:x25m needs .* of memory, and `uli"),
    ],
)
def test_address_space_that_is_too_small_is_an_error_and_no_abort(
    words: list[str], code: int, said: str
) -> None:
    done = limited("RLIMIT_AS", 400 * MIB, *words)
    assert done.returncode == code
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"drivelab: {said}".split(" .* ")[0])
    assert line.count("ulimit -v") >= 1


def test_a_stack_that_is_too_small_is_an_error(tmp_path: Path) -> None:
    done = limited("RLIMIT_STACK", 128 * KIB, "drives")
    assert done.returncode == 2
    assert done.stderr == (
        "drivelab: the stack may have 128 KiB, and Drivelab needs 512 KiB: type `ulimit -s 8192` "
        "first\n"
    )


CORE = """
import resource, sys
from drivelab import _core
from drivelab.errors import RunError
from drivelab.drives.presets.source import read_preset
source = read_preset("x25m")
drive = _core.SimulatedDrive(source.toml_text, source.base_texts, varies=True)
if sys.argv[1] == "worker":
    drive.prepare()
with open("/proc/self/status") as status:
    size = next(int(line.split()[1]) for line in status if line.startswith("VmSize:")) * 1024
# Room for half of what is needed next.
resource.setrlimit(resource.RLIMIT_AS, (size + drive.state_bytes // 2, -1))
try:
    if sys.argv[1] == "session":
        drive.session(seed=0)
    elif sys.argv[1] == "worker":
        one = (0.0, 1, 4096, 4096, 0.0, 0.0, 4096, 4096)
        streams = [_core.Stream.of_characteristics(one)]
        work = [(0, streams, (0, 0, 9, None, None, 9), None)]
        next(drive.measure(work, seed=0, workers=2))
    else:
        drive.prepare()
except RunError as error:
    print(error)
"""


@pytest.mark.parametrize("what", ["prepare", "worker", "session"])
def test_memory_that_the_core_is_refused_is_an_error_of_the_core(what: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", CORE, what], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "MiB of memory are needed and refused: allow more (`ulimit -v`)" in done.stdout
