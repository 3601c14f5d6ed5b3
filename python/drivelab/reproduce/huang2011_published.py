"""The numbers of tables II to VI of Huang et al. 2011, as printed.

MAE and mean are in ms, MB/s or IO/s. The paper prints the same mean in tables II and III for each
of its four drives, and two different ones for the array.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Published:
    """Accuracy of one model: a row of tables II, III, V and VI."""

    r2: float
    mae: float
    mean: float
    mre_percent: float


@dataclass(frozen=True)
class PublishedSpecific:
    """Accuracy of one workload-specific model: a cell of table IV."""

    r2: float
    mre_percent: float


LATENCY: Final = "latency_ns_mean"
BANDWIDTH: Final = "bandwidth_bytes_per_second"
THROUGHPUT: Final = "iops"

#: The paper's single drives, in the order of tables II and III.
DEVICES: Final = ("HDD_S", "SSD_I", "SSD_A", "SSD_S")
ARRAY: Final = "Array_I"
#: The drives of table IV.
SPECIFIC_DEVICES: Final = ("HDD_S", "SSD_I", "SSD_A")

#: Table II, and table V for the array: by performance and device.
BASIC: Final = {
    LATENCY: {
        "HDD_S": Published(0.808, 28.94, 94.61, 90),
        "SSD_I": Published(0.627, 6.90, 15.97, 63),
        "SSD_A": Published(0.926, 5.61, 36.31, 23),
        "SSD_S": Published(0.693, 14.21, 34.90, 55),
        "Array_I": Published(0.763, 3.21, 8.78, 59),
    },
    BANDWIDTH: {
        "HDD_S": Published(0.281, 7.29, 14.63, 110),
        "SSD_I": Published(0.515, 21.87, 68.61, 40),
        "SSD_A": Published(0.570, 15.72, 38.17, 86),
        "SSD_S": Published(0.548, 13.66, 36.33, 63),
        "Array_I": Published(0.446, 41.87, 98.82, 60),
    },
    THROUGHPUT: {
        "HDD_S": Published(0.080, 467, 664, 50),
        "SSD_I": Published(0.500, 1547, 3967, 53),
        "SSD_A": Published(0.765, 246, 1054, 19),
        "SSD_S": Published(0.459, 749, 1702, 48),
        "Array_I": Published(0.399, 1980, 4346, 52),
    },
}
#: Table III, and table VI for the array.
EXTENDED: Final = {
    LATENCY: {
        "HDD_S": Published(0.866, 17.96, 94.61, 26),
        "SSD_I": Published(0.986, 1.42, 15.97, 12),
        "SSD_A": Published(0.976, 3.16, 36.31, 9),
        "SSD_S": Published(0.911, 6.22, 34.90, 20),
        "Array_I": Published(0.939, 1.43, 8.15, 23),
    },
    BANDWIDTH: {
        "HDD_S": Published(0.768, 3.67, 14.63, 35),
        "SSD_I": Published(0.981, 3.91, 68.61, 6),
        "SSD_A": Published(0.882, 6.29, 38.17, 18),
        "SSD_S": Published(0.917, 5.21, 36.33, 19),
        "Array_I": Published(0.885, 18.45, 101.70, 25),
    },
    THROUGHPUT: {
        "HDD_S": Published(0.870, 152, 664, 18),
        "SSD_I": Published(0.970, 254, 3967, 6),
        "SSD_A": Published(0.971, 74, 1054, 8),
        "SSD_S": Published(0.951, 212, 1702, 15),
        "Array_I": Published(0.860, 934, 4875, 17),
    },
}


def _specific(
    *rows: tuple[str, tuple[float, float, float], tuple[float, float, float]],
) -> dict[str, dict[str, PublishedSpecific]]:
    """Arrange rows of table IV by model and device: each device has R2 and MRE in per cent."""
    return {
        name: {
            device: PublishedSpecific(*cell)
            for device, *cell in zip(SPECIFIC_DEVICES, r2, mre_percent, strict=True)
        }
        for name, r2, mre_percent in rows
    }


#: Table IV, by performance, model and device.
SPECIFIC: Final = {
    LATENCY: _specific(
        ("rd_only", (0.953, 0.999, 0.999), (18, 4, 1)),
        ("wr_only", (0.942, 0.996, 0.990), (17, 4, 7)),
        ("rand_only", (0.910, 0.975, 0.991), (29, 15, 5)),
        ("seq_only", (0.933, 0.954, 0.989), (16, 12, 6)),
        ("rand_rd", (0.965, 0.999, 0.968), (46, 2, 8)),
        ("rand_wr", (0.984, 0.993, 0.993), (9, 9, 5)),
        ("seq_read", (0.964, 0.999, 0.999), (8, 2, 6)),
        ("seq_wr", (0.961, 0.999, 0.998), (7, 7, 3)),
    ),
    BANDWIDTH: _specific(
        ("rd_only", (0.923, 0.994, 1), (15, 4, 0.4)),
        ("wr_only", (0.911, 0.978, 0.990), (15, 4, 4)),
        ("rand_only", (0.879, 0.980, 0.960), (15, 7, 12)),
        ("seq_only", (0.915, 0.996, 0.977), (16, 3, 11)),
        ("rand_rd", (0.891, 0.999, 1), (11, 1, 0.3)),
        ("rand_wr", (0.963, 0.946, 0.993), (9, 7, 4)),
        ("seq_read", (0.920, 0.999, 1), (9, 2, 0.4)),
        ("seq_wr", (0.909, 0.995, 0.998), (9, 2, 1)),
    ),
    THROUGHPUT: _specific(
        ("rd_only", (0.970, 0.979, 1), (14, 4, 0.4)),
        ("wr_only", (0.975, 0.996, 0.816), (16, 4, 7)),
        ("rand_only", (0.049, 0.987, 0.999), (11, 6, 4)),
        ("seq_only", (0.987, 0.996, 0.998), (13, 4, 3)),
        ("rand_rd", (0, 0.998, 1), (9, 3, 0.3)),
        ("rand_wr", (0.946, 0.989, 0.255), (9, 6, 5)),
        ("seq_read", (0.990, 0.996, 1), (10, 1, 0.4)),
        ("seq_wr", (0.993, 0.996, 0.999), (9, 2, 2)),
    ),
}
