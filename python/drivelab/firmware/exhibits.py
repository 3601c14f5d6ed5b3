"""What a profile of firmware and its evaluation show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from drivelab.exhibits import (
    Axis,
    BarFigure,
    Card,
    Cards,
    Caution,
    First,
    Page,
    Report,
    Table,
    Text,
)
from drivelab.firmware.evaluation import evaluation_values
from drivelab.firmware.shares import FLASHES, operation_share

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from drivelab.exhibits.table import Cell
    from drivelab.firmware.evaluation import Evaluation
    from drivelab.firmware.profiled import Profiled

_EMULATED: Final = (
    "Times are of an emulated target whose parameters are documented or assumed. No board was "
    "measured, so do not compare these errors with the paper's."
)
_MEASURED: Final = (
    "Measured on a board, {board}, with one thread per worker. The times include whatever else ran "
    "there."
)
_SPREAD: Final = (
    "An operation is the firmware's time on the target, then the flash operations of a request, "
    "including those of collection, spread evenly over {dies} dies. Z-NAND takes 12 µs for a read "
    "and 400 µs for a program; conventional NAND 150 µs and 2,600 µs."
)


def evaluation_report(
    found: Evaluation, profiles: Sequence[Profiled], dies: int, name: str
) -> Report:
    """Make the report; the same records always give the same one.

    Parameters
    ----------
    found
        How far models are off.
    profiles
        What they were evaluated on.
    dies
        Of the drive.
    name
        What the profile is called.
    """
    board = profiles[0].board
    return Report(
        f"What firmware costs: {name}",
        first=_first(found, profiles, dies),
        pages=(_predicted(found), _shares(profiles, dies), _profiled(profiles)),
        result=evaluation_values(found),
        subject="firmware",
        badge=("simulated", "Emulated target") if board is None else ("measured", "Board"),
        statement=_EMULATED if board is None else _MEASURED.format(board=board_name(board)),
    )


def board_name(board: Mapping[str, Any]) -> str:
    """Say which board it was."""
    model = board["model"] or board["processor"]
    return f"{model} with {board['cores']} cores"


def headline(found: Evaluation) -> str:
    """Say in a sentence how good the best model is."""
    best = found.by_model[found.best]
    return (
        f"Best: {found.best}, off by {100 * best.ratio:.1f} % on average over workloads that it "
        f"has not seen; at most {100 * best.worst.ratio:.1f} % ({best.worst.workload})."
    )


def errors_table(found: Evaluation) -> Table:
    """Return the errors: one row per workload, one column per model, means at the end."""
    models = list(found.by_model)
    labels = [each.workload for each in found.by_model[models[0]].errors]
    rows: list[tuple[Cell, ...]] = [
        (label, *(100 * found.by_model[model].errors[place].ratio for model in models))
        for place, label in enumerate(labels)
    ]
    rows.append(("mean", *(100 * found.by_model[model].ratio for model in models)))
    return Table(
        "errors",
        ("workload", *(f"{model}, %" for model in models)),
        tuple(rows),
        title="Errors of the mean time, each workload unseen",
    )


def overall_table(found: Evaluation) -> Table:
    """Return the errors over all workloads: one row per model."""

    def percent(ratio: float | None) -> float | None:
        return None if ratio is None else 100 * ratio

    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            name,
            percent(each.ratio),
            percent(each.worst.ratio),
            percent(each.record_ratio),
            percent(each.p99_ratio),
            percent(found.ratio_with_flash(name)),
            each.absolute_seconds,
        )
        for name, each in found.by_model.items()
    )
    seconds = found.by_model[found.best].measured_seconds
    return Table(
        "overall",
        (
            *(
                "model",
                "mean, %",
                "largest, %",
                "per record, %",
                "99 % latency, %",
                "with Z-NAND, %",
            ),
            f"total, s (of {seconds:.1f} s)",
        ),
        rows,
        title="Errors over all workloads",
        note="Per record: the mean error of records, which are 1,000 requests each. With Z-NAND: "
        "the time of the host's flash operations is added to both values, as in the paper.",
    )


def _predicted(found: Evaluation) -> Page:
    first = next(iter(found.by_model.values()))
    labels = [each.workload for each in first.errors]
    bars = tuple(
        (label, tuple(each.errors[place].ratio for each in found.by_model.values()), _none(found))
        for place, label in enumerate(labels)
    )
    figure = BarFigure(
        "errors-by-workload",
        "How far the predicted mean time of each workload is off",
        _one_axis("error of the mean time", bars),
        tuple(found.by_model),
        bars,
        note="Each workload is predicted by a model of all other workloads, except by static, "
        "which learns nothing. The best model comes first.",
        source="Lee et al. 2021, figure 2a",
    )
    exhibits = (figure, overall_table(found), errors_table(found))
    return Page("How well the time is predicted", exhibits, anchor="predicted")


def _first(found: Evaluation, profiles: Sequence[Profiled], dies: int) -> First:
    """Show the best model's error for each workload, and the firmware's share."""
    best = found.by_model[found.best]
    bars = tuple((each.workload, (each.ratio,), (None,)) for each in best.errors)
    figure = BarFigure(
        "best-by-workload",
        "How far the predicted mean time of each workload is off",
        Axis("error of the mean time", quantity="share"),
        (f"{found.best}, by a model of all other workloads",),
        bars,
        saved=(),
    )
    flash = FLASHES[0]
    share = float(np.mean([operation_share(each, flash, dies).ratio for each in profiles]))
    cards = (
        Card("Mean error", f"{100 * best.ratio:.1f} %", said=f"{found.best}, unseen workloads"),
        Card("Largest error", f"{100 * best.worst.ratio:.1f} %", said=best.worst.workload),
        Card(
            "Firmware's share of an operation",
            f"{100 * share:.0f} %",
            said=f"with {flash.name}, mean over the workloads",
        ),
    )
    cautions = tuple(
        Caution("Left out", f"{text[:1].upper()}{text[1:]}.") for text in found.cautions
    )
    sure = (
        f"How sure: each of the {len(best.errors)} workloads was predicted by a model of all the "
        "others."
    )
    return First(headline(found), (figure,), Cards(cards), sure, cautions)


def _one_axis(label: str, bars: Sequence[tuple[str, tuple[float, ...], tuple[None, ...]]]) -> Axis:
    """Return the axis that all panels share, so that bars can be compared."""
    return Axis(label, quantity="share", also=(max(max(values) for _, values, _ in bars),))


def _none(found: Evaluation) -> tuple[None, ...]:
    return (None,) * len(found.by_model)


def _shares(profiles: Sequence[Profiled], dies: int) -> Page:
    shares = {
        flash.name: [operation_share(each, flash, dies) for each in profiles] for flash in FLASHES
    }
    mean = {name: float(np.mean([each.ratio for each in of])) for name, of in shares.items()}
    bars = tuple(
        (each.label, tuple(of[place].ratio for of in shares.values()), (None,) * len(shares))
        for place, each in enumerate(profiles)
    )
    figure = BarFigure(
        "share-of-firmware",
        "The firmware's share of an operation",
        _one_axis("share of firmware", bars),
        tuple(shares),
        bars,
        note=_SPREAD.format(dies=dies),
        source="Lee et al. 2021, figure 1",
    )
    said = " and ".join(
        f"{100 * ratio:.0f} % of an operation with {name}" for name, ratio in mean.items()
    )
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            each.label,
            shares[FLASHES[0].name][place].firmware_ns / 1000,
            *(of[place].flash_ns / 1000 for of in shares.values()),
        )
        for place, each in enumerate(profiles)
    )
    table = Table(
        "operations",
        ("workload", "firmware, us", *(f"{flash.name}, us" for flash in FLASHES)),
        rows,
        title="Time of a request in firmware and flash",
    )
    lead = Text((f"Firmware takes {said}, on average over the workloads.",), leads=True)
    return Page("What firmware takes of an operation", (lead, figure, table), anchor="share")


def _profiled(profiles: Sequence[Profiled]) -> Page:
    rows: list[tuple[Cell, ...]] = []
    for each in profiles:
        requests = each.counted.column("requests").sum()
        times = [
            None if log is None else float(log.column(name).sum() / requests / 1000)
            for log, name in (
                (each.host, "time_ns"),
                # A board has no band.
                (each.target if each.board is None else None, "time_low_ns"),
                (each.target, "time_ns"),
                (each.target if each.board is None else None, "time_high_ns"),
            )
        ]
        host_ns, target_ns = (log.column("time_ns").sum() for log in (each.host, each.target))
        ratio = float(target_ns / host_ns)
        moved = each.counted.column("pages_moved").sum() / requests
        rows.append((each.label, len(each), *times, ratio, float(moved)))
    table = Table(
        "profiled",
        (
            *("workload", "records", "host, us", "target low, us", "target, us"),
            *("target high, us", "target over host", "pages moved"),
        ),
        tuple(rows),
        title="Time of a request in the firmware, and pages that collection moved for it",
    )
    return Page("What was profiled", (table,), anchor="profiled")
