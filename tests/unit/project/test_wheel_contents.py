"""What is checked of a wheel that cannot be tried here (manual/wheel_contents.py)."""

from __future__ import annotations

import gzip
import json
import struct
import zipfile
from pathlib import Path

import pytest
from manual import wheel_contents

_CODES = {"x86_64": 62, "aarch64": 183, "riscv64": 243}
_PROGRAMS = "drivelab/firmware/programs"
_SBOM = "drivelab-0.2.0.dist-info/sboms/drivelab-python.cyclonedx.json"
_PART = {"name": "zstd", "version": "0.14.0", "licenses": [{"expression": "MIT"}]}


def _program(processor: str) -> bytes:
    return struct.pack("<4sBB10xHH", b"\x7fELF", 2, 1, 3, _CODES[processor]) + b"and the rest"


def _contents(processor: str) -> dict[str, bytes]:
    """What a wheel has, as far as it is looked at."""
    files = dict.fromkeys(wheel_contents._needed("drivelab-0.2.0"), b"text")
    files[wheel_contents.CORE] = _program(processor)
    for each in _CODES:
        for name in files:
            if f"-{each}" in name:
                files[name] = _program(each)
    files[wheel_contents._SIMULATOR] = gzip.compress(b"\0asm\1\0\0\0")
    files[_SBOM] = json.dumps({"components": [_PART]}).encode()
    return files


def _wheel(folder: Path, processor: str, changed: dict[str, bytes | None] | None = None) -> Path:
    path = folder / f"drivelab-0.2.0-cp311-abi3-manylinux_2_34_{processor}.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        for name, content in {**_contents(processor), **(changed or {})}.items():
            if content is not None:
                wheel.writestr(name, content)
    return path


def test_one_whole_wheel_for_each_processor_passes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wheels = [str(_wheel(tmp_path, each)) for each in wheel_contents.PROCESSORS]
    assert wheel_contents.main(wheels) == 0
    assert capsys.readouterr().out.splitlines() == [
        f"{wheels[0]}: whole, for x86_64",
        f"{wheels[1]}: whole, for aarch64",
    ]


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({wheel_contents.CORE: _program("x86_64")}, "_core.abi3.so is for x86_64, not for aarch64"),
        ({wheel_contents.CORE: None}, "1 files are missing: drivelab/_core.abi3.so"),
        (
            {f"{_PROGRAMS}/drivelab-firmware-x86_64": _program("aarch64")},
            "drivelab-firmware-x86_64 is for aarch64, not for x86_64",
        ),
        (
            {f"{_PROGRAMS}/own-firmware-aarch64.o": _program("riscv64")},
            "own-firmware-aarch64.o is for another processor, not for aarch64",
        ),
        ({f"{_PROGRAMS}/libdrivelab_qemu-aarch64.so": None}, "libdrivelab_qemu-aarch64.so"),
        ({"drivelab/tool": _program("aarch64")}, "its name does not say for which processor"),
        ({"drivelab/tool-aarch64": b"\x7fELF"}, "tool-aarch64 is for another processor"),
        ({wheel_contents._SIMULATOR: gzip.compress(b"text")}, "is no WebAssembly"),
        ({_SBOM: json.dumps({"components": []}).encode()}, "names nothing without a version"),
        (
            {_SBOM: json.dumps({"components": [_PART | {"licenses": []}]}).encode()},
            "names zstd without a version or a licence",
        ),
        ({_SBOM: b"text"}, "Expecting value"),
    ],
)
def test_what_is_wrong_with_a_wheel_is_named(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    changed: dict[str, bytes | None],
    reason: str,
) -> None:
    path = _wheel(tmp_path, "aarch64", changed)
    assert wheel_contents.main([str(path)]) == 1
    assert reason in capsys.readouterr().err


def test_a_wheel_of_one_processor_is_not_enough(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert wheel_contents.main([str(_wheel(tmp_path, "x86_64"))]) == 1
    assert "wheels for x86_64, and not one each for x86_64, aarch64" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("drivelab-0.2.0-cp311-abi3-linux_x86_64.whl", "the name is not drivelab-VERSION"),
        ("drivelab-0.2.0-cp311-abi3-manylinux_2_34_armv7l.whl", "armv7l is none of x86_64"),
        ("drivelab-0.2.0-cp311-abi3-manylinux_2_34_aarch64.whl", "No such file"),
    ],
)
def test_a_wheel_of_another_name_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, reason: str
) -> None:
    assert wheel_contents.main([str(tmp_path / name)]) == 1
    assert reason in capsys.readouterr().err
