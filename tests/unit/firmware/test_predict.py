"""A model trained on a small drive, which then needs the host alone; and the package's model."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from drivelab.cli.main import main
from drivelab.firmware import profile
from drivelab.firmware.lee2021 import FIFTEEN
from drivelab.firmware.profile import FirmwareSettings
from drivelab.firmware.record_predictor import read_record_predictor
from drivelab.firmware.training import trained_firmware
from drivelab.firmware_model.costs import COUNTS
from drivelab.firmware_model.model_file import find_firmware_model, shipped_models

SCENARIO = """summary = "anywhere on a small drive"
requests = {requests}

[[stream]]
name = "mixed"
queue_depth = 8
write_ratio = {writes}
read_size_bytes = 16_384
write_size_bytes = 8_192
"""
NAMES = ("reads.toml", "mixed.toml", "writes.toml")


def said(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    capsys.readouterr()
    assert main(["firmware", *words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_a_model_needs_the_host_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, writes in zip((*NAMES, "other.toml"), (0.0, 0.4, 1.0, 0.7), strict=True):
        Path(name).write_text(SCENARIO.format(requests=3000, writes=writes))
    small = ("--geometry", "2x2x1x64x64", "--part", "1", "--out", "run")
    reads, _, writes = said(capsys, "profile", *NAMES, *small)["workloads"]
    trained = said(capsys, "train", "run", "--out", "model.json")
    assert trained["workloads"] == list(NAMES)
    assert trained["records"] == 9
    assert main(["firmware", "train", "run", "--out", "again.json"]) == 0
    assert "wrote again.json" in capsys.readouterr().out
    assert Path("again.json").read_bytes() == Path("model.json").read_bytes()

    # No emulator of a target.
    Path("bin").mkdir()
    Path("bin/qemu-x86_64").symlink_to(str(shutil.which("qemu-x86_64")))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    asked = ("predict", "model.json", "other.toml", "--part", "1", "--out", "host")
    (found,) = said(capsys, *asked)["workloads"]
    assert found["records"] == 3
    assert found["measured_record_ns"] is None
    # It lies between its neighbours, as its writes do.
    low, high = reads["target_ns_per_request"], writes["target_ns_per_request"]
    assert low < found["request_ns"] < high

    # What is kept is not run again; it is exported, and no profile.
    monkeypatch.setattr(profile, "observe", None)
    assert said(capsys, *asked)["workloads"] == [found]
    again, *known = said(capsys, "predict", "model.json", "host", "run")["workloads"]
    assert again == found
    assert [each["error_ratio"] < 0.2 for each in known] == [True] * 3
    assert main(["firmware", "predict", "model.json", "run"]) == 0
    assert "off by" in capsys.readouterr().out
    assert main(["runs", "export", "host", "--csv", "records.csv"]) == 0
    assert ",target_" not in Path("records.csv").read_text()
    for command, error in (
        (["evaluate", "host"], "host contains no times of a target"),
        (["train", "host", "--out", "none.json"], "host contains no times of a target"),
        (["predict", "page-map", "run"], "run is of firmware with geometry 2x2x1x64x64, and the"),
        (["predict", "page-mop", "run"], "no model of firmware 'page-mop'; did you mean page-map?"),
        (["predict", "none.json", "run"], "none.json does not exist; make a model of firmware"),
        (["predict", "run/run.sqlite", "run"], "is not a model of firmware: it is not text"),
        (["predict", "model.json", "run", "--out", "host"], "a stored run needs no --out"),
        (["predict", "model.json", "other.toml", "--out", "run"], "run contains another profile"),
        (["train", "run", "--out", "model.txt"], "model.txt does not end in .json"),
        (["train", "run", "--out", "none/a.json"], "there is no folder"),
    ):
        capsys.readouterr()
        assert main(["firmware", *command]) == 2, command
        lines = capsys.readouterr().err
        assert error in lines
        assert lines.count("\n") == 1


def test_the_packages_model_is_what_the_code_reads() -> None:
    assert shipped_models() == ("page-map",)
    model = find_firmware_model("page-map")
    header = {"drive": {"name": "firmware:page-map"}, "plan": {"firmware": {}}}
    # Made by `make firmware-model`, of the usual drive and target.
    assert model.firmware == trained_firmware(header)
    assert model.firmware.geometry == FirmwareSettings().geometry
    assert model.workloads == tuple(each.label for each in FIFTEEN)
    assert model.target.name == "a53-like"
    assert (model.target.clock_mhz, model.target.cores) == (1200, 4)
    assert model.accuracy["learned"].error_ratio < 0.03
    assert model.accuracy["records"].error_ratio < 0.03
    predictor = read_record_predictor(model.record_model, "page-map")
    assert predictor.to_json() == model.record_model
    # A read of a page that no buffer holds: some microseconds of a core, more than a hit.
    page = {"command": 1, "read_page": 1, "copied_kib": 16}
    hit = model.learned.core_ns(page, 1200)
    read = model.learned.core_ns({**page, "flash_read": 1}, 1200)
    assert 2000 < hit < read < 20_000
    assert set(model.learned.of) == set(COUNTS)
