"""Arrays as users have them: named, measured, modelled, shown, and what they refuse."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from drivelab.cli import main as cli
from drivelab.drives.plan import MeasurementPlan
from drivelab.drives.simulated.drive import SimulatedDrive
from drivelab.workloads.characteristics import Characteristics

pytestmark = pytest.mark.usefixtures("models_in_outline")

SMALL = Path(__file__).parents[3] / "small_drive.toml"
ARRAY = """
name = "pair"
kind = "raid0"
summary = "two of small"
member = "small"
members = 2
stripe_bytes = 65_536
variability.sigma = 0.0
"""


@pytest.fixture(autouse=True)
def pair(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("small.toml").write_text(SMALL.read_text())
    Path("pair.toml").write_text(ARRAY)
    return "sim:pair.toml"


def rate(name: str, **changes: float) -> float:
    workload = Characteristics(**{"queue_depth": 64, **changes})
    plan = MeasurementPlan(warmup_requests=200, requests=2000)
    with SimulatedDrive.open(name) as drive:
        (measured,) = drive.measure([(0, workload)], plan)
    return measured.bandwidth_bytes_per_second


def test_a_member_may_be_in_the_folder_of_the_array(pair: str) -> None:
    with SimulatedDrive.open(pair) as array, SimulatedDrive.open("sim:small.toml") as member:
        assert array.capacity_bytes == 2 * member.capacity_bytes
        assert array.condition == member.condition
    # Behind two links twice as much comes; one page at a time is one member's.
    assert rate(pair) == pytest.approx(2 * rate("sim:small.toml"), rel=0.05)
    assert rate(pair, queue_depth=1) == pytest.approx(rate("sim:small.toml", queue_depth=1))


@pytest.mark.parametrize("stripe_bytes", [4096, 100 * 512])
def test_an_array_of_one_is_its_member_where_stripes_divide_it(stripe_bytes: int) -> None:
    one = ARRAY.replace("members = 2", "members = 1").replace("65_536", str(stripe_bytes))
    Path("one.toml").write_text(one)
    with (
        SimulatedDrive.open("sim:one.toml") as array,
        SimulatedDrive.open("sim:small.toml", varies=False) as member,
    ):
        left = member.capacity_bytes % stripe_bytes
        assert array.capacity_bytes == member.capacity_bytes - left
        random = [(0, Characteristics(queue_depth=8, read_random=1.0, write_ratio=0.5))]
        plan = MeasurementPlan(requests=500)
        (of_array,), (of_member,) = array.measure(random, plan), member.measure(random, plan)
    # What is left over is not used, so that requests are drawn over less.
    assert (of_array == of_member) == (left == 0)


def test_an_array_that_starts_from_one_of_the_package_may_have_a_member_in_its_own_folder(
    pair: str,
) -> None:
    Path("own.toml").write_text('base = "array-x25m"\nname = "own"\nmember = "small"\n')
    with SimulatedDrive.open("sim:own.toml") as own, SimulatedDrive.open(pair) as array:
        assert own.capacity_bytes == array.capacity_bytes
    # A file with the name of one of the package is meant by who names it, not by its array.
    text = SMALL.read_text()
    Path("x25m-fob.toml").write_text(text.replace('name = "small"', 'name = "x25m-fob"'))
    Path("named.toml").write_text('base = "array-x25m"\nname = "named"\nmember = "x25m-fob"\n')
    with SimulatedDrive.open("sim:named.toml") as named, SimulatedDrive.open(pair) as array:
        assert named.capacity_bytes == array.capacity_bytes
    Path("x25m.toml").write_text(text.replace('name = "small"', 'name = "x25m"'))
    Path("plain.toml").write_text('base = "array-x25m"\nname = "plain"\n')
    with (
        SimulatedDrive.open("sim:plain.toml") as plain,
        SimulatedDrive.open("sim:array-x25m") as packaged,
    ):
        assert plain.capacity_bytes == packaged.capacity_bytes


def test_simulate_prints_how_busy_each_member_is(pair: str, capsys) -> None:
    words = ["simulate", pair, "--requests", "2000", "--queue-depth", "16"]
    assert cli.main([*words, "--json"]) == 0
    values = json.loads(capsys.readouterr().out)
    members = values["members"]
    assert len(members) == 2
    reads = [each["page_reads"] for each in members]
    # Random pages: half of them on each, within four standard deviations.
    assert sum(reads) == values["flash"]["page_reads"]
    assert abs(reads[0] - reads[1]) < 4 * 2000**0.5
    assert values["unit_utilisation_ratio"] is None
    assert all(0.05 < each["utilisation_ratio"] < 1 for each in members)
    assert cli.main(words) == 0
    assert "member 1" in capsys.readouterr().out


def test_an_array_is_modelled_as_any_drive(pair: str, capsys) -> None:
    words = ["model", pair, "--design", "huang2011:12", "--no-sweeps", "--check", "0"]
    assert cli.main([*words, "--requests", "50", "--out", "run"]) == 0
    assert "two of small" in Path("run/report.html").read_text()
    capsys.readouterr()
    assert cli.main(["predict", "run", "--json"]) == 0
    # A fourth run is the same: nothing stays from one measurement to the next.
    with SimulatedDrive.open(pair) as drive:
        plan = MeasurementPlan(warmup_requests=0, requests=500, seed=3)
        work = [(index, Characteristics(write_ratio=1.0, queue_depth=8)) for index in (7, 8, 7)]
        first, _, again = drive.measure(work, plan)
    assert first.duration_ns == again.duration_ns


def test_a_run_goes_on_from_the_state_of_an_array(pair: str, capsys) -> None:
    words = ["simulate", pair, "--write-ratio", "1", "--requests", "3000"]
    assert cli.main([*words, "--save-state", "once.state"]) == 0
    assert cli.main([*words, "--save-state", "again.state"]) == 0
    twice = ["--from-state", "once.state", "--save-state", "twice.state"]
    assert cli.main([*words, "--seed", "1", *twice]) == 0
    once, again, twice = (Path(f"{name}.state").read_bytes() for name in ("once", "again", "twice"))
    assert once == again
    # Other pages, a few bytes each, have changed in addition.
    assert len(twice) > 1.5 * len(once)
    capsys.readouterr()
    assert cli.main(["simulate", "sim:small.toml", "--from-state", "once.state"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["simulate", "--firmware", "a.so"], "this is an array; name its member, sim:small"),
        (
            ["timeline", "--op", "read", "--record", "4KiB", "-o", "a.svg"],
            "is not a single drive of flash",
        ),
    ],
)
def test_what_makes_no_sense_for_an_array_is_one_line(
    pair: str, words: list[str], said: str, capsys
) -> None:
    Path("a.so").touch()
    assert cli.main([words[0], pair, *words[1:]]) == 2
    refused = capsys.readouterr().err
    assert said in refused
    assert refused.count("\n") == 1


def test_an_unknown_member_is_one_line(capsys) -> None:
    Path("pair.toml").write_text(ARRAY.replace('"small"', '"smal"'))
    assert cli.main(["measure", "sim:pair.toml"]) == 2
    assert 'member = "smal"' in capsys.readouterr().err
