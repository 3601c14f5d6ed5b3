"""Tables of prices: what is wrong in one is said in a line; what drives cost for what they do."""

from __future__ import annotations

from pathlib import Path

import pytest
from made_choice import candidate

from drivelab.choose.prices import Price, costs, read_prices
from drivelab.choose.words import cheapest_text
from drivelab.errors import UsageError

HEAD = "drive,price,watts,capacity\n"


def written(folder: Path, text: str) -> Path:
    path = folder / "prices.csv"
    path.write_text(text)
    return path


def test_rows_of_the_named_drives_are_read(tmp_path: Path) -> None:
    path = written(tmp_path, f"{HEAD}sim:b,99.5,7,\n\n sim:a , 40 ,3.5, 1TB\nsim:c,1,1,1GB\n")
    assert read_prices(path, ["sim:a", "sim:b"]) == {
        "sim:a": Price(40.0, 3.5, 10**12),
        "sim:b": Price(99.5, 7.0, None),
    }
    path = written(tmp_path, '\ufeffwatts,drive,price\r\n2,"sim:a",3\r\n')
    assert read_prices(path, ["sim:a"]) == {"sim:a": Price(3.0, 2.0, None)}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "prices.csv, line 1: no column drive; allowed: drive,price,watts and, if you like"),
        ("drive,price\nsim:a,1\n", "line 1: no column watts"),
        ("drive,price,watts,colour\n", "line 1: column 'colour' is unknown; allowed"),
        ("drive,price,watts,price\n", "line 1: column 'price' is twice"),
        (f"{HEAD}sim:a,1\n", "line 2: 2 cells under 4 columns; allowed: one each"),
        (f"{HEAD}sim:a,cheap,1,\n", "line 2: price is 'cheap'; allowed: a number above 0"),
        (f"{HEAD}sim:a,0,1,\n", "line 2: price is '0'"),
        (f"{HEAD}sim:a,nan,1,\n", "line 2: price is 'nan'"),
        (f"{HEAD}sim:a,1_0,1,\n", "line 2: price is '1_0'"),
        (f"{HEAD}sim:a,1,-3,\n", "line 2: watts is '-3'"),
        (f"{HEAD}sim:a,1,,\n", "line 2: watts is ''"),
        (f"{HEAD}sim:a,1,1,big\n", "line 2: capacity: "),
        (f"{HEAD}sim:a,1,1,0\n", "line 2: capacity is 0; allowed: more"),
        (f"{HEAD}sim:a,1,1,\nsim:a,2,2,\n", "line 3: sim:a has a row already; leave one"),
        (f'{HEAD}"si\nm:a",1,1,\n', r"line 3: the drive 'si\nm:a' holds characters that are not"),
        (f'{HEAD}sim:a,1,1,"\n', "no CSV: "),
        (f"{HEAD}sim:aa,1,1,\n", "has no row for sim:a; did you mean sim:aa? add a line with its"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_prices(written(tmp_path, text), ["sim:a"])
    assert said in str(caught.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"there is no file .*none.csv; write one with drive,"):
        read_prices(tmp_path / "none.csv", ["sim:a"])


PRICES = {"sim:a": Price(50.0, 4.0, 10**12), "sim:b": Price(30.0, 8.0, None)}


def test_a_rate_that_is_asked_for_takes_whole_drives() -> None:
    # 10,000 and 2,000 requests a second.
    drives = [candidate("sim:a", [1e5, 1e5]), candidate("sim:b", [5e5, 5e5])]
    one, other = costs(drives, PRICES, 10_001)
    assert (one.iops_per_price, one.iops_per_watt) == (200.0, 2500.0)
    assert one.price_per_terabyte == 50.0
    # What the table does not say is as large as the drive.
    assert other.price_per_terabyte == pytest.approx(30.0 / (2**30 / 1e12))
    assert (one.drives, one.rate_price, one.rate_watts) == (2, 100.0, 8.0)
    assert (other.drives, other.rate_price, other.rate_watts) == (6, 180.0, 48.0)
    assert cheapest_text([one, other]) == (
        "10,001 IOPS cost least with sim:a: 2 drives, 100 in all, 8 W."
    )


def test_without_a_rate_no_number_of_drives_is_named() -> None:
    found = costs([candidate("sim:a", [1e5, 1e5])], PRICES, None)
    assert (found[0].drives, found[0].rate_price, found[0].rate_watts) == (None, None, None)
    assert cheapest_text(found) is None


def test_what_arrives_at_a_rate_is_the_rate() -> None:
    # Arrivals at random are never exactly as many as were asked for.
    able = candidate("sim:a", [1e5, 1e5], rate_iops=1000, served_iops=996)
    behind = candidate("sim:b", [1e5, 1e5], rate_iops=1000, served_iops=300)
    one, other = costs([able, behind], PRICES, None)
    assert (one.rate_iops, one.drives) == (1000, 1)
    assert (other.rate_iops, other.drives) == (1000, 4)
