"""Results that ship with the package, and that are never shown for another drive."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from validation.reference_results import make

from drivelab._core import preset_names
from drivelab.cli.main import main
from drivelab.drives.presets.source import read_preset
from drivelab.errors import UsageError
from drivelab.pts import reference
from drivelab.pts.compared import read_results
from drivelab.pts.reference import (
    REFERENCE_TESTS,
    fingerprint,
    read_reference,
    reference_presets,
    write_reference,
)

LARGEST_BYTES = 128 * 10**9
#: Of each test the preset that takes the least time.
QUICK = {
    "iops": "mlc-f",
    "throughput": "mlc-f",
    "latency": "samsung-slc-32gb",
    "wsat": "x25m-yoo2014",
}
SHIPPED = [(preset, test) for test in REFERENCE_TESTS for preset in reference_presets(test)]


def result(preset: str = "x25m", test: str = "iops", found: str | None = None) -> dict[str, Any]:
    identity = {"config_hash": found or fingerprint(preset)}
    return {"test": test, "drive": {"name": f"sim:{preset}", "identity": identity}}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(reference, "FOLDER", tmp_path / "reference")
    return tmp_path / "reference"


@pytest.mark.parametrize(("preset", "test"), SHIPPED)
def test_what_ships_is_of_the_presets_as_they_are(preset: str, test: str) -> None:
    found = read_reference(f"sim:{preset}", test)
    assert found["test"] == test
    assert found["edition"] == "enterprise"
    assert found["stamp"] == ""
    assert found["verdict"] in ("steady", "bounded", "not_steady")
    section = found["sections"][0]
    # A fast drive has filled itself four times before the first minute that is judged.
    assert section["rounds"] > 0 or (test, section["stopped_by"]) == ("wsat", "capacity")


def test_every_small_preset_has_its_four() -> None:
    capacities = {
        name: read_preset(name).resolved()[0]["geometry"]["user_capacity_bytes"]
        for name in preset_names()
    }
    wanted = {
        (name, test)
        for name, capacity in capacities.items()
        if capacity <= LARGEST_BYTES
        for test in REFERENCE_TESTS
    }
    assert len(wanted) > 4 * 20
    assert wanted == set(SHIPPED)


@pytest.mark.long
@pytest.mark.parametrize(("test", "preset"), QUICK.items())
def test_what_ships_is_what_the_tests_come_to(test: str, preset: str) -> None:
    result, _ = make(preset, test)
    # A header describes the machine, and steps are left out.
    expected = {key: each for key, each in result.items() if key not in ("header", "steps")}
    found = read_reference(f"sim:{preset}", test)
    del found["header"]
    assert found == expected, "count GENERATION on and run `make reference-results`"


def test_what_ships_is_small() -> None:
    assert sum(path.stat().st_size for path in reference.FOLDER.glob("*")) <= 5_000_000


def test_a_result_is_packed_and_read(folder: Path) -> None:
    path = write_reference(result())
    assert path == folder / "x25m-iops.json.xz"
    assert read_reference("sim:x25m", "iops") == result()
    assert (reference_presets("iops"), reference_presets("wsat")) == (["x25m"], [])


def test_a_missing_one_is_reported_with_those_that_exist(folder: Path) -> None:
    write_reference(result())
    with pytest.raises(UsageError) as refused:
        read_reference("sim:slc-a", "iops")
    assert str(refused.value) == (
        "no reference result of sim:slc-a in iops ships with Drivelab; `drivelab pts run iops "
        "sim:slc-a` makes one; there are: sim:x25m"
    )


@pytest.mark.usefixtures("folder")
def test_a_preset_that_is_none_is_not_to_be_run() -> None:
    with pytest.raises(
        UsageError, match="no preset 'x25n'; did you mean x25m\\? the presets are apex, "
    ):
        read_reference("sim:x25n", "iops")


def test_one_of_another_generation_of_tests_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_reference(result())
    assert "generation" not in read_reference("sim:x25m", "iops")
    monkeypatch.setattr(reference, "GENERATION", reference.GENERATION + 1)
    with pytest.raises(UsageError, match="iops is of another version of the tests; `drivelab pts"):
        read_reference("sim:x25m", "iops")
    assert path.is_file()


def test_one_of_another_version_of_a_preset_is_refused(folder: Path) -> None:
    write_reference(result(found="0123456789abcdef"))
    with pytest.raises(UsageError) as refused:
        read_reference("sim:x25m", "iops")
    assert str(refused.value) == (
        "the reference result of sim:x25m in iops is of another version of it; `drivelab pts run "
        'iops sim:x25m` makes one, and `make reference-results PRESETS="x25m"` in a checkout the '
        "one that ships"
    )


def test_a_damaged_one_is_refused(folder: Path) -> None:
    path = write_reference(result())
    path.write_bytes(path.read_bytes()[:-8])
    with pytest.raises(UsageError, match="damaged"):
        read_reference("sim:x25m", "iops")


@pytest.mark.usefixtures("folder")
def test_a_comparison_names_presets(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["pts", "compare", "sim:x25m", "sim:slc-a"]) == 2
    assert "no reference result of sim:x25m in iops ships" in capsys.readouterr().err


def test_references_are_compared() -> None:
    first, second = (f"sim:{preset}" for preset in reference_presets("throughput")[:2])
    compared = read_results([first, second], "throughput")
    assert [each.source for each in compared] == [first, second]
    assert all(each.kind == "simulated" for each in compared)
