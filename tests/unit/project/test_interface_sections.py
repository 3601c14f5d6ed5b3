"""VALIDATION.md's sections about arrays, queue pairs and handles; docs/placement.md's table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from validation import arrays, interfaces
from validation.document import Section
from validation.flash_cache import BLOCKS, KINDS, TARGET, Cached, table_text, with_table

if TYPE_CHECKING:
    from collections.abc import Callable


def test_arrays_are_compared_with_closed_forms_and_a_wrong_one_is_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    section = arrays.arrays()
    assert len(section.claims) == 10
    assert all(claim.holds for claim in section.claims)
    assert "| RAID-1 of 2 | 2.000 (2.000) | 1.000 (1.000) |" in section.markdown()
    # RAID-1 writes every copy.
    wrong = arrays._Case(1, 2, (), 2.0, 2.0)
    monkeypatch.setattr(arrays, "_CASES", (wrong,))
    assert not arrays.arrays().claims[0].holds


def test_queue_pairs_get_their_parts_and_others_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def section_of(expected: tuple[float, ...]) -> Section:
        turns = ("queue_pair_weights = [3, 1]", expected)
        monkeypatch.setattr(interfaces, "_TURNS", {"weights 3, 1": turns})
        section = Section("A title", "a command")
        interfaces._queue_pairs(section)
        return section

    assert [claim.holds for claim in section_of((3 / 4, 1 / 4)).claims] == [True]
    assert [claim.holds for claim in section_of((1 / 2, 1 / 2)).claims] == [False]


def cache_of(amplification: Callable[[str], float]) -> dict[tuple[float, str], Cached]:
    return {
        (spare, kind): Cached(amplification(kind), 5000.0 / amplification(kind))
        for spare in BLOCKS
        for kind in KINDS
    }


def test_the_table_of_a_flash_cache_stands_in_its_document() -> None:
    text = TARGET.read_text(encoding="utf-8")
    table = table_text(cache_of(lambda kind: 1.002 if KINDS[kind] else 3.456))
    assert "| 7 % | 3.46, 1,447 requests/s | 1.002, 4,990 requests/s |" in table
    assert table in with_table(text, table)
    assert all(f"\n| {100 * spare:.0f} % | " in text for spare in BLOCKS)
    with pytest.raises(ValueError, match="no table of a flash cache"):
        with_table("# A page without one\n", table)


def test_handles_that_do_not_help_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interfaces, "cached", lambda: cache_of(lambda kind: 3.0))
    section = Section("A title", "a command")
    interfaces._flash_cache(section)
    assert not any(claim.holds for claim in section.claims)
