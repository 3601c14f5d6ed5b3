"""Numbers as people read them."""

from __future__ import annotations

import pytest

from drivelab.exhibits.quantities import count_text, share_and_rest


@pytest.mark.parametrize(
    ("share", "texts"),
    [
        (111 / 200, ("55.5 %", "44.5 %")),
        (1 - 89 / 200, ("55.5 %", "44.5 %")),
        (1 / 3, ("33 %", "67 %")),
        (0.087, ("8.7 %", "91.3 %")),
        (1.0, ("100 %", "0.0 %")),
        (0.0, ("0.0 %", "100 %")),
        (0.0001, ("<0.1 %", "100 %")),
    ],
)
def test_a_share_and_its_rest_add_up(share: float, texts: tuple[str, str]) -> None:
    assert share_and_rest(share) == texts


def test_all_shares_of_a_thousand_add_up() -> None:
    for count in range(1, 1000):
        shown = [float(text.removesuffix(" %")) for text in share_and_rest(count / 1000)]
        assert sum(shown) == pytest.approx(100)


def test_things_are_counted() -> None:
    assert [count_text(count, "flush") for count in (1, 2)] == ["1 flush", "2 flushes"]
    assert [count_text(count, "request") for count in (0, 1, 2000)] == [
        *("0 requests", "1 request", "2,000 requests")
    ]
