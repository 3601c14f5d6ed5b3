"""The fifteen workloads of Lee et al. 2021, table 4: published values, and our replacements.

Their traces are not public. Each workload is replaced by a scenario of the package
(``scenarios/lee2021-*.toml``), whose sources separate the paper's values from assumed ones.

The caption calls the footprint the size of the accessed logical address range. The numbers show
that different bytes are counted: see `docs/firmware-workloads.md`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from drivelab.drives.simulated.scenarios import read_scenario
from drivelab.errors import UsageError
from drivelab.exhibits.table import Table
from drivelab.near_names import meant
from drivelab.workloads.given import shown

if TYPE_CHECKING:
    from collections.abc import Iterable

    from drivelab.exhibits.table import Cell
    from drivelab.firmware.counted import CountedRequests
    from drivelab.workloads.scenario import Scenario

#: By how much a workload may differ from what is published.
TOLERANCE: Final = 0.05

_SOURCE: Final = "Lee et al. 2021, table 4"
_COLUMNS: Final = ("records", "W%", "R%", "FP W GiB", "FP R GiB", "DA W GiB", "DA R GiB")
_BESIDE: Final = ("paper", "here")


@dataclass(frozen=True)
class PublishedWorkload:
    """A row of table 4.

    Attributes
    ----------
    label
        Its two letters.
    title
        Its name.
    scenario
        The scenario of the package that replaces it.
    records
        Records of 1000 requests.
    write_percent, read_percent
        Shares of the requests.
    write_footprint_gib, read_footprint_gib
        "FP".
    write_volume_gib, read_volume_gib
        "DA", the data that is written or read.
    """

    label: str
    title: str
    scenario: str
    records: int
    write_percent: int
    read_percent: int
    write_footprint_gib: float
    read_footprint_gib: float
    write_volume_gib: float
    read_volume_gib: float

    def workload(self) -> Scenario:
        """Return the workload that replaces it."""
        return read_scenario(self.scenario)

    def values(self) -> tuple[float, ...]:
        """Return its numbers in the order of the table's columns."""
        return (
            self.records,
            self.write_percent,
            self.read_percent,
            self.write_footprint_gib,
            self.read_footprint_gib,
            self.write_volume_gib,
            self.read_volume_gib,
        )


def _row(label: str, title: str, name: str, *values: float) -> PublishedWorkload:
    records, write, read, *sizes = values
    return PublishedWorkload(
        label, title, f"lee2021-{name}", int(records), int(write), int(read), *sizes
    )


#: Table 4, row by row.
FIFTEEN: Final = (
    _row("SR", "Sequential read", "sequential-read", 10000, 0, 100, 0.0, 152.6, 0.0, 152.6),
    _row("SW", "Sequential write", "sequential-write", 10000, 100, 0, 152.6, 0.0, 152.6, 0.0),
    _row("RR", "Random read", "random-read", 10000, 0, 100, 0.0, 152.6, 0.0, 152.6),
    _row("RW", "Random write", "random-write", 10000, 100, 0, 152.6, 0.0, 152.6, 0.0),
    _row("YA", "YCSB-A", "ycsb-a", 1240, 41, 59, 3.8, 4.0, 3.9, 5.6),
    _row("YB", "YCSB-B", "ycsb-b", 951, 34, 66, 2.4, 3.4, 2.4, 4.8),
    _row("YC", "YCSB-C", "ycsb-c", 912, 33, 67, 2.2, 3.3, 2.3, 4.7),
    _row("YD", "YCSB-D", "ycsb-d", 849, 36, 64, 2.3, 3.2, 2.3, 4.2),
    _row("YE", "YCSB-E", "ycsb-e", 834, 37, 63, 2.3, 3.3, 2.3, 4.0),
    _row("YF", "YCSB-F", "ycsb-f", 1245, 41, 59, 3.8, 4.0, 3.9, 5.6),
    _row("FS", "Fileserver", "file-server", 3258, 100, 0, 21.7, 0.0, 518.8, 0.0),
    _row("TC", "TPC-C", "tpc-c", 637, 52, 48, 1.1, 2.1, 2.5, 2.3),
    _row("VM", "Varmail", "mail-server", 1305, 100, 0, 4.2, 0.0, 16.0, 0.0),
    _row("WS", "Webserver", "web-server", 1877, 100, 0, 60.5, 0.0, 228.4, 0.0),
    _row("LB", "Linkbench", "linkbench", 2225, 86, 14, 4.8, 1.9, 14.6, 2.3),
)


def published_workload(label: str) -> PublishedWorkload:
    """Return the row of a label.

    Raises
    ------
    UsageError
        When there is none; names all.
    """
    for each in FIFTEEN:
        if label in (each.label, each.scenario):
            return each
    known = [each.label for each in FIFTEEN]
    raise UsageError(
        f"there is no workload {shown(label)}; {meant(label, known)}those of {_SOURCE} are "
        f"{', '.join(known)}"
    )


def counted_values(counted: CountedRequests) -> tuple[float, ...]:
    """Return what was counted in the order of `PublishedWorkload.values`."""
    return (
        counted.records,
        counted.percent("write"),
        counted.percent("read"),
        counted.write.footprint_gib,
        counted.read.footprint_gib,
        counted.write.volume_gib,
        counted.read.volume_gib,
    )


def largest_difference(published: PublishedWorkload, counted: CountedRequests) -> tuple[str, float]:
    """Return the column that differs most, relative to what is published, and by how much.

    Where the table has 0, anything else differs without bound.
    """
    pairs = zip(published.values(), counted_values(counted), strict=True)
    differences = [
        abs(found / asked - 1) if asked else (float("inf") if found else 0.0)
        for asked, found in pairs
    ]
    most = max(differences)
    return _COLUMNS[differences.index(most)], most


def beside_table4(counted: Iterable[tuple[PublishedWorkload, CountedRequests]]) -> Table:
    """Compare workloads with the paper's: two cells per column of table 4."""
    columns = ("label", "scenario", *(f"{name}, {of}" for name in _COLUMNS for of in _BESIDE))
    rows: list[tuple[Cell, ...]] = []
    for published, found in counted:
        pairs = zip(published.values(), counted_values(found), strict=True)
        cells = [cell for pair in pairs for cell in pair]
        rows.append((published.label, published.scenario, *cells))
    return Table(
        "lee2021-workloads",
        columns,
        tuple(rows),
        title="The fifteen workloads",
        source=f"beside {_SOURCE}",
    )
