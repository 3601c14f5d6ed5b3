"""Scenarios of the package: every value has a source, each runs, and a name finds it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from graded_values import lines_without_source

from drivelab._core import scenario_names, scenario_text
from drivelab.drives.plan import MeasurementPlan
from drivelab.drives.presets.source import PresetSource
from drivelab.drives.simulated.drive import SimulatedDrive
from drivelab.drives.simulated.scenarios import read_scenario, text_of
from drivelab.errors import UsageError
from drivelab.firmware.requests import request_chunks
from drivelab.workloads.scenario import Scenario
from drivelab.workloads.side_by_side import Part

ROOT = Path(__file__).parents[4]
GRADES = ("paper", "documentation", "trace", "recalled", "assumed")
# Words for people have no source.
UNGRADED = ("name", "summary")
# As large as they are in the paper, and so larger than the smaller drive.
LARGE = [f"lee2021-{way}-{kind}" for way in ("sequential", "random") for kind in ("read", "write")]
LARGE += ["lee2021-web-server"]


def ungraded_lines(text: str) -> list[str]:
    return lines_without_source(text, GRADES, UNGRADED)


def test_package_holds_every_file_of_scenarios() -> None:
    files = {path.stem: path for path in (ROOT / "scenarios").glob("*.toml")}
    assert sorted(files) == scenario_names()
    for name, path in files.items():
        assert scenario_text(name) == path.read_text()
    with pytest.raises(UsageError, match="the scenarios are checkpoint-read, "):
        scenario_text("nonesuch")


@pytest.mark.parametrize("name", scenario_names())
def test_every_value_has_a_source_and_a_line_says_what_it_is(name: str) -> None:
    assert ungraded_lines(scenario_text(name)) == []
    scenario = read_scenario(name)
    assert scenario.summary
    assert scenario.ends
    assert text_of(name).startswith("# A scenario of the package")


@pytest.mark.parametrize(
    "line",
    ["rate_iops = 10", "rate_iops = 10  # paper", "rate_iops = 10  # guessed: in the abstract"],
)
def test_value_without_a_source_is_found(line: str) -> None:
    assert ungraded_lines(line) == [line]


def test_every_scenario_is_in_the_page() -> None:
    page = (ROOT / "docs" / "scenarios.md").read_text()
    named = re.findall(r"^\| `([a-z0-9-]+)` \| .*\| .*\|$", page, re.MULTILINE)
    # Those of one paper have a table of their own.
    assert sorted(name for name in named if name in scenario_names()) == scenario_names()


@pytest.fixture(scope="module", params=["bench-64gib", "enterprise-tlc-pcie4"])
def drive(request: pytest.FixtureRequest) -> SimulatedDrive:
    return SimulatedDrive.open(f"sim:{request.param}")


@pytest.mark.parametrize("name", scenario_names())
def test_each_runs_and_every_stream_is_served(name: str, drive: SimulatedDrive) -> None:
    scenario = read_scenario(name)
    if scenario.footprint_bytes is not None and scenario.footprint_bytes > drive.capacity_bytes:
        assert name in LARGE
        with pytest.raises(UsageError, match="allowed: at most the drive's"):
            drive.check(scenario)
        return
    (found,) = drive.measure([(0, scenario)], MeasurementPlan(requests=2_000))
    assert found.requests >= 1_000
    # Where the drive is behind, a rare stream may wait for its turn that long.
    served = [stream.requests for stream in found.streams if stream.operations]
    assert served
    assert sum(served) == found.requests


def test_rates_are_those_of_the_sources() -> None:
    def rates(name: str) -> dict[str, float]:
        asked = [stream.described() for stream in read_scenario(name).streams()]
        # Write ratio, depth, and the sizes of reads and writes come first of a workload.
        return {
            each["name"]: each["rate_iops"] * each["workload"][3 if each["workload"][0] else 2]
            for each in asked
        }

    cache = rates("kv-cache-offload")
    assert cache["cache read"] == 2 * 2**30
    assert cache["cache written"] == 11 * 2**20
    # Seven samples of 146,600,628 bytes take the accelerator 0.323 s, of which it may lose a tenth.
    assert rates("training-unet3d")["samples"] == pytest.approx(
        0.9 * 7 * 146_600_628 / 0.323, rel=1e-3
    )
    assert rates("training-resnet50")["records"] == pytest.approx(
        8 * 0.9 * 400 * 114_660.07 / 0.224, rel=1e-3
    )


def test_a_name_of_the_package_comes_before_a_file_of_that_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    own = 'summary = "mine"\nrequests = 10\n[[stream]]\nname = "one"\nqueue_depth = 1\n'
    for name in ("tpc-c", "mine"):
        Path(name).write_text(own)
    assert read_scenario("tpc-c") == Scenario(scenario_text("tpc-c"))
    for path in ("./tpc-c", "mine"):
        assert read_scenario(path).summary == "mine"
        assert text_of(path) == own


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("vector-serch", "there is no scenario 'vector-serch'; did you mean vector-search? there"),
        ("nothing", "there is no scenario 'nothing'; there are checkpoint-read, "),
        ("tpcc.toml", "there is no file tpcc.toml; did you mean tpc-c? the scenarios of the"),
    ],
)
def test_unknown_name_is_answered_with_near_ones_and_all(asked: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_scenario(asked)
    assert said in str(caught.value)
    assert "web-server" in str(caught.value)


SMALL = ROOT / "tests" / "small_drive.toml"
READS = """
requests = 2_000

[[stream]]
name = "reads"
queue_depth = 4
"""
HALF = READS + "\n[occupancy]\nfilled = 0.5\n"


def test_a_scenario_fills_the_drive_as_a_preset_does() -> None:
    base = {"small": SMALL.read_text()}
    text = 'name = "half"\nbase = "small"\n[occupancy]\nfilled = 0.5\n'
    half = SimulatedDrive("sim:half", PresetSource("half", text, base))
    drive = SimulatedDrive.open(f"sim:{SMALL}")
    asked, said = (
        one.simulate(Scenario(text)).values for one, text in ((drive, HALF), (half, READS))
    )
    for name in ("occupancy", "config_hash", "streams", "flash", "duration_ns"):
        assert asked[name] == said[name], name
    usual = drive.simulate(Scenario(READS)).values
    assert usual["occupancy"] is None
    # Half of the reads find nothing, and do not reach the flash.
    share = asked["flash"]["page_reads"] / usual["flash"]["page_reads"]
    assert 0.45 < share < 0.55


def test_measurements_of_drives_filled_otherwise_keep_their_order() -> None:
    plan = MeasurementPlan.of_kind("simulated", seed=3)
    scenarios = [Scenario(READS), Scenario(HALF), Scenario(READS), Scenario(HALF)]
    with SimulatedDrive.open(f"sim:{SMALL}") as drive:
        found = list(drive.measure(list(enumerate(scenarios)), plan))
        alone = [next(drive.measure([one], plan)) for one in enumerate(scenarios)]
    assert [one.index for one in found] == [0, 1, 2, 3]
    assert found == alone
    # The link is the limit, but a read that finds nothing takes a third of the time.
    ends = [one.read.latency_ns_min for one in found if one.read is not None]
    assert ends[1] < 0.5 * ends[0]


def test_a_drive_without_data_or_with_other_work_refuses_an_occupancy() -> None:
    scenario = Scenario(HALF)
    with (
        SimulatedDrive.open("sim:x25m-fob") as fresh,
        pytest.raises(UsageError, match="x25m-fob is fresh and no page holds data; choose"),
    ):
        fresh.check(scenario)
    with (
        SimulatedDrive.open(f"sim:{SMALL}").session() as session,
        pytest.raises(UsageError, match="a step continues with what is on the drive"),
    ):
        session.check(scenario)
    with pytest.raises(UsageError, match="about the whole drive"):
        Part("a", scenario, 1 << 20)
    with pytest.raises(UsageError, match="says nothing about what is on the drive"):
        request_chunks(scenario)


def test_a_table_that_is_almost_occupancy_is_asked_for() -> None:
    with pytest.raises(UsageError, match=r"unknown key ocupancy; did you mean \[occupancy\]\?"):
        Scenario(HALF.replace("occupancy", "ocupancy"))


def test_a_disk_takes_as_long_whatever_is_on_it() -> None:
    with SimulatedDrive.open("sim:sas-15k") as disk:
        full, half = (disk.simulate(Scenario(text)).values for text in (READS, HALF))
    assert full["streams"] == half["streams"]
