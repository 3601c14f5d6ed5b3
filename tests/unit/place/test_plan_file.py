"""Plans in TOML: what they say, and one line for each mistake in one."""

from __future__ import annotations

from pathlib import Path

import pytest

from drivelab.errors import UsageError
from drivelab.place.plan import Bounds, Offer, PlacementPlan
from drivelab.place.plan_file import example_text, read_plan
from drivelab.workloads.characteristics import Characteristics
from drivelab.workloads.trace import Trace

DRIVE = '[[drive]]\nname = "sim:x25m"\nprice = 60\n'
WEB = '[[workload]]\nname = "web"\nrate_iops = 100\nsize = "1GB"\n'
TRACE = "0,0,4096,r,0.0\n0,8,4096,w,0.5\n"


def read(folder: Path, text: str) -> PlacementPlan:
    path = folder / "plan.toml"
    path.write_text(text)
    return read_plan(path)


def test_the_example_says_what_is_placed_where(tmp_path: Path) -> None:
    plan = read(tmp_path, example_text())
    assert [each.name for each in plan.demands] == [*("database", "web", "log", "cache", "backup")]
    database, web, log, _, backup = plan.demands
    assert database.size_bytes == database.part.workload.footprint_bytes
    assert database.bounds == Bounds(latency_ns_p99=8e6)
    assert web.part.workload == Characteristics(read_size=16384)
    assert (web.rate_iops, web.size_bytes) == (1500.0, 10 * 10**9)
    assert web.describe() == "reads of 16 KiB at random, 1,500 a second"
    assert not log.part.is_poisson
    assert backup.rate_iops is None
    assert backup.bounds == Bounds(bytes_per_second=50e6)
    assert (plan.objective, plan.cost_at_most, plan.watts_at_most) == ("cost", 400.0, None)
    assert plan.offers[0] == Offer("sim:bench-64gib", 2, 90.0, 4.0)


def test_prices_come_from_a_table_in_the_folder_of_the_plan(tmp_path: Path) -> None:
    (tmp_path / "prices.csv").write_text("drive,price,watts\nsim:x25m,75,2.4\n")
    plan = read(tmp_path, f'prices = "prices.csv"\n{WEB}[[drive]]\nname = "sim:x25m"\nwatts = 3\n')
    assert plan.offers == (Offer("sim:x25m", 1, 75.0, 3.0),)


def test_a_trace_is_in_the_folder_of_the_plan_and_says_its_pace(tmp_path: Path) -> None:
    (tmp_path / "old.spc").write_text("0,0,4096,r,0.0\n0,8,4096,w,0.5\n0,16,4096,w,1.0\n")
    plan = read(tmp_path, f'[[workload]]\nname = "old"\ntrace = "old.spc"\nspeed = 2\n{DRIVE}')
    (old,) = plan.demands
    assert isinstance(old.part.workload, Trace)
    assert old.lasting_ns == 500_000_000
    assert old.rate_iops == pytest.approx(6.0)
    assert old.size_bytes == 16 * 512 + 4096


def test_a_rate_in_bytes_is_one_in_requests(tmp_path: Path) -> None:
    text = WEB.replace("rate_iops = 100", 'rate_mb_per_second = 1\nread_size = "8kB"')
    with pytest.raises(UsageError, match="read_size is 8000 bytes; allowed: a multiple of 512"):
        read(tmp_path, text + DRIVE)
    text = WEB.replace("rate_iops = 100", "rate_mb_per_second = 8.192\nread_size = 8192")
    assert read(tmp_path, text + DRIVE).demands[0].rate_iops == pytest.approx(1000.0)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "plan.toml: no workload is placed; add a table [[workload]]"),
        (WEB, "plan.toml: no drive is in the pool; add a table [[drive]]"),
        ("drive = []\n" + WEB, "no drive is in the pool"),
        ("a = [", "plan.toml is not TOML"),
        ("color = 1\n", "plan.toml: unknown key 'color'; allowed: objective, cost_at_most"),
        ("objetive = 1\n", "unknown key 'objetive'; did you mean objective? allowed"),
        ('objective = "speed"\n', "objective is 'speed'; allowed: cost, latency, watts"),
        ("cost_at_most = -5\n", "cost_at_most is -5; allowed: more than 0 to 1e+12"),
        ("cost_at_most = nan\n", "cost_at_most is NaN; allowed: more than 0"),
        ("watts_at_most = inf\n", "watts_at_most is inf; allowed"),
        ("utilisation_at_most = 1.5\n", "utilisation_at_most is 1.5; allowed: more than 0 to 1"),
        (f"watts_at_most = 5\n{WEB}{DRIVE}", "sim:x25m has no watts; add watts to its [[drive]]"),
        (WEB + WEB + DRIVE, "two workloads are called 'web'; allowed: names of their own"),
        (WEB + DRIVE + DRIVE, "two drives are called 'sim:x25m'"),
        (WEB + '[[drive]]\nname = "sim:x25m"\n', "sim:x25m has no price; add price"),
        (WEB + '[[drive]]\nname = "/dev/sda"\n', "drive 1: '/dev/sda' is not a simulated drive"),
        (WEB + '[[drive]]\nname = "analytic:x25m-yoo2014"\n', "is not a simulated drive"),
        (WEB + DRIVE + "at_most = 0\n", "drive 'sim:x25m': at_most is 0; allowed: a whole number"),
        (WEB + DRIVE + "at_most = 1.5\n", "at_most is 1.5; allowed"),
        (WEB + DRIVE + "colour = 1\n", "drive 'sim:x25m': unknown key 'colour'"),
        (WEB + DRIVE.replace("60", "-1"), "drive 'sim:x25m': price is -1; allowed: from 0"),
        ("workload = 3\n" + DRIVE, "workload is 3, which is not a list; allowed: a list of tables"),
        ("workload = [3]\n" + DRIVE, "workload 1 is 3; allowed: a table [[workload]]"),
        (WEB.replace('"web"', '" "') + DRIVE, "workload 1: name is ' '; allowed: a text"),
        (WEB.replace('"web"', r'"a\nb"') + DRIVE, "allowed: one line without spaces around it"),
        (WEB.replace('name = "web"\n', "") + DRIVE, "workload 1: name is missing; allowed: a text"),
        (WEB + "latency_ms_p99 = 3\n" + DRIVE, "did you mean latency_ms_p99_at_most"),
        (WEB + "latency_ms_mean_at_most = -3\n" + DRIVE, "latency_ms_mean_at_most is -3; allowed"),
        (WEB + "iops_at_least = nan\n" + DRIVE, "iops_at_least is NaN; allowed"),
        (WEB + "queue_depth = 4\n" + DRIVE, "rate_iops and queue_depth both say its pace"),
        (WEB.replace("rate_iops = 100\n", "") + DRIVE, "its pace is missing; add rate_iops"),
        (WEB.replace("100", "0") + DRIVE, "rate_iops is 0; allowed: more than 0"),
        (WEB.replace("100", "1e-9") + DRIVE, "rate_iops makes 1e-09 requests a second; allowed"),
        (WEB.replace('size = "1GB"\n', "") + DRIVE, "it has no size; add one"),
        (WEB.replace("1GB", "lots") + DRIVE, "workload 'web': size: 'lots' is not a size"),
        (WEB.replace('"1GB"', "0") + DRIVE, "size is 0; allowed: more"),
        (WEB.replace('"1GB"', "1.5") + DRIVE, 'size is 1.5; allowed: a text such as "40GB"'),
        (WEB + "write_ratio = 2\n" + DRIVE, "workload 'web': write_ratio is 2; allowed: a ratio"),
        (WEB + 'arrivals = "often"\n' + DRIVE, "arrivals is 'often'; allowed: poisson, fixed"),
        (WEB + 'content = "cats"\n' + DRIVE, "content is 'cats'; allowed: zero, database, random"),
        (
            f'[[workload]]\nname = "db"\nscenario = "tpc-d"\n{DRIVE}',
            "workload 'db': there is no scenario 'tpc-d'; did you mean tpc-c?",
        ),
        (
            f'[[workload]]\nname = "db"\nscenario = "tpc-c"\nrate_iops = 5\n{DRIVE}',
            "workload 'db', which is a scenario: unknown key 'rate_iops'",
        ),
        (
            f'[[workload]]\nname = "db"\nscenario = "tpc-c"\nsize = "1GB"\n{DRIVE}',
            "workload 'db': it takes 47244640256 bytes (44 GiB), and its place has",
        ),
        (
            f'[[workload]]\nname = "old"\nscenario = "old.spc"\n{DRIVE}',
            "is a trace of the format spc, not a scenario; write trace = instead of scenario =",
        ),
        (
            f'[[workload]]\nname = "old"\ntrace = "none.spc"\n{DRIVE}',
            "none.spc; name the file of a trace",
        ),
        (
            f'[[workload]]\nname = "old"\ntrace = "old.spc"\nspeed = "fast"\n{DRIVE}',
            "workload 'old': speed is 'fast'; allowed: from",
        ),
        (
            f'[[workload]]\nname = "old"\ntrace = ["old.spc"]\nfit = "squeeze"\n{DRIVE}',
            "workload 'old': fit is 'squeeze'; allowed: keep, wrap, scale",
        ),
        (
            f'prices = "none.csv"\n{WEB}{DRIVE}',
            "plan.toml: prices: there is no file ",
        ),
        (
            WEB + '[[drive]]\nname = "sim:none"\n',
            "plan.toml: drive 1: there is no drive 'sim:none'; ",
        ),
        (
            f'prices = "none.csv"\n{WEB}{DRIVE}',
            "none.csv; write one with drive,price,watts",
        ),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "old.spc").write_text(TRACE)
    with pytest.raises(UsageError) as caught:
        read(tmp_path, text)
    message = str(caught.value)
    assert said in message
    assert "\n" not in message


def test_a_plan_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"there is no file .*; `drivelab place --example"):
        read_plan(tmp_path / "none.toml")
