"""Terms that a report explains where it first uses them."""

from __future__ import annotations

import re
from typing import Final

#: Pattern of a term in a page, and its meaning.
_TERMS: Final = (
    (
        "mean latency|latency|latencies",
        "how long a request takes, from handing it over to its answer",
    ),
    ("bandwidth", "bytes moved a second, in millions (MB/s)"),
    ("throughput|IOPS", "requests completed a second (IOPS)"),
    ("queue depths?", "how many requests the drive has in hand at any time"),
    ("sequential", "each request starts where the one before it ended"),
    ("strided?", "with a gap between the end of a request and the start of the next"),
    ("random", "each request goes anywhere"),
    ("percentiles?", "at 99 %, one of a hundred requests takes longer"),
    ("MRE", "mean relative error: how far predictions are off on average, as a share of the value"),
    ("write amplification", "bytes written to the flash for each byte that the host writes"),
    ("steady state", "the drive has settled: more of the same writing changes its speed no more"),
)
#: What each term means, in the order of `TERM`'s groups.
MEANINGS: Final = tuple(meaning for _, meaning in _TERMS)
#: Finds a term; the number of the matching group, minus one, is its index in `MEANINGS`.
TERM: Final = re.compile(
    "|".join(rf"(?<![\w-])({spellings})(?![\w-])" for spellings, _ in _TERMS), re.IGNORECASE
)
