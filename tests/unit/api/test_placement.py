"""A placement from Python: of a file or of a mapping, the same as the command's."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import numpy as np
import pytest

import drivelab as dl
from drivelab.cli import main as cli

SMALL = f"sim:{Path(__file__).parents[2] / 'small_drive.toml'}"
PLAN = f"""
[[workload]]
name = "web"
size = "8MB"
rate_iops = 900
latency_ms_mean_at_most = 5

[[drive]]
name = "{SMALL}"
price = 40
at_most = 2
"""
WEB = {"name": "web", "size": "8MB", "rate_iops": 900, "latency_ms_mean_at_most": 5}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("plan.toml").write_text(PLAN)


def test_a_file_and_a_mapping_are_what_the_command_finds(capsys) -> None:
    placement = dl.place_workloads("plan.toml", seconds=0.5, progress=False)
    assert cli.main(["place", "plan.toml", "--seconds", "0.5", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    found = placement.to_json()
    assert found == {key: answer[key] for key in found}
    assert placement.holds
    assert placement.headline == answer["headline"]
    assert placement.drives[0]["drive"] == SMALL
    assert placement.workloads[0]["workload"] == "web"
    assert placement.obstacles == []
    assert repr(placement) == f"<Placement of 1 workload on {SMALL}: every limit is met>"
    assert "web" in placement._repr_html_()
    again = dl.place_workloads(tomllib.loads(PLAN), seconds=0.5, progress=False)
    assert again.to_json() == found | {"plan": "the plan"}
    page = placement.report("found")
    assert page == Path("found/report.html")
    assert json.loads(Path("found/result.json").read_text())["cost"] == 40


def test_numbers_may_be_those_of_numpy() -> None:
    whole, real = np.int64, np.float32
    web = WEB | {"size": whole(8_000_000), "rate_iops": whole(900), "write_ratio": real(0.25)}
    pool = [{"name": SMALL, "price": real(40), "at_most": whole(2)}]
    found = dl.place_workloads({"workload": [web], "drive": pool}, seconds=0.5, progress=False)
    web |= {"size": 8_000_000, "rate_iops": 900, "write_ratio": 0.25}
    pool = [{"name": SMALL, "price": 40, "at_most": 2}]
    plain = dl.place_workloads({"workload": [web], "drive": pool}, seconds=0.5, progress=False)
    assert json.loads(json.dumps(found.to_json())) == plain.to_json()


def test_what_has_no_placement_is_an_answer() -> None:
    plan = tomllib.loads(PLAN.replace("at_most = 5", "at_most = 0.001"))
    placement = dl.place_workloads(plan, seconds=0.5, progress=False)
    assert not placement.holds
    assert placement.obstacles[0]["workload"] == "web"
    assert repr(placement) == "<Placement of 1 workload: there is none>"


@pytest.mark.parametrize(
    ("plan", "how", "says"),
    [
        ({}, {}, "the plan: no workload is placed"),
        ({"workloads": []}, {}, "the plan: unknown key 'workloads'"),
        ("none.toml", {}, "none.toml"),
        (5, {}, "a plan is named by text"),
        ("plan.toml", {"seconds": 0}, "seconds is 0; allowed: more than 0"),
        (
            "plan.toml",
            {"seconds": 1e300},
            "seconds is 1e+300; allowed: more than 0, at most",
        ),
        (
            "plan.toml",
            {"seconds": float("inf")},
            "seconds is inf; allowed: more than 0",
        ),
        ("plan.toml", {"time_limit": float("nan")}, "time_limit is NaN; allowed: more than 0"),
        ({"workload": (WEB,)}, {}, "the plan: workload is ({'name': 'web', 'size': '8MB'"),
        ({"workload": (WEB,)}, {}, "which is not a list; allowed: a list of tables [[workload]]"),
        ({"workload": WEB}, {}, "which is not a list"),
        ({"workload": [WEB | {"size": None}]}, {}, "the plan: workload 'web': size is None"),
        ({"workload": [WEB | {"rate_iops": 10**400}]}, {}, "rate_iops is a number of more than"),
        ({1: []}, {}, "the plan: unknown key 1; allowed: objective"),
        (
            "plan.toml",
            {"seconds": 1e-9},
            "as seconds says; give seconds 0.012 or more",
        ),
        ("plan.toml", {"rounds": 0}, "rounds is 0; allowed: 1 to 1000"),
    ],
)
def test_what_cannot_be_asked_is_refused_in_a_line(plan: object, how: dict, says: str) -> None:
    with pytest.raises(dl.DrivelabError) as refused:
        dl.place_workloads(plan, progress=False, **how)
    assert says in str(refused.value)
    assert str(refused.value).count("the plan: ") <= 1
    assert "\n" not in str(refused.value)
