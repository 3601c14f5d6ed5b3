"""The head of a report: everything that identifies the run, in words."""

from __future__ import annotations

import pytest
from made_run import header

from drivelab.campaign.exhibits.identity import identity
from drivelab.campaign.exhibits.plan_words import plan_words
from drivelab.drives.plan import MeasurementPlan


def facts_of(described: dict[str, object], group: str) -> dict[str, str]:
    return next(dict(one.facts) for one in identity(described).groups if one.title == group)


def test_identity_is_in_groups_and_in_words() -> None:
    found = identity(header())
    assert [group.title for group in found.groups] == [
        "The drive",
        "The workloads",
        "How each was simulated",
        "Where and when",
    ]
    drive = facts_of(header(), "The drive")
    assert drive["Drive"] == "sim:made"
    assert drive["Kind of drive"] == "Simulated drive"
    assert drive["Capacity"] == "74.5 GiB (80,000,000,000 bytes)"
    assert facts_of(header(), "The workloads")["Design"] == "huang2011:300"
    assert facts_of(header(), "Where and when")["Started"] == "2026-01-02 03:04:05 UTC"
    assert facts_of(header(), "How each was simulated") == {
        "How long": "After 2,000 requests of warm-up, 20,000 requests",
        "Seed": "7",
    }
    assert [one.title for one in found.documents] == ["Preset"]


def test_identity_leaves_nothing_out() -> None:
    preset = {"name": "made", "timing": {f"part_{place}_ns": place for place in range(12)}}
    described = header()
    described["drive"]["identity"] = {"name": "sim:made", "preset": preset}
    nested = identity(described)
    assert {one.title: one.text for one in nested.documents}["Preset"].startswith(
        'name = "made"\ntiming.part_0_ns = 0\n'
    )
    drive = facts_of(described, "The drive")
    assert "Name" not in drive
    unknown = header() | {"room": {"number_of_fans": 3, "empty": None}}
    assert facts_of(unknown, "Where and when")["Room number of fans"] == "3"


def test_a_real_drive_says_what_it_is_and_what_it_keeps_to_itself() -> None:
    described = header("/dev/sda", "real")
    described["drive"]["identity"] = {
        "path": "/dev/sda",
        "size_bytes": 80_000_000_000,
        "device": {
            "model": "M 1",
            "serial": "S1",
            "firmware": None,
            "scheduler": "none",
            "volatile": {"path": "/dev/sda"},
        },
        "file_system": "ext4",
        "direct_io": True,
        "volatile": {"kernel_release": "6.1"},
    }
    assert list(facts_of(described, "The drive").items()) == [
        ("Drive", "/dev/sda"),
        ("Kind of drive", "Real drive"),
        ("Capacity", "74.5 GiB (80,000,000,000 bytes)"),
        ("File system", "ext4"),
        ("Model of the drive", "M 1"),
        ("Its serial number", "S1"),
        ("Its firmware", "unknown"),
        ("I/O scheduler", "none"),
        ("Device node", "/dev/sda"),
        ("Past the page cache (direct I/O)", "yes"),
        ("Kernel", "6.1"),
    ]


def test_every_start_is_shown_with_what_changed() -> None:
    described = header()
    first = described["origin"]
    again = first | {"started_at": "2026-01-03T00:00:00+00:00", "host": "elsewhere"}
    found = identity(described, [first, again])
    went_on = dict(found.groups[-1].facts)["Went on"]
    assert went_on == "2026-01-03 00:00:00 UTC, Host elsewhere"
    assert "Went on" not in dict(identity(described, [first]).groups[-1].facts)


@pytest.mark.parametrize(
    ("plan", "kind", "text"),
    [
        (
            MeasurementPlan(warmup_requests=0, requests=20_000),
            "simulated",
            "Without warm-up, 20,000 requests",
        ),
        (
            MeasurementPlan.of_kind("real", seconds=2.0),
            "real",
            "After 200 ms of warm-up, 2.00 s",
        ),
        (
            MeasurementPlan.of_kind("simulated", half_width_ratio=0.01),
            "simulated",
            "After 2,000 requests of warm-up, at least 5,000 requests, and until the mean latency "
            "was known to within 1 % (95 % confidence), or 400,000 requests at most",
        ),
        (
            MeasurementPlan(requests=100, seconds=3.0, warmup_seconds=1.0, warmup_requests=5),
            "simulated",
            "After 5 requests and 1.00 s of simulated time of warm-up, 100 requests or 3.00 s of "
            "simulated time, whichever came first",
        ),
        (
            MeasurementPlan.of_kind("real", half_width_ratio=0.05),
            "real",
            "After 1.00 s of warm-up, until the mean latency was known to within 5 % (95 % "
            "confidence), or 400,000 requests or 10.0 s at most",
        ),
        (MeasurementPlan(), "closed_form", "calculated, not waited for"),
    ],
)
def test_a_plan_in_a_sentence(plan: MeasurementPlan, kind: str, text: str) -> None:
    assert plan_words(plan.to_json(), kind) == text
