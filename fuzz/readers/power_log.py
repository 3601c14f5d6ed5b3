"""Power logs: the times of readings increase, and the energy is the plain sum of their parts."""

from __future__ import annotations

import itertools
import math

from drivelab.pts.power import MOST_GAP_SECONDS, read_power_log
from fuzz.reader import Reader, file_of


def _check(data: bytes) -> None:
    log = read_power_log(file_of("power.csv", data))
    assert len(log.times) == len(log.watts) >= 2
    assert all(map(math.isfinite, (*log.times, *log.watts)))
    pairs = list(itertools.pairwise(zip(log.times, log.watts, strict=True)))
    assert all(earlier < later for (earlier, _), (later, _) in pairs)
    joules = log.joules(log.times[0], log.times[-1])
    if any(later - earlier > MOST_GAP_SECONDS for (earlier, _), (later, _) in pairs):
        assert joules is None
        return
    parts = [(later - earlier) * (low + high) / 2 for (earlier, low), (later, high) in pairs]
    assert joules is not None
    assert math.isclose(joules, sum(parts), rel_tol=1e-9, abs_tol=1e-9)


def _seeds() -> list[bytes]:
    return [
        b"time,watts\n1700000000,3.1\n1700000001.5,4.9\n1700000002,0\n",
        b"Watts, note ,TIME\r\n3.1,a,2026-11-22T12:00:00+01:00\r\n\r\n5,b,2026-11-22T11:00:05Z\r\n",
        b'\xef\xbb\xbftime,watts\n"0",1e1\n60,2\n',
    ]


READER = Reader("power_log", ("drivelab.pts.power",), _check, _seeds)
