"""The counts of a model of firmware (`drivelab.firmware_model.costs`), from the program's records.

====================  =======================================================================
count                 from the record
====================  =======================================================================
``command``           commands
``read_page``         pages, shared out as reads and writes are
``written_page``      the rest of them
``copied_kib``        copied_bytes
``flash_read``        flash_reads without those of pages that were moved
``flash_program``     flash_programs without those of pages that were moved
``page_moved``        pages_moved
``flash_erase``       flash_erases
====================  =======================================================================

A record that mixes reads and writes of different sizes has its pages shared out wrongly; those of
table 4 of Lee et al. 2021 do not mix them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from drivelab.firmware_model.costs import COUNTS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from drivelab.firmware.record_logs import RecordLog

    Array = NDArray[np.float64]


def counted_work(counted: RecordLog) -> Array:
    """Return the counts of records, shape (records, counts), in the order of `COUNTS`."""
    pages, moved = counted.column("pages"), counted.column("pages_moved")
    reads, writes = counted.column("reads"), counted.column("writes")
    written = pages * writes / np.maximum(reads + writes, 1)
    found = {
        "command": counted.column("commands"),
        "read_page": pages - written,
        "written_page": written,
        "copied_kib": counted.column("copied_bytes") / 1024,
        "flash_read": counted.column("flash_reads") - moved,
        "flash_program": counted.column("flash_programs") - moved,
        "page_moved": moved,
        "flash_erase": counted.column("flash_erases"),
    }
    return np.column_stack([found[name] for name in COUNTS])
