"""The native core: request streams, simulated drives, closed forms and trees.

Its errors are those of `drivelab.errors`.
"""

# --- histogram -------------------------------------------------------------------------

HISTOGRAM_BINS: int
"""Bins of a latency histogram in fio's layout."""

def histogram_bin(latency_ns: int) -> int:
    """Return the bin that counts a latency."""

def histogram_value(bin: int) -> int:  # noqa: A002
    """Return the latency in ns that stands for a bin: its middle, as fio prints it."""

def histogram_range(bin: int) -> tuple[int, int]:  # noqa: A002
    """Return the smallest and the largest latency in ns that a bin counts."""

# --- workload --------------------------------------------------------------------------

SECTOR_BYTES: int
MAX_QUEUE_DEPTH: int
MAX_REQUEST_BYTES: int

CharacteristicsTuple = tuple[float, int, int, int, float, float, int, int]

def validate_characteristics(characteristics: CharacteristicsTuple, capacity_bytes: int) -> None:
    """Raise `UsageError` when a range of this many bytes cannot be asked for the workload."""

def generate(
    characteristics: CharacteristicsTuple,
    range_start: int,
    range_bytes: int,
    seed: int,
    index: int,
    count: int,
) -> tuple[bytes, list[int], list[int]]:
    """Return directions (0 read, 1 write; one byte a request), offsets and sizes in bytes."""
