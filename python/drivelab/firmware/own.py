"""The user's own firmware as programs that a profile runs: compiled and linked for two processors.

::

    mine.c or mine.rs ──cc, rustc──┐
    own-firmware-link.c ──cc───────┼─> drivelab-firmware-x86_64, drivelab-firmware-aarch64
    own-firmware-PROCESSOR.o ──────┘   (all of the firmware program but the map)

`make firmware` builds what lies in the package; nothing of it is compiled here.
"""

from __future__ import annotations

import hashlib
import json
import platform
import re
import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from drivelab.bounded_json import UnreadableJsonError, parse_json
from drivelab.errors import UsageError
from drivelab.firmware.programs import BUILD, FOLDER
from drivelab.named_file import reason_unread

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

#: Processors that a firmware is built for, the host's first.
PROCESSORS: Final = ("x86_64", "aarch64")
#: Of its source.
SUFFIXES: Final = (".c", ".rs")
_TOLD: Final = "firmware.json"
_HEADER: Final = "drivelab_firmware.h"
_CPU: Final = {"x86_64": "-march=x86-64", "aarch64": "-mcpu=cortex-a53"}
_RUST_CPU: Final = {"x86_64": "x86-64", "aarch64": "cortex-a53"}
_INSTALL: Final = {
    "x86_64": "apt-get install gcc (on another processor gcc-x86-64-linux-gnu)",
    "aarch64": "apt-get install gcc-aarch64-linux-gnu libc6-dev-arm64-cross",
}
_NAME: Final = (
    f"name a source that ends in {' or '.join(SUFFIXES)}, or a folder that `drivelab firmware "
    "build` wrote"
)
_UNDEFINED: Final = "undefined reference to `"


@dataclass(frozen=True)
class OwnFirmware:
    """The user's own firmware.

    Attributes
    ----------
    name
        Its source's, without the end.
    source_sha256
        Checksum of its source and of what that includes: a run resumes only with the same firmware.
    folder
        Folder of its programs.
    """

    name: str
    source_sha256: str
    folder: Path


def check_own(path: Path) -> None:
    """Refuse what cannot be a firmware by its name.

    Raises
    ------
    UsageError
        When it is neither a source in C or Rust nor a folder.
    """
    if not path.exists():
        raise UsageError(f"there is no firmware {path}; {_NAME}")
    if path.is_dir():
        _told(path)
    elif path.suffix not in SUFFIXES or not path.is_file():
        raise UsageError(f"{path} is not a firmware: {_NAME}")


def own_firmware(path: Path, folder: Path) -> OwnFirmware:
    """Return the firmware `path`: a folder as it is, a source built into `folder`.

    Raises
    ------
    UsageError
        When it is none, a compiler is missing, or it does not compile.
    """
    check_own(path)
    return _told(path) if path.is_dir() else build_own(path, folder)


def firmware_name(path: Path) -> str:
    """Return the name of a firmware, of which nothing is built.

    Raises
    ------
    UsageError
        When it is none.
    """
    check_own(path)
    return _told(path).name if path.is_dir() else path.stem


@contextmanager
def own_programs(path: Path | None) -> Iterator[OwnFirmware | None]:
    """Yield the firmware `path`, built for as long as it is used; ``None`` without a path.

    Raises
    ------
    UsageError
        As `own_firmware`.
    """
    if path is None:
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="drivelab-firmware-") as folder:
        yield own_firmware(path, Path(folder))


def build_own(source: Path, folder: Path, programs: Path = FOLDER) -> OwnFirmware:
    """Build a firmware for both processors into `folder`, which is there.

    Raises
    ------
    UsageError
        When a compiler is missing, or the source does not compile or lacks a function.
    """
    check_own(source)
    for processor in PROCESSORS:
        _build(source, processor, folder, programs)
    built = OwnFirmware(source.stem, _sha256(_sources(source, folder, programs)), folder)
    text = json.dumps({"name": built.name, "source_sha256": built.source_sha256}, indent=2)
    (folder / _TOLD).write_text(text + "\n", encoding="utf-8")
    return built


def library_of(source: Path, folder: Path, programs: Path = FOLDER) -> tuple[Path, str]:
    """Build a firmware into `folder` as a library of this machine; give it and its source's hash.

    Raises
    ------
    UsageError
        As `build_own`.
    """
    check_own(source)
    if not (programs / _HEADER).is_file():
        raise UsageError(f"there is no {_HEADER} to build a firmware with: {BUILD}")
    processor, out = platform.machine(), folder / f"{source.stem}.so"
    if source.suffix == ".rs":
        _check_rust(source)
        command = ["rustc", "--edition", "2024", "--crate-type", "cdylib", "-O", str(source)]
    else:
        compiler = [_compiler(processor), "-O2", "-shared", "-fPIC", "-I", str(programs)]
        command = [*compiler, str(source), "-lm"]
    _run(source, processor, [*command, "-o", str(out)])
    return out, _sha256(_sources(source, folder, programs))


def build_whole(source: Path, folder: Path) -> OwnFirmware:
    """Build a firmware into a folder, whose old content stays until all is built.

    Raises
    ------
    UsageError
        As `build_own`, or when the folder cannot be written.
    """
    folder = folder.absolute()
    # In the folder itself where it exists: another may be of another file system, or not writable.
    there = next(each for each in (folder, *folder.parents) if each.is_dir())
    try:
        with tempfile.TemporaryDirectory(prefix=".drivelab-firmware-", dir=there) as beside:
            # The one beside is nobody else's to read.
            draft = Path(beside) / "programs"
            draft.mkdir()
            built = build_own(source, draft)
            folder.mkdir(parents=True, exist_ok=True)
            # The file by which the folder is known goes first and comes last: what a stop between
            # leaves is not a firmware, rather than the programs of two.
            (folder / _TOLD).unlink(missing_ok=True)
            for file in sorted(draft.iterdir(), key=lambda each: each.name == _TOLD):
                file.replace(folder / file.name)
    except OSError as error:
        raise UsageError(f"{folder} cannot be written: {error.strerror or error}") from error
    return replace(built, folder=folder)


def identity(own: OwnFirmware) -> dict[str, str]:
    """Return what makes it the same firmware."""
    return {"source_sha256": own.source_sha256}


def _build(source: Path, processor: str, folder: Path, programs: Path) -> None:
    rest = programs / f"own-firmware-{processor}.o"
    if not rest.is_file():
        raise UsageError(f"there is nothing to link a firmware with for {processor}: {BUILD}")
    compiler = _compiler(processor)
    linked = source
    if source.suffix == ".rs":
        linked = folder / f"{source.stem}-{processor}.a"
        _run(source, processor, _rust_command(source, processor, linked))
    out = folder / f"drivelab-firmware-{processor}"
    command = [
        *(compiler, "-O2", _CPU[processor], "-static", "-no-pie", "-Wl,--gc-sections"),
        *("-I", str(programs), "-o", str(out), str(linked)),
        *(str(programs / "own-firmware-link.c"), str(rest)),
        # Rust's archive asks for what stands before it.
        *([str(linked), "-lm"] if linked != source else ["-lm"]),
    ]
    _run(source, processor, command)
    if linked != source:
        linked.unlink()


def _compiler(processor: str) -> str:
    names = [f"{processor.replace('_', '-')}-linux-gnu-gcc", f"{processor}-linux-gnu-gcc"]
    if platform.machine() == processor:
        names = ["cc", "gcc", *names]
    for name in names:
        if shutil.which(name):
            return name
    raise UsageError(f"there is no C compiler for {processor} ({names[-1]}): {_INSTALL[processor]}")


def _check_rust(source: Path) -> None:
    if shutil.which("rustc") is None:
        raise UsageError(f"{source} is Rust, and there is no rustc: get it from https://rustup.rs")


def _rust_command(source: Path, processor: str, out: Path) -> list[str]:
    _check_rust(source)
    return [
        *("rustc", "--edition", "2024", "--crate-type", "staticlib", "-O", "-C", "panic=abort"),
        *("-C", f"target-cpu={_RUST_CPU[processor]}", "-C", "relocation-model=static"),
        *("-C", "target-feature=+crt-static", "--target", f"{processor}-unknown-linux-gnu"),
        *(str(source), "-o", str(out)),
    ]


def _run(source: Path, processor: str, command: Sequence[str]) -> None:
    """Compile or link; an error shows the first line that gives the reason."""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", check=False
        )
    except OSError as error:
        raise UsageError(f"{command[0]} does not start: {error.strerror}") from error
    if done.returncode == 0:
        return
    lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
    for line in lines:
        _, found, name = line.partition(_UNDEFINED)
        name = name.rstrip("'")
        if found and name.startswith("drivelab_firmware_"):
            raise UsageError(
                f"{source} has no function {name}: define it as drivelab_firmware.h says"
            )
    wrong = [place for place, line in enumerate(lines) if "error" in line or _UNDEFINED in line]
    first = lines[wrong[0]] if wrong else (lines or ["the compiler gave no reason"])[-1]
    # Rust says the place on the next line.
    place = lines[wrong[0] + 1] if wrong and len(lines) > wrong[0] + 1 else ""
    where = f" ({place.removeprefix('--> ')})" if place.startswith("--> ") else ""
    raise UsageError(f"{source} does not compile for {processor}: {first}{where}")


def _told(folder: Path) -> OwnFirmware:
    """Read what a folder says of its programs."""
    refused = UsageError(
        f"{folder} contains no firmware: name a source, or a folder that `drivelab firmware "
        "build` wrote"
    )
    try:
        values = parse_json((folder / _TOLD).read_text(encoding="utf-8"))
        built = OwnFirmware(str(values["name"]), str(values["source_sha256"]), folder)
    except (OSError, UnicodeDecodeError, UnreadableJsonError, KeyError, TypeError) as error:
        raise refused from error
    if not all((folder / f"drivelab-firmware-{each}").is_file() for each in PROCESSORS):
        raise refused
    return built


def _sources(source: Path, folder: Path, programs: Path) -> list[Path]:
    """Return a source and the files that it includes, as its compiler lists them."""
    listed = folder / "sources.d"
    command = (
        ["rustc", "--edition", "2024", "--crate-type", "staticlib", f"--emit=dep-info={listed}"]
        if source.suffix == ".rs"
        else [_compiler(PROCESSORS[0]), "-MM", "-I", str(programs), "-MF", str(listed)]
    )
    _run(source, PROCESSORS[0], [*command, str(source)])
    rule = listed.read_text(encoding="utf-8").replace("\\\n", " ").splitlines()[0]
    listed.unlink()
    _, _, names = rule.partition(": ")
    files = [Path(name.replace("\\ ", " ")) for name in re.split(r"(?<!\\)\s+", names) if name]
    return [file for file in files if file.parent != programs]


def _sha256(sources: Sequence[Path]) -> str:
    whole = hashlib.sha256()
    for source in sources:
        try:
            whole.update(source.read_bytes())
        except OSError as error:
            raise UsageError(f"{source} cannot be read: {reason_unread(error)}") from error
    return whole.hexdigest()
