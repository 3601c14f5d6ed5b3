"""Every preset of the package works as x25m does: measured, modelled, simulated, saved, refused.

Presets are found by listing, so that a new one is taken. Preparing a drive is what takes long here:
each is opened once, and every command of its test is given that one.
"""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import pytest

from drivelab._core import preset_names
from drivelab.campaign.campaign import run_campaign
from drivelab.campaign.stored import stored_measurements
from drivelab.cli import main as cli
from drivelab.drives.plan import MeasurementPlan
from drivelab.drives.simulated import drive as simulated
from drivelab.drives.simulated.drive import SimulatedDrive
from drivelab.workloads.characteristics import Characteristics
from drivelab.workloads.design import parse_design

REQUESTS = 40
# Longer than any work that the first part leaves, in simulated time.
PAUSE_NS = 1_000_000_000_000


class Preset:
    """A preset behind the command line, opened once."""

    def __init__(
        self, name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        self.name = f"sim:{name}"
        self.capsys = capsys
        opened = SimulatedDrive.open

        @functools.cache
        def once(asked: str, *, varies: bool = True, **rest: Any) -> SimulatedDrive:
            return opened(asked, varies=varies, **rest)

        monkeypatch.setattr(simulated.SimulatedDrive, "open", once)
        self.drive = once(self.name, varies=True)
        self.kind = self.drive.preset["kind"]
        # What was never written is not read.
        self.least_writes = 1.0 if self.drive.condition == "fresh" else 0.0

    def answer(self, *words: str) -> dict[str, Any]:
        """Give what a command that succeeds prints as JSON."""
        self.capsys.readouterr()
        assert cli.main([words[0], self.name, *words[1:], "--json"]) == 0, words
        return json.loads(self.capsys.readouterr().out)

    def refusal(self, *words: str) -> str:
        """Give the one line of a command that is refused."""
        self.capsys.readouterr()
        assert cli.main(list(words)) == 2, words
        error = self.capsys.readouterr().err
        assert error.startswith("drivelab: "), words
        assert error.count("\n") == 1, error
        return error


@pytest.mark.parametrize("name", preset_names())
def test_a_preset_answers_every_command(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    preset = Preset(name, monkeypatch, capsys)
    _measures(preset)
    _refuses(preset)
    _runs_a_campaign(preset)
    _simulates(preset)
    if preset.kind == "ssd" and preset.drive.preset.get("slc") is None:
        _is_split_by_its_state(preset)
    else:
        _goes_on_from_its_state(preset)


def _measures(preset: Preset) -> None:
    answer = preset.answer(
        *("measure", "--write-ratio", str(max(0.5, preset.least_writes))),
        *("--warmup-requests", "4", "--requests", str(REQUESTS), "--workers", "1"),
    )
    assert answer["kind"] == "simulated"
    # One request after the other.
    assert answer["iops"] * answer["latency_ns_mean"] == pytest.approx(1e9, rel=0.001)


def _runs_a_campaign(preset: Preset) -> None:
    """Measure what a model is fitted to; fitting asks nothing of the drive."""
    plan = MeasurementPlan(warmup_requests=4, requests=REQUESTS, workers=1)
    drawn = parse_design("sobol:6").select(0, block_bytes=preset.drive.block_bytes).workloads
    workloads = [
        Characteristics(**{**each.__dict__, "write_ratio": 1.0}).without_ineffective()
        if preset.least_writes
        else each
        for each in drawn
    ]
    with run_campaign(
        preset.drive, workloads, plan, Path("run"), design_name="sobol:6", progress=False
    ) as store:
        measured = stored_measurements(store)
    assert [each.characteristics for each in measured] == workloads
    assert all(each.requests == REQUESTS for each in measured)


def _simulates(preset: Preset) -> None:
    words = ["--requests", str(REQUESTS), "--write-ratio", str(preset.least_writes)]
    answer, again = (preset.answer("simulate", *words, "--warmup-requests", "0") for _ in range(2))
    assert answer["streams"] == again["streams"]
    assert answer["counted_requests"] == REQUESTS
    for operation in answer["streams"][0]["operations"].values():
        parts = operation["latency_parts"].values()
        total = sum(part["latency_ns_mean"] for part in parts)
        assert total == pytest.approx(operation["latency_ns_mean"])


def _listed(name: str, preset: Preset, *parts: tuple[range, int]) -> str:
    """Write a scenario of requests: the ones of each range, from a time on."""
    page = 16_384
    lines = ["at_ns,action,offset_bytes,size_bytes"]
    for places, start_ns in parts:
        for place in places:
            reads = place % 4 == 0 and not preset.least_writes
            at = start_ns + (place - places.start) * 1000
            offset = place * 0x9E3779B97F4A7C15 % 2**64 % 60_000 * page
            lines.append(f"{at},{'read' if reads else 'write'},{offset},{page}")
    Path(f"{name}.csv").write_text("\n".join(lines) + "\n")
    Path(f"{name}.toml").write_text(f'[[stream]]\nname = "all"\nrequests_csv = "{name}.csv"\n')
    return f"{name}.toml"


def _is_split_by_its_state(preset: Preset) -> None:
    """A run that is split where the drive is idle is the run."""
    one, two = range(REQUESTS), range(REQUESTS, 2 * REQUESTS)

    def run(name: str, parts: tuple[tuple[range, int], ...], *words: str) -> dict[str, Any]:
        save = ("--save-state", f"{name}.state")
        return preset.answer("simulate", "--scenario", _listed(name, preset, *parts), *save, *words)

    whole = run("whole", ((one, 0), (two, PAUSE_NS)))
    first = run("first", ((one, 0),))
    second = run("second", ((two, 0),), "--from-state", "first.state")
    assert first["page_programs"] + second["page_programs"] == whole["page_programs"]
    assert Path("second.state").read_bytes() == Path("whole.state").read_bytes()
    assert Path("first.state").read_bytes() != Path("whole.state").read_bytes()


def _goes_on_from_its_state(preset: Preset) -> None:
    """A disk keeps nothing, and what works in idle time has not rested where it is split."""
    # More than a write buffer that costs no time holds.
    words = ["simulate", "--requests", str(REQUESTS), "--write-ratio", "1", "--write-size", "64k"]
    preset.answer(*words, "--save-state", "first.state")
    answer = preset.answer(*words, "--from-state", "first.state")
    assert answer["from_state"] == "first.state"


def _refuses(preset: Preset) -> None:
    assert "from 0 to 1" in preset.refusal("measure", preset.name, "--write-ratio", "2")
    large = ("--read-size", "65MiB") if not preset.least_writes else ("--write-size", "65MiB")
    preset.refusal("measure", preset.name, *large)
    stem = preset.name.removeprefix("sim:")
    for lines, said in (
        ("nonsense = 1", "unknown key nonsense"),
        ("variability.sigma = 7", "allowed: a number from 0 to 1"),
        ("published.mine.size_bytes = 1000", "a multiple of 512 from 512 to 67108864"),
    ):
        Path("mine.toml").write_text(f'base = "{stem}"\nname = "mine"\n{lines}\n')
        assert said in preset.refusal("measure", "sim:mine.toml")
    if preset.least_writes:
        refusal = preset.refusal("measure", preset.name)
        assert "is fresh and has no data to read" in refusal
