"""Tables of prices: one line for each mistake in one."""

from __future__ import annotations

from pathlib import Path

import pytest

from drivelab.errors import UsageError
from drivelab.prices import Price, read_prices

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
        (f'{HEAD}"si\nm:a",1,1,\n', "line 3: the drive 'si\\nm:a' contains characters that cannot"),
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
