"""What Lee et al. 2021 print: tables 3 and 5, and the numbers of section 4.2.

Table 4 is in `drivelab.firmware.lee2021`. Figures 1, 2a and 2b are drawn without numbers: only the
means and largest values that the text gives are known.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

REFERENCE: Final = "Lee et al. 2021, Learned Performance Model for SSD"

#: Table 3: feature, host, target.
TABLE_3: Final[tuple[tuple[str, str | float, str | float], ...]] = (
    ("processor", "Intel Xeon E5-2650v4", "ARM Cortex-A53, four cores"),
    ("frequency_ghz", 2.2, 1.2),
    ("l1_kib", 32.0, 32.0),
    ("l2_kib", 256.0, 256.0),
    ("l3_kib", 2560.0, 0.0),
)

#: Table 5: the event as this project calls it, the paper's name, its coefficient.
TABLE_5: Final = (
    ("cpu_cycles", "CPU_CYCLES", 0.25272),
    ("instructions", "INSTR", 0.01207),
    ("micro_operations", "RS_UOPS", 0.03795),
    ("branches", "BR_INSTS", -0.03385),
    ("branch_misses", "BR_MISSES", -0.09058),
    ("bus_cycles", "BUS_CYCLES", 0.17518),
    ("l1d_loads", "L1D_LOADS", 0.00592),
    ("l1d_stores", "L1D_STORES", 0.34963),
    ("llc_references", "LLC_REFS", 0.21461),
    ("llc_misses", "LLC_MISSES", 0.35629),
    ("stalled_cycles", "STALLED_CYCLES", 0.24247),
)

#: Section 4.2: the target's time over the host's, with Z-NAND added to both.
PLATFORM_RATIOS: Final = (1.16, 1.74)


@dataclass(frozen=True)
class PublishedErrors:
    """What section 4.2 says of one way to predict; ``None`` if it says nothing.

    Attributes
    ----------
    percent, most_percent
        Error of mean times: mean over the workloads, and the largest.
    p99_percent, most_p99_percent
        The same for the 99th percentile across records.
    seconds
        Sum of absolute errors in seconds; the target took 827.7 s altogether.
    """

    percent: float | None
    most_percent: float | None
    p99_percent: float | None
    most_p99_percent: float | None
    seconds: float | None


#: Published errors, by the model's name here.
ERRORS: Final = {
    "static": PublishedErrors(18.9, None, 23.6, None, 211.1),
    "linear": PublishedErrors(9.7, None, 13.5, None, 84.1),
    "network": PublishedErrors(3.1, 12.0, 7.3, 12.9, 53.1),
}
NOTHING: Final = PublishedErrors(None, None, None, None, None)
