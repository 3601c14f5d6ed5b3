"""Exhibits of how a drive settled: convergence, measurement window, steady-state table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from drivelab.exhibits import Axis, Exhibit, Line, LineFigure, Table
from drivelab.pts.journal import Step
from drivelab.pts.rounds import Settled, Tracked
from drivelab.pts.steady_state import Window

_ROUND = Axis("round")


def convergence_figure(
    name: str,
    title: str,
    settled: Settled,
    series: Sequence[tuple[str, Callable[[Sequence[Step]], float | None]]],
    axis: Axis,
) -> LineFigure:
    """Show a value of every round, one series per name."""
    lines = []
    for label, value in series:
        points = [
            (float(number), y)
            for number, steps in enumerate(settled.rounds, start=1)
            if (y := value(steps)) is not None
        ]
        if points:
            xs, ys = zip(*points, strict=True)
            lines.append(Line(label, tuple(xs), tuple(ys)))
    return LineFigure(name, title, _ROUND, axis, tuple(lines))


def window_exhibits(name: str, settled: Settled, adjective: str, note: str = "") -> list[Exhibit]:
    """Show the measurement window of everything tracked, and its steady-state table.

    `adjective` is measured or simulated; `note` describes the rounds further.
    """
    exhibits: list[Exhibit] = []
    for place, tracked in enumerate(settled.tracked, start=1):
        if tracked.name in settled.windows:
            number = f"-{place}" if len(settled.tracked) > 1 else ""
            window = settled.windows[tracked.name]
            exhibits.append(_window_figure(f"{name}-window{number}", tracked, window, adjective))
    if exhibits:
        exhibits.append(steady_table(f"{name}-steady-state", settled, note))
    return exhibits


def _window_figure(name: str, tracked: Tracked, window: Window, adjective: str) -> LineFigure:
    rounds = tuple(float(number) for number in range(window.first_round, window.last_round + 1))
    ends = (rounds[0], rounds[-1])
    guides = ((1.1, "110 % of the mean"), (1.0, "mean"), (0.9, "90 % of the mean"))
    return LineFigure(
        name,
        f"Measurement window: {tracked.name}",
        _ROUND,
        Axis(f"{tracked.name} ({tracked.unit})"),
        (
            Line(adjective, rounds, window.values),
            *(Line(text, ends, (share * window.mean,) * 2, role="guide") for share, text in guides),
            Line(
                "least-squares fit",
                ends,
                tuple(window.slope * number + window.intercept for number in ends),
                role="fit",
            ),
        ),
    )


def steady_table(name: str, settled: Settled, note: str = "") -> Table:
    """Compare what was allowed with the result, one row for everything tracked."""
    rows = []
    for tracked in settled.tracked:
        window = settled.windows.get(tracked.name)
        if window is None:
            continue
        rows.append(
            (
                tracked.name,
                tracked.unit,
                f"{window.first_round} to {window.last_round}",
                window.mean,
                window.allowed_data_excursion,
                window.data_excursion,
                window.allowed_slope_excursion,
                window.slope_excursion,
                fit_text(window),
                window.correlation,
                "yes" if window.is_steady else "no",
            )
        )
    return Table(
        name,
        (
            "tracked",
            "unit",
            "rounds",
            "mean",
            "data excursion allowed",
            "data excursion",
            "slope excursion allowed",
            "slope excursion",
            "least-squares fit",
            "correlation coefficient",
            "steady",
        ),
        tuple(rows),
        title="Steady state",
        note="R is the number of the round."
        + ("" if settled.is_steady else " Steady state was not reached: these are the last rounds.")
        + (f" {note}" if note else ""),
    )


def fit_text(window: Window) -> str:
    """Return the fitted line as the specification writes it."""
    sign = "-" if window.intercept < 0 else "+"
    return f"{window.slope:.4g} x R {sign} {abs(window.intercept):.6g}"


def windows_json(settled: Settled) -> list[dict[str, Any]]:
    """Return windows as in docs/json-pts.md."""
    return [
        {
            "tracked": tracked.name,
            "unit": tracked.unit,
            "rule": window.rule.name,
            "first_round": window.first_round,
            "last_round": window.last_round,
            "values": list(window.values),
            "mean": window.mean,
            "data_excursion_allowed": window.allowed_data_excursion,
            "data_excursion": window.data_excursion,
            "slope_excursion_allowed": window.allowed_slope_excursion,
            "slope_excursion": window.slope_excursion,
            "slope": window.slope,
            "intercept": window.intercept,
            "correlation": window.correlation,
            "is_steady": window.is_steady,
        }
        for tracked in settled.tracked
        if (window := settled.windows.get(tracked.name)) is not None
    ]
