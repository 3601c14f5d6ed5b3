"""`drivelab fit`: a hidden drive is found from its measurements."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from drivelab.campaign.campaign import run_campaign
from drivelab.campaign.header import stored_header
from drivelab.cli import main as cli
from drivelab.drives.in_order import measured_in_order
from drivelab.drives.naming import open_drive
from drivelab.drives.plan import MeasurementPlan
from drivelab.preset_fit import observed
from drivelab.preset_fit.observed import read_run
from drivelab.store import RunStore
from drivelab.workloads.design import parse_design

NAMES = "seeks,mechanics.rotation_rpm"
WORKLOADS = 48
PLAN = MeasurementPlan.of_kind("simulated", seed=3, requests=4000, warmup_requests=2000)


def hidden_disk(folder: Path) -> str:
    """Write a disk with slower seeks that rotates more slowly."""
    base = preset_values("sas-15k")
    seeks = "\n".join(
        f"{name}_seek_ns = {round(1.4 * base[f'mechanics.{name}_seek_ns'])}"
        for name in ("single_cylinder", "average", "full_stroke")
    )
    path = folder / "hidden.toml"
    path.write_text(
        f'name = "hidden"\nbase = "sas-15k"\n[mechanics]\n{seeks}\nrotation_rpm = 10000\n'
    )
    return f"sim:{path}"


def preset_values(name: str) -> dict[str, Any]:
    from drivelab.drives.presets.source import read_preset
    from drivelab.drives.presets.values import preset_values

    return {one.key: one.value for one in preset_values(read_preset(name))}


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("fit")
    with open_drive(hidden_disk(folder)) as drive:
        workloads = parse_design(f"sobol:{WORKLOADS}").select(1, block_bytes=512).workloads
        run_campaign(
            drive, workloads, PLAN, folder / "run", design_name="sobol", progress=False
        ).close()
    return folder / "run"


def test_a_file_does_not_say_how_large_its_drive_is(
    measured: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = read_run(measured)
    assert whole.capacity_bytes == preset_values("sas-15k")["geometry.user_capacity_bytes"]

    def of_file(store: RunStore) -> dict[str, Any]:
        header = stored_header(store)
        return {**header, "drive": {**header["drive"], "identity": {"target": "file"}}}

    monkeypatch.setattr(observed, "stored_header", of_file)
    assert read_run(measured).capacity_bytes is None


def apart(measured: Path) -> float:
    """Return how far runs with other random numbers are from the first, on what was held out."""
    held_out = read_run(measured).held_out
    first = np.exp(held_out.behaviour.mean)
    found = []
    with open_drive(f"sim:{measured.parent / 'hidden.toml'}") as drive:
        for seed in range(10, 14):
            plan = replace(PLAN, seed=seed)
            again = [
                one.latency_ns_mean for one in measured_in_order(drive, held_out.workloads, plan)
            ]
            found.append(np.mean(np.abs(np.array(again) / first - 1)))
    return float(np.mean(found))


@pytest.fixture(scope="module")
def fitted(measured: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The answer of one fit, with its files."""
    folder = tmp_path_factory.mktemp("fitted")
    command = ["fit", str(measured), "--base", "sas-15k", "-o", str(folder / "mine.toml")]
    command += ["--fit", NAMES, "--generations", "15", "--out", str(folder / "page")]
    assert cli.main(command) == 0
    answer: dict[str, Any] = json.loads((folder / "page" / "result.json").read_text())
    return answer


def test_hidden_values_are_found(measured: Path, fitted: dict[str, Any]) -> None:
    base = preset_values("sas-15k")
    found = {one["name"]: one for one in fitted["values"]}
    hidden = {
        "seeks": 1.4 * base["mechanics.single_cylinder_seek_ns"],
        "mechanics.rotation_rpm": 10_000,
    }
    for name, value in hidden.items():
        # Values that the measurements determine must be found within a tenth.
        assert found[name]["is_told"], name
        assert found[name]["value"] == pytest.approx(value, rel=0.1), name
        assert found[name]["base"] != pytest.approx(value, rel=0.2), name
    # Each of two runs has its own chance; a fit has that of what it was fitted to, too.
    assert fitted["error"]["latency_mean_ratio"] < 2 * apart(measured)
    assert fitted["error"]["latency_mean_ratio"] < fitted["base_error"]["latency_mean_ratio"] / 3
    assert fitted["workloads"] + fitted["held_out"] == WORKLOADS


@pytest.mark.long
def test_a_fit_is_the_same_whoever_simulates(measured: Path, tmp_path: Path) -> None:
    presets = []
    for number, more in enumerate(
        (["--workers", "1"], ["--executor", "processes", "--workers", "2"])
    ):
        path = tmp_path / str(number) / "mine.toml"
        path.parent.mkdir()
        command = ["fit", str(measured), "--base", "sas-15k", "-o", str(path), *more]
        command += ["--fit", "mechanics.rotation_rpm", "--generations", "0", "--hold", "build"]
        assert cli.main(command) == 0
        presets.append(path.read_bytes())
    assert presets[0] == presets[1]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--address", "192.0.2.1:6379"], "--address is for --executor ray, and not for threads"),
        (["--executor", "ssh"], "--executor ssh needs a file of machines, --on"),
        (["--executor", "ray", "--on", "a.toml"], "--on is for --executor ssh, and not for ray"),
    ],
)
def test_who_simulates_is_checked_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], said: str
) -> None:
    command = ["fit", str(tmp_path / "none"), "--base", "sas-15k", "-o", str(tmp_path / "a.toml")]
    assert cli.main([*command, *options]) == 2
    assert said in capsys.readouterr().err


def test_the_preset_is_a_drive_and_says_where_its_values_come_from(
    fitted: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    preset = Path(fitted["preset"])
    text = preset.read_text()
    assert 'base = "sas-15k"' in text
    assert text.count("# fitted: ") == 4
    assert cli.main(["drives", "show", f"sim:{preset}", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    grades = {one["key"]: one["grade"] for one in shown["values"]}
    assert grades["mechanics.rotation_rpm"] == "fitted"
    assert grades["geometry.heads"] != "fitted"
    page = (preset.parent / "page" / "report.html").read_text()
    assert "95 % interval" in page


@pytest.fixture
def _in_tmp_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("_in_tmp_path")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--base", "array-x25m"], "is an array"),
        (["--base", "sas15k"], "no preset 'sas15k'; did you mean sas-15k?"),
        (["--base", "sas-15k", "--fit", "seek"], "did you mean seeks?"),
        (["--base", "x25m"], "is a disk, and x25m is an SSD"),
        (["--base", "sim:sas-15k", "--fit", " seeks, speed"], "'speed' is nothing that can be"),
        (["--base", "sas-15k", "-o", "mine.txt"], "does not end in .toml"),
        (["--base", "sas-15k", "-o", "x25m.toml"], "x25m is the name of a preset that others"),
        (["--base", "sas-15k", "-o", 'a"b.toml'], "names no drive"),
        (["--base", "sas-15k", "-o", "nowhere/mine.toml"], "there is no folder"),
    ],
)
def test_mistakes_get_one_line_and_leave_nothing(
    measured: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    message: str,
) -> None:
    rest = [] if "-o" in arguments else ["-o", "mine.toml"]
    assert cli.main(["fit", str(measured), *arguments, *rest]) == 2
    error_text = capsys.readouterr().err
    assert message in error_text
    assert error_text.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_run_that_cannot_be_fitted_says_why(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["fit", str(tmp_path / "none"), "--base", "sas-15k"]
    assert cli.main([*command, "-o", str(tmp_path / "mine.toml")]) == 2
    assert "none" in capsys.readouterr().err
    few = tmp_path / "few"
    plan = MeasurementPlan.of_kind("simulated", requests=200, warmup_requests=0)
    with open_drive("sim:sas-15k") as drive:
        workloads = parse_design("sobol:12").select(1, block_bytes=512).workloads
        run_campaign(drive, workloads, plan, few, design_name="sobol", progress=False).close()
    assert cli.main(["fit", str(few), "--base", "sas-15k", "-o", str(tmp_path / "m.toml")]) == 2
    error_text = capsys.readouterr().err
    assert (
        "has 9 workloads to fit to and 3 others to judge by; a fit needs at least 20 and 5"
        in error_text
    )
    assert not (tmp_path / "m.toml").exists()


def test_a_preset_never_replaces_what_it_starts_from(
    measured: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = tmp_path / "disk.toml"
    text = 'name = "disk"\nbase = "sas-15k"\n'
    own.write_text(text)
    command = ["fit", str(measured), "--base", str(own), "-o", str(own), "--force"]
    assert cli.main(command) == 2
    assert "disk is the name of a preset that others start from" in capsys.readouterr().err
    assert own.read_text() == text


def test_another_preset_of_that_name_in_the_folder_is_refused(
    measured: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "sas-15k.toml").write_text('name = "sas-15k"\nbase = "spinpoint-m7"\n')
    command = ["fit", str(measured), "--base", "sas-15k", "-o", str(tmp_path / "mine.toml")]
    assert cli.main(command) == 2
    assert "another preset is called sas-15k" in capsys.readouterr().err
    assert not (tmp_path / "mine.toml").exists()


def test_a_base_of_your_own_is_in_the_folder_of_what_starts_from_it(
    measured: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = tmp_path / "own" / "disk.toml"
    own.parent.mkdir()
    own.write_text('name = "disk"\nbase = "sas-15k"\n')
    command = ["fit", str(measured), "--base", str(own), "-o", str(tmp_path / "mine.toml")]
    assert cli.main(command) == 2
    assert f"write it as {own.parent / 'mine.toml'}" in capsys.readouterr().err
    shutil.rmtree(own.parent)
