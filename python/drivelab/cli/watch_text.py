"""What `drivelab watch` shows: a screen of any size, or a line."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

from drivelab.plain_text import escaped
from drivelab.report.terminal import aligned
from drivelab.units import format_duration_ns, format_iops, format_rate, format_size

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_LABEL: Final = 13
_NONE: Final = "-"
_BAR: Final = 20
_LEVELS: Final = {True: "▁▂▃▄▅▆▇█", False: "_.-~=+*#"}
_FULL: Final = {True: "█", False: "#"}
_EMPTY: Final = {True: "░", False: "."}
_HEADS: Final = ("", "IOPS", "MB/s", "mean", "50 %", "99 %", "99.9 %", "longest")
_TIMES: Final = ("mean", "p50", "p99", "p99_9", "max")


def line(state: Mapping[str, Any]) -> str:
    """Return the last second as one line."""
    now = state["now"]
    words = [
        f"{format_duration_ns(state['wall_seconds'] * 1e9)}:",
        f"{format_iops(now['iops'])},",
        f"{format_rate(now['bytes_per_second'])}",
    ]
    for name, result in now["operations"].items():
        words[-1] += ","
        words.append(f"{escaped(name)} 99 % {format_duration_ns(result['latency_ns_p99'])}")
    if now["lateness"] is not None:
        words[-1] += ","
        words.append(f"late 99 % {format_duration_ns(now['lateness']['late_ns_p99'])}")
    ratio = _ratio(now["flash"])
    if ratio is not None:
        words[-1] += ","
        words.append(f"write amplification {ratio:.2f}")
    if now["room"] is not None:
        words[-1] += ","
        words.append(f"{now['room']['free_blocks']:,} free blocks")
    return " ".join(words)


def screen(
    state: Mapping[str, Any],
    rows: Sequence[Mapping[str, Any]],
    columns: int,
    lines: int | None,
) -> list[str]:
    """Return the last second, and as many earlier ones as fit.

    Parameters
    ----------
    state
        The state of the drive.
    rows
        Its seconds, the oldest first.
    columns, lines
        Size of the window; ``None`` for as many lines as it takes.
    """
    wide = _can_draw()
    above = [*_head(state), *_operations(state), *_facts(state, wide)]
    course = list(_course(rows, columns, wide))
    room = None if lines is None else lines - len(above) - len(course) - 1
    busy = _busy(state, columns, room, wide)
    text = [*above, *course, *([""] if busy else []), *busy]
    return [each[:columns] for each in (text if lines is None else text[:lines])]


def _can_draw() -> bool:
    return "utf" in (sys.stdout.encoding or "").lower()


def _head(state: Mapping[str, Any]) -> Iterator[str]:
    slowed = "" if state["dilation"] == 1 else f", slowed {state['dilation']:g} times"
    clients = f"{state['connected_clients']} client{'' if state['connected_clients'] == 1 else 's'}"
    yield (
        f"{escaped(state['drive'])}  {format_size(state['capacity_bytes'])}{slowed}, served for "
        f"{format_duration_ns(state['wall_seconds'] * 1e9)}, {clients}"
    )
    if state["failure"] is not None:
        yield f"FAILED: {escaped(state['failure'])}"
    yield ""


def _operations(state: Mapping[str, Any]) -> Iterator[str]:
    now = state["now"]
    table = [list(_HEADS)]
    for name in ("read", "write", *(set(now["operations"]) - {"read", "write"})):
        of = now["operations"].get(name)
        if of is None:
            table.append([name, *[_NONE] * (len(_HEADS) - 1)])
            continue
        times = (format_duration_ns(of[f"latency_ns_{key}"]) for key in _TIMES)
        rate = f"{of['bytes_per_second'] / 1e6:,.1f}"
        table.append([escaped(name), f"{of['iops']:,.0f}", rate, *times])
    late = now["lateness"]
    if late is not None:
        times = (format_duration_ns(late[f"late_ns_{key}"]) for key in _TIMES)
        table.append(["lateness", "", "", *times])
    yield from (each.rstrip() for each in aligned(table, left=1))
    yield ""


def _facts(state: Mapping[str, Any], wide: bool) -> Iterator[str]:
    now = state["now"]
    rates = f"{format_iops(now['iops'])}, {format_rate(now['bytes_per_second'])}"
    late = f"{100 * now['late_ratio']:.2g} % of replies late"
    yield f"{'together':<{_LABEL}}{rates}, queue depth {now['queue_depth']:.1f}, {late}"
    buffer, room, flash = now["buffer"], now["room"], now["flash"]
    if buffer is not None and buffer["bytes"]:
        taken = buffer["taken_bytes"] / buffer["bytes"]
        name = "write cache" if state["kind"] == "hdd" else "buffer"
        all_of_it = format_size(buffer["bytes"])
        yield f"{name:<{_LABEL}}{_bar(taken, wide)} {100 * taken:.0f} % of {all_of_it}"
    if room is not None:
        free = room["free_blocks"] / max(room["blocks"], 1)
        yield (
            f"{'free blocks':<{_LABEL}}{_bar(free, wide)} {room['free_blocks']:,} of "
            f"{room['blocks']:,}, {100 * free:.2g} %"
        )
    if flash is not None:
        yield f"{'collection':<{_LABEL}}{_collection(room, flash)}"
        since = _ratio(state["total"]["flash"])
        said = [f"{_two(_ratio(flash))} in this second", f"{_two(since)} since it began"]
        yield f"{'write ampl.':<{_LABEL}}{', '.join(said)}"


def _collection(room: Mapping[str, Any] | None, flash: Mapping[str, Any]) -> str:
    moved = f"{flash['collection_moves']:,} pages moved, {flash['block_erases']:,} blocks erased"
    if room is None:
        return moved
    if not room["collecting_planes"]:
        return f"{'runs' if flash['collection_moves'] else 'rests'}, {moved}"
    state = "runs" if flash["collection_moves"] else "waits for writes"
    return f"{state} in {room['collecting_planes']} of {room['planes']} planes, {moved}"


def _course(rows: Sequence[Mapping[str, Any]], columns: int, wide: bool) -> Iterator[str]:
    """Draw throughput and the slowest latencies over the last seconds, the newest on the right."""
    if len(rows) < 2:
        return
    shown = rows[-max(columns - _LABEL - 18, 10) :]
    rates = [(row["read_iops"] or 0) + (row["write_iops"] or 0) for row in shown]
    yield f"{'IOPS':<{_LABEL}}{_spark(rates, wide)} most {max(rates):,.0f}"
    times = [
        max(row["read_latency_ns_p99"] or 0, row["write_latency_ns_p99"] or 0) for row in shown
    ]
    yield f"{'latency 99 %':<{_LABEL}}{_spark(times, wide)} most {format_duration_ns(max(times))}"


def _spark(values: Sequence[float], wide: bool) -> str:
    levels = _LEVELS[wide]
    most = max(values) or 1
    return "".join(
        " " if value <= 0 else levels[min(int(value / most * len(levels)), len(levels) - 1)]
        for value in values
    )


def _bar(share: float, wide: bool) -> str:
    full = round(min(share, 1.0) * _BAR)
    return _FULL[wide] * full + _EMPTY[wide] * (_BAR - full)


def _busy(state: Mapping[str, Any], columns: int, lines: int | None, wide: bool) -> list[str]:
    """Show how busy channels and dies were, or disks: each if there is space, else by channel."""
    now = state["now"]
    disks = now["disk_utilisation_ratio"]
    if disks:
        return [
            f"{f'disk {number}' if len(disks) > 1 else 'disk':<{_LABEL}}{_bar(share, wide)} "
            f"{100 * share:.0f} % busy"
            for number, share in enumerate(disks)
        ][:lines]
    channels, units = now["channel_utilisation_ratio"], now["unit_utilisation_ratio"]
    members = max(state["members"], 1)
    per, of = len(channels) // members, len(units) // members
    if not per or not of:
        return []
    found: list[str] = []
    for member in range(members):
        bus = channels[member * per : (member + 1) * per]
        dies = [units[member * of : (member + 1) * of][channel::per] for channel in range(per)]
        room = None if lines is None else (lines - 1) // members - (members > 1)
        title = [f"member {member}"] if members > 1 else []
        found += [*title, *_channels(bus, dies, columns, room)]
    return ["busy, % of the second", *found]


def _channels(
    bus: Sequence[float], dies: Sequence[Sequence[float]], columns: int, lines: int | None
) -> list[str]:
    """Show one column per channel: its bus, and its dies below each other or as a mean."""
    width = max((columns - _LABEL) // max(len(bus), 1), 0)
    if width < 4:
        shares = [share for each in dies for share in each]
        return [
            f"{len(bus)} channels".ljust(_LABEL) + _ends(bus),
            f"{len(shares)} dies".ljust(_LABEL) + _ends(shares),
        ]
    width = min(width, 6)
    deep = max(map(len, dies))
    rows = [("channel", [f"{number}" for number in range(len(bus))]), ("bus", _percents(bus))]
    if lines is None or len(rows) + deep <= lines:
        rows += [(f"die {way}", _percents([each[way] for each in dies])) for way in range(deep)]
    else:
        rows.append((f"{deep} dies, mean", _percents([sum(each) / len(each) for each in dies])))
        rows.append(("most", _percents([max(each) for each in dies])))
    return [
        f"{name:<{_LABEL}}{''.join(cell.rjust(width) for cell in cells)}" for name, cells in rows
    ]


def _percents(shares: Sequence[float]) -> list[str]:
    return [f"{100 * share:.0f}" for share in shares]


def _ends(shares: Sequence[float]) -> str:
    mean = sum(shares) / len(shares)
    return f"mean {100 * mean:.0f}, least {100 * min(shares):.0f}, most {100 * max(shares):.0f}"


def _ratio(flash: Mapping[str, Any] | None) -> float | None:
    return None if flash is None else flash["write_amplification_ratio"]


def _two(value: float | None) -> str:
    return _NONE if value is None else f"{value:.2f}"
