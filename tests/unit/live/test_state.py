"""The state of a served drive: rates in its own time, percentiles, missing values."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from made_watched import about, counted_second, watched

from drivelab.live.state import state

DOCUMENT = Path(__file__).parents[3] / "docs" / "json-watch.md"


def test_rates_are_in_the_drives_own_time() -> None:
    real = state(about(), watched())["now"]
    slowed = state(about(dilation=10.0), watched())["now"]
    assert real["iops"] == pytest.approx(3)
    assert slowed["iops"] == pytest.approx(30)
    assert slowed["bytes_per_second"] == pytest.approx(30 * 4096)
    read = real["operations"]["read"]
    assert read["latency_ns_p50"] == pytest.approx(90_000, rel=0.01)
    assert read["latency_ns_p99_9"] == read["latency_ns_max"] == 2_000_000


def test_depth_is_littles_law() -> None:
    # 2.17 ms of latencies in a second.
    assert state(about(), watched())["now"]["queue_depth"] == pytest.approx(0.00217)


def test_what_nothing_is_simulated_of_is_null() -> None:
    seen = watched() | {"stretch": None, "second": counted_second()}
    now = state(about(), seen)["now"]
    assert now["flash"] is now["room"] is now["buffer"] is now["lateness"] is None
    assert now["unit_utilisation_ratio"] == []
    assert (now["iops"], now["queue_depth"], now["late_ratio"]) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize("disks", [1, 3])
def test_disks_have_a_share_each(disks: int) -> None:
    now = state(about("hdd" if disks == 1 else "raid0", disks), watched(disks=disks))["now"]
    assert now["disk_utilisation_ratio"] == [0.4] * disks
    assert now["channel_utilisation_ratio"] == []


def test_a_row_is_what_lines_show() -> None:
    row = state(about(), watched())["row"]
    assert row["second"] == 7
    assert row["write_iops"] == 0.0
    assert row["write_latency_ns_p99"] is None
    assert row["write_amplification_ratio"] == 1.25
    assert row["free_blocks"] == 80


def printed_keys(value: Any, path: str = "") -> Iterator[str]:
    name = path.rpartition(".")[2]
    if isinstance(value, list):
        yield f"{path}[]"
    elif isinstance(value, dict) and name not in ("room", "flash", "disk", "lateness"):
        for key, inner in value.items():
            known = "*" if name == "operations" else key
            yield from printed_keys(inner, f"{path}.{known}" if path else known)
    else:
        yield path


def test_every_key_is_documented() -> None:
    documented = set(re.findall(r"^\| `([^`]+)` \|", DOCUMENT.read_text(), re.M))
    second = state(about(), watched())
    printed = set(printed_keys(second))
    # All of the time has the keys of the second.
    of_all = {"total.flash", "total.disk"}
    printed -= {f"total{key[3:]}" for key in printed if key.startswith("now.")} - of_all
    assert printed | {"now", "total", "row"} == documented
