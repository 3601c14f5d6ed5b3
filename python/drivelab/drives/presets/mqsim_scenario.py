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
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Final

from drivelab.drives.presets.mqsim import FlowsCondition
from drivelab.drives.presets.mqsim_flows import Flow, RecordedFlow, SyntheticFlow
from drivelab.errors import UsageError
from drivelab.units import format_size
from drivelab.workloads.recorded import RecordedFiles
from drivelab.workloads.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

_SECTOR: Final = 512
_GRID: Final = 4096
#: Number of equally likely sizes that represent a normal distribution.
_SIZES: Final = 64
_MOST_REQUEST_BYTES: Final = 64 << 20
_MOST_LISTED: Final = 2_000_000
_MOST_PLACES: Final = 1 << 20


@dataclass(frozen=True)
class DriveFacts:
    """Facts about a drive that decide where flows go.

    Attributes
    ----------
    capacity_bytes
        Capacity that the host sees.
    shape
        Channels, chips of each, dies of each and planes of each.
    is_shared
        Whether every flow uses the whole drive (SATA).
    whole_bytes
        Writes of traces are extended to multiples of this. It is a page if MQSim's drive was never
        written, so that no page has to be read before a partial write; else a sector.
    is_partly_filled
        Whether only some pages contain data, anywhere on the drive.
    """

    capacity_bytes: int
    shape: tuple[int, int, int, int]
    is_shared: bool
    whole_bytes: int = _SECTOR
    is_partly_filled: bool = False


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
    notes = list(_notes(flows, drive))
    tables: list[dict[str, Any]] = []
    files: list[tuple[str, str]] = []
    for flow, (start, length) in zip(flows, _parts(flows, drive), strict=True):
        table: dict[str, Any] = {"name": flow.name, "priority": flow.priority}
        if not flow.buffers_writes and _writes(flow):
            table["writes_as"] = "forced_write"
        if isinstance(flow, SyntheticFlow):
            table |= _drawn(flow, start, length)
        elif isinstance(flow, RecordedFlow):
            del table["priority"]
            table.pop("writes_as", None)
            name = f"flow-{len(tables) + 1}.csv"
            text = _listed(flow, (start, length), folder, drive.whole_bytes)
            files.append((name, text))
            table |= {"requests_csv": name, "priority": flow.priority}
        tables.append(table)
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
        reads=any(isinstance(flow, RecordedFlow) or _reads(flow) for flow in flows),
    )


def facts_of(resolved: Mapping[str, Any], *, is_written: bool) -> DriveFacts:
    """Return the facts from a resolved preset, and whether MQSim fills the drive."""
    geometry = resolved["geometry"]
    occupancy = resolved.get("occupancy") or {"filled": 1.0, "order": "in_order"}
    names = ("channels", "ways_per_channel", "dies_per_way", "planes_per_die")
    channels, ways, dies, planes = (int(geometry[name]) for name in names)
    return DriveFacts(
        capacity_bytes=int(geometry["user_capacity_bytes"]),
        shape=(channels, ways, dies, planes),
        is_shared=resolved["host"]["interface"] == "sata",
        whole_bytes=_SECTOR if is_written else int(geometry["page_size_bytes"]),
        is_partly_filled=occupancy["order"] == "random" and occupancy["filled"] < 1,
    )


def _reads(flow: Flow) -> bool:
    return isinstance(flow, SyntheticFlow) and flow.read_ratio > 0


def _writes(flow: Flow) -> bool:
    return isinstance(flow, SyntheticFlow) and flow.read_ratio < 1


def _notes(flows: Sequence[Flow], drive: DriveFacts) -> list[str]:
    found = []
    unknown = Counter(name for flow in flows for name in flow.unknown)
    found += [f"{name}: MQSim does not read it either" for name in unknown]
    if len({flow.priority for flow in flows if flow.priority > 0}) > 1:
        found.append("Priority_Class: better classes go first here; MQSim weighs HIGH, MEDIUM, LOW")
    everything = tuple(frozenset(range(count)) for count in drive.shape)
    if any(flow.resources != everything for flow in flows):
        found.append(
            "Channel_IDs to Plane_IDs: pages of every flow are spread over the whole drive here"
        )
    if any(flow.caches_reads for flow in flows):
        found.append("Device_Level_Data_Caching_Mode: read data are not cached here")
    # A drive that is read has data everywhere here.
    meets_data = any(isinstance(flow, RecordedFlow) or _reads(flow) for flow in flows)
    for flow in flows:
        if isinstance(flow, RecordedFlow):
            found += _notes_of_trace(flow)
        if isinstance(flow, SyntheticFlow):
            if flow.deviation_sectors or flow.alignment_sectors != flow.mean_sectors:
                found.append(
                    f"Address_Alignment_Unit of {flow.name}: requests begin at multiples of their "
                    "own size here"
                )
            sizes = [flow.mean_sectors * _SECTOR] if not flow.deviation_sectors else [_SECTOR]
            if meets_data and _writes(flow) and any(size % drive.whole_bytes for size in sizes):
                found.append(
                    f"Enabled_Preconditioning: writes of {flow.name} that are not whole pages "
                    "first read the page here; MQSim's pages are still empty"
                )
    if drive.is_partly_filled:
        found.append(
            "Initial_Occupancy_Percentage: pages with data are anywhere on the drive, and "
            "reads of others take no flash time here; MQSim fills each flow's own pages first, "
            "and reads the flash for others too"
        )
    return found


def _notes_of_trace(flow: RecordedFlow) -> list[str]:
    found = []
    if flow.time_unit_ns != 1:
        found.append(f"Time_Unit of {flow.name}: MQSim itself reads its times as ns")
    if flow.repeats > 1 and flow.executed < 1:
        found.append(
            f"Percentage_To_Be_Executed of {flow.name}: no effect, as in MQSim, because "
            f"Relay_Count is {flow.repeats}: the whole trace is sent each time"
        )
    return found


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
    room = int(length * flow.working_set) // _SECTOR * _SECTOR
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
    rate = flow.bandwidth // _SECTOR // flow.mean_sectors
    return {"rate_iops": float(max(rate, 1)), "arrivals": "poisson"} | table


def _sizes(flow: SyntheticFlow) -> list[int]:
    if not flow.deviation_sectors:
        sectors = [flow.mean_sectors]
    else:
        drawn = NormalDist(flow.mean_sectors, flow.deviation_sectors)
        places = ((place + 0.5) / _SIZES for place in range(_SIZES))
        sectors = [max(1, math.ceil(drawn.inv_cdf(place))) for place in places]
    largest = max(sectors) * _SECTOR
    if largest > _MOST_REQUEST_BYTES:
        raise UsageError(
            f"Average_Request_Size of {flow.name} makes requests of {largest} bytes; allowed: up "
            f"to {_MOST_REQUEST_BYTES} ({format_size(_MOST_REQUEST_BYTES)})"
        )
    return [each * _SECTOR for each in sectors]


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


def _listed(flow: RecordedFlow, part: tuple[int, int], folder: Path, whole_bytes: int) -> str:
    """Return a trace's requests in a flow's part, as a list with their times."""
    from pathlib import Path as FilePath

    found = [each for each in (FilePath(flow.path), folder / flow.path) if each.is_file()]
    if not found:
        raise UsageError(
            f"File_Path of {flow.name}: there is no file {flow.path} here or next to the "
            "workload file"
        )
    files = RecordedFiles((str(found[0]),), format="mqsim", time_unit_ns=flow.time_unit_ns)
    requests = _requests(files, flow)
    start, length = part
    if length < whole_bytes:
        raise UsageError(f"{flow.name} has no whole page of the drive: use a larger one")
    # Writes that bypass the buffer are complete only in the flash.
    forced = "" if flow.buffers_writes else ",forced"
    lines = [f"at_ns,action,offset_bytes,size_bytes{forced}"]
    last = requests[-1][0]
    for turn in range(flow.repeats):
        for at_ns, offset, size, operation in requests:
            grid = whole_bytes if operation == "write" else _SECTOR
            begin = offset % length // grid * grid
            end = min(-(-(offset % length + size) // grid) * grid, length // grid * grid)
            # A request that reaches beyond the flow's part is cut off at its end.
            begin = min(begin, end - grid)
            said = f"{turn * last + at_ns},{operation},{start + begin},{end - begin}"
            lines.append(f"{said},{str(operation == 'write').lower()}" if forced else said)
    return "\n".join(lines) + "\n"


def _requests(files: RecordedFiles, flow: RecordedFlow) -> list[tuple[int, int, int, str]]:
    """Return the requests to send: ns after the first, offset, bytes and operation."""
    import numpy as np

    from drivelab._core import TRACE_OPERATIONS

    types = (("arrival_ns", "u8"), ("offset_bytes", "u8"), ("size_bytes", "u8"))
    reader = files.open()
    found: list[tuple[int, int, int, str]] = []
    while (batch := reader.next_batch()) is not None:
        columns = [np.frombuffer(batch[name], kind).tolist() for name, kind in types]
        kinds = [TRACE_OPERATIONS[place] for place in batch["operation"]]
        found += zip(*columns, kinds, strict=True)
        if len(found) * flow.repeats > _MOST_LISTED:
            raise UsageError(
                f"File_Path of {flow.name} asks for more than {_MOST_LISTED:,} requests; replay "
                "it alone with --trace, which reads it in pieces"
            )
    # As in MQSim, a repeated trace is sent whole.
    sent = found if flow.repeats > 1 else found[: int(flow.executed * len(found))]
    if not sent:
        raise UsageError(f"Percentage_To_Be_Executed of {flow.name} leaves no request")
    return sent


def _toml(head: dict[str, Any], tables: Sequence[dict[str, Any]]) -> str:
    from drivelab.drives.presets.template import toml_value

    lines = [f"{key} = {toml_value(value)}" for key, value in head.items()]
    for table in tables:
        lines += ["", "[[stream]]"]
        lines += [f"{key} = {toml_value(value)}" for key, value in table.items()]
    return "\n".join(lines) + "\n"
