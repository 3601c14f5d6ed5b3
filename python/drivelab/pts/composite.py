"""The specification's composite workload: sizes and addresses as enterprises use them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from drivelab.errors import UsageError

if TYPE_CHECKING:
    from drivelab.pts.applied_settings import AppliedSettings
    from drivelab.workloads.stimulus import Stimulus

#: Bytes of a request, and its share.
SIZES: Final = (
    (512, 0.04),
    *((sectors * 512, 0.01) for sectors in (2, 3, 4, 5, 6, 7)),
    (4096, 0.67),
    (8192, 0.10),
    (16384, 0.07),
    (32768, 0.03),
    (65536, 0.03),
)
#: Share of accesses and share of the range, from its beginning.
ZONES: Final = ((0.50, 0.05), (0.30, 0.15), (0.20, 0.80))
READ_RATIO: Final = 0.40


def composite(applied: AppliedSettings, read_ratio: float = READ_RATIO, **others: Any) -> Stimulus:
    """Return the composite workload.

    Raises
    ------
    UsageError
        If the drive's blocks are larger than its smallest requests, 512 B.
    """
    if applied.extent.block_bytes > SIZES[0][0]:
        raise UsageError(
            f"the composite workload has requests of {SIZES[0][0]} B, and the drive's blocks are "
            f"{applied.extent.block_bytes} B; allowed: tests of one block size, or a drive with "
            "blocks of 512 B"
        )
    return applied.stimulus(SIZES, read_ratio, zones=ZONES, **others)
