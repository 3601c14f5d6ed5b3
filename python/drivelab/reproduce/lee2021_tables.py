"""Tables and figures of Lee et al. 2021, ours next to the printed ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from drivelab.exhibits import Table
from drivelab.firmware.lee2021 import counted_values
from drivelab.firmware.profile import FirmwareSettings
from drivelab.firmware.shares import FLASHES, flash_times, operation_share
from drivelab.reproduce.lee2021_published import ERRORS, NOTHING, TABLE_3, TABLE_5

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from drivelab.exhibits import Cell
    from drivelab.firmware.counted import CountedRequests
    from drivelab.firmware.evaluation import Evaluation
    from drivelab.firmware.lee2021 import PublishedWorkload
    from drivelab.firmware.profiled import Profiled

    Array = NDArray[np.float64]

_DIES: Final = FirmwareSettings().dies
#: Columns of table 4.
COLUMNS: Final = (
    *("records", "write_percent", "read_percent"),
    *("write_footprint_gib", "read_footprint_gib", "write_volume_gib", "read_volume_gib"),
)
# Narrow enough for a terminal: name of the table and positions of its columns.
_PARTS: Final = (("table_4", (0, 1, 2)), ("table_4_footprint", (3, 4)), ("table_4_volume", (5, 6)))


def table_3(profiled: Profiled) -> Table:
    """Compare both processors with table 3."""
    host, target = profiled.host.parameters, profiled.target.parameters

    ours: tuple[tuple[Cell, Cell], ...] = (
        (str(host.get("name")), str(target.get("name"))),
        (_ghz(host), _ghz(target)),
        *((_kib(host, cache), _kib(target, cache)) for cache in ("l1d", "l2", "llc")),
    )
    rows: list[tuple[Cell, ...]] = [
        (feature, published_host, of_host, published_target, of_target)
        for (feature, published_host, published_target), (of_host, of_target) in zip(
            TABLE_3, ours, strict=True
        )
    ]
    columns = ("feature", "published_host", "host", "published_target", "target")
    return Table("table_3", columns, tuple(rows))


def _ghz(parameters: Mapping[str, Any]) -> float:
    return float(parameters.get("frequency_hz", 0)) / 1e9


def _kib(parameters: Mapping[str, Any], cache: str) -> float:
    return float(parameters.get(cache, {}).get("size_bytes", 0)) / 1024


def table_4(
    published: Sequence[PublishedWorkload], counted: Mapping[str, CountedRequests]
) -> tuple[Table, ...]:
    """Compare whole workloads with table 4: bytes asked for, different bytes, all bytes."""
    tables = []
    for name, places in _PARTS:
        rows: list[tuple[Cell, ...]] = []
        for each in published:
            ours = counted_values(counted[each.label])
            pairs = [(float(each.values()[place]), float(ours[place])) for place in places]
            rows.append((each.label, *(cell for pair in pairs for cell in pair)))
        columns = [
            column for place in places for column in (f"published_{COLUMNS[place]}", COLUMNS[place])
        ]
        tables.append(Table(name, ("workload", *columns), tuple(rows)))
    return tuple(tables)


def table_5(profiles: Sequence[Profiled]) -> Table:
    """Correlate events with the target's time, over all records and inside each workload."""
    times = [each.target.column("time_ns") for each in profiles]
    rows = []
    for event, name, published in TABLE_5:
        events = [each.host.column(event) for each in profiles]
        inside = [_correlation(*pair) for pair in zip(events, times, strict=True)]
        (column,) = [each for each in profiles[0].host.columns if each.name == event]
        whole = _correlation(np.concatenate(events), np.concatenate(times))
        rows.append((name, column.how, published, whole, float(np.mean(inside))))
    columns = ("event", "how", "published_coefficient", "coefficient", "inside_coefficient")
    return Table("table_5", columns, tuple(rows))


def _correlation(one: Array, other: Array) -> float:
    """Return Pearson's coefficient; 0 if one side is constant."""
    if not (one.std() > 0 and other.std() > 0):
        return 0.0
    return float(np.corrcoef(one, other)[0, 1])


def figure_1(profiles: Sequence[Profiled], *, with_collection: bool) -> Table:
    """Return the firmware's share of an operation, with or without collection's operations."""
    rows: list[tuple[Cell, ...]] = []
    for each in profiles:
        shares = [
            operation_share(each, flash, _DIES, with_collection=with_collection)
            for flash in FLASHES
        ]
        cells = [cell for share in shares for cell in (share.flash_ns / 1e3, 100 * share.ratio)]
        rows.append((each.label, shares[0].firmware_ns / 1e3, *cells))
    means = [float(np.mean([row[place] for row in rows])) for place in range(1, len(rows[0]))]
    return Table(
        "figure_1_with_collection" if with_collection else "figure_1",
        ("workload", "firmware_us", "z_nand_us", "z_nand_percent", "nand_us", "nand_percent"),
        (*rows, ("mean", *means)),
    )


def with_flash(profiled: Profiled, observer: str) -> Array:
    """Return the times of records in ns with Z-NAND added as in section 4.2."""
    log = profiled.host if observer == "host" else profiled.target
    flash_ns = flash_times(profiled.counted, FLASHES[0], _DIES, with_collection=False)
    found: Array = log.column("time_ns") + flash_ns
    return found


def figure_2a(profiles: Sequence[Profiled]) -> Table:
    """Return the mean times of records on both platforms."""
    rows: list[tuple[Cell, ...]] = []
    for each in profiles:
        host, target = (log.column("time_ns").mean() for log in (each.host, each.target))
        whole_host, whole_target = (with_flash(each, name).mean() for name in ("host", "target"))
        times = [float(time) / 1e6 for time in (host, target, whole_target - target)]
        rows.append((each.label, *times, float(target / host), float(whole_target / whole_host)))
    columns = ("workload", "host_ms", "target_ms", "flash_ms", "ratio", "ratio_with_flash")
    return Table("figure_2a", columns, tuple(rows))


def figure_2a_errors(profiles: Sequence[Profiled], found: Evaluation) -> tuple[Table, Table]:
    """Return the errors of mean times: of the firmware alone, and with Z-NAND added."""
    models = list(found.by_model)
    alone: list[tuple[Cell, ...]] = []
    added: list[tuple[Cell, ...]] = []
    for place, each in enumerate(profiles):
        errors = [found.by_model[model].errors[place] for model in models]
        whole = float(with_flash(each, "target").mean())
        alone.append((each.label, *(100 * error.ratio for error in errors)))
        off = [abs(error.predicted_ns - error.measured_ns) / whole for error in errors]
        added.append((each.label, *(100 * ratio for ratio in off)))
    columns = ("workload", *(f"{model}_percent" for model in models))
    return (
        Table("figure_2a_errors", columns, tuple(alone)),
        Table("figure_2a_errors_with_flash", columns, tuple(added)),
    )


def figure_2b(found: Evaluation) -> Table:
    """Return errors of the 99th percentile across records, for workloads with enough records."""
    models = list(found.by_model)
    rows: list[tuple[Cell, ...]] = []
    for place, first in enumerate(found.by_model[models[0]].errors):
        if first.measured_p99_ns is None:
            continue
        cells: list[Cell] = [first.workload, first.measured_p99_ns / 1e6]
        for model in models:
            ratio = found.by_model[model].errors[place].p99_ratio
            cells.append(100 * ratio if ratio is not None else None)
        rows.append(tuple(cells))
    columns = ("workload", "p99_ms", *(f"{model}_percent" for model in models))
    return Table("figure_2b", columns, tuple(rows))


def errors(profiles: Sequence[Profiled], found: Evaluation) -> Table:
    """Summarise the errors, one row per model, the best first."""
    flash_ns = [float(with_flash(each, "target").mean()) for each in profiles]
    rows: list[tuple[Cell, ...]] = []
    for name, left_out in found.by_model.items():
        published = ERRORS.get(name, NOTHING)
        added = [
            abs(error.predicted_ns - error.measured_ns) / whole
            for error, whole in zip(left_out.errors, flash_ns, strict=True)
        ]
        p99 = left_out.p99_ratio
        rows.append(
            (
                *(name, published.percent, 100 * left_out.ratio),
                100 * float(np.mean(added)),
                *(published.most_percent, 100 * left_out.worst.ratio),
                *(published.p99_percent, None if p99 is None else 100 * p99),
                100 * float(np.mean([error.record_ratio for error in left_out.errors])),
                *(published.seconds, left_out.absolute_seconds),
            )
        )
    columns = (
        *("model", "published_percent", "percent", "percent_with_flash", "published_most_percent"),
        *("most_percent", "published_p99_percent", "p99_percent", "record_percent"),
        *("published_seconds", "seconds"),
    )
    return Table("errors", columns, tuple(rows))
