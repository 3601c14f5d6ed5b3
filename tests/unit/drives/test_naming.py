from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from drivelab.drives.naming import open_drive
from drivelab.drives.real.fio.drive import open_real_drive
from drivelab.errors import DrivelabError, UsageError
from drivelab.workloads.characteristics import Characteristics


def test_a_preset_opens_under_its_prefix() -> None:
    with open_drive("sim:x25m") as drive:
        assert (drive.name, drive.kind) == ("sim:x25m", "simulated")
    with open_drive("analytic:x25m-yoo2014") as drive:
        assert (drive.name, drive.kind) == ("analytic:x25m-yoo2014", "closed_form")


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("x25m", "sim:x25m"),
        ("X25M", "sim:x25m"),
        ("sim:x25n", "sim:x25m"),
        ("sin:x25m", "sim:x25m"),
        ("SIM:x25m", "sim:x25m"),
        ("analytic:x25m-yoo2015", "analytic:x25m-yoo2014"),
        ("anlytic:x25m-yoo2014", "analytic:x25m-yoo2014"),
        ("bench-64gb", "sim:bench-64gib"),
    ],
)
def test_a_misspelt_drive_is_guessed(
    name: str, meant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError) as caught:
        open_drive(name)
    text = str(caught.value)
    assert f"did you mean {meant}" in text
    assert "`drivelab drives` lists all" in text
    assert len(text) < 250
    assert "\n" not in text
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["", "nonsense", "sim:", "sim:x/y", "usb:stick", "..", "."])
def test_what_is_no_drive_makes_no_file(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError):
        open_drive(name)
    assert list(tmp_path.iterdir()) == []


def test_the_file_of_a_preset_needs_its_prefix(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('base = "x25m"\nname = "mine"\n')
    with pytest.raises(UsageError, match=f"the drive is sim:{path}"):
        open_drive(str(path))


def test_missing_preset_files_are_reported_by_their_reader(tmp_path: Path) -> None:
    for prefix in ("sim:", "analytic:"):
        with pytest.raises(UsageError, match=r"no (preset )?file"):
            open_drive(f"{prefix}{tmp_path}/missing.toml")


@pytest.mark.parametrize("name", ["bench.bin", "./bench", "sub/bench.bin"])
def test_a_path_is_handed_to_fio(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, dict[str, object]]] = []
    options: dict[str, Any] = {
        "size_bytes": 5,
        "keep": True,
        "allow_destructive": "x",
        "intended": [Characteristics()],
    }

    def note(given: str, **settings: object) -> None:
        asked.append((given, settings))
        raise DrivelabError("enough")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("drivelab.drives.real.fio.drive.open_real_drive", note)
    with pytest.raises(DrivelabError, match="enough"):
        open_drive(name, **options)
    assert asked == [(name, options)]


def test_without_fio_no_file_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    with pytest.raises(UsageError, match="make system-packages"):
        open_real_drive(str(tmp_path / "bench.bin"))
    assert list(tmp_path.iterdir()) == []
