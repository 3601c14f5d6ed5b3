"""Variability as users switch it: what is shown, what a run stores, what is refused."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from scipy.stats import ttest_1samp

from drivelab.cli import main as cli
from drivelab.drives.plan import MeasurementPlan
from drivelab.drives.simulated.drive import SimulatedDrive
from drivelab.workloads.characteristics import Characteristics

sys.path.insert(0, str(Path(__file__).parents[4]))

from drivelab.profile.spread import known_after

pytestmark = pytest.mark.usefixtures("models_in_outline")

ROOT = Path(__file__).parents[4]

PLAN = MeasurementPlan(warmup_requests=0, requests=200)
WORK = [(index, Characteristics()) for index in range(4)]
SETTINGS = """
sigma = 0.3
outlier_probability = 0.2
outlier_factor = 2.0
correlated_sigma = 0.3
correlation_time_ns = 60_000_000_000
"""


@pytest.fixture
def varying(tmp_path: Path) -> Path:
    small = (ROOT / "tests" / "small_drive.toml").read_text()
    (tmp_path / "plain.toml").write_text(small)
    path = tmp_path / "varying.toml"
    path.write_text(f"{small}\n[variability]{SETTINGS}")
    return path


def latencies(drive: SimulatedDrive) -> list[float]:
    return [each.latency_ns_mean for each in drive.measure(WORK, PLAN)]


def test_a_switched_off_drive_answers_as_one_that_never_varied(varying: Path) -> None:
    plain = SimulatedDrive.open(f"sim:{varying.with_name('plain.toml')}")
    off = SimulatedDrive.open(f"sim:{varying}", varies=False)
    on = SimulatedDrive.open(f"sim:{varying}")
    assert (plain.variability, off.variability, on.variability) == ("none", "off", "on")
    assert latencies(off) == latencies(plain)
    # Each by its own factor: whole nanoseconds of an operation are rounded, 1 in 100,000.
    factors = on.variability_factors(range(4), seed=0, seconds=0.017)
    assert len(set(factors)) == 4
    expected = [truth * factor for truth, factor in zip(latencies(off), factors, strict=True)]
    assert latencies(on) == pytest.approx(expected, rel=1e-4)


def test_a_run_with_variability_is_no_run_without(varying: Path) -> None:
    on, off = (SimulatedDrive.open(f"sim:{varying}", varies=varies) for varies in (True, False))
    assert on.identity()["config_hash"] != off.identity()["config_hash"]
    assert "variability" not in on.identity()
    assert off.identity()["variability"] == "off"


def test_commands_take_the_switch_and_tell_it(varying: Path, capsys) -> None:
    for command in ("measure", "simulate"):
        words = [command, f"sim:{varying}", "--requests", "50"]
        for switch, state in (([], "on"), (["--no-variability"], "off")):
            assert cli.main([*words, *switch, "--json"]) == 0
            values = json.loads(capsys.readouterr().out)
            assert values["variability"] == state
            factor = (values.get("extra") or values)["variability_factor"]
            assert (factor == 1.0) == (state == "off")
            assert cli.main([*words, *switch]) == 0
            text = capsys.readouterr().out
            assert f"variability {state}" in " ".join(text.split())


def test_a_campaign_is_not_gone_on_with_under_the_other_switch(varying: Path, capsys) -> None:
    out = varying.with_name("run")
    words = ["model", f"sim:{varying}", "--design", "huang2011:12", "--no-sweeps", "--check", "0"]
    words += ["--requests", "20", "--out", str(out)]
    assert cli.main([*words, "--no-variability"]) == 0
    capsys.readouterr()
    assert cli.main(words) == 2
    refused = capsys.readouterr().err
    assert "contains another campaign: drive preset variability " in refused
    assert refused.count("\n") == 1
    assert cli.main(["runs", "show", str(out), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["identity"]["variability"] == "off"


def test_real_drives_refuse_the_switch(tmp_path: Path, capsys) -> None:
    assert cli.main(["measure", str(tmp_path / "a.bin"), "--no-variability"]) == 2
    assert "it is for simulated drives" in capsys.readouterr().err


def test_repetitions_end_as_scipy_says() -> None:
    # Numbers that spread evenly: after n of them the interval is known from SciPy alone.
    values = [1 + 0.4 * ((7 * index) % 11 - 5) / 5 for index in range(100)]
    found = known_after(values)
    assert found is not None

    def half_width(count: int) -> float:
        interval = ttest_1samp(values[:count], 0).confidence_interval(0.9)
        return (interval.high - interval.low) / (interval.high + interval.low)

    assert half_width(found) <= 0.1
    assert all(half_width(count) > 0.1 for count in range(6, found))
    assert known_after([5.0] * 7) == 6
    assert known_after(values[: found - 1]) is None
