"""A timing diagram: a lane for dispatch, each channel and each flash unit; a bar per stage."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from drivelab.exhibits import Axis, LaneBar, LaneFigure, number
from drivelab.timeline.stages import duration_ns
from drivelab.units import format_duration_ns, format_size

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from drivelab._core import CoreWork
    from drivelab.exhibits import Cell, Table

    Row = Mapping[str, Cell]

_DISPATCH: Final = "dispatch stage"
_WAITS: Final = "wait_unit"
#: Name, legend text and look of each kind of bar.
_KINDS: Final = (
    ("dispatch", "dispatch", "orange"),
    ("register", "register transfer", "blue"),
    ("cell read", "cell: read", "pale blue"),
    ("cell program", "cell: program", "pale green"),
    ("cell erase", "cell: erase", "pale orange"),
    (_WAITS, "dispatch waits (t_wait)", "striped"),
    ("wait_channel", "waits for the channel", "barred"),
    ("wait_operation", "waits for other data", "crossed"),
    ("firmware", "firmware at work", "green"),
)
#: Words for stages and waits.
WORDS: Final = {name: words for name, words, _ in _KINDS}
_COLLECTION: Final = "for collection"
_CAUSES: Final = {"wear": "wear levelling", "map": "map on the flash", "fold": "folding"}


def timing_diagram(
    table: Table,
    *,
    title: str,
    span: tuple[int, int] | None = None,
    note: str = "",
    work: Sequence[CoreWork] = (),
) -> LaneFigure:
    """Return the diagram of a request, or of a span of a run.

    Parameters
    ----------
    table
        As returned by `drivelab.timeline.stages.stages`.
    title
        Title: what the drive does.
    span
        Start and end of the drawn part of a longer run, in ns. Without it the table is one whole
        request.
    note
        A line below the title.
    work
        Work of the controller's cores; each core gets a lane.
    """
    rows = table.records()
    end_ns = duration_ns(table)
    work = [piece for piece in work if span is None or (piece[3] > span[0] and piece[2] < span[1])]
    lanes = _Lanes.of(rows, has_channels=span is not None, cores={piece[0] for piece in work})
    clock = _Clock.of(*(span or (0, end_ns)))
    bars = (*_bars(rows, lanes, clock, is_request=span is None), *_core_bars(work, lanes, clock))
    drawn = {bar.kind for bar in bars}
    if span is None:
        what = f"time since the request arrived ({clock.unit}); numbers count the record's pages"
    else:
        run = "the run began"
        if span[0]:
            run = f"{format_duration_ns(span[0]).replace('us', 'µs')} of the run"
        what = f"time since {run} ({clock.unit})"
    end = clock.at(span[1] if span else end_ns)
    return LaneFigure(
        "timeline",
        title,
        Axis(what, also=(0.0, end if span else end * 1.012 or 1.0)),
        lanes.names,
        bars,
        tuple(kind for kind in _KINDS if kind[0] in drawn),
        frame=_COLLECTION if any(bar.framed for bar in bars) else "",
        ends=None if span else end,
        rules=(lanes.dispatch, lanes.dispatch + len(lanes.channels)) if span else (),
        note=note,
        saved=(table,),
    )


@dataclass(frozen=True)
class _Clock:
    """Converts times to the unit that suits the length of the diagram."""

    from_ns: int
    factor: float
    unit: str

    @classmethod
    def of(cls, from_ns: int, to_ns: int) -> _Clock:
        unit, factor = ("ms", 1e6) if to_ns - from_ns >= 2e6 else ("µs", 1e3)
        return cls(from_ns, factor, unit)

    def at(self, time_ns: float) -> float:
        return (time_ns - self.from_ns) / self.factor


@dataclass(frozen=True)
class _Lanes:
    """The number of each lane: dispatch (0 or 1 lanes), channels, units, cores."""

    dispatch: int
    channels: Mapping[int, int]
    units: Mapping[int, int]
    cores: Mapping[int, int]
    names: tuple[str, ...]

    @classmethod
    def of(cls, rows: Sequence[Row], *, has_channels: bool, cores: Collection[int]) -> _Lanes:
        units = _units(rows)
        dispatch = int(any(row["stage"] == "dispatch" for row in rows))
        channels = _channels(rows) if has_channels else []
        names = [_DISPATCH] * dispatch + [f"channel {channel}" for channel in channels]
        return cls(
            dispatch,
            {channel: place + dispatch for place, channel in enumerate(channels)},
            {unit: place + len(names) for place, unit in enumerate(units)},
            {core: place + len(names) + len(units) for place, core in enumerate(sorted(cores))},
            (*names, *units.values(), *(f"core {core}" for core in sorted(cores))),
        )


def _bars(
    rows: Sequence[Row], lanes: _Lanes, clock: _Clock, *, is_request: bool
) -> Iterator[LaneBar]:
    dispatched = {(row["operation"], row["start_ns"]) for row in rows if row["stage"] == "dispatch"}
    pages = [int(number(row["page"])) for row in rows if row["page"] is not None]
    first = min(pages, default=0)
    for row in rows:
        kind = f"cell {row['kind']}" if row["stage"] == "cell" else str(row["stage"])
        at = [lanes.units[int(number(row["unit"]))]]
        if kind == _WAITS:
            # Drawn in the unit's lane, it would cover the bars of an earlier operation.
            in_front = lanes.dispatch and (row["operation"], row["end_ns"]) in dispatched
            at = [0] if in_front else []
        elif kind == "dispatch" and lanes.dispatch:
            at.append(0)
        elif kind == "register" and lanes.channels:
            at.append(lanes.channels[int(number(row["channel"]))])
        has_label = is_request and row["stage"] == "cell" and row["page"] is not None
        for lane in at:
            yield LaneBar(
                lane,
                clock.at(number(row["start_ns"])),
                clock.at(number(row["end_ns"])),
                kind,
                framed=row["cause"] != "host",
                text=_said(row, WORDS[kind], clock),
                label=str(int(number(row["page"])) - first) if has_label else "",
            )


def _core_bars(work: Sequence[CoreWork], lanes: _Lanes, clock: _Clock) -> Iterator[LaneBar]:
    for core, is_for_host, start_ns, end_ns in work:
        start, end = clock.at(start_ns), clock.at(end_ns)
        whom = "the host" if is_for_host else "collection or the map"
        yield LaneBar(
            lanes.cores[core],
            start,
            end,
            "firmware",
            framed=not is_for_host,
            text=f"firmware, for {whom}\n{start:,.12g} to {end:,.12g} {clock.unit}",
        )


def _said(row: Row, stage: str, clock: _Clock) -> str:
    page = "" if row["page"] is None else f" of page {int(number(row['page'])):,}"
    cause = (
        row["stream"] if row["cause"] == "host" else _CAUSES.get(str(row["cause"]), row["cause"])
    )
    start, end = (clock.at(number(row[key])) for key in ("start_ns", "end_ns"))
    whose = "" if cause is None else f"{cause}: "
    return f"{whose}{row['kind']}{page}\n{stage}, {start:,.12g} to {end:,.12g} {clock.unit}"


def _units(rows: Sequence[Row]) -> dict[int, str]:
    """Return the label of each unit, in order; labels omit what all units share."""
    places: dict[int, Any] = {}
    for row in rows:
        places[int(number(row["unit"]))] = tuple(
            int(number(row[key])) for key in ("channel", "way", "die", "plane")
        )
    several_dies = any(die for _, _, die, _ in places.values())
    # Without plane mode a unit is a die, and its pages may lie on either plane.
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


def describe_span(operations: int, span: tuple[int, int]) -> str:
    """Return the title of the diagram of a span: how much of a run it shows."""
    noun = "flash operation" if operations == 1 else "flash operations"
    lasting = format_duration_ns(span[1] - span[0]).replace("us", "µs")
    return f"{operations:,} {noun} in {lasting}"


def describe(op: str, record_bytes: int, operations: int, end_ns: int) -> str:
    """Return the title of a diagram: the request, and when its last flash operation ends."""
    noun = "flash operation" if operations == 1 else "flash operations"
    return (
        f"{op} of {format_size(record_bytes)}, {operations} {noun}, "
        f"done after {format_duration_ns(end_ns).replace('us', 'µs')}"
    )
