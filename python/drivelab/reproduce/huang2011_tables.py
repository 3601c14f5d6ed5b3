"""Tables II to VI and figures 9 and 10 of Huang et al. 2011: published numbers and ours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from drivelab.exhibits import Axis, BarFigure, Table, number
from drivelab.exhibits.quantities import METRICS as QUANTITIES
from drivelab.models.measured import METRICS
from drivelab.reproduce.huang2011_published import (
    ARRAY,
    BASIC,
    DEVICES,
    EXTENDED,
    SPECIFIC,
    SPECIFIC_DEVICES,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from drivelab.exhibits import Cell
    from drivelab.reproduce.huang2011_models import Fitted
    from drivelab.reproduce.huang2011_published import Published

    #: By device, model and metric.
    Devices = Mapping[str, Mapping[str, Mapping[str, Fitted]]]

_COLUMNS: Final = (
    "performance",
    "device",
    "unit",
    "published_r2",
    "in_sample_r2",
    "cross_validated_r2",
    "published_mae",
    "in_sample_mae",
    "cross_validated_mae",
    "published_mean",
    "mean",
    "published_mre_percent",
    "in_sample_mre_percent",
    "cross_validated_mre_percent",
    "off_grid_mre_percent",
    "trees",
)
_SPECIFIC_COLUMNS: Final = (
    "performance",
    "model",
    "device",
    "published_r2",
    "in_sample_r2",
    "cross_validated_r2",
    "published_mre_percent",
    "in_sample_mre_percent",
    "cross_validated_mre_percent",
    "noise_percent",
    "workloads",
    "trees",
)
_IMPROVEMENT_COLUMNS: Final = (
    "performance",
    "device",
    "published_percent",
    "in_sample_percent",
    "cross_validated_percent",
)


def accuracy_tables(
    found: Devices, noise: Mapping[str, Mapping[str, Mapping[str, float]]]
) -> tuple[Table, ...]:
    """Return tables II to VI and the numbers of figures 9 and 10.

    Parameters
    ----------
    found
        For each of the paper's devices its ``basic`` and ``extended`` models, and for three devices
        also the eight workload-specific models.
    noise
        How far one measurement is off, as a ratio, by device, workload-specific model and metric.
    """
    return (
        _table("table_2", "basic", BASIC, DEVICES, found),
        _table("table_3", "extended", EXTENDED, DEVICES, found),
        _specific_table(found, noise),
        _table("table_5", "basic", BASIC, (ARRAY,), found),
        _table("table_6", "extended", EXTENDED, (ARRAY,), found),
        _improvements("figure_9", "mre", found),
        _improvements("figure_10", "r2", found),
    )


def _table(
    name: str,
    features: str,
    published: Mapping[str, Mapping[str, Published]],
    devices: Sequence[str],
    found: Devices,
) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for metric in METRICS:
        quantity = QUANTITIES[metric]
        for device in devices:
            printed, ours = published[metric][device], found[device][features][metric]
            seen, unseen = ours.in_sample, ours.cross_validated
            rows.append(
                (
                    quantity.label,
                    device,
                    quantity.unit,
                    printed.r2,
                    seen.r2,
                    unseen.r2,
                    printed.mae,
                    seen.mae * quantity.factor,
                    unseen.mae * quantity.factor,
                    printed.mean,
                    seen.mean * quantity.factor,
                    printed.mre_percent,
                    100 * seen.mre,
                    100 * unseen.mre,
                    None if ours.off_grid is None else 100 * ours.off_grid.mre,
                    ours.trees,
                )
            )
    return Table(name, _COLUMNS, tuple(rows))


def _specific_table(
    found: Devices, noise: Mapping[str, Mapping[str, Mapping[str, float]]]
) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for metric in METRICS:
        for model, of_devices in SPECIFIC[metric].items():
            for device in SPECIFIC_DEVICES:
                printed, ours = of_devices[device], found[device][model][metric]
                rows.append(
                    (
                        QUANTITIES[metric].label,
                        model,
                        device,
                        float(printed.r2),
                        ours.in_sample.r2,
                        ours.cross_validated.r2,
                        float(printed.mre_percent),
                        100 * ours.in_sample.mre,
                        100 * ours.cross_validated.mre,
                        100 * noise[device][model][metric],
                        ours.in_sample.rows,
                        ours.trees,
                    )
                )
    return Table("table_4", _SPECIFIC_COLUMNS, tuple(rows))


def _improvements(name: str, what: str, found: Devices) -> Table:
    """Return how much better the extended model is, relative to the basic one."""
    rows: list[tuple[Cell, ...]] = []
    for metric in METRICS:
        for device in DEVICES:
            basic, extended = (found[device][each][metric] for each in ("basic", "extended"))
            if what == "mre":
                published = (
                    BASIC[metric][device].mre_percent,
                    EXTENDED[metric][device].mre_percent,
                )
                ours = [
                    (basic.in_sample.mre, extended.in_sample.mre),
                    (basic.cross_validated.mre, extended.cross_validated.mre),
                ]
            else:
                published = (BASIC[metric][device].r2, EXTENDED[metric][device].r2)
                ours = [
                    (basic.in_sample.r2, extended.in_sample.r2),
                    (basic.cross_validated.r2, extended.cross_validated.r2),
                ]
            changes = [_change(*pair) for pair in (published, *ours)]
            rows.append((QUANTITIES[metric].label, device, *changes))
    return Table(name, _IMPROVEMENT_COLUMNS, tuple(rows))


def _change(before: float, after: float) -> float | None:
    """Return a change relative to its start in per cent; None if the start is zero or negative."""
    return 100 * abs(after - before) / before if before > 0 else None


_TITLES: Final = {
    "figure_9": "By how much the mean relative error (MRE) falls from basic to extended models",
    "figure_10": "By how much R2 rises from basic to extended models",
}


def improvement_figure(table: Table) -> BarFigure:
    """Return figure 9 or 10: bars of the paper next to ours, one panel per performance metric.

    Parameters
    ----------
    table
        ``figure_9`` or ``figure_10`` of `accuracy_tables`.
    """
    groups = tuple(dict.fromkeys(str(cell) for cell in table.column("performance")))
    kinds = (("published_percent", "paper"), ("in_sample_percent", "ours, simulated"))
    bars, kind_of_bar = [], []
    for device in dict.fromkeys(str(cell) for cell in table.column("device")):
        records = table.records(device=device)
        for column, kind in kinds:
            values = tuple(
                None if record[column] is None else number(record[column]) for record in records
            )
            bars.append((f"{device}, {kind.partition(',')[0]}", values, (None,) * len(values)))
            kind_of_bar.append(kind)
    return BarFigure(
        table.name,
        _TITLES[table.name],
        Axis("improvement (%)"),
        groups,
        tuple(bars),
        note="The paper's bars are computed from tables II and III. Both judge models on the "
        "workloads that they were fitted to.",
        kinds=tuple(kind_of_bar),
        columns=1,
    )
