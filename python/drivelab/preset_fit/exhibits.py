"""The page of a fit: measured and simulated values, and what is not determined."""

from __future__ import annotations

from itertools import compress
from typing import TYPE_CHECKING, Final

import numpy as np

from drivelab.drives.naming import kind_of
from drivelab.exhibits import (
    Axis,
    Card,
    Cards,
    Caution,
    Facts,
    First,
    Line,
    LineFigure,
    Multiples,
    Page,
    Report,
    ScatterFigure,
    Table,
    Text,
    WhatIf,
)
from drivelab.exhibits.quantities import PROVENANCE, share_text, workload_text
from drivelab.preset_fit.answer import (
    answer_of,
    cautions,
    chosen_text,
    compared_tables,
    fitted_noun,
    headline,
    value_table,
)

if TYPE_CHECKING:
    from drivelab.exhibits.figures import Role
    from drivelab.preset_fit.candidate import FloatArray
    from drivelab.preset_fit.fitting import Fitted

_NS_A_MS: Final = 1e6
_KIB: Final = 1024


def fit_report(fitted: Fitted, preset: str) -> Report:
    """Make the report; the same fit always gives the same one."""
    built = chosen_text(fitted)
    page = Page(
        f"How close the {fitted_noun(fitted)} is",
        (
            *([Text(tuple(built))] if built else []),
            *_side_by_side(fitted),
            value_table(fitted),
        ),
        anchor="fit",
    )
    chosen = compared_tables(fitted)
    pages = [page]
    if chosen:
        pages.append(Page("How it is built", chosen, anchor="built"))
    is_twin = fitted.repeated is not None
    # A table of measurements may not name its drive.
    is_named = fitted.run.drive != fitted.run.path.name
    kind = kind_of(fitted.run.drive)
    return Report(
        f"A {'twin of' if is_twin else f'{fitted_noun(fitted)} fitted to'} {fitted.run.drive}",
        first=First(
            headline(fitted),
            (_curves(fitted) if fitted.is_closed_form else _scatters(fitted),),
            _first_numbers(fitted),
            cautions=tuple(Caution(seen=text) for text in cautions(fitted)),
        ),
        pages=(*pages, Page("What was asked", (_facts(fitted, preset),), anchor="facts")),
        result=answer_of(fitted, preset),
        subject="twin" if is_twin else "fit",
        # The fitted drive is the user's own file, which that page does not know.
        what_if=WhatIf(),
        badge=(kind, PROVENANCE[kind].label) if is_named else ("", ""),
        statement="" if kind == "real" else PROVENANCE[kind].statement,
    )


def _first_numbers(fitted: Fitted) -> Cards:
    """Return the errors of the fitted drive, of the base, and of the drive measured again."""
    cards = []
    for name, of in (("Mean latency", "mean"), ("99 % latency", "p99")):
        if getattr(fitted.after, of) is None:
            continue
        before = share_text(getattr(fitted.before, of))
        again = ""
        if fitted.repeated is not None:
            again = f"; the drive differs from itself by {share_text(getattr(fitted.repeated, of))}"
        cards.append(
            Card(
                f"{name} off by",
                share_text(getattr(fitted.after, of)),
                said=f"{fitted.base.reference} unchanged: {before}{again}",
            )
        )
    count = len(fitted.run.held_out.workloads)
    cards.append(
        Card(
            "Held out",
            f"{count:,} workloads",
            said="judge the result, and were not used for the fit",
        )
    )
    return Cards(tuple(cards))


def _side_by_side(fitted: Fitted) -> tuple[Table, ...]:
    """Compare the twin's errors with those of the drive measured again, if it was."""
    if fitted.repeated is None:
        return ()
    rows = (
        (f"{fitted.run.drive}, measured a second time", fitted.repeated),
        ("the twin", fitted.after),
        (f"{fitted.base.reference} unchanged", fitted.before),
    )
    return (
        Table(
            "side-by-side",
            ("differs from the first measurement", "mean latency", "99 % latency"),
            tuple((name, share_text(one.mean), _share(one.p99)) for name, one in rows),
            right=True,
            note="Mean relative differences over the held-out workloads. A twin cannot be expected "
            "to be closer to the drive than the drive is to itself.",
        ),
    )


def _share(ratio: float | None) -> str:
    return "" if ratio is None else share_text(ratio)


def _curves(fitted: Fitted) -> Multiples:
    """Return the bandwidth by request size, as the closed form has it and as measured."""
    from drivelab.preset_fit.closed_form import (
        measured_directions,
        sizes_and_latencies,
        sizes_of,
    )

    run = fitted.run
    figures = [
        LineFigure(
            f"{direction}-curve",
            f"{direction}s",
            Axis("request size (KiB)", "log2"),
            Axis("bandwidth (MB/s)", "log10"),
            (
                _bandwidth("closed form", "trace", *sizes_and_latencies(fitted, direction)),
                _bandwidth("measured, fitted to", "dots", *sizes_of(run.fitted, direction)),
                _bandwidth("measured, held out", "mean", *sizes_of(run.held_out, direction)),
            ),
        )
        for direction in measured_directions(fitted)
    ]
    return Multiples(
        "curves",
        "One request at a time: bandwidth by request size",
        tuple(figures),
        columns=2,
        note="Hollow points were not used for the fit.",
    )


def _bandwidth(label: str, role: Role, sizes: FloatArray, latencies_ns: FloatArray) -> Line:
    rates = sizes / latencies_ns * 1e3
    return Line(label, tuple((sizes / _KIB).tolist()), tuple(rates.tolist()), role)


def _scatters(fitted: Fitted) -> Multiples:
    return Multiples(
        "held-out",
        "Simulated against measured, held-out workloads",
        _scatter_figures(fitted),
        columns=2,
        note="On the solid line both are equal. Dashed: twice and half the measured value.",
    )


def _scatter_figures(fitted: Fitted) -> tuple[ScatterFigure, ...]:
    observed, said = fitted.run.held_out.behaviour, fitted.held_out
    texts = tuple(workload_text(one) for one in fitted.run.held_out.workloads)
    return tuple(
        ScatterFigure(
            name,
            title,
            Axis(f"measured {title} (ms)", "log10"),
            Axis(f"simulated {title} (ms)", "log10"),
            _ms(across[known]),
            _ms(up[known]),
            "workload",
            texts=tuple(compress(texts, known)),
        )
        for name, title, across, up in (
            ("held-out-mean", "mean latency", observed.mean, said.mean),
            ("held-out-p99", "99 % latency", observed.p99, said.p99),
        )
        if (known := np.isfinite(across)).any()
    )


def _ms(logarithms: FloatArray) -> tuple[float, ...]:
    return tuple((np.exp(logarithms) / _NS_A_MS).tolist())


def _facts(fitted: Fitted, preset: str) -> Facts:
    run = fitted.run
    return Facts(
        "",
        (
            ("Measured drive", run.drive),
            ("Run", str(run.path)),
            ("Base preset", fitted.base.reference),
            ("Fitted preset", preset),
            ("Fitted to", f"{len(run.fitted.workloads)} workloads"),
            ("Held out", f"{len(run.held_out.workloads)} workloads"),
            *(
                ()
                if fitted.is_closed_form
                else (("Simulations of all workloads", f"{fitted.simulations:,}"),)
            ),
        ),
    )
