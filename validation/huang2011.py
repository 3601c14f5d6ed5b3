"""Huang et al. 2011 on the presets of its five devices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from drivelab.exhibits import number
from drivelab.reproduce.papers import reproduce
from validation.document import Section
from validation.reproduced import claim_all_but, tabulate_orderings

if TYPE_CHECKING:
    from drivelab.exhibits import Cell, Table
    from drivelab.reproduce.claims import Reproduction

#: What is known not to hold; the reproduction says why.
SHORTFALLS: Final = (
    "mean latency, in sample: extended MRE of SSD_A below HDD_S's",
    "mean latency, in sample: extended R2 of HDD_S below SSD_A's",
    "throughput, in sample: extended R2 of HDD_S below SSD_A's",
    "SSD_A, in sample: largest MRE of the workload-specific models",
    "mean latency, cross-validated: extended R2 of HDD_S below SSD_A's",
    "throughput, cross-validated: extended R2 of HDD_S below SSD_A's",
    "SSD_I, cross-validated: extended MRE of bandwidth below latency's",
    "SSD_I, cross-validated: extended MRE of throughput below latency's",
    "SSD_S, cross-validated: extended MRE of bandwidth below latency's",
    "SSD_S, cross-validated: extended MRE of throughput below latency's",
    "mean latency, cross-validated: extended MRE of SSD_I below Array_I's",
    "bandwidth, cross-validated: extended MRE of SSD_I below Array_I's",
    "throughput, cross-validated: extended MRE of SSD_I below Array_I's",
    "SSD_I, cross-validated: median MRE of the workload-specific models",
    "SSD_I, cross-validated: largest MRE of the workload-specific models",
    "SSD_A, cross-validated: median MRE of the workload-specific models",
    "SSD_A, cross-validated: largest MRE of the workload-specific models",
)
_TITLES: Final = {
    "table_2": "Table II, basic models",
    "table_3": "Table III, extended models",
    "table_5": "Table V, basic model of the array",
    "table_6": "Table VI, extended model of the array",
}
_FIGURES: Final = {
    "figure_9": "Figure 9, by how much the MRE falls from basic to extended models, %",
    "figure_10": "Figure 10, by how much R2 rises from basic to extended models, %",
}


def huang2011() -> Section:
    """Reproduce Huang et al. 2011."""
    return section_of(reproduce("huang2011"))


def section_of(found: Reproduction) -> Section:
    """Write down a reproduction of Huang et al. 2011."""
    section = Section("Huang et al. 2011", "drivelab reproduce huang2011")
    held = len(found.statements) - len(found.failures)
    section.say(
        f"{held} of {len(found.statements)} statements hold. The paper's drives are compared with "
        "simulated ones. Ours are judged in sample, as in the paper, and cross-validated. A third "
        "number, if there is one, is between the paper's values."
    )
    for table in found.tables:
        if table.name in _TITLES:
            section.say(f"{_TITLES[table.name]}:")
            section.tabulate(
                (
                    *("performance", "device", "R2: paper", "ours", "MAE (mean): paper", "ours"),
                    *("MRE: paper", "ours"),
                ),
                (_accuracy_row(row) for row in table.records()),
            )
        elif table.name in _FIGURES:
            section.say(f"{_FIGURES[table.name]}:")
            section.tabulate(
                ("performance", "device", "paper", "ours in sample", "ours cross-validated"),
                (tuple(_improvement(cell) for cell in row) for row in table.rows),
            )
        else:
            _tabulate_specific(section, table)
    for claim in found.claims:
        section.say(
            f"{claim.name}: {claim.ours:.3g} {claim.unit}, published {claim.published:g}, within "
            f"{claim.tolerance:g} ({claim.reason})."
        )
    tabulate_orderings(section, found, "what the paper says")
    claim_all_but(
        section,
        found,
        SHORTFALLS,
        paper="Huang et al. 2011",
        statement="everything that the paper says about models, about the figures, and when it "
        f"compares drives, except the {len(SHORTFALLS)} shortfalls listed above",
    )
    return section


def _improvement(cell: Cell) -> str:
    return format(number(cell), ".0f") if isinstance(cell, int | float) else str(cell or "-")


def _accuracy_row(row: dict[str, Cell]) -> tuple[str, ...]:
    def of(name: str, digits: str) -> str:
        return format(number(row[name]), digits)

    off_grid = (
        "" if row["off_grid_mre_percent"] is None else "; " + of("off_grid_mre_percent", ".1f")
    )
    return (
        f"{row['performance']} ({row['unit']})",
        str(row["device"]),
        of("published_r2", ".3f"),
        f"{of('in_sample_r2', '.3f')}; {of('cross_validated_r2', '.3f')}",
        f"{of('published_mae', ',.4g')} ({of('published_mean', ',.4g')})",
        f"{of('in_sample_mae', ',.3g')}; {of('cross_validated_mae', ',.3g')} "
        f"({of('mean', ',.4g')})",
        f"{of('published_mre_percent', '.0f')} %",
        f"{of('in_sample_mre_percent', '.1f')}; {of('cross_validated_mre_percent', '.1f')}"
        f"{off_grid} %",
    )


def _tabulate_specific(section: Section, table: Table) -> None:
    """Write table IV, one row per model and performance: MRE of every drive."""
    section.say(
        "Table IV, workload-specific models: MRE in per cent, in sample; cross-validated. R2 is "
        "in the table that the command writes."
    )
    devices = list(dict.fromkeys(str(cell) for cell in table.column("device")))
    rows = []
    for start in range(0, len(table.rows), len(devices)):
        cells = table.records()[start : start + len(devices)]
        rows.append(
            (
                str(cells[0]["performance"]),
                str(cells[0]["model"]),
                *(
                    text
                    for cell in cells
                    for text in (
                        f"{number(cell['published_mre_percent']):g}",
                        f"{number(cell['in_sample_mre_percent']):.2f}; "
                        f"{number(cell['cross_validated_mre_percent']):.2f}",
                    )
                ),
            )
        )
    heads = (text for device in devices for text in (f"{device}: paper", "ours"))
    section.tabulate(("performance", "model", *heads), rows)
