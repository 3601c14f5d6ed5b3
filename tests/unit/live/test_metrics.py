"""Metrics in Prometheus' text format 0.0.4, read by a second, strict reader."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pytest
from made_watched import COUNTS, about, watched

from drivelab.live.metrics import metrics

_NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
_SAMPLE = re.compile(rf"({_NAME})(?:\{{(.*)\}})? (\S+)\Z")
_LABEL = re.compile(rf'({_NAME})="((?:[^"\\\n]|\\["\\n])*)"(?:,|\Z)')


class Family:
    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.samples: list[tuple[str, dict[str, str], float]] = []


def parsed(text: str) -> dict[str, Family]:
    """Read an exposition: every sample stands behind the head of its family, each once."""
    families: dict[str, Family] = {}
    helped, name = set(), ""
    assert text.endswith("\n")
    for line in text.splitlines():
        if line.startswith("# HELP "):
            name = line.split(" ", 3)[2]
            assert name not in helped
            helped.add(name)
        elif line.startswith("# TYPE "):
            _, _, of, kind = line.split(" ")
            assert of == name
            families[name] = Family(kind)
        else:
            match = _SAMPLE.match(line)
            assert match, line
            labels, at = {}, 0
            while match[2] and at < len(match[2]):
                label = _LABEL.match(match[2], at)
                assert label, line
                labels[label[1]] = re.sub(r"\\(.)", lambda m: m[1].replace("n", "\n"), label[2])
                at = label.end()
            families[name].samples.append((match[1], labels, float(match[3])))
    for of, family in families.items():
        _check(of, family)
    return families


def _check(name: str, family: Family) -> None:
    seen = [(sample, tuple(sorted(labels.items()))) for sample, labels, _ in family.samples]
    assert len(set(seen)) == len(seen)
    if family.kind == "histogram":
        assert {sample for sample, _, _ in family.samples} <= {
            f"{name}_{part}" for part in ("bucket", "sum", "count")
        }
        return
    assert family.kind in ("counter", "gauge")
    assert all(sample == name for sample, _, _ in family.samples)
    assert (family.kind == "counter") == name.endswith("_total")


def value(families: Mapping[str, Family], name: str, **labels: Any) -> float:
    base = re.sub(r"_(bucket|sum|count)\Z", "", name)
    of = families.get(name) or families[base]
    wanted = {key: str(one) for key, one in labels.items()}
    (found,) = [v for sample, has, v in of.samples if sample == name and has == wanted]
    return found


def test_counters_come_from_the_one_table() -> None:
    families = parsed(metrics(about(), watched(collecting=4)))
    for name, count in COUNTS.items():
        assert value(families, f"drivelab_flash_{name}_total") == count
    assert value(families, "drivelab_flash_write_amplification_ratio") == 1.25
    assert "drivelab_flash_bad_blocks_total" not in families
    assert value(families, "drivelab_collecting_planes") == 4
    assert value(families, "drivelab_buffer_taken_bytes") == 65_536
    info = families["drivelab_info"].samples[0][1]
    assert info["drive"] == 'sim:"odd\\name".toml'


def test_buckets_are_cumulative_and_exact_at_their_bounds() -> None:
    families = parsed(metrics(about(), watched()))
    buckets = [
        (float(labels["le"]), count)
        for name, labels, count in families["drivelab_latency_seconds"].samples
        if name.endswith("_bucket")
    ]
    assert buckets == sorted(buckets)
    latencies = (1000, 1024, 80_000, 90_000, 2_000_000)
    for bound, count in buckets:
        assert count == sum(latency <= bound * 1e9 + 1e-3 for latency in latencies), bound
    assert buckets[-1] == (float("inf"), 5)
    count = value(families, "drivelab_latency_seconds_count", operation="read")
    total = value(families, "drivelab_latency_seconds_sum", operation="read")
    assert (count, total) == (5, pytest.approx(sum(latencies) / 1e9))


def test_dies_lie_on_their_channels_and_members() -> None:
    families = parsed(metrics(about("raid0", 2), watched(channels=4, units=16)))
    units = families["drivelab_unit_busy_seconds_total"].samples
    assert len(units) == 16
    for _, labels, _ in units:
        assert int(labels["unit"]) % 2 == int(labels["channel"])
    assert {labels["member"] for _, labels, _ in units} == {"0", "1"}


def test_a_disk_has_no_flash() -> None:
    families = parsed(metrics(about("hdd"), watched(disks=1)))
    assert value(families, "drivelab_disk_busy_seconds_total", member=0) == 0.5
    assert value(families, "drivelab_disk_media_reads_total") == 3
    assert not [name for name in families if "flash" in name or "block" in name]


def test_before_the_first_request_there_is_nothing_to_divide() -> None:
    from made_watched import counted_second

    seen = watched() | {"total": counted_second(), "stretch": None}
    families = parsed(metrics(about(), seen))
    assert value(families, "drivelab_wall_seconds_total") == 0
    assert families["drivelab_latency_seconds"].samples == []
