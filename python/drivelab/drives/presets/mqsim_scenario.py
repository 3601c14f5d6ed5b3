"""A scenario of MQSim's flows as one of Drivelab's, and the state in which it finds the drive.

::

    flow          stream
    synthetic     a closed loop, or arrivals at a rate, of sizes and places by shares
    trace         a list of requests
        all           each in its own part of the drive, one after the other (NVMe), or all in the
                      whole drive (SATA)
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Final

from drivelab.drives.presets.mqsim import FlowsCondition
from drivelab.drives.presets.mqsim_facts import SECTOR_BYTES, DriveFacts
from drivelab.drives.presets.mqsim_flows import Flow, RecordedFlow, SyntheticFlow
from drivelab.drives.presets.mqsim_notes import Counted, notes_of, reads, writes
from drivelab.errors import DrivelabError, UsageError
from drivelab.units import format_size
from drivelab.workloads.recorded import RecordedFiles
from drivelab.workloads.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

_GRID: Final = 4096
#: Number of equally likely sizes that represent a normal distribution.
_SIZES: Final = 64
_MOST_REQUEST_BYTES: Final = 64 << 20
_MOST_LISTED: Final = 2_000_000
_MOST_PLACES: Final = 1 << 20
#: What errors of a trace name as options of reading.
_INSTEAD_OF_OPTIONS: Final = {
    "(--time-unit, --address-unit)": "(Time_Unit; addresses are in sectors of 512 bytes)",
    "(--time-unit)": "(Time_Unit)",
    "(--address-unit)": "(sectors of 512 bytes)",
    "widen --sort-window, or sort": "sort",
}


@dataclass
class Translated:
    """A scenario of flows.

    Attributes
    ----------
    scenario
        What the flows send.
    notes
        Settings with another meaning than in MQSim, or without effect: one line each.
    """

    scenario: Scenario
    notes: list[str] = field(default_factory=list)


def translated(flows: Sequence[Flow], drive: DriveFacts, folder: Path, title: str) -> Translated:
    """Make a scenario of flows.

    Parameters
    ----------
    flows
        All flows of one I/O scenario.
    drive
        The drive that they go to.
    folder
        The folder of the workload.xml. A trace's path is looked for from the current folder, as
        MQSim does, and from there.
    title
        Title of the scenario.

    Raises
    ------
    UsageError, RunError
        If a flow uses more than the drive has, or its trace cannot be read.
    """
    traces: dict[str, Counted] = {}
    tables: list[dict[str, Any]] = []
    files: list[tuple[str, str]] = []
    for flow, (start, length) in zip(flows, _parts(flows, drive), strict=True):
        table: dict[str, Any] = {"name": flow.name, "priority": flow.priority}
        if not flow.buffers_writes and writes(flow):
            table["writes_as"] = "forced_write"
        if isinstance(flow, SyntheticFlow):
            table |= _drawn(flow, start, length)
        elif isinstance(flow, RecordedFlow):
            del table["priority"]
            table.pop("writes_as", None)
            name = f"flow-{len(tables) + 1}.csv"
            text, traces[flow.name] = _listed(flow, (start, length), folder, drive)
            files.append((name, text))
            table |= {"requests_csv": name, "priority": flow.priority}
        tables.append(table)
    notes = list(notes_of(flows, drive, traces))
    head = {"summary": title} | _end(flows, notes)
    return Translated(Scenario(_toml(head, tables), tuple(files)), notes)


def condition_of(flows: Sequence[Flow]) -> FlowsCondition:
    """Return the state in which flows find a drive that MQSim preconditions for them."""
    one = flows[0]
    is_first = (
        len(flows) == 1
        and isinstance(one, SyntheticFlow)
        and one.working_set <= one.occupancy + 1e-9
    )
    return FlowsCondition(
        filled=math.fsum(flow.occupancy for flow in flows) / len(flows),
        is_first=is_first,
        reads=any(isinstance(flow, RecordedFlow) or reads(flow) for flow in flows),
    )


def _parts(flows: Sequence[Flow], drive: DriveFacts) -> list[tuple[int, int]]:
    """Return where each flow's part begins and how large it is, in whole units of 4 KiB."""
    for flow in flows:
        names = ("Channel_IDs", "Chip_IDs", "Die_IDs", "Plane_IDs")
        for name, have, count in zip(names, flow.resources, drive.shape, strict=True):
            if max(have) >= count:
                raise UsageError(
                    f"{name} of {flow.name} names {max(have)}; allowed: 0 to {count - 1}, as the "
                    "drive has"
                )
    if drive.is_shared:
        return [(0, drive.capacity_bytes)] * len(flows)
    places = math.prod(drive.shape)
    everything = tuple(frozenset(range(count)) for count in drive.shape)
    if all(flow.resources == everything for flow in flows):
        weights = [1.0] * len(flows)
        whole = float(len(flows))
    elif places * len(flows) > _MOST_PLACES:
        raise UsageError(
            f"flows share {places} planes in different ways; give all the same Channel_IDs, "
            "Chip_IDs, Die_IDs and Plane_IDs"
        )
    else:
        users = Counter(place for flow in flows for place in itertools.product(*flow.resources))
        weights = [
            sum(1 / users[place] for place in itertools.product(*flow.resources)) for flow in flows
        ]
        whole = float(places)
    parts, start = [], 0
    for flow, weight in zip(flows, weights, strict=True):
        length = int(drive.capacity_bytes * weight / whole) // _GRID * _GRID
        if length == 0:
            raise UsageError(f"nothing is left of the drive for {flow.name}: use a larger one")
        parts.append((start, length))
        start += length
    return parts


def _drawn(flow: SyntheticFlow, start: int, length: int) -> dict[str, Any]:
    """Return the keys of a synthetic flow's stream."""
    sizes = _sizes(flow)
    room = int(length * flow.working_set) // SECTOR_BYTES * SECTOR_BYTES
    if room < max(sizes):
        raise UsageError(
            f"Working_Set_Percentage of {flow.name} leaves {room} bytes; allowed: as much as a "
            f"request, {max(sizes)} (Average_Request_Size)"
        )
    random = 0 if flow.distribution == "STREAMING" else 1
    table: dict[str, Any] = {
        "write_ratio": round(1 - flow.read_ratio, 6),
        "sizes_bytes": sizes,
        "read_random": random,
        "write_random": random,
        "range_offset_bytes": start,
        "range_bytes": room,
    }
    if flow.distribution == "RANDOM_HOTCOLD":
        table |= {"hot_range_ratio": flow.hot_ratio, "hot_access_ratio": 1 - flow.hot_ratio}
        part = min(flow.hot_ratio, 1 - flow.hot_ratio)
        if room * part < max(sizes) * 2:
            raise UsageError(
                f"Percentage_of_Hot_Region of {flow.name} leaves a part of {int(room * part)} "
                f"bytes; allowed: as much as two requests, {2 * max(sizes)}"
            )
    if flow.queue_depth is not None:
        return {"queue_depth": flow.queue_depth} | table
    # MQSim uses integer division.
    rate = flow.bandwidth // SECTOR_BYTES // flow.mean_sectors
    return {"rate_iops": float(max(rate, 1)), "arrivals": "poisson"} | table


def _sizes(flow: SyntheticFlow) -> list[int]:
    if not flow.deviation_sectors:
        sectors = [flow.mean_sectors]
    else:
        drawn = NormalDist(flow.mean_sectors, flow.deviation_sectors)
        places = ((place + 0.5) / _SIZES for place in range(_SIZES))
        sectors = [max(1, math.ceil(drawn.inv_cdf(place))) for place in places]
    largest = max(sectors) * SECTOR_BYTES
    if largest > _MOST_REQUEST_BYTES:
        raise UsageError(
            f"Average_Request_Size of {flow.name} makes requests of {largest} bytes; allowed: up "
            f"to {_MOST_REQUEST_BYTES} ({format_size(_MOST_REQUEST_BYTES)})"
        )
    return [each * SECTOR_BYTES for each in sectors]


def _end(flows: Sequence[Flow], notes: list[str]) -> dict[str, int]:
    """Return when the run ends: with the last flow."""
    drawn = [flow for flow in flows if isinstance(flow, SyntheticFlow)]
    if not drawn:
        return {}
    times = {flow.stop_ns for flow in drawn}
    counts = {flow.requests for flow in drawn}
    if len(drawn) < len(flows) or (times != {0} and len(times | counts) > 2):
        notes.append("Stop_Time, Total_Requests_To_Generate: here all flows continue until the end")
    if max(times) > 0:
        return {"duration_ns": max(times)}
    if len(drawn) > 1:
        notes.append("Total_Requests_To_Generate: here the requests of all flows together end it")
    return {"requests": sum(flow.requests for flow in drawn)}


def _listed(
    flow: RecordedFlow, part: tuple[int, int], folder: Path, drive: DriveFacts
) -> tuple[str, Counted]:
    """Return a trace's requests in a flow's part, as a list with their times, and their counts."""
    requests = _requests(flow, _trace_of(flow, folder))
    start, length = part
    if length < drive.whole_bytes:
        raise UsageError(f"{flow.name} has no whole page of the drive: use a larger one")
    counted = Counted(requests=len(requests), room_bytes=length)
    sent = []
    for at_ns, offset, size, operation in requests:
        grid = drive.whole_bytes if operation == "write" else SECTOR_BYTES
        place = offset % length
        end = min(-(-(place + size) // grid) * grid, length // grid * grid)
        # A request that reaches beyond the flow's part is cut off at its end.
        begin = min(place // grid * grid, end - grid)
        sent.append((at_ns, operation, start + begin, end - begin))
        counted.writes += operation == "write"
        counted.partial += offset % drive.page_bytes != 0 or size % drive.page_bytes != 0
        counted.wrapped += offset >= length
        counted.cut += place + size > length
    # Writes that bypass the buffer are complete only in the flash.
    forced = "" if flow.buffers_writes else ",forced"
    lines = [f"at_ns,action,offset_bytes,size_bytes{forced}"]
    last = requests[-1][0]
    for turn in range(flow.repeats):
        for at_ns, operation, offset, size in sent:
            said = f"{turn * last + at_ns},{operation},{offset},{size}"
            lines.append(f"{said},{str(operation == 'write').lower()}" if forced else said)
    return "\n".join(lines) + "\n", counted


def _trace_of(flow: RecordedFlow, folder: Path) -> Path:
    """Return the file of a trace."""
    from pathlib import Path as FilePath

    found = [each for each in (FilePath(flow.path), folder / flow.path) if each.is_file()]
    if not found:
        raise UsageError(
            f"File_Path of {flow.name}: there is no file {flow.path} here or next to the "
            "workload file"
        )
    return found[0]


def _requests(flow: RecordedFlow, path: Path) -> list[tuple[int, int, int, str]]:
    """Return the requests to send: ns after the first, offset, bytes and operation."""
    import numpy as np

    from drivelab._core import TRACE_OPERATIONS

    types = (("arrival_ns", "u8"), ("offset_bytes", "u8"), ("size_bytes", "u8"))
    files = RecordedFiles((str(path),), format="mqsim", time_unit_ns=flow.time_unit_ns)
    found: list[tuple[int, int, int, str]] = []
    with _in_mqsims_words(path):
        reader = files.open()
        while (batch := reader.next_batch()) is not None:
            columns = [np.frombuffer(batch[name], kind).tolist() for name, kind in types]
            kinds = [TRACE_OPERATIONS[place] for place in batch["operation"]]
            found += zip(*columns, kinds, strict=True)
            if len(found) * flow.repeats > _MOST_LISTED:
                raise UsageError(
                    f"File_Path of {flow.name} asks for more than {_MOST_LISTED:,} requests; "
                    "replay it alone with --trace, which reads it in pieces"
                )
    # As in MQSim, a repeated trace is sent whole.
    sent = found if flow.repeats > 1 else found[: int(flow.executed * len(found))]
    if not sent:
        raise UsageError(f"Percentage_To_Be_Executed of {flow.name} leaves no request")
    return sent


@contextmanager
def _in_mqsims_words(path: Path) -> Iterator[None]:
    """Re-raise errors of a trace with what can be changed here, where no option reads a trace."""
    try:
        yield
    except DrivelabError as error:
        said, is_bad, _ = str(error).partition("; mend it, skip bad lines with")
        if is_bad:
            said += (
                f"; mend it, or copy the good lines with `drivelab trace convert {path} --format "
                "mqsim --on-bad skip --to mqsim -o FILE` and name FILE in File_Path"
            )
        for options, settings in _INSTEAD_OF_OPTIONS.items():
            said = said.replace(options, settings)
        raise type(error)(said) from error


def _toml(head: dict[str, Any], tables: Sequence[dict[str, Any]]) -> str:
    from drivelab.drives.presets.template import toml_value

    lines = [f"{key} = {toml_value(value)}" for key, value in head.items()]
    for table in tables:
        lines += ["", "[[stream]]"]
        lines += [f"{key} = {toml_value(value)}" for key, value in table.items()]
    return "\n".join(lines) + "\n"
