"""Check wheels before anybody installs them: ``python -m manual.wheel_contents WHEEL...``.

::

    file name ──> processor ──> _core.abi3.so is for it
                                each program is for the processor in its own name
              ──> everything that `make wheel` builds is inside

A wheel for another processor cannot be tried here. What is checked instead is what goes wrong when
one is built elsewhere: a file of the wrong processor, and a file that was forgotten. The programs
of both processors are in every wheel, since the emulator of either machine runs both.
"""

from __future__ import annotations

import gzip
import json
import re
import struct
import sys
import zipfile
from pathlib import Path
from typing import Final

from drivelab.cli.main import COMMANDS
from manual import json_schemas

#: The processors that wheels are built for.
PROCESSORS: Final = ("x86_64", "aarch64")
CORE: Final = "drivelab/_core.abi3.so"
_NAME: Final = re.compile(r"(drivelab-[^-]+)-cp311-abi3-(manylinux_\d+_\d+)_(\w+)\.whl")
_PROGRAMS: Final = (
    "drivelab-firmware-{}",
    "libdrivelab_qemu-{}.so",
    "own-firmware-{}.o",
)
_SIMULATOR: Final = "drivelab/report/programs/what-if.wasm.gz"
_ELF, _WASM = b"\x7fELF", b"\0asm"
# e_ident, e_type and e_machine of the ELF header: little-endian words of 64 bits in both.
_HEADER: Final = struct.Struct("<4sBB10xHH")
_MACHINES: Final = {62: "x86_64", 183: "aarch64"}


def check(path: Path) -> str:
    """Return the processor that a wheel is for, if the wheel is whole.

    Parameters
    ----------
    path
        The wheel, named as `make wheel` names it.

    Raises
    ------
    ValueError
        With what is missing or of the wrong processor.
    """
    named = _NAME.fullmatch(path.name)
    if named is None:
        raise ValueError("the name is not drivelab-VERSION-cp311-abi3-manylinux_X_Y_PROCESSOR.whl")
    package, _, processor = named.groups()
    if processor not in PROCESSORS:
        raise ValueError(f"{processor} is none of {', '.join(PROCESSORS)}")
    with zipfile.ZipFile(path) as wheel:
        names = set(wheel.namelist())
        missing = sorted(_needed(package) - names)
        if missing:
            raise ValueError(f"{len(missing)} files are missing: {', '.join(missing[:5])}")
        for name in sorted(names):
            with wheel.open(name) as file:
                _check_machine(name, file.read(_HEADER.size), processor)
        _check_simulator(wheel.read(_SIMULATOR))
        _check_components(wheel.read(_bill_of_materials(package)))
    return processor


def _needed(package: str) -> set[str]:
    programs, shared = "drivelab/firmware/programs", f"{package}.data/data/share"
    pages = ["drivelab", *(f"drivelab-{command}" for command in COMMANDS)]
    return {
        CORE,
        _SIMULATOR,
        f"{programs}/drivelab_firmware.h",
        f"{programs}/own-firmware-link.c",
        *(f"{programs}/{each.format(name)}" for each in _PROGRAMS for name in PROCESSORS),
        *(f"{shared}/man/man1/{page}.1" for page in pages),
        *(
            f"{shared}/drivelab/schemas/{json_schemas.file_name(command)}"
            for command in json_schemas.documented_keys()
        ),
        f"{package}.dist-info/licenses/LICENSE",
        _bill_of_materials(package),
    }


def _bill_of_materials(package: str) -> str:
    return f"{package}.dist-info/sboms/drivelab-python.cyclonedx.json"


def _check_machine(name: str, start: bytes, processor: str) -> None:
    """Refuse a program that is for another processor than its name, or the wheel's, says."""
    if not start.startswith(_ELF):
        return
    found = None
    if len(start) == _HEADER.size:
        found = _MACHINES.get(_HEADER.unpack(start)[4])
    if name == CORE:
        expected = processor
    else:
        of_name = [each for each in PROCESSORS if f"-{each}" in name.rpartition("/")[2]]
        if len(of_name) != 1:
            raise ValueError(f"{name} is a program, and its name does not say for which processor")
        expected = of_name[0]
    if found != expected:
        raise ValueError(f"{name} is for {found or 'another processor'}, not for {expected}")


def _check_simulator(packed: bytes) -> None:
    if not gzip.decompress(packed).startswith(_WASM):
        raise ValueError(f"{_SIMULATOR} is no WebAssembly")


def _check_components(text: bytes) -> None:
    """Refuse a bill of materials in which a part has no version or no licence."""
    components = json.loads(text).get("components") or []
    bare = [each for each in components if not (each.get("version") and each.get("licenses"))]
    if not components or bare:
        which = bare[0].get("name") if bare else "nothing"
        raise ValueError(f"the list of parts (SBOM) names {which} without a version or a licence")


def main(words: list[str]) -> int:
    """Check each wheel, and that there is one for each processor."""
    found = []
    for path in map(Path, words):
        try:
            found.append(check(path))
        except (ValueError, OSError, zipfile.BadZipFile, KeyError) as error:
            sys.stderr.write(f"{path}: {error}\n")
            return 1
        sys.stdout.write(f"{path}: whole, for {found[-1]}\n")
    if sorted(found) != sorted(PROCESSORS):
        sys.stderr.write(
            f"wheels for {', '.join(found) or 'no processor'}, and not one each for "
            f"{', '.join(PROCESSORS)}\n"
        )
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
