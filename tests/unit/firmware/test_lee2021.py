"""The fifteen workloads compared with table 4 of Lee et al. 2021, and the page about them."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from drivelab._core import scenario_names
from drivelab.errors import UsageError
from drivelab.firmware.counted import CountedRequests, count_requests
from drivelab.firmware.lee2021 import (
    FIFTEEN,
    TOLERANCE,
    PublishedWorkload,
    beside_table4,
    counted_values,
    largest_difference,
    published_workload,
)
from drivelab.firmware.requests import RequestPlan, request_chunks

PAGE = (Path(__file__).parents[3] / "docs" / "firmware-workloads.md").read_text()
OF_8_KIB = [each for each in FIFTEEN if each.label[0] == "Y" or each.label in ("TC", "LB")]
each_workload = pytest.mark.parametrize("published", FIFTEEN, ids=lambda each: each.label)


@cache
def counted(label: str, shorter: int = 1) -> CountedRequests:
    workload = published_workload(label).workload()
    return count_requests(request_chunks(workload, RequestPlan(shorter=shorter)))


def gib(value: float) -> str:
    return f"{value:.3g}" if value < 100 else f"{value:.1f}"


# Half of the last digit that is printed is already 2.3 % of the smallest number.
@each_workload
def test_each_is_within_five_percent_of_the_table(published: PublishedWorkload) -> None:
    column, difference = largest_difference(published, counted(published.label))
    assert difference <= TOLERANCE, column
    assert counted(published.label).requests == 1000 * published.records


@each_workload
def test_the_page_shows_each_next_to_the_table(published: PublishedWorkload) -> None:
    found = counted_values(counted(published.label))
    texts = [f"{published.records:,}"]
    texts += [
        f"{asked:g} / {here:.4g}"
        for asked, here in zip(published.values()[1:3], found[1:3], strict=True)
    ]
    texts += [
        f"{asked:g} / {gib(here)}" if asked else "0"
        for asked, here in zip(published.values()[3:], found[3:], strict=True)
    ]
    row = f"| {published.label} | `{published.scenario}` | {' | '.join(texts)} |"
    assert row in PAGE


@each_workload
def test_the_page_says_what_a_fiftieth_is(published: PublishedWorkload) -> None:
    part = counted(published.label, 50)
    _, write, read, *sizes = counted_values(part)
    texts = [
        f"{part.records:.0f}",
        f"{write:.1f}",
        f"{read:.1f}",
        *(f"{size:.3g}" for size in sizes),
    ]
    assert f"| {published.label} | {' | '.join(texts)} |" in PAGE
    # A burst of 512 of the shortest, which has 16,000 requests, is 3 % of them.
    assert write == pytest.approx(published.write_percent, abs=1.0)


def test_the_page_says_how_many_requests_and_the_largest_difference() -> None:
    assert f"all {1000 * sum(each.records for each in FIFTEEN):,} requests" in PAGE
    differences = {each.label: largest_difference(each, counted(each.label)) for each in FIFTEEN}
    label, (_, most) = max(differences.items(), key=lambda item: item[1][1])
    assert f"The largest difference is {100 * most:.1f} % ({label}, data read)." in PAGE


def test_every_scenario_of_the_paper_is_one_of_the_fifteen() -> None:
    named = [name for name in scenario_names() if name.startswith("lee2021-")]
    assert sorted(each.scenario for each in FIFTEEN) == named
    assert len({each.label for each in FIFTEEN}) == len(FIFTEEN) == 15


def test_footprints_are_no_larger_than_volumes_so_they_may_count_different_bytes() -> None:
    for each in FIFTEEN:
        assert each.write_footprint_gib <= each.write_volume_gib
        assert each.read_footprint_gib <= each.read_volume_gib


@pytest.mark.parametrize("published", OF_8_KIB, ids=lambda each: each.label)
def test_volumes_of_small_requests_are_8_kib_each_within_what_is_rounded(
    published: PublishedWorkload,
) -> None:
    for percent, volume in [
        (published.write_percent, published.write_volume_gib),
        (published.read_percent, published.read_volume_gib),
    ]:
        least, most = (
            1000 * published.records * (percent + half) / 100 * 8192 / 2**30 for half in (-0.5, 0.5)
        )
        assert least < volume + 0.05
        assert most > volume - 0.05


def test_the_table_has_two_cells_of_each_column() -> None:
    published = published_workload("YC")
    table = beside_table4([(published, counted("YC"))])
    (row,) = table.records()
    assert row["label"] == "YC"
    assert row["FP W GiB, paper"] == 2.2
    assert row["FP W GiB, here"] == pytest.approx(2.2, rel=TOLERANCE)
    assert len(table.columns) == 2 + 2 * 7


def test_a_workload_that_differs_is_found() -> None:
    column, difference = largest_difference(published_workload("YA"), counted("YC"))
    assert column == "FP W GiB"
    assert difference == pytest.approx(1 - 2.2 / 3.8, rel=0.01)
    assert largest_difference(published_workload("SR"), counted("YC"))[1] == float("inf")


def test_an_unknown_label_is_answered_with_all() -> None:
    assert published_workload("lee2021-tpc-c").label == "TC"
    with pytest.raises(UsageError, match=re.escape("there is no workload 'XX'; those of Lee")):
        published_workload("XX")
