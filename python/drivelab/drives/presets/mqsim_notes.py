"""What of MQSim's flows is different here, or without effect: a line for each.

Every line names the setting that it is about. What the drive's own settings became is in
`drivelab.drives.presets.mqsim`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from drivelab.drives.presets.mqsim_facts import SECTOR_BYTES, DriveFacts
from drivelab.drives.presets.mqsim_flows import Flow, RecordedFlow, SyntheticFlow
from drivelab.units import format_size

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


@dataclass
class Counted:
    """What was counted while a trace was translated, of one pass.

    Attributes
    ----------
    requests, writes
        The requests that are sent, and how many of them write.
    partial
        Requests that are not whole pages.
    wrapped, cut
        Requests that begin beyond the flow's part of the drive, and that end beyond it.
    room_bytes
        The size of the flow's part.
    """

    requests: int = 0
    writes: int = 0
    partial: int = 0
    wrapped: int = 0
    cut: int = 0
    room_bytes: int = 0


def reads(flow: Flow) -> bool:
    """Whether a synthetic flow reads."""
    return isinstance(flow, SyntheticFlow) and flow.read_ratio > 0


def writes(flow: Flow) -> bool:
    """Whether a synthetic flow writes."""
    return isinstance(flow, SyntheticFlow) and flow.read_ratio < 1


def notes_of(
    flows: Sequence[Flow], drive: DriveFacts, traces: Mapping[str, Counted]
) -> Iterator[str]:
    """Return the lines of one scenario.

    Parameters
    ----------
    flows
        All its flows.
    drive
        The drive that they go to.
    traces
        By the name of a flow of a trace, what was counted.
    """
    unknown = Counter(name for flow in flows for name in flow.unknown)
    for name in unknown:
        yield f"{name}: MQSim does not read it either"
    if len({flow.priority for flow in flows if flow.priority > 0}) > 1:
        yield "Priority_Class: better classes go first here; MQSim weighs HIGH, MEDIUM, LOW"
    everything = tuple(frozenset(range(count)) for count in drive.shape)
    if any(flow.resources != everything for flow in flows):
        yield "Channel_IDs to Plane_IDs: pages of every flow are spread over the whole drive here"
    if any(flow.caches_reads for flow in flows):
        yield "Device_Level_Data_Caching_Mode: read data are not cached here"
    for flow in flows:
        if isinstance(flow, RecordedFlow):
            yield from _of_trace(flow, traces[flow.name])
        if isinstance(flow, SyntheticFlow) and (
            flow.deviation_sectors or flow.alignment_sectors != flow.mean_sectors
        ):
            yield (
                f"Address_Alignment_Unit of {flow.name}: requests begin at multiples of their "
                "own size here"
            )
    yield from _of_pages(flows, drive, traces)
    yield from _of_the_state(flows, drive, traces)


def _of_trace(flow: RecordedFlow, counted: Counted) -> Iterator[str]:
    if flow.time_unit_ns != 1:
        yield f"Time_Unit of {flow.name}: MQSim itself reads its times as ns"
    if flow.repeats > 1 and flow.executed < 1:
        yield (
            f"Percentage_To_Be_Executed of {flow.name}: no effect, as in MQSim, because "
            f"Relay_Count is {flow.repeats}: the whole trace is sent each time"
        )
    room = format_size(counted.room_bytes)
    if counted.wrapped:
        yield (
            f"File_Path of {flow.name}: {_share(counted.wrapped, counted)} begin beyond the flow's "
            f"{room} of the drive; addresses begin again at its start, as in MQSim"
        )
    if counted.cut:
        yield (
            f"File_Path of {flow.name}: {_share(counted.cut, counted)} reach beyond the flow's "
            f"{room} of the drive and end there"
        )


def _share(count: int, counted: Counted) -> str:
    return f"{count:,} of {counted.requests:,} requests"


def _of_pages(
    flows: Sequence[Flow], drive: DriveFacts, traces: Mapping[str, Counted]
) -> Iterator[str]:
    """Return which requests are not whole pages, and what they cost."""
    partial = []
    for flow in flows:
        if isinstance(flow, RecordedFlow) and traces[flow.name].partial:
            counted = traces[flow.name]
            partial.append(f"{flow.name}, {_share(counted.partial, counted)}")
        if isinstance(flow, SyntheticFlow) and _is_partial(flow, drive.page_bytes):
            size = format_size(flow.mean_sectors * SECTOR_BYTES)
            varies = "about " if flow.deviation_sectors else ""
            partial.append(f"{flow.name}, requests of {varies}{size}")
    if partial:
        yield (
            f"Page_Capacity: whole pages of {format_size(drive.page_bytes)} cross the channel "
            "here; MQSim moves the requested sectors only, so requests of parts of pages take "
            f"longer here ({'; '.join(partial)})"
        )


def _is_partial(flow: SyntheticFlow, page_bytes: int) -> bool:
    """Whether requests of a synthetic flow are not whole pages; those of varied sizes are not."""
    size = SECTOR_BYTES if flow.deviation_sectors else flow.mean_sectors * SECTOR_BYTES
    return size % page_bytes != 0


def _of_the_state(
    flows: Sequence[Flow], drive: DriveFacts, traces: Mapping[str, Counted]
) -> Iterator[str]:
    """Return how the drive's state before the first request is another than in MQSim."""
    # A drive that is read has data everywhere here.
    meets_data = any(isinstance(flow, RecordedFlow) or reads(flow) for flow in flows)
    for flow in flows:
        if not isinstance(flow, SyntheticFlow) or not (meets_data and writes(flow)):
            continue
        if _is_partial(flow, drive.whole_bytes):
            yield (
                f"Enabled_Preconditioning: writes of {flow.name} that are not whole pages "
                "first read the page here; MQSim's pages are still empty"
            )
    does_write = any(map(writes, flows)) or any(each.writes for each in traces.values())
    if not drive.is_written and meets_data and does_write:
        yield (
            "Enabled_Preconditioning: the whole drive holds data here, because flows read, so "
            "writes collect blocks; MQSim's blocks are empty, and it collects none until they are "
            "used up"
        )
    if not drive.is_written and drive.caches_map:
        yield (
            "CMT_Capacity: as many entries of the map as fit are cached at the start here; "
            "MQSim's cache is empty then, so it reads the map from the flash more often"
        )
    if drive.is_partly_filled:
        yield (
            "Initial_Occupancy_Percentage: pages with data are anywhere on the drive, and "
            "reads of others take no flash time here; MQSim fills each flow's own pages first, "
            "and reads the flash for others too"
        )
