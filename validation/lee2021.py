"""Lee et al. 2021 on an emulated target: errors of its time, predicted from the host's events."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from drivelab.reproduce.lee2021 import RECORDS
from drivelab.reproduce.papers import reproduce
from validation.document import Section
from validation.reproduced import claim_all_but

if TYPE_CHECKING:
    from drivelab.exhibits import Cell
    from drivelab.reproduce.claims import Reproduction

#: In the order of the section, each with the sentence before it.
_TABLES: Final = {
    "errors": "The error of each way to predict, in per cent, and in seconds over all records; "
    "empty if the paper says nothing:",
    "figure_2a_errors": "Figure 2a, errors of the mean time of each workload, predicted by models "
    "of the other fourteen:",
    "figure_2b": "Figure 2b, errors of the 99th percentile across records of 1000 requests:",
    "figure_2a": "Figure 2a, times of a record: the firmware alone, with Z-NAND's time for the "
    "host's requests, and the target's time divided by the host's:",
    "figure_1": "Figure 1, time of a request and the firmware's share. Flash operations of the "
    "host's requests alone, as the paper adds them:",
    "figure_1_with_collection": "The same with collection's flash operations:",
    "table_5": "Table 5, correlation of events with the time on the target:",
}


def lee2021() -> Section:
    """Reproduce Lee et al. 2021."""
    return section_of(reproduce("lee2021"))


def section_of(found: Reproduction) -> Section:
    """Write down a reproduction of Lee et al. 2021."""
    section = Section("Lee et al. 2021", "drivelab reproduce lee2021")
    held = len(found.statements) - len(found.failures)
    section.say(
        f"{held} of {len(found.statements)} statements hold. The first {RECORDS} records of each "
        "of the fifteen workloads run on the firmware program, once on a host-like processor and "
        "once on four emulated in-order cores. From the host's events, a model predicts a "
        "workload that it has not seen. `static` learns nothing: it counts instructions without "
        "collection, one per cycle, with payload and map entries from memory. `network` is the "
        "paper's. Among the 48 shapes of its table 2, the one that predicts the other workloads "
        "best is chosen for each workload. This takes three quarters of an hour."
    )
    tables = {table.name: table for table in found.tables}
    for name, lead in _TABLES.items():
        section.say(lead)
        section.tabulate(
            [column.replace("_", " ") for column in tables[name].columns],
            [[_cell(cell, name) for cell in row] for row in tables[name].rows],
        )
    most = max(found.claims, key=lambda each: abs(each.difference) / max(each.published, 1e-9))
    section.say(
        f"Table 4: all {len(found.claims)} numbers of the fifteen whole workloads are within "
        f"{100 * most.tolerance / most.published:.0f} %. The largest difference is in {most.name}: "
        f"{most.ours:.4g} {most.unit} instead of {most.published:g}."
    )
    section.tabulate(
        ("what is to hold", "the smaller", "the larger", "unit"),
        [
            (each.name, f"{each.smaller:,.4g}", f"{each.larger:,.4g}", each.unit)
            for each in found.orderings
        ],
    )
    claim_all_but(
        section,
        found,
        (),
        paper="Lee et al. 2021",
        statement="each model, platform and flash is better or worse than the other as the paper "
        "says, errors are within this project's limits, and the workloads are those of table 4",
    )
    return section


def _cell(cell: Cell, table: str) -> str:
    if cell is None:
        return ""
    if isinstance(cell, float):
        return f"{cell:.3f}" if table == "table_5" else f"{cell:,.2f}"
    return str(cell)
