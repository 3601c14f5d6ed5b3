"""What written data looks like to a simulated drive that compresses."""

from __future__ import annotations

import json
import subprocess
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from drivelab.cli.main import main
from drivelab.drives.plan import MeasurementPlan
from drivelab.drives.real.fio.job import Segment, segment_options
from drivelab.errors import UsageError
from drivelab.workloads.characteristics import Characteristics
from drivelab.workloads.content import CONTENTS

DRIVE = """
base = "x25m"
name = "compressing"
condition = "fresh"
[geometry]
blocks_per_plane = 120
user_capacity_bytes = 536_870_912
[compression]
slot_size_bytes = 1024
deduplicates_zeros = true
"""


@pytest.fixture
def drive(tmp_path: Path) -> str:
    path = tmp_path / "compressing.toml"
    path.write_text(DRIVE)
    return f"sim:{path}"


def simulated(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert main(["simulate", *arguments, "--json"]) == 0
    values: dict[str, Any] = json.loads(capsys.readouterr().out)
    return values


WRITES = ("--write-ratio", "1", "--write-random", "0", "--write-size", "128k", "--queue-depth", "8")


def test_content_decides_what_a_write_costs(capsys: pytest.CaptureFixture[str], drive: str) -> None:
    amplification = {}
    for content in ("zero", "database", "random"):
        result = simulated(capsys, drive, *WRITES, "--requests", "2000", "--content", content)
        amplification[content] = result["flash"]["write_amplification_ratio"]
        assert result["streams"][0]["content"] == content
        assert (f"content {content}" in result["streams"][0]["description"]) == (
            content != "random"
        )
    # Nothing of zeroes; half of 9 pages in 10, up to what waits for its other half.
    assert amplification["zero"] == 0
    assert amplification["database"] == pytest.approx(0.45, rel=0.01)
    assert amplification["random"] == 1


def test_streams_of_a_scenario_have_contents(
    capsys: pytest.CaptureFixture[str], drive: str, tmp_path: Path
) -> None:
    scenario = tmp_path / "two.toml"
    scenario.write_text(
        "requests = 1000\n"
        '[[stream]]\nname = "new"\nqueue_depth = 1\nwrite_ratio = 1.0\ncontent = "zero"\n'
        '[[stream]]\nname = "old"\nrate_iops = 10\nwrite_ratio = 1.0\n'
    )
    result = simulated(capsys, drive, "--scenario", str(scenario))
    assert [stream["content"] for stream in result["streams"]] == ["zero", "random"]
    zero = result["streams"][0]["operations"]["write"]["requests"]
    assert result["flash"]["zero_pages"] == zero
    scenario.write_text(scenario.read_text().replace('"zero"', '"text"'))
    assert main(["simulate", drive, "--scenario", str(scenario)]) == 2
    said = capsys.readouterr().err
    assert 'allowed: "zero" or "database" or "random"' in said
    assert main(["simulate", drive, "--scenario", str(scenario), "--content", "zero"]) == 2
    assert "leave out --content or --scenario" in capsys.readouterr().err


def test_measuring_heeds_content(capsys: pytest.CaptureFixture[str], drive: str) -> None:
    latency = {}
    for content in ("zero", "random"):
        assert (
            main(["measure", drive, *WRITES, "--requests", "500", "--content", content, "--json"])
            == 0
        )
        answer = json.loads(capsys.readouterr().out)
        latency[content] = answer["write"]["latency_ns_mean"]
        assert answer["plan"].get("content", "random") == content
    # Zeroes cross the link and no more; the rest waits for programs.
    assert latency["zero"] < latency["random"] / 2
    plan = MeasurementPlan(content="zero")
    assert MeasurementPlan.from_json(plan.to_json()) == plan
    assert main(["measure", "analytic:x25m-yoo2014", "--content", "zero"]) == 2
    assert "it is for drives that store data" in capsys.readouterr().err
    with pytest.raises(UsageError, match="allowed: zero, database, random"):
        MeasurementPlan(content="text")


def test_a_real_drive_is_written_what_was_asked_for(
    tmp_path: Path, require_tool: Callable[[str], Path]
) -> None:
    program = require_tool("fio")
    shrunk, repeated = {}, {}
    for content in CONTENTS:
        options = segment_options(
            Characteristics(write_ratio=1.0),
            Segment(requests=256, seconds=10),
            engine="psync",
            iolog=str(tmp_path / "requests"),
            log_prefix=str(tmp_path / "log"),
            buffer_seed=7,
            content=content,
        )
        target = tmp_path / content
        target.write_bytes(b"x" * 2**20)
        lines = [f"{target} write {place * 4096} 4096" for place in range(256)]
        log = ["fio version 2 iolog", f"{target} add", f"{target} open", *lines, f"{target} close"]
        (tmp_path / "requests").write_text("\n".join(log) + "\n")
        # The file system of the tests may not take direct I/O.
        options = ["direct=0" if option == "direct=1" else option for option in options]
        subprocess.run(
            [program, *(f"--{option}" for option in options)], check=True, capture_output=True
        )
        data = target.read_bytes()
        pages = [data[start : start + 4096] for start in range(0, len(data), 4096)]
        shrunk[content] = sum(len(zlib.compress(page, 1)) for page in pages) / len(data)
        repeated[content] = 1 - len(set(pages)) / len(pages)
    assert shrunk["zero"] < 0.02
    # Half of random bytes, and what marks the end of a compressed page.
    assert shrunk["database"] == pytest.approx(0.5, abs=0.06)
    # fio's random bytes are not quite.
    assert shrunk["random"] > 0.9
    assert repeated["database"] == pytest.approx(0.1, abs=0.06)
    assert repeated["random"] == 0
