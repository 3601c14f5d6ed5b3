"""A fio that is missing, old, hung, killed or lying is an error with one line, never a result."""

from __future__ import annotations

import copy
import json
import os
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from drivelab._core import histogram_value
from drivelab.drives import fio_program
from drivelab.drives.block_devices import SystemRoots
from drivelab.drives.fio import FioDrive, open_real_drive
from drivelab.drives.fio_program import FioProgram, find_fio, run_fio
from drivelab.drives.fio_result import UnknownReportError, measurement_from
from drivelab.drives.measurement import MeasurementPlan
from drivelab.drives.target_file import TargetFile, open_target_file
from drivelab.errors import RunError, UsageError
from drivelab.workloads.characteristics import Characteristics

READS = Characteristics()
MIXED = Characteristics(write_ratio=0.5, write_size=8192)


def operation(size: int) -> dict[str, Any]:
    bins = {histogram_value(800): 6, histogram_value(900): 3, histogram_value(1000): 1}
    mean = sum(value * count for value, count in bins.items()) / 10
    return {
        "io_bytes": 10 * size,
        "total_ios": 10,
        "short_ios": 0,
        "drop_ios": 0,
        "runtime": 20,
        "lat_ns": {
            "min": histogram_value(800),
            "max": histogram_value(1000),
            "mean": mean,
            "N": 10,
            "bins": {str(value): count for value, count in bins.items()},
        },
    }


def report_of(workload: Characteristics) -> dict[str, Any]:
    job = {"jobname": "measured", "error": 0, "job_runtime": 20}
    for name, share, size in (
        ("read", 1 - workload.write_ratio, workload.read_size),
        ("write", workload.write_ratio, workload.write_size),
    ):
        job[name] = operation(size) if share else {"io_bytes": 0, "total_ios": 0, "runtime": 0}
    return {"fio version": "fio-3.33", "jobs": [{"jobname": "warmup", "error": 0}, job]}


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Put a program called fio first on the path: `version` printed, then `body` run."""

    def write(body: str, version: str = "fio-3.33") -> Path:
        folder = tmp_path / "bin"
        folder.mkdir(exist_ok=True)
        script = folder / "fio"
        script.write_text(
            f"#!{sys.executable}\n"
            "import os, signal, sys, time\n"
            "if sys.argv[1:] == ['--version']:\n"
            f"    print({version!r})\n"
            "    sys.exit()\n" + body
        )
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
        return script

    return write


def printing(text: str) -> str:
    return f"print({text!r})\n"


@pytest.fixture
def target(tmp_path: Path) -> TargetFile:
    proc = tmp_path / "kernel" / "proc"
    (proc / "self").mkdir(parents=True)
    (proc / "self" / "mountinfo").write_text("1 0 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n")
    return open_target_file(tmp_path / "bench.bin", size_bytes=2**20, roots=SystemRoots(proc=proc))


def test_a_missing_fio_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageError, match="not installed; `make system-packages`"):
        find_fio()


@pytest.mark.parametrize("version", ["fio-2.99", "fio-3.19", "fio-3.1-dirty"])
def test_an_old_fio_is_refused(install: Callable[..., Path], version: str) -> None:
    install("", version)
    with pytest.raises(UsageError, match=rf"is {version[:7]}.*3\.20.*make system-packages"):
        find_fio()


@pytest.mark.parametrize("version", ["fio-3.20", "fio-3.33", "fio-3.36-15-g1234", "fio-10.2"])
def test_a_recent_fio_is_taken(install: Callable[..., Path], version: str) -> None:
    script = install("", version)
    assert find_fio() == FioProgram(str(script), version)


@pytest.mark.parametrize("version", ["", "Flexible I/O", "fio-x.y", "3.33"])
def test_what_tells_no_version_is_refused(install: Callable[..., Path], version: str) -> None:
    install("", version)
    with pytest.raises(UsageError, match=r"does not tell a version.*make system-packages"):
        find_fio()


def test_a_fio_that_does_not_start_is_refused(install: Callable[..., Path]) -> None:
    install("").write_text("#!/nowhere/python\n")
    with pytest.raises(UsageError, match=r"does not run.*make system-packages"):
        find_fio()


def run(install: Callable[..., Path], body: str, seconds: float = 20.0) -> dict[str, Any]:
    program = FioProgram(str(install(body)), "fio-3.33")
    return run_fio(program, ["name=x"], deadline_seconds=seconds).report


def test_warnings_around_the_json_are_set_aside(install: Callable[..., Path]) -> None:
    body = printing("fio: this is {odd}\nnote: [1, 2]") + printing('{\n  "jobs" : []\n}')
    assert run(install, body + printing("fio: and after it {}")) == {"jobs": []}


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (printing("Segmentation nonsense"), "no JSON: Segmentation nonsense"),
        ("", "printed no JSON"),
        (printing('{"jobs": ['), "printed no JSON"),
        (printing("[]"), "printed no JSON"),
        (
            "print('fio: bad option', file=sys.stderr); sys.exit(1)\n",
            "exit code 1: fio: bad option",
        ),
        (
            "print('x', file=sys.stderr); print('fio: io_u error', file=sys.stderr); sys.exit(5)\n",
            "exit code 5: fio: io_u error",
        ),
        ("os.kill(os.getpid(), signal.SIGKILL)\n", "killed by SIGKILL"),
        ("os.kill(os.getpid(), signal.SIGSEGV)\n", "killed by SIGSEGV"),
        (
            printing("note: queue depth will be capped at 1") + printing('{"jobs": []}'),
            "did not do what it was asked: note: queue depth will be capped",
        ),
        (
            "print('fio: option write_iolog is ignored', file=sys.stderr)\n"
            + printing('{"jobs": []}'),
            "did not do what it was asked",
        ),
    ],
)
def test_a_failing_fio_is_an_error(install: Callable[..., Path], body: str, message: str) -> None:
    with pytest.raises(RunError, match=message) as caught:
        run(install, body)
    assert "\n" not in str(caught.value)


def alive(number: int) -> bool:
    try:
        os.kill(number, 0)
        text = Path(f"/proc/{number}/stat").read_text()
    except (OSError, ProcessLookupError):
        return False
    return text.rpartition(")")[2].split()[0] != "Z"


def started(path: Path) -> list[int]:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        if path.exists() and len(numbers := path.read_text().split()) == 2:
            return [int(number) for number in numbers]
        time.sleep(0.01)
    pytest.fail("the program did not start")


STUBBORN = """
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = os.fork()
if child:
    open({path!r}, "w").write(f"{{os.getpid()}} {{child}}")
time.sleep(300)
"""


def test_a_hung_fio_is_killed_with_its_children(
    install: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fio_program, "_TERMINATE_SECONDS", 0.2)
    numbers = tmp_path / "numbers"
    with pytest.raises(RunError, match="not done 2 s after its start and was killed"):
        run(install, STUBBORN.format(path=str(numbers)), seconds=2)
    assert not any(alive(number) for number in started(numbers))


def test_ctrl_c_ends_fio(
    install: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fio_program, "_TERMINATE_SECONDS", 0.2)
    numbers = tmp_path / "numbers"

    main = threading.main_thread().ident
    assert main is not None

    def interrupt() -> None:
        started(numbers)
        signal.pthread_kill(main, signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        run(install, STUBBORN.format(path=str(numbers)), seconds=600)
    thread.join()
    assert not any(alive(number) for number in started(numbers))


def test_fio_ends_with_a_drivelab_that_is_killed(
    install: Callable[..., Path], tmp_path: Path, require_tool: Callable[[str], Path]
) -> None:
    require_tool("setpriv")
    numbers = tmp_path / "numbers"
    body = f"open({str(numbers)!r}, 'w').write(f'{{os.getpid()}} 0')\ntime.sleep(300)\n"
    script = install(body)
    source = (
        "from drivelab.drives.fio_program import FioProgram, run_fio\n"
        f"run_fio(FioProgram({str(script)!r}, 'fio-3.33'), [], deadline_seconds=600)\n"
    )
    with subprocess.Popen([sys.executable, "-c", source]) as process:
        number = started(numbers)[0]
        assert alive(number)
        process.kill()
    deadline = time.monotonic() + 20
    while alive(number) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not alive(number)


def test_a_good_report_is_a_measurement() -> None:
    measurement = measurement_from(report_of(MIXED), [], 4, MIXED)
    assert measurement.index == 4
    assert measurement.duration_ns == 20_000_000
    assert measurement.read is not None
    assert measurement.write is not None
    assert measurement.read.histogram == {800: 6, 900: 3, 1000: 1}
    assert measurement.write.bytes == 81920
    assert measurement.iops == pytest.approx(1000)


def test_a_direction_without_requests_is_none() -> None:
    assert measurement_from(report_of(READS), [], 0, READS).write is None


def changed(path: Sequence[str | int], value: object) -> dict[str, Any]:
    report = copy.deepcopy(report_of(MIXED))
    place: Any = report
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return report


JOB = ("jobs", -1)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ((*JOB, "error"), 5, "fio met an error: fio: the message"),
        (("jobs", 0, "error"), 28, "fio met an error: fio: the message"),
        (("jobs",), [], "lacks -1"),
        ((*JOB, "read", "total_ios"), 0, "completed no read"),
        ((*JOB, "write", "lat_ns", "N"), 0, "completed no write"),
        ((*JOB, "read", "total_ios"), 11, "disagree: 11 reads of 4096 bytes moved 40960"),
        ((*JOB, "read", "io_bytes"), 40961, "disagree"),
        ((*JOB, "read", "lat_ns", "N"), 9, "10 reads sent, 9 completed"),
        ((*JOB, "read", "lat_ns", "bins", str(histogram_value(800))), 5, "10 reads completed, 9"),
        ((*JOB, "read", "lat_ns", "bins"), {}, "10 reads completed, 0 in its bins"),
        ((*JOB, "read", "lat_ns", "bins"), {"x": 10}, "which is no count"),
        ((*JOB, "read", "lat_ns", "bins"), {"5": -10}, "which is no count"),
        ((*JOB, "read", "lat_ns", "mean"), 0.0, "contradicts itself"),
        ((*JOB, "read", "lat_ns", "min"), 1, "disagree with its bins"),
        ((*JOB, "read", "lat_ns", "max"), 10**12, "disagree with its bins"),
        ((*JOB, "read", "short_ios"), 1, "short_ios"),
        ((*JOB, "write", "drop_ios"), 2, "drop_ios"),
        ((*JOB, "read", "runtime"), 0, "0 ms"),
        ((*JOB, "read", "total_ios"), "10", "makes no sense"),
        ((*JOB, "read", "total_ios"), True, "makes no sense"),
        ((*JOB, "read"), None, "makes no sense"),
    ],
)
def test_a_report_that_cannot_be_is_an_error(
    path: Sequence[str | int], value: object, message: str
) -> None:
    with pytest.raises(RunError, match=message):
        measurement_from(changed(path, value), ["noise", "fio: the message"], 0, MIXED)


def missing(path: Sequence[str | int]) -> dict[str, Any]:
    report = copy.deepcopy(report_of(MIXED))
    place: Any = report
    for key in path[:-1]:
        place = place[key]
    del place[path[-1]]
    return report


@pytest.mark.parametrize(
    "path",
    [
        ("jobs",),
        (*JOB, "error"),
        (*JOB, "write"),
        *((*JOB, "read", key) for key in operation(4096)),
        *((*JOB, "read", "lat_ns", key) for key in operation(4096)["lat_ns"]),
    ],
)
def test_a_missing_field_is_an_unknown_fio(path: Sequence[str | int]) -> None:
    with pytest.raises(UnknownReportError, match=f"lacks '{path[-1]}'"):
        measurement_from(missing(path), [], 0, MIXED)


def test_requests_that_nobody_asked_for_are_an_error() -> None:
    report = report_of(READS)
    report["jobs"][-1]["write"]["total_ios"] = 1
    with pytest.raises(RunError, match="not asked for"):
        measurement_from(report, [], 0, READS)


def answering(report: dict[str, Any]) -> str:
    return printing(json.dumps(report))


def test_a_drive_measures_with_what_fio_says(
    install: Callable[..., Path], target: TargetFile
) -> None:
    install(answering(report_of(READS)))
    with FioDrive("x", target, find_fio()) as drive:
        (measurement,) = drive.measure([(7, READS)], MeasurementPlan.of_kind("real", seconds=0.1))
    assert (measurement.index, measurement.requests) == (7, 10)


def test_an_unknown_report_is_found_before_anything_is_measured(
    install: Callable[..., Path], target: TargetFile
) -> None:
    report = report_of(READS)
    del report["jobs"][-1]["read"]["lat_ns"]["bins"]
    install(answering(report))
    with target, pytest.raises(UsageError, match=r"lacks 'bins'.*make system-packages"):
        FioDrive("x", target, find_fio())


def test_an_engine_that_is_forbidden_is_passed_over(
    install: Callable[..., Path], target: TargetFile
) -> None:
    install(
        "if '--ioengine=io_uring' in sys.argv:\n"
        "    print('fio: io_queue_init failed', file=sys.stderr)\n"
        "    sys.exit(1)\n" + answering(report_of(READS))
    )
    with FioDrive("x", target, find_fio()) as drive:
        assert drive.identity()["io_engine"] == "libaio"


def test_no_engine_is_an_error(install: Callable[..., Path], target: TargetFile) -> None:
    install("print('fio: nothing works', file=sys.stderr); sys.exit(1)\n")
    with target, pytest.raises(RunError, match=r"io_uring: .*nothing works; libaio: .*nothing"):
        FioDrive("x", target, find_fio())


@pytest.mark.parametrize("when", ["before", "during"])
def test_a_vanished_file_is_no_result(
    install: Callable[..., Path], target: TargetFile, when: str
) -> None:
    answer = answering(report_of(READS))
    install(answer)
    with FioDrive("x", target, find_fio()) as drive:
        if when == "before":
            target.path.unlink()
        else:
            install(f"os.unlink({str(target.path)!r})\n" + answer)
        with pytest.raises(RunError, match="vanished while it was measured"):
            list(drive.measure([(0, READS)], MeasurementPlan.of_kind("real", seconds=0.1)))


def test_reading_is_all_that_fio_may_do_on_a_foreign_file(
    install: Callable[..., Path], tmp_path: Path
) -> None:
    path = tmp_path / "mine.img"
    path.write_bytes(os.urandom(2**20))
    seen = tmp_path / "seen"
    install(
        f"open({str(seen)!r}, 'a').write(' '.join(sys.argv) + '\\n')\n"
        + answering(report_of(READS))
    )
    with open_target_file(path) as target, FioDrive("x", target, find_fio()) as drive:
        list(drive.measure([(0, READS)], MeasurementPlan.of_kind("real", seconds=0.1)))
        with pytest.raises(UsageError, match=r"no writes on x: .*--allow-destructive="):
            drive.check(MIXED)
    assert all("--readonly" in line for line in seen.read_text().splitlines())


def test_the_file_is_removed_when_fio_cannot_be_used(
    install: Callable[..., Path], drive_folder: Path
) -> None:
    install(printing("nonsense"))
    path = drive_folder / "unusable.bin"
    with pytest.raises(RunError, match="printed no JSON"):
        open_real_drive(str(path), size_bytes=2**20)
    assert not path.exists()
