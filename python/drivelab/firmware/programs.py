"""The programs that a profile runs: the firmware for two processors, qemu-user, and its plugin.

::

    qemu-x86_64  -plugin libdrivelab_qemu-*.so ... drivelab-firmware-x86_64    events of the host
    qemu-aarch64 -plugin libdrivelab_qemu-*.so ... drivelab-firmware-aarch64   times of the target

The emulators and their plugin are programs of this machine, x86_64 or aarch64. `make firmware` in a
checkout builds the firmware and the plugins into this package.
"""

from __future__ import annotations

import platform
import shutil
import signal
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from drivelab.errors import RunError, UsageError
from drivelab.firmware.placed import filled

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Where `make firmware` puts what it builds.
FOLDER: Final = Path(__file__).with_name("programs")
#: What builds them.
BUILD: Final = "run `make firmware` in a checkout of Drivelab"
_QEMU: Final = "install qemu-user 7.2 (Debian 12: apt-get install qemu-user)"
_PROCESSORS: Final = {"host": "x86_64", "target": "aarch64"}
#: Whose programs are built.
_BUILT: Final = tuple(_PROCESSORS.values())
# Otherwise qemu copies byte by byte, and takes as much longer.
_CPU: Final = {"host": ("-cpu", "max,erms=off,fsrm=off"), "target": ()}
_NO_PLUGINS: Final = "unknown option 'plugin'"


@dataclass(frozen=True)
class Observer:
    """A processor that is watched while it runs the firmware.

    Attributes
    ----------
    name
        ``host`` or ``target``.
    qemu
        The emulator.
    program
        The firmware for its processor.
    plugin
        Its plugin, which asks the model of the processor.
    cpu
        The emulator's parameters of the processor.
    """

    name: str
    qemu: Path
    program: Path
    plugin: Path
    cpu: tuple[str, ...] = ()

    def command(self, out: Path, parameters: Path | None, words: Sequence[str]) -> list[str]:
        """Return the command line that runs the firmware and writes records to `out`."""
        named = {"file": self.plugin, "out": out, "parameters": parameters}
        plugin = ",".join(f"{key}={_escaped(path)}" for key, path in named.items() if path)
        fill = filled(self.program, words)
        return [str(self.qemu), *self.cpu, "-plugin", plugin, *fill, str(self.program), *words]


def firmware_program(folder: Path = FOLDER, processor: str | None = None) -> Path:
    """Return the firmware for a processor: this machine's, if no other is named.

    Raises
    ------
    UsageError
        When it was not built.
    """
    processor = processor or _this_machine()
    path = folder / f"drivelab-firmware-{processor}"
    if not path.is_file():
        raise UsageError(f"there is no firmware program for {processor}: {BUILD}")
    return path


def observers(folder: Path = FOLDER, own: Path | None = None) -> tuple[Observer, Observer]:
    """Return the host and the target, with the firmware in the folder `own` if there is one.

    Raises
    ------
    UsageError
        When qemu is not installed, takes no plugins, or something was not built.
    """
    return observer("host", folder, own), observer("target", folder, own)


def observer(name: str, folder: Path = FOLDER, own: Path | None = None) -> Observer:
    """Return the ``host`` or the ``target``, with the firmware in the folder `own` if there is one.

    Raises
    ------
    UsageError
        When qemu is not installed, takes no plugins, or something was not built.
    """
    plugin = folder / f"libdrivelab_qemu-{_this_machine()}.so"
    if not plugin.is_file():
        raise UsageError(f"there is no plugin for qemu: {BUILD}")
    processor = _PROCESSORS[name]
    program = firmware_program(own or folder, processor)
    qemu = _qemu(f"qemu-{processor}")
    _check_plugins(qemu, plugin)
    return Observer(name, qemu, program.absolute(), plugin.absolute(), _CPU[name])


def check_parameters(target: Observer, parameters: Path) -> None:
    """Have the plugin read other parameters of the target, before anything is run.

    Raises
    ------
    UsageError
        When it cannot use them.
    """
    with tempfile.TemporaryDirectory(prefix="drivelab-firmware-") as folder:
        command = target.command(Path(folder) / "records", parameters, ["--help"])
        try:
            run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise UsageError(f"{target.qemu} cannot be run ({error}): {_QEMU}") from error
    if run.returncode != 0:
        raise UsageError(why_failed(run.returncode, run.stderr).removeprefix("drivelab: "))


def check_geometry(native: Path, geometry: str, *, is_own: bool = False) -> None:
    """Have the firmware look at the shape of its drive, before anything is run.

    Raises
    ------
    UsageError
        When it cannot manage it.
    """
    asked = [str(native), *([] if is_own else ["snapshot"]), "--geometry", geometry, "--help"]
    try:
        run = subprocess.run(asked, capture_output=True, text=True, check=False, timeout=60)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UsageError(f"{native} cannot be run ({error}): {BUILD}") from error
    if run.returncode != 0:
        said = why_failed(run.returncode, run.stderr)
        raise UsageError(said.removeprefix("drivelab-firmware: "))


def check_ran(command: Sequence[str], exit_code: int, text: str) -> None:
    """Raise the error that a failed program printed.

    Raises
    ------
    RunError
        With the last line that it wrote.
    """
    if exit_code != 0:
        raise RunError(f"{Path(command[0]).name} failed: {why_failed(exit_code, text)}")


def why_failed(exit_code: int, text: str) -> str:
    """Return the last line that a program wrote before it failed, or how it was ended."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if lines:
        return lines[-1]
    if exit_code >= 0:
        return f"exit code {exit_code}, without a word"
    try:
        name = signal.Signals(-exit_code).name
    except ValueError:
        name = str(-exit_code)
    return f"it was ended by signal {name}, without a word"


def _this_machine() -> str:
    """Return the processor of this machine, as files of the package are named by it."""
    processor = platform.machine()
    if processor not in _BUILT:
        raise UsageError(
            f"the firmware program runs on {' and '.join(_BUILT)}, and this machine is "
            f"{processor or 'unknown'}: run it on one of those"
        )
    return processor


def _escaped(path: Path) -> str:
    """Write a path as a value of qemu's, where a comma would end it."""
    return str(path).replace(",", ",,")


def _qemu(name: str) -> Path:
    found = shutil.which(name)
    if found is None:
        raise UsageError(f"{name} is not installed: {_QEMU}")
    return Path(found).absolute()


def _check_plugins(qemu: Path, plugin: Path) -> None:
    """Refuse a qemu that was built without plugins: it says so before it looks for a program."""
    asked = [str(qemu), "-plugin", f"file={_escaped(plugin)}"]
    try:
        said = subprocess.run(asked, capture_output=True, text=True, check=False, timeout=30)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UsageError(f"{qemu} cannot be run ({error}): {_QEMU}") from error
    if _NO_PLUGINS in said.stderr + said.stdout:
        raise UsageError(f"{qemu} takes no plugins: {_QEMU}")
