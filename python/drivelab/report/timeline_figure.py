"""Timing diagrams: a row for dispatch, a row for every flash unit at work.

That of a span of a run has a row for every channel too, and its times begin with the span.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from matplotlib.collections import PolyCollection
from matplotlib.patches import Patch

from drivelab.report.svg import BLUE, GREEN, GREY, INK, ORANGE, PAPER, document, with_titles
from drivelab.report.table import number
from drivelab.report.timeline import duration_ns
from drivelab.units import format_duration_ns, format_size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from drivelab.report.table import Cell, Table

    Row = dict[str, Cell]

_PLOT_INCHES: Final = 7.1
_DISPATCH: Final = "dispatch stage"
_TITLE_INCHES: Final = 0.6
# A further line of the head: a note, or a second line of the legend.
_LINE_INCHES: Final = 0.18
# The patch of an entry of the legend and the space around it.
_ENTRY_INCHES: Final = 0.42
_AXIS_INCHES: Final = 0.6
_RIGHT_INCHES: Final = 0.35
# Rows of full height while they fit on a page; more of them become thinner.
_ROW_INCHES: Final = 0.24
_SMALLEST_ROW_INCHES: Final = 0.09
_COMFORTABLE_INCHES: Final = 10.0
_BAR: Final = 0.76
_TEXT_ROW_INCHES: Final = 0.13
_CHARACTER_INCHES: Final = 0.075
# One character of a row's label, at most.
_LABEL_CHARACTER_INCHES: Final = 0.066
# Bold characters that fit above the plot.
_TITLE_CHARACTERS: Final = 84
_NOTE_CHARACTERS: Final = 112

_PALE_GREEN: Final = "#A9DEC9"
_PALE_BLUE: Final = "#BFDDF0"
_PALE_ORANGE: Final = "#F5CDB3"
_PALE_GREY: Final = "#EDF0F2"


@dataclass(frozen=True)
class _Look:
    label: str
    face: str
    edge: str
    hatch: str = ""


_LOOKS: Final = {
    "dispatch": _Look("dispatch", ORANGE, PAPER),
    "register": _Look("register transfer", BLUE, PAPER),
    "cell read": _Look("cell: read", _PALE_BLUE, BLUE),
    "cell program": _Look("cell: program", _PALE_GREEN, GREEN),
    "cell erase": _Look("cell: erase", _PALE_ORANGE, ORANGE),
    "wait_unit": _Look("dispatch waits (t_wait)", PAPER, GREY, "//////"),
    "wait_channel": _Look("waits for the channel", _PALE_GREY, GREY, "|||||"),
    "wait_operation": _Look("waits for other data", _PALE_GREY, INK, "xxxxxx"),
}
# A die may read while one of these is suspended: the read lies above it.
_MAY_PAUSE: Final = ("cell program", "cell erase")
_COLLECTION: Final = _Look("for collection", PAPER, INK)


def _look_of(row: Row) -> str:
    return f"cell {row['kind']}" if row["stage"] == "cell" else str(row["stage"])


def draw(
    table: Table,
    *,
    name: str,
    title: str,
    span: tuple[int, int] | None = None,
    note: str = "",
) -> str:
    """Draw a timing diagram.

    Parameters
    ----------
    table
        As `drivelab.report.timeline.stages` makes it.
    name
        The drive; shortened when it is long.
    title
        What the drive does.
    span
        Of a longer run: from when to when it is drawn, in ns. Without it the table is all of
        one request.
    note
        A line below the title, shortened when it is long.

    Returns
    -------
    str
        An SVG document; equal input gives equal bytes. A browser says of each bar that is
        pointed at which operation it is, and of which stream.
    """
    titles: dict[str, list[str]] = {}
    rows = table.records()
    units = _units(rows)
    has_dispatch = any(row["stage"] == "dispatch" for row in rows)
    channels = [] if span is None else _channels(rows)
    count = len(units) + len(channels) + has_dispatch
    row_inches = min(_ROW_INCHES, max(_SMALLEST_ROW_INCHES, _COMFORTABLE_INCHES / count))
    looks = _legend(rows)
    columns = _legend_columns(looks)
    lines = bool(note) + -(-len(looks) // columns) - 1
    height = _TITLE_INCHES + lines * _LINE_INCHES + count * row_inches + _AXIS_INCHES
    label_inches = 0.2 + _LABEL_CHARACTER_INCHES * max(map(len, (_DISPATCH, *units.values())))
    width = label_inches + _PLOT_INCHES + _RIGHT_INCHES
    left = label_inches / width
    place = (left, _AXIS_INCHES / height, _PLOT_INCHES / width, count * row_inches / height)

    def draw_into(figure: Figure) -> None:
        diagram = _Diagram(
            figure.add_axes(place),
            rows,
            units,
            row_inches,
            channels=channels,
            has_dispatch=has_dispatch,
        )
        if span is None:
            diagram.draw_request(duration_ns(table))
        else:
            diagram.draw_span(*span)
        titles.update(diagram.titles)
        heading = f"{_shortened(name, len(title))}: {title}"
        _head(figure, left, heading, note)
        _draw_legend(figure, left, looks, columns, below_inches=bool(note) * _LINE_INCHES)

    return with_titles(document(draw_into, (width, height)), titles)


class _Diagram:
    """The drawing into one pair of axes; times in the unit that suits the duration."""

    def __init__(
        self,
        axes: Axes,
        rows: Sequence[Row],
        units: dict[int, str],
        row_inches: float,
        *,
        channels: Sequence[int],
        has_dispatch: bool,
    ) -> None:
        self.axes = axes
        self.rows = rows
        self.row_inches = row_inches
        self.has_dispatch = has_dispatch
        self.dispatched = _dispatch_starts(rows)
        self.labels = [_DISPATCH] * has_dispatch
        self.labels += [f"channel {channel}" for channel in channels]
        self.channels = {channel: place + has_dispatch for place, channel in enumerate(channels)}
        self.places = {unit: place + len(self.labels) for place, unit in enumerate(units)}
        self.labels += units.values()
        # By the name of a collection of bars what is said of each.
        self.titles: dict[str, list[str]] = {}

    def draw_request(self, end_ns: int) -> None:
        """Draw everything that one request takes."""
        name = self._scale(0, end_ns)
        self._everything()
        self._numbers()
        self.axes.axvline(end_ns / self.factor, color=INK, linewidth=0.8, linestyle=(0, (4, 3)))
        self.axes.set_xlim(0, end_ns / self.factor * 1.012 or 1)
        self.axes.set_xlabel(
            f"time since the request arrived ({name}); numbers count the record's pages"
        )

    def draw_span(self, from_ns: int, to_ns: int) -> None:
        """Draw what is under way in a span of a run."""
        name = self._scale(from_ns, to_ns)
        self._everything()
        for above in (self.has_dispatch, len(self.channels) + self.has_dispatch):
            self.axes.axhline(above - 0.5, color=GREY, linewidth=0.8)
        self.axes.set_xlim(0, (to_ns - from_ns) / self.factor)
        run = "the run began"
        if from_ns:
            run = f"{format_duration_ns(from_ns).replace('us', 'µs')} of the run"
        self.axes.set_xlabel(f"time since {run} ({name})")

    def _scale(self, from_ns: int, to_ns: int) -> str:
        name, factor = ("ms", 1e6) if to_ns - from_ns >= 2e6 else ("µs", 1e3)
        self.from_ns = from_ns
        self.factor = factor
        self.unit = name
        self.inches_per_time = _PLOT_INCHES / max((to_ns - from_ns) / factor, 1e-9)
        return name

    def _everything(self) -> None:
        self._stripes()
        for look_name in _LOOKS:
            self._bars(look_name)
        self._labels()
        self.axes.grid(visible=False, axis="y")

    def _stripes(self) -> None:
        # A paler ground under every second row leads the eye to its label.
        for place in range(0, len(self.labels), 2):
            self.axes.axhspan(place - 0.5, place + 0.5, color="#F7F8F9", zorder=0, linewidth=0)

    def _place(self, row: Row) -> int | None:
        """Return the row of the diagram in which a stage is drawn, if any."""
        if row["stage"] != "wait_unit":
            return self.places[int(number(row["unit"]))]
        # In a unit's queue it would lie over the earlier operation's bars.
        in_front = self.has_dispatch and (row["operation"], row["end_ns"]) in self.dispatched
        return 0 if in_front else None

    def _bars(self, look_name: str) -> None:
        look = _LOOKS[look_name]
        for collection in (False, True):
            boxes, titles = [], []
            for row in self.rows:
                if _look_of(row) != look_name or (row["cause"] != "host") != collection:
                    continue
                places = [self._place(row)]
                if look_name == "dispatch" and self.has_dispatch:
                    places.append(0)
                if look_name == "register" and self.channels:
                    places.append(self.channels[int(number(row["channel"]))])
                found = [self._box(row, place) for place in places if place is not None]
                boxes += found
                titles += [self._title(row, look.label)] * len(found)
            if boxes:
                name = f"bars-{len(self.titles)}"
                self.titles[name] = titles
                self.axes.add_collection(
                    PolyCollection(
                        boxes,
                        facecolor=look.face,
                        edgecolor=INK if collection else look.edge,
                        linewidth=1.1 if collection else 0.4,
                        hatch=look.hatch,
                        zorder=2 if look_name in _MAY_PAUSE else 2.5,
                        gid=name,
                    )
                )

    def _title(self, row: Row, stage: str) -> str:
        page = "" if row["page"] is None else f" of page {int(number(row['page'])):,}"
        causes = {
            "host": row["stream"],
            "wear": "wear levelling",
            "map": "map on the flash",
            "fold": "folding",
        }
        cause = causes.get(str(row["cause"]), row["cause"])
        start, end = (
            (number(row[key]) - self.from_ns) / self.factor for key in ("start_ns", "end_ns")
        )
        whose = "" if cause is None else f"{cause}: "
        return f"{whose}{row['kind']}{page}\n{stage}, {start:,.12g} to {end:,.12g} {self.unit}"

    def _box(self, row: Row, place: int) -> list[tuple[float, float]]:
        start, end = (
            (number(row[key]) - self.from_ns) / self.factor for key in ("start_ns", "end_ns")
        )
        low, high = place - _BAR / 2, place + _BAR / 2
        return [(start, low), (end, low), (end, high), (start, high)]

    def _numbers(self) -> None:
        """Write the number of its page into every cell bar that has the space."""
        if self.row_inches < _TEXT_ROW_INCHES:
            return
        first = min(
            (int(number(row["page"])) for row in self.rows if row["page"] is not None), default=0
        )
        for row in self.rows:
            if row["stage"] != "cell" or row["page"] is None:
                continue
            text = str(int(number(row["page"])) - first)
            start, end = (number(row[key]) / self.factor for key in ("start_ns", "end_ns"))
            if (end - start) * self.inches_per_time > _CHARACTER_INCHES * (len(text) + 0.6):
                self.axes.text(
                    (start + end) / 2,
                    self.places[int(number(row["unit"]))],
                    text,
                    ha="center",
                    va="center_baseline",
                    fontsize=7.5,
                )

    def _labels(self) -> None:
        every = max(1, round(0.14 / self.row_inches + 0.3))
        places = range(0, len(self.labels), every)
        self.axes.set_yticks(list(places), [self.labels[place] for place in places], fontsize=8)
        self.axes.tick_params(axis="y", length=0)
        self.axes.set_ylim(len(self.labels) - 0.5, -0.5)


def _head(figure: Figure, left: float, title: str, note: str) -> None:
    height = figure.get_figheight()
    figure.text(left, 1 - 0.22 / height, title, fontsize=10, fontweight="bold")
    if len(note) > _NOTE_CHARACTERS:
        note = f"{note[: _NOTE_CHARACTERS - 1]}…"
    figure.text(left, 1 - (0.22 + _LINE_INCHES) / height, note, fontsize=8.5)


def _legend(rows: Sequence[Row]) -> list[_Look]:
    """Return the looks that are drawn."""
    drawn = {_look_of(row) for row in rows}
    starts = _dispatch_starts(rows)
    if not any(
        (row["operation"], row["end_ns"]) in starts for row in rows if row["stage"] == "wait_unit"
    ):
        drawn.discard("wait_unit")
    looks = [look for name, look in _LOOKS.items() if name in drawn]
    if any(row["cause"] != "host" for row in rows):
        looks.append(_COLLECTION)
    return looks


def _legend_columns(looks: Sequence[_Look]) -> int:
    """Return how many entries fit beside each other."""
    for columns in range(len(looks), 1, -1):
        widest = sorted((len(look.label) for look in looks), reverse=True)[:columns]
        inches = sum(widest) * _LABEL_CHARACTER_INCHES + columns * _ENTRY_INCHES
        if inches <= _PLOT_INCHES:
            return columns
    return 1


def _draw_legend(
    figure: Figure, left: float, looks: Sequence[_Look], columns: int, *, below_inches: float
) -> None:
    figure.legend(
        handles=[
            Patch(facecolor=look.face, edgecolor=look.edge, hatch=look.hatch, label=look.label)
            for look in looks
        ],
        loc="upper left",
        bbox_to_anchor=(left, 1 - (0.3 + below_inches) / figure.get_figheight()),
        bbox_transform=figure.transFigure,
        borderaxespad=0,
        borderpad=0,
        ncols=columns,
        columnspacing=1.2,
        handlelength=1.6,
    )


def _dispatch_starts(rows: Sequence[Row]) -> set[tuple[Cell, Cell]]:
    return {(row["operation"], row["start_ns"]) for row in rows if row["stage"] == "dispatch"}


def _units(rows: Sequence[Row]) -> dict[int, str]:
    """Return unit to label, in the order of the units; a label says no more than it must."""
    places: dict[int, Any] = {}
    for row in rows:
        places[int(number(row["unit"]))] = tuple(
            int(number(row[key])) for key in ("channel", "way", "die", "plane")
        )
    several_dies = any(die for _, _, die, _ in places.values())
    # Without plane mode a unit is a die, and its pages lie on either plane.
    plane_mode = len({place[:3] for place in places.values()}) < len(places)
    labels = {}
    for unit in sorted(places):
        channel, way, die, plane = places[unit]
        label = f"channel {channel}, way {way}"
        if several_dies:
            label += f", die {die}"
        if plane_mode:
            label += f", plane {plane}"
        labels[unit] = label
    return labels


def _channels(rows: Sequence[Row]) -> list[int]:
    transfers = (row for row in rows if row["stage"] == "register")
    return sorted({int(number(row["channel"])) for row in transfers})


def _shortened(name: str, title_characters: int) -> str:
    room = max(12, _TITLE_CHARACTERS - title_characters - 2)
    return name if len(name) <= room else f"…{name[1 - room :]}"


def describe_span(operations: int, span: tuple[int, int]) -> str:
    """Return the title of the diagram of a span: how much of a run is drawn."""
    noun = "flash operation" if operations == 1 else "flash operations"
    lasting = format_duration_ns(span[1] - span[0]).replace("us", "µs")
    return f"{operations:,} {noun} in {lasting}"


def describe(op: str, record_bytes: int, operations: int, end_ns: int) -> str:
    """Return the title of a diagram: what is asked, and when the last flash operation ends."""
    noun = "flash operation" if operations == 1 else "flash operations"
    return (
        f"{op} of {format_size(record_bytes)}, {operations} {noun}, "
        f"over after {format_duration_ns(end_ns).replace('us', 'µs')}"
    )
