"""What every test may use, how tests start, and the rule that nothing is skipped in CI."""

from __future__ import annotations

import contextlib
import functools
import gc
import locale
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from hypothesis import settings

# Up to here prepared drives are kept, the last three: of the package's smaller ones, x25m too.
KEPT_STATE_BYTES = 200_000_000
EXECUTABLES = {"chromium": ("chromium", "chromium-browser", "google-chrome")}
# Changes what is printed, how a Python starts, or how much is computed at once.
MEANT_FOR_OTHERS = (
    *("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE"),
    *("PYTHONHOME", "PYTHONIOENCODING", "PYTHONOPTIMIZE", "PYTHONUTF8", "PYTHONWARNINGS"),
    *("LANGUAGE", "DRIVELAB_TRACEBACK", "MPLBACKEND", "MPLCONFIGDIR", "OMP_NUM_THREADS"),
    *("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"),
)
_skipped: list[str] = []


def in_ci() -> bool:
    return os.environ.get("CI", "").lower() not in ("", "0", "false")


# A slow machine is no failure; and in CI the same change always meets the same examples.
settings.register_profile("here", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if in_ci() else "here")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--regenerate-golden",
        action="store_true",
        help="write the files in tests/golden anew; review them before committing",
    )


def _start_alike(*, is_worker: bool) -> None:
    """Give tests, and the programs that they start, one beginning however pytest was started."""
    # A shell starts background jobs with SIGINT ignored, and programs inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGTERM, signal.SIGCHLD, signal.SIGTSTP):
        signal.signal(number, signal.SIG_DFL)
    # `nohup` stays in force for pytest and its workers: unlike an ignored signal, one that has a
    # handler is as usual again in a program.
    if is_worker or signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, _stay)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    os.umask(0o022)
    for name in MEANT_FOR_OTHERS:
        os.environ.pop(name, None)
        os.unsetenv(name)  # readline sets COLUMNS and LINES behind the back of os.environ
    for name in [name for name in os.environ if name.startswith("LC_")]:
        del os.environ[name]
    os.environ.update(LANG="C.UTF-8", TERM="xterm", TZ="UTC")
    locale.setlocale(locale.LC_CTYPE, "")
    time.tzset()


def _leave_memory() -> None:
    """Keep the tests' files on a drive: many are measured, and in memory that is refused."""
    from drivelab.drives.real.file_location import locate_file
    from drivelab.errors import UsageError

    for folder in (tempfile.gettempdir(), "/var/tmp"):  # noqa: S108
        with contextlib.suppress(UsageError, OSError):
            locate_file(Path(folder) / "probe")
            os.environ["TMPDIR"] = tempfile.tempdir = folder
            return


def _stay(_number: int, _frame: FrameType | None) -> None:
    """Hear a signal and go on."""


@pytest.fixture(scope="session", autouse=True)
def _own_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep what programs find in the user's folder, and leave there, out of the tests."""
    home = Path("~").expanduser()
    with pytest.MonkeyPatch.context() as patch:
        # Where rustup and cargo find themselves, unless somebody says otherwise.
        for name, folder in (("RUSTUP_HOME", ".rustup"), ("CARGO_HOME", ".cargo")):
            if name not in os.environ:
                patch.setenv(name, str(home / folder))
        patch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
        yield


@pytest.fixture(scope="session", autouse=True)
def _drives_are_prepared_once() -> Iterator[None]:
    """Share prepared states between tests, as workers do: a run never changes one.

    Writing x25m full took longer than what some two hundred tests then asked of it.
    """
    from drivelab.drives.simulated import drive as simulated

    made = simulated._core.SimulatedDrive

    @functools.lru_cache(maxsize=3)
    def kept(text: str, bases: tuple[tuple[str, str], ...], *, varies: bool) -> Any:
        return made(text, dict(bases), varies=varies)

    def opened(text: str, bases: dict[str, str], *, varies: bool, like: Any = None) -> Any:
        drive = made(text, bases, varies=varies, like=like)
        if like is not None or drive.state_bytes > KEPT_STATE_BYTES:
            return drive
        return kept(text, tuple(bases.items()), varies=varies)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(simulated._core, "SimulatedDrive", opened)
        yield


@pytest.fixture(scope="session")
def regenerate_golden(request: pytest.FixtureRequest) -> bool:
    """Say whether golden files are to be written instead of compared."""
    return bool(request.config.getoption("--regenerate-golden"))


@pytest.fixture(scope="session")
def require_tool() -> Callable[[str], Path]:
    """Give `require_tool("fio")`: the tool's path, or the test is skipped saying how to get it."""

    def require(name: str) -> Path:
        for executable in EXECUTABLES.get(name, (name,)):
            # mkfs and losetup live where only root's PATH looks.
            found = shutil.which(executable, path=f"{os.environ['PATH']}:/usr/sbin:/sbin")
            if found:
                return Path(found)
        pytest.skip(f"needs {name}: make system-packages")

    return require


@pytest.fixture(scope="session")
def drive_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Give a folder on a drive: that of the tests' own files may lie in memory."""
    from drivelab.drives.real.file_location import locate_file
    from drivelab.errors import UsageError

    folder = tmp_path_factory.mktemp("drive")
    try:
        locate_file(folder / "probe")
    except UsageError:
        with tempfile.TemporaryDirectory(prefix=".drive-", dir=Path(__file__).parents[1]) as other:
            yield Path(other)
    else:
        yield folder


@pytest.fixture
def told_generations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have inodes with generations, as ext4 has, where the tests' folder is of another kind."""
    from drivelab.drives.real import ownership, side_file

    descriptor = os.open(tmp_path, os.O_RDONLY)
    try:
        if side_file.generation_of(descriptor) is None:
            for module in (ownership, side_file):
                monkeypatch.setattr(module, "generation_of", lambda _: 1)
    finally:
        os.close(descriptor)


@pytest.fixture
def fio_logs(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Give fio's latency logs of the test, as they come."""
    from drivelab._core import Completions
    from drivelab.drives.real.fio import measurement as fio_measurement

    kept: list[bytes] = []

    def keep(log: bytes) -> object:
        kept.append(log)
        return Completions(log)

    monkeypatch.setattr(fio_measurement, "Completions", keep)
    return kept


@pytest.fixture
def loop_device(
    require_tool: Callable[[str], Path], drive_folder: Path
) -> Iterator[Callable[..., Path]]:
    """Give `loop_device(content, "--read-only")`: a loop device over a file of its own.

    Of all block devices, tests write only to these; they are gone when the test is over.
    """
    losetup = require_tool("losetup")
    made: list[Path] = []

    def make(content: bytes | Path = bytes(8 * 2**20), *options: str) -> Path:
        image = content if isinstance(content, Path) else drive_folder / f"image-{len(made)}"
        if isinstance(content, bytes):
            image.write_bytes(content)
        result = subprocess.run(
            [losetup, "--find", "--show", *options, image],
            capture_output=True,
            text=True,
            check=False,
        )
        if result.returncode:
            pytest.skip(f"needs a loop device (root): {result.stderr.strip()}")
        made.append(Path(result.stdout.strip()))
        return made[-1]

    yield make
    for device in reversed(made):
        subprocess.run([losetup, "--detach", device], check=True)
    for image in drive_folder.glob("image-*"):
        image.unlink()


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.skipped and not hasattr(report, "wasxfail"):
        _skipped.append(report.nodeid)


def pytest_collectreport(report: pytest.CollectReport) -> None:
    if report.skipped:
        _skipped.append(report.nodeid)


class FromWorkers:
    """For tests in several processes: each worker reports the files that it could not collect."""

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        skipped_files = getattr(node, "workeroutput", {}).get("skipped", [])
        _skipped.extend(nodeid for nodeid in skipped_files if nodeid not in _skipped)


def pytest_configure(config: pytest.Config) -> None:
    _start_alike(is_worker=hasattr(config, "workerinput"))
    _leave_memory()
    config.pluginmanager.register(FromWorkers())


def pytest_collection_finish() -> None:
    """Collect seldom, and never what stays to the end: a report took a fifth more."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 10, 10)


def pytest_sessionfinish(session: pytest.Session) -> None:
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["skipped"] = _skipped
    elif _skipped and in_ci():
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if _skipped and in_ci():
        terminalreporter.section("skipped in CI, which counts as a failure", red=True)
        for nodeid in _skipped:
            terminalreporter.line(nodeid)


@pytest.fixture(scope="module")
def models_in_brief() -> Iterator[None]:
    """Fit models in a fraction of the time, for tests that still need what good models say."""
    from brief_models import in_brief

    with pytest.MonkeyPatch.context() as patch:
        in_brief(patch.setattr)
        yield


@pytest.fixture(scope="module")
def models_in_outline() -> Iterator[None]:
    """Fit every model in the least time, for tests of what does not depend on how good it is."""
    from brief_models import in_outline

    with pytest.MonkeyPatch.context() as patch:
        in_outline(patch.setattr)
        yield


@pytest.fixture(scope="module")
def without_drawings() -> Iterator[None]:
    """Write reports whose panels are empty, for tests that look at no figure."""
    from blank_panels import blank_panels

    with pytest.MonkeyPatch.context() as patch:
        blank_panels(patch.setattr)
        yield


@pytest.fixture(scope="session")
def between_workers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a folder that all workers of this run of pytest have in common (`made_once`)."""
    own = tmp_path_factory.getbasetemp()
    folder = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "between-workers"
    folder.mkdir(exist_ok=True)
    return folder
