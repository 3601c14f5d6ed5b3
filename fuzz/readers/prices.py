"""Tables of prices: each price is a valid amount, and a rewritten table says the same."""

from __future__ import annotations

import math

from drivelab.csv_text import csv_text
from drivelab.prices import read_prices
from fuzz.reader import Reader, file_of

_DRIVE = "sim:x25m"


def _check(data: bytes) -> None:
    found = read_prices(file_of("prices.csv", data), [_DRIVE])
    (price,) = found.values()
    assert math.isfinite(price.price)
    assert price.price > 0
    assert math.isfinite(price.watts)
    assert price.watts > 0
    assert price.capacity_bytes is None or price.capacity_bytes > 0
    row = (_DRIVE, price.price, price.watts, price.capacity_bytes)
    again = csv_text(("drive", "price", "watts", "capacity"), [row])
    assert read_prices(file_of("again.csv", again.encode()), [_DRIVE]) == found


def _seeds() -> list[bytes]:
    return [
        b"drive,price,watts,capacity\nsim:x25m,120,2.4,80GB\n/dev/sda,1e2,.5,\n",
        b"\xef\xbb\xbfwatts, drive ,price\r\n3.5,sim:x25m,99.90\r\n\r\n",
        b'drive,price,watts\n"sim:x25m",7,8\n"a,b",1,1\n',
    ]


READER = Reader("prices", ("drivelab.prices",), _check, _seeds)
