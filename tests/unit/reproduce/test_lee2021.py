"""Lee et al. 2021 from made-up records whose answers are known by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from made_profile import profiled

from drivelab.errors import UsageError
from drivelab.exhibits import Table, numbers
from drivelab.firmware.counted import CountedKind, CountedRequests, count_requests
from drivelab.firmware.lee2021 import published_workload
from drivelab.firmware.network_search import NetworkSearch
from drivelab.firmware.profiled import Profiled
from drivelab.firmware.requests import request_chunks
from drivelab.reproduce import lee2021
from drivelab.reproduce.claims import Reproduction
from drivelab.reproduce.lee2021 import reproduction_of
from drivelab.reproduce.lee2021_published import TABLE_5

LABELS = {"RR": 1000, "RW": 0, "TC": 480, "YA": 590}


def counted(label: str) -> CountedRequests:
    return count_requests(request_chunks(published_workload(label).workload()))


@pytest.fixture(scope="module")
def found() -> Reproduction:
    profiles = [profiled(label, reads, records=40, scatter=0.05) for label, reads in LABELS.items()]
    return reproduction_of(profiles, {"TC": counted("TC")})


def table(found: Reproduction, name: str) -> Table:
    (one,) = [each for each in found.tables if each.name == name]
    return one


def column(found: Reproduction, name: str, of: str) -> list[float]:
    return numbers(table(found, name).column(of))


def test_flash_is_spread_over_the_dies_and_added(found: Reproduction) -> None:
    # A random read: 6 us of firmware, 12 us of Z-NAND over 32 dies, 150 us of conventional NAND.
    (row,) = table(found, "figure_1").records(workload="RR")
    firmware_us = column(found, "figure_1", "firmware_us")[0]
    assert firmware_us == pytest.approx(6.0, rel=0.05)
    assert row["z_nand_us"] == pytest.approx(12 / 32)
    assert row["nand_us"] == pytest.approx(150 / 32)
    assert row["z_nand_percent"] == pytest.approx(100 * firmware_us / (firmware_us + 12 / 32))
    ratios = column(found, "figure_2a", "ratio_with_flash")
    whole = firmware_us + 12 / 32, firmware_us / 4 + 12 / 32
    assert ratios[0] == pytest.approx(whole[0] / whole[1])


def test_an_error_shrinks_by_the_flash_that_is_added(found: Reproduction) -> None:
    alone = column(found, "figure_2a_errors", "linear_percent")
    added = column(found, "figure_2a_errors_with_flash", "linear_percent")
    target = column(found, "figure_2a", "target_ms")
    flash = column(found, "figure_2a", "flash_ms")
    for off, less, own, more in zip(alone, added, target, flash, strict=True):
        assert less == pytest.approx(off * own / (own + more))


def test_events_follow_the_time_where_they_are_made_to(found: Reproduction) -> None:
    assert len(table(found, "table_5").rows) == len(TABLE_5) == 11
    (row,) = table(found, "table_5").records(event="INSTR")
    assert row["coefficient"] == pytest.approx(1.0)
    assert row["published_coefficient"] == 0.01207


def test_percentiles_need_500_records(found: Reproduction) -> None:
    assert not table(found, "figure_2b").rows
    assert not any("99th" in each.name for each in found.orderings)
    assert "figure_2b.svg" not in found.drawings


def test_a_workload_that_is_not_the_papers_fails(found: Reproduction) -> None:
    assert not [each for each in found.claims if not each.holds]
    half = counted("TC")
    fewer = CountedRequests(
        **{
            name: CountedKind(
                each.requests // 2, each.volume_bytes, each.footprint_bytes, each.end_bytes
            )
            for name, each in (("read", half.read), ("write", half.write), ("trim", half.trim))
        }
    )
    profiles = [profiled(label, reads) for label, reads in LABELS.items()]
    failed = [each.name for each in reproduction_of(profiles, {"TC": fewer}).failures]
    assert "table 4, TC: records" in failed


def test_a_model_that_is_off_fails() -> None:
    """A workload whose time nothing predicts is far off, and is named."""
    profiles = [profiled(label, reads, records=8, scatter=0.01) for label, reads in LABELS.items()]
    odd = profiles[2]
    times = odd.target.values * np.where([c.name == "time_ns" for c in odd.target.columns], 3, 1)
    strange = type(odd.target)(odd.target.columns, times, {})
    profiles[2] = type(odd)(odd.label, odd.counted, odd.host, strange)
    failed = [each.name for each in reproduction_of(profiles, {}).failures]
    assert any(name.startswith("its largest error of a workload") for name in failed)


def test_without_a_folder_nothing_is_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Ctrl-C then cannot say that workloads are kept in a folder that goes with it."""
    asked: list[Path | None] = []

    def profile(workloads: object, bench: object, path: Path | None) -> list[Profiled]:
        asked.append(path)
        return [profiled(label, reads, records=6) for label, reads in LABELS.items()]

    def reproduction(profiles: object, counted: object, search: NetworkSearch) -> Reproduction:
        asked.append(search.path)
        assert not search.profile
        raise UsageError("enough")

    monkeypatch.setattr(lee2021, "observers", lambda: (None, None))
    monkeypatch.setattr(lee2021, "firmware_program", lambda: None)
    monkeypatch.setattr(lee2021, "count_requests", lambda _: None)
    monkeypatch.setattr(lee2021, "profile_firmware", profile)
    monkeypatch.setattr(lee2021, "reproduction_of", reproduction)
    with pytest.raises(UsageError, match="enough"):
        lee2021.reproduce()
    assert asked == [None, None]
