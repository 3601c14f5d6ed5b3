"""A fio that is missing, old, hung, killed or lying is an error with one line, never a result."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from fake_fio import NAMES, Row, log_of, operation, report_of
from python_program import write_program

from drivelab._core import Completions, CompletionWindow
from drivelab.cli import main as cli
from drivelab.drives.plan import MeasurementPlan
from drivelab.drives.real import made_file, target_file
from drivelab.drives.real.block_devices import SystemRoots
from drivelab.drives.real.fio import program as fio_program
from drivelab.drives.real.fio.drive import FioDrive, open_real_drive
from drivelab.drives.real.fio.job import Segment
from drivelab.drives.real.fio.measurement import _measurement
from drivelab.drives.real.fio.program import FioHungError, FioProgram, find_fio, run_fio
from drivelab.drives.real.fio.result import UnknownReportError, check_segment
from drivelab.drives.real.target_file import TargetFile, open_target_file
from drivelab.errors import CannotAnswerError, RunError, UsageError
from drivelab.workloads.characteristics import Characteristics

READS = Characteristics()
MIXED = Characteristics(write_ratio=0.5, write_size=8192)


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Put a program called fio first on the path: `version` printed, then `body` run."""

    def write(body: str = "answer()", version: str = "fio-3.33") -> Path:
        folder = tmp_path / "bin"
        folder.mkdir(exist_ok=True)
        script = folder / "fio"
        source = (
            "import os, signal, sys, time\n"
            f"sys.path.insert(0, {str(Path(__file__).parents[4])!r})\n"
            "if sys.argv[1:] == ['--version']:\n"
            f"    print({version!r})\n"
            "    sys.exit()\n"
            "from fake_fio import *\n" + body
        )
        write_program(script, source)
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


def test_a_missing_fio_is_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageError, match="not installed; `make system-packages`"):
        find_fio()


@pytest.mark.parametrize("version", ["fio-2.99", "fio-3.24", "fio-3.1-dirty"])
def test_an_old_fio_is_refused(install: Callable[..., Path], version: str) -> None:
    install("", version)
    with pytest.raises(UsageError, match=rf"is {version[:7]}.*3\.25.*make system-packages"):
        find_fio()


@pytest.mark.parametrize("version", ["fio-3.25", "fio-3.33", "fio-3.36-15-g1234", "fio-10.2"])
def test_a_recent_fio_is_taken(install: Callable[..., Path], version: str) -> None:
    script = install("", version)
    assert find_fio() == FioProgram(str(script), version)


@pytest.mark.parametrize("version", ["", "Flexible I/O", "fio-x.y", "3.33", f"fio-{'9' * 5000}.1"])
def test_what_shows_no_version_is_refused(install: Callable[..., Path], version: str) -> None:
    install("", version)
    with pytest.raises(UsageError, match=r"does not print a version.*make system-packages"):
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


def left_of(numbers: list[int]) -> list[int]:
    """Give those that stay alive: killed ones are gone as soon as the system gets round to it."""
    deadline = time.monotonic() + 20
    while any(map(alive, numbers)) and time.monotonic() < deadline:
        time.sleep(0.01)
    return list(filter(alive, numbers))


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
    with pytest.raises(RunError, match="did not finish within 2 s and was killed"):
        run(install, STUBBORN.format(path=str(numbers)), seconds=2)
    assert left_of(started(numbers)) == []


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_endless_output_is_an_error(
    install: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, stream: str
) -> None:
    monkeypatch.setattr(fio_program, "_MOST_OUTPUT_BYTES", 2**20)
    with pytest.raises(RunError, match="printed more than 1 MiB and was killed"):
        run(install, f"while True: print('x' * 1000, file=sys.{stream})\n", seconds=600)


def test_an_endless_log_is_an_error(install: Callable[..., Path], tmp_path: Path) -> None:
    log = (tmp_path / "log").open("w+")
    body = f"while True:\n    open({log.name!r}, 'a').write('x' * 1000)\n"
    program = FioProgram(str(install(body)), "fio-3.33")
    with log, pytest.raises(RunError, match="latency log grew past 5000 bytes"):
        run_fio(program, [], deadline_seconds=600, log=([log.fileno()], 5000))


def test_a_slow_fio_goes_on_as_long_as_it_writes(
    install: Callable[..., Path], tmp_path: Path
) -> None:
    body = (
        f"f = os.open({str(tmp_path / 'out')!r}, os.O_CREAT | os.O_WRONLY)\n"
        "for _ in range(60):\n    time.sleep(0.05)\n    os.write(f, b'x')\n"
    )
    slow = FioProgram(str(install(body + printing('{"jobs": []}'))), "fio-3.33")
    patient: dict[str, Any] = {"deadline_seconds": 1.0, "patience_seconds": 1.0}
    assert run_fio(slow, [], **patient).report == {"jobs": []}
    with pytest.raises(FioHungError, match="did not finish within 1 s"):
        run_fio(slow, [], deadline_seconds=1.0)
    silent = FioProgram(str(install("time.sleep(60)\n")), "fio-3.33")
    with pytest.raises(FioHungError, match="did not finish within 2 s"):
        run_fio(silent, [], **patient)


def test_children_of_a_fio_that_ended_are_ended(
    install: Callable[..., Path], tmp_path: Path
) -> None:
    """One of them holds its output open; nobody waits for that."""
    numbers = tmp_path / "numbers"
    body = (
        "child = os.fork()\nif not child:\n    time.sleep(300)\n"
        f"open({str(numbers)!r}, 'w').write(f'{{os.getpid()}} {{child}}')\n"
        "print('{\\n \"jobs\": [1]}', flush=True)\nos._exit(0)\n"
    )
    assert run(install, body, seconds=600) == {"jobs": [1]}
    assert left_of(started(numbers)) == []


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
    assert left_of(started(numbers)) == []


def test_fio_ends_with_a_drivelab_that_is_killed(
    install: Callable[..., Path], tmp_path: Path, require_tool: Callable[[str], Path]
) -> None:
    require_tool("setpriv")
    numbers = tmp_path / "numbers"
    body = f"open({str(numbers)!r}, 'w').write(f'{{os.getpid()}} 0')\ntime.sleep(300)\n"
    script = install(body)
    source = (
        "from drivelab.drives.real.fio.program import FioProgram, run_fio\n"
        f"run_fio(FioProgram({str(script)!r}, 'fio-3.33'), [], deadline_seconds=600)\n"
    )
    with subprocess.Popen([sys.executable, "-c", source]) as process:
        number = started(numbers)[0]
        assert alive(number)
        process.kill()
    assert left_of([number]) == []


SEGMENT = Segment(40, 1.0)


def rows(*latencies: int) -> list[Row]:
    """Completions of a workload that reads and writes in turn, one each millisecond."""
    return [
        (number, latency, number % 2, (4096, 8192)[number % 2], 4096 * number)
        for number, latency in enumerate(latencies or range(5000, 9000, 100))
    ]


def check(report: dict[str, Any], log: str, remarks: Sequence[str] = ()) -> bool:
    return check_segment(report, remarks, SEGMENT, Completions(log.encode()))


def test_a_good_report_agrees_with_its_log() -> None:
    assert check(report_of(rows()), log_of(rows())) is False


def test_time_may_end_a_segment() -> None:
    sent = rows()[:30]
    assert check(report_of(sent, 1000), log_of(sent)) is True
    assert check(report_of(sent, 998), log_of(sent)) is True
    with pytest.raises(RunError, match="ended after 997 of 1000 ms with 30 of 40 requests sent"):
        check(report_of(sent, 997), log_of(sent))


def test_a_direction_may_have_done_nothing() -> None:
    reads = [row for row in rows() if row[2] == 0]
    assert check(report_of(reads, 1000), log_of(reads)) is True


def test_more_requests_than_asked_are_an_error() -> None:
    many = rows(*range(5000, 9100, 100))
    with pytest.raises(RunError, match="sent 41 requests of 40"):
        check(report_of(many), log_of(many))


JOB = ("jobs", 0)
LATENCY = (*JOB, "read", "lat_ns")


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ((*JOB, "error"), 5, "fio met an error: fio: the message"),
        (("jobs",), [], "lacks 0"),
        ((*JOB, "read", "total_ios"), 0, "0 reads sent, 20 in its latency log"),
        ((*JOB, "read", "total_ios"), 21, "21 reads sent, 20 in its latency log"),
        ((*JOB, "read", "io_bytes"), 81921, "bytes of its reads is 81921, and 81920 by its"),
        ((*LATENCY, "N"), 19, "requests of its reads is 19, and 20"),
        ((*LATENCY, "min"), 1, "latency_ns_min of its reads is 1, and 5000"),
        ((*LATENCY, "max"), 10**12, "latency_ns_max"),
        ((*LATENCY, "mean"), 6000.0, "reads took 6000.0 ns on average, and 6900.0"),
        ((*LATENCY, "bins"), {}, "the bins of its reads are not its latency log's"),
        ((*LATENCY, "bins"), {"5000": 20}, "the bins of its reads are not its latency log's"),
        ((*LATENCY, "bins"), {"x": 10}, "which is not a count"),
        ((*LATENCY, "bins"), {"5": -10}, "which is not a count"),
        ((*JOB, "read", "short_ios"), 1, "1 reads in short_ios: the drive cut them short"),
        ((*JOB, "write", "drop_ios"), 2, "2 writes in drop_ios"),
        ((*JOB, "read", "total_ios"), "10", "makes no sense"),
        ((*JOB, "read", "total_ios"), True, "makes no sense"),
        ((*JOB, "read"), None, "makes no sense"),
    ],
)
def test_a_report_that_cannot_be_is_an_error(
    path: Sequence[str | int], value: object, message: str
) -> None:
    report = report_of(rows())
    place: Any = report
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    with pytest.raises(RunError, match=message):
        check(report, log_of(rows()), ["noise", "fio: the message"])


@pytest.mark.parametrize("name", ["read", "write"])
def test_bytes_without_requests_are_an_error(name: str) -> None:
    others = [row for row in rows() if NAMES[row[2]] != name]
    report = report_of(others, 1000)
    report["jobs"][0][name]["io_bytes"] = 4096
    with pytest.raises(RunError, match=f"no {name}s sent, 4096 bytes moved"):
        check(report, log_of(others))


def test_answering_zeros_is_an_error() -> None:
    with pytest.raises(RunError, match="completed no request in the time given: fio: the drive"):
        check(report_of([], 1000), "", ["fio: the drive is away"])


@pytest.mark.parametrize(
    "path",
    [
        ("jobs",),
        (*JOB, "error"),
        (*JOB, "write"),
        *((*JOB, "read", key) for key in operation(rows())),
        *((*LATENCY, key) for key in operation(rows())["lat_ns"]),
    ],
)
def test_a_missing_field_is_an_unknown_fio(path: Sequence[str | int]) -> None:
    report = report_of(rows())
    place: Any = report
    for key in path[:-1]:
        place = place[key]
    del place[path[-1]]
    with pytest.raises(UnknownReportError, match=f"lacks '{path[-1]}'"):
        check(report, log_of(rows()))


def test_a_drive_measures_with_what_fio_says(
    install: Callable[..., Path], target: TargetFile
) -> None:
    install("answer(every_ns=1_000_000)")
    plan = MeasurementPlan(warmup_requests=0, warmup_seconds=0.1, requests=None, seconds=0.2)
    with FioDrive("x", target, find_fio()) as drive:
        (measurement,) = drive.measure([(7, READS)], plan)
    assert (measurement.index, measurement.requests) == (7, 200)
    assert (measurement.duration_ns, measurement.stopped_by) == (200_000_000, "seconds")
    assert measurement.batches is not None
    assert measurement.extra == {"segments": 1}


def test_requests_end_a_measurement_too(install: Callable[..., Path], target: TargetFile) -> None:
    install()
    with FioDrive("x", target, find_fio()) as drive:
        (measurement,) = drive.measure(
            [(0, MIXED)], MeasurementPlan(warmup_requests=100, requests=300)
        )
    assert (measurement.requests, measurement.stopped_by) == (300, "requests")
    assert measurement.duration_ns == pytest.approx(30_000_000, abs=1_000_000)
    assert measurement.latency_ns_mean == pytest.approx(99_000 + 37 * 24.5, rel=1e-3)


def test_a_half_width_ends_a_measurement_too(
    install: Callable[..., Path], target: TargetFile
) -> None:
    install()
    plan = MeasurementPlan(warmup_requests=10, requests=500, half_width_ratio=0.01)
    with FioDrive("x", target, find_fio()) as drive:
        (measurement,) = drive.measure([(0, READS)], plan)
        assert (measurement.requests, measurement.stopped_by) == (500, "half_width")
        assert measurement.half_width_ratio is not None
        assert measurement.half_width_ratio <= 0.01
        plan = replace(plan, half_width_ratio=1e-9, max_requests=3000)
        (measurement,) = drive.measure([(0, READS)], plan)
    assert (measurement.requests, measurement.stopped_by) == (3000, "max_requests")


def test_a_kind_of_request_that_is_not_rare_must_complete() -> None:
    window = cast("CompletionWindow", SimpleNamespace(operation=lambda _: None, requests=50))
    with pytest.raises(RunError, match="no read completed among the 50 requests that counted"):
        _measurement(0, Characteristics(write_ratio=0.5), window, 1)


def test_a_kind_of_request_that_is_rare_may_be_missing(
    install: Callable[..., Path], target: TargetFile
) -> None:
    install()
    rare = Characteristics(write_ratio=1e-9)
    plan = MeasurementPlan(warmup_requests=0, requests=50)
    with FioDrive("x", target, find_fio()) as drive:
        (measurement,) = drive.measure([(0, rare)], plan)
    assert measurement.write is None
    assert measurement.read is not None
    assert measurement.read.requests == measurement.requests == 50


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        ("report['jobs'][0]['read']['total_ios'] = 0", "0 reads sent, 250 in its latency log"),
        ("report['jobs'][0]['error'] = 5", "fio met an error: Input/output error"),
        ("report.clear()", "printed no JSON"),
    ],
)
def test_a_spoiled_answer_is_an_error(
    install: Callable[..., Path], target: TargetFile, spoil: str, message: str
) -> None:
    install()
    with FioDrive("x", target, find_fio()) as drive:
        install(f"def spoil(report):\n    {spoil}\nanswer(spoil=spoil)\n")
        plan = MeasurementPlan(warmup_requests=50, requests=200)
        with pytest.raises(RunError, match=message):
            list(drive.measure([(0, READS)], plan))


def test_an_unknown_report_is_found_before_anything_is_measured(
    install: Callable[..., Path], target: TargetFile
) -> None:
    install(
        "def spoil(report):\n    del report['jobs'][0]['read']['lat_ns']['bins']\n"
        "answer(spoil=spoil)\n"
    )
    with target, pytest.raises(UsageError, match=r"lacks 'bins'.*make system-packages"):
        FioDrive("x", target, find_fio())


WITHOUT_LIBAIO = (
    "if '--ioengine=libaio' in sys.argv:\n"
    "    print('fio: io_setup failed', file=sys.stderr)\n"
    "    sys.exit(1)\nanswer()\n"
)


def test_an_engine_that_is_forbidden_is_passed_over(
    install: Callable[..., Path], target: TargetFile
) -> None:
    install(WITHOUT_LIBAIO)
    with FioDrive("x", target, find_fio()) as drive:
        assert drive.identity()["io_engine"] == "io_uring"
        drive.check(Characteristics(queue_depth=64))
        with pytest.raises(CannotAnswerError, match=r"queue_depth is 12; .* powers of two only"):
            drive.check(Characteristics(queue_depth=12))


def never_filled(*_: object) -> None:
    pytest.fail("the file was written")


@pytest.mark.parametrize("words", [("measure",), ("pts", "run", "iops")])
def test_a_depth_that_the_engine_does_not_keep_prevents_the_file(
    words: Sequence[str],
    install: Callable[..., Path],
    drive_folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    install(WITHOUT_LIBAIO)
    monkeypatch.chdir(drive_folder)
    monkeypatch.setattr(made_file.MadeFile, "fill", never_filled)
    path = drive_folder / "deep.bin"
    options = ("--size", "16MiB", "--queue-depth")
    assert cli.main([*words, str(path), *options, "12"]) == 2
    assert re.search(r"queue_depth is 12; .* powers of two only", capsys.readouterr().err)
    assert not path.exists()
    with pytest.raises(pytest.fail.Exception, match="the file was written"):
        cli.main([*words, str(path), *options, "16"])


def test_a_request_smaller_than_the_direct_block_prevents_the_file(
    install: Callable[..., Path], drive_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install()
    monkeypatch.setattr(made_file.MadeFile, "fill", never_filled)
    monkeypatch.setattr(target_file, "direct_block_bytes", lambda *_: 4096)
    path = drive_folder / "small.bin"
    small = Characteristics(read_size=512)
    with pytest.raises(CannotAnswerError, match="read_size 512 is not a multiple of 4096"):
        open_real_drive(str(path), size_bytes=2**20, intended=[READS, small])
    assert not path.exists()


def test_no_engine_is_an_error(install: Callable[..., Path], target: TargetFile) -> None:
    install("print('fio: nothing works', file=sys.stderr); sys.exit(1)\n")
    with target, pytest.raises(RunError, match=r"libaio: .*nothing works; io_uring: .*nothing"):
        FioDrive("x", target, find_fio())


def test_a_drive_that_hangs_is_not_tried_with_another_engine(
    install: Callable[..., Path], target: TargetFile, tmp_path: Path
) -> None:
    started_at = tmp_path / "started"
    install(f"open({str(started_at)!r}, 'a').write('x')\ntime.sleep(300)\n")
    with target, pytest.raises(FioHungError, match="was killed: the drive does not answer"):
        FioDrive("x", target, find_fio(), slack_seconds=-7.0)
    assert started_at.read_text() == "x"


@pytest.mark.parametrize("when", ["before", "during"])
def test_a_vanished_file_is_no_result(
    install: Callable[..., Path], target: TargetFile, when: str
) -> None:
    install()
    with FioDrive("x", target, find_fio()) as drive:
        if when == "before":
            target.path.unlink()
        else:
            install(f"os.unlink({str(target.path)!r})\nanswer()\n")
        with pytest.raises(RunError, match="vanished while it was measured"):
            list(drive.measure([(0, READS)], MeasurementPlan(requests=100)))


def test_reading_is_all_that_fio_may_do_on_a_foreign_file(
    install: Callable[..., Path], tmp_path: Path
) -> None:
    path = tmp_path / "mine.img"
    path.write_bytes(os.urandom(2**20))
    seen = tmp_path / "seen"
    install(f"open({str(seen)!r}, 'a').write(' '.join(sys.argv) + '\\n')\nanswer()\n")
    with open_target_file(path) as target, FioDrive("x", target, find_fio()) as drive:
        list(drive.measure([(0, READS)], MeasurementPlan(requests=100)))
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
