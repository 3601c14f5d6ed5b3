"""Figures 1, 2a and 2b of Lee et al. 2021 from our numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from drivelab.exhibits import numbers
from drivelab.report.drawing.svg import BLUE, GREEN, INK, ORANGE, document

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from drivelab.exhibits import Table
    from drivelab.firmware.evaluation import Evaluation

_SIZE_INCHES: Final = (7.4, 3.6)
_ROOM: Final = 0.8
_GREY: Final = "#9aa5b1"
_PURPLE: Final = "#8E5FA8"
_COLORS: Final = {
    "static": ORANGE,
    "ratio": _GREY,
    "linear": BLUE,
    "boosted": INK,
    "network": _PURPLE,
    "kriging": GREEN,
}


def draw_shares(table: Table) -> str:
    """Draw the firmware's share of an operation by workload and flash, as an SVG document."""
    labels = [str(cell) for cell in table.column("workload")]
    series = {
        "Z-NAND": (numbers(table.column("z_nand_percent")), BLUE),
        "conventional NAND": (numbers(table.column("nand_percent")), ORANGE),
    }

    def draw(figure: Figure) -> None:
        _bars(figure, labels, series, "share of firmware (%)")
        figure.axes[0].set_title("Firmware's share of an operation (figure 1)")
        figure.axes[0].set_ylim(0, 100)

    return document(draw, _SIZE_INCHES)


def draw_errors(found: Evaluation, *, p99: bool) -> str:
    """Draw how far predictions of each workload are off, by model, as an SVG document."""
    labels = [each.workload for each in next(iter(found.by_model.values())).errors]
    series = {}
    for name, left_out in found.by_model.items():
        ratios = [each.p99_ratio if p99 else each.ratio for each in left_out.errors]
        # A workload with too few records has no bar.
        bars = [float("nan") if ratio is None else 100 * ratio for ratio in ratios]
        series[name] = (bars, _COLORS.get(name, INK))
    what = "99th percentile across records (figure 2b)" if p99 else "mean time (figure 2a)"

    def draw(figure: Figure) -> None:
        _bars(figure, labels, series, "error (%)")
        figure.axes[0].set_title(f"Error of the predicted {what}")

    return document(draw, _SIZE_INCHES)


def _bars(
    figure: Figure, labels: list[str], series: dict[str, tuple[list[float], str]], up: str
) -> None:
    """Draw a group of bars per label, and a legend under them."""
    figure.set_layout_engine("constrained")
    axes = figure.add_subplot()
    width = _ROOM / len(series)
    for number, (name, (values, color)) in enumerate(series.items()):
        left = [place - _ROOM / 2 + width * (number + 0.5) for place in range(len(labels))]
        axes.bar(left, values, width, color=color, label=name)
    axes.set_xticks(range(len(labels)), labels)
    axes.set_xlabel("workload")
    axes.set_ylabel(up)
    figure.legend(loc="outside lower center", ncols=len(series))
