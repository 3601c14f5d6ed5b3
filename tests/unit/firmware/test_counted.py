"""What a list holds is counted as a set of sectors would."""

from __future__ import annotations

import numpy as np
import pytest

from drivelab.errors import UsageError
from drivelab.firmware.counted import count_requests
from drivelab.firmware.requests import KINDS, REQUEST


def test_it_counts_as_sets_of_sectors_do() -> None:
    rng = np.random.default_rng(3)
    requests = np.zeros(3000, dtype=REQUEST)
    requests["first"] = rng.integers(0, 50_000, 3000)
    requests["sectors"] = rng.integers(1, 300, 3000)
    requests["kind"] = rng.integers(0, 3, 3000)
    found = count_requests(np.array_split(requests, 7))
    for number, kind in enumerate(KINDS):
        of_kind = requests[requests["kind"] == number]
        sectors = {
            sector
            for first, count in zip(of_kind["first"], of_kind["sectors"], strict=True)
            for sector in range(int(first), int(first) + int(count))
        }
        counted = getattr(found, kind)
        assert counted.requests == len(of_kind)
        assert counted.volume_bytes == 512 * int(of_kind["sectors"].sum())
        assert counted.footprint_bytes == 512 * len(sectors)
        assert counted.end_bytes == 512 * (max(sectors) + 1)
        assert found.percent(kind) == 100 * len(of_kind) / 3000
    assert (found.requests, found.records) == (3000, 3.0)


def test_nothing_is_nothing() -> None:
    found = count_requests([])
    assert (found.requests, found.percent("read"), found.write.footprint_bytes) == (0, 0.0, 0)


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        ((0, 1, 3), "of kind 3; allowed: 0 .read., 1 .write., 2 .trim."),
        ((0, 0, 1), "of 0 sectors at sector 0; allowed: 1 or more"),
        ((2047, 2, 1), "of 2 sectors at sector 2047; allowed: 1 or more, within 2048 sectors"),
        ((2**64 - 1, 1, 0), "at sector 18446744073709551615"),
    ],
)
def test_what_is_no_request_on_the_drive_is_refused(request_: tuple, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        count_requests([np.array([request_], dtype=REQUEST)], 1 << 20)
