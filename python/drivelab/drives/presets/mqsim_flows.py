"""MQSim's workload.xml: what each flow of an I/O scenario sends, and the drive's state before.

The format is that of MQSim's `IO_Flow_Parameter_Set_Synthetic` and
`IO_Flow_Parameter_Set_Trace_Based`, with its own spelling.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from drivelab.drives.presets.mqsim_xml import Element, read_elements
from drivelab.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_ROOT: Final = "MQSim_IO_Scenarios"
_SCENARIO: Final = "IO_Scenario"
SYNTHETIC: Final = "IO_Flow_Parameter_Set_Synthetic"
RECORDED: Final = "IO_Flow_Parameter_Set_Trace_Based"
#: Flows of one scenario, and scenarios of one file.
_MOST_FLOWS: Final = 64
_MOST_SCENARIOS: Final = 100
_MOST: Final = 1 << 53
#: Simulated time ends after 6.5 days.
_LONGEST_NS: Final = 1 << 49

_IDS: Final = ("Channel_IDs", "Chip_IDs", "Die_IDs", "Plane_IDs")
#: The counterpart of each setting of a flow.
OF_EVERY_FLOW: Final = {
    "Priority_Class": "`priority` of the stream: URGENT 0, HIGH 1, MEDIUM 2, LOW 3",
    "Device_Level_Data_Caching_Mode": (
        '`WRITE_CACHE` is the write buffer; with the others `writes_as = "forced_write"`'
    ),
    **dict.fromkeys(_IDS, "share of the address space that the flow has; its pages are anywhere"),
    "Initial_Occupancy_Percentage": "`occupancy.filled`, where `Enabled_Preconditioning` is true",
}
OF_SYNTHETIC_FLOWS: Final = {
    "Working_Set_Percentage": "`range_bytes`: this share of the flow's part of the drive",
    "Synthetic_Generator_Type": "`QUEUE_DEPTH` is `queue_depth`, `BANDWIDTH` is `rate_iops`",
    "Read_Percentage": "1 - `write_ratio`",
    "Address_Distribution": (
        "`RANDOM_UNIFORM`: `read_random = write_random = 1`; `STREAMING`: 0; `RANDOM_HOTCOLD`: "
        "`hot_range_ratio`, `hot_access_ratio`"
    ),
    "Percentage_of_Hot_Region": "h: `hot_range_ratio` h, `hot_access_ratio` 1 - h",
    "Generated_Aligned_Addresses": "places are multiples of the request's size",
    "Address_Alignment_Unit": "places are multiples of the request's size",
    "Request_Size_Distribution": "`sizes_bytes`: one, or 64 of the normal distribution",
    "Average_Request_Size": "`sizes_bytes`, in sectors of 512 bytes",
    "Variance_Request_Size": "`sizes_bytes`; MQSim takes it as the standard deviation",
    "Seed": "`--seed`",
    "Average_No_of_Reqs_in_Queue": "`queue_depth`",
    "Bandwidth": "`rate_iops`: bytes a second, by the average size",
    "Stop_Time": "`duration_ns`",
    "Total_Requests_To_Generate": "`requests`, where `Stop_Time` is 0",
}
OF_RECORDED_FLOWS: Final = {
    "File_Path": "the trace, next to workload.xml or in the current folder",
    "Percentage_To_Be_Executed": (
        "share of the trace's requests to replay, from its start; where `Relay_Count` is above 1 "
        "all are sent, as in MQSim"
    ),
    "Relay_Count": "how often the trace is sent, each time behind the last",
    "Time_Unit": "the unit of its times; MQSim reads ns, whatever it says",
}
_TYPES: Final = {SYNTHETIC: OF_SYNTHETIC_FLOWS, RECORDED: OF_RECORDED_FLOWS}
PRIORITIES: Final = {"URGENT": 0, "HIGH": 1, "MEDIUM": 2, "LOW": 3}
_CACHING: Final = ("TURNED_OFF", "WRITE_CACHE", "READ_CACHE", "WRITE_READ_CACHE")
_UNITS_NS: Final = {"NANOSECOND": 1, "MICROSECOND": 1000}


@dataclass(frozen=True)
class Flow:
    """What every flow has.

    Attributes
    ----------
    name
        Name of its stream.
    priority
        Its class; 0 goes first.
    buffers_writes
        Whether a write is complete when it is in the cache.
    caches_reads
        Whether MQSim would cache what it read.
    resources
        Numbers of the channels, chips, dies and planes that it uses.
    occupancy
        The share of its logical pages that contain data, if the drive is preconditioned.
    unknown
        Elements that MQSim does not read.
    """

    name: str
    priority: int
    buffers_writes: bool
    caches_reads: bool
    resources: tuple[frozenset[int], ...]
    occupancy: float
    unknown: tuple[str, ...]


@dataclass(frozen=True)
class SyntheticFlow(Flow):
    """A flow of random requests.

    Attributes
    ----------
    working_set
        The share of its part of the drive that it accesses.
    queue_depth
        Number of outstanding requests; ``None`` if they arrive at a rate.
    bandwidth
        Bytes per second that arrive; 0 if a number of requests is outstanding.
    read_ratio
        The share of reads.
    distribution
        ``STREAMING``, ``RANDOM_UNIFORM`` or ``RANDOM_HOTCOLD``.
    hot_ratio
        For ``RANDOM_HOTCOLD``, the hot share of the range, which gets the rest of the requests.
    mean_sectors, deviation_sectors
        The size of a request; a fixed size has deviation 0.
    alignment_sectors
        Alignment of requests; 1 for none.
    stop_ns, requests
        When it ends; 0 for no such limit.
    """

    working_set: float
    queue_depth: int | None
    bandwidth: int
    read_ratio: float
    distribution: str
    hot_ratio: float
    mean_sectors: int
    deviation_sectors: float
    alignment_sectors: int
    stop_ns: int
    requests: int


@dataclass(frozen=True)
class RecordedFlow(Flow):
    """A flow of a trace's requests.

    Attributes
    ----------
    path
        Path of its file as written in the workload.xml.
    executed
        The share of its requests that are sent.
    repeats
        Number of repetitions.
    time_unit_ns
        The unit of its times.
    """

    path: str
    executed: float
    repeats: int
    time_unit_ns: int


def read_workload(content: bytes) -> list[list[Flow]]:
    """Read the flows of each scenario of a workload.xml.

    Raises
    ------
    UsageError
        When it is no such file, or a setting is missing, impossible or contradicts another: one
        line that names the scenario, the flow and the setting.
    """
    root = read_elements(content, _ROOT, "workload.xml")
    for child in root.children:
        if child.name != _SCENARIO:
            raise UsageError(f"line {child.line}: {child.name!r:.60} is no {_SCENARIO}")
    if not 1 <= len(root.children) <= _MOST_SCENARIOS:
        count = len(root.children)
        raise UsageError(f"it has {count} {_SCENARIO}; allowed: 1 to {_MOST_SCENARIOS}")
    return [_flows(scenario) for scenario in root.children]


def _flows(scenario: Element) -> list[Flow]:
    if not 1 <= len(scenario.children) <= _MOST_FLOWS:
        count = len(scenario.children)
        raise UsageError(
            f"line {scenario.line}: the {_SCENARIO} has {count} flows; allowed: 1 to {_MOST_FLOWS}"
        )
    found = []
    for place, flow in enumerate(scenario.children):
        if flow.name not in _TYPES:
            raise UsageError(
                f"line {flow.line}: {flow.name!r:.60} is no flow; allowed: {' or '.join(_TYPES)}"
            )
        found.append(_Settings(flow, f"flow {place + 1}").flow())
    return found


class _Settings:
    """The settings of one flow on their way into a `Flow`."""

    def __init__(self, flow: Element, name: str) -> None:
        self._kind = flow.name
        self._line = flow.line
        self._name = name
        self._found: dict[str, Element] = {}
        for child in flow.children:
            if child.children:
                inner = child.children[0]
                raise UsageError(f"line {inner.line}: {inner.name!r:.60} is not a setting")
            if child.name in self._found:
                raise UsageError(f"line {child.line}: {child.name!r:.60} is given twice")
            self._found[child.name] = child

    def flow(self) -> Flow:
        known = {**OF_EVERY_FLOW, **_TYPES[self._kind]}
        caching = self._word("Device_Level_Data_Caching_Mode", {each: each for each in _CACHING})
        every: dict[str, Any] = {
            "name": self._name,
            "priority": self._word("Priority_Class", PRIORITIES),
            "buffers_writes": caching in ("WRITE_CACHE", "WRITE_READ_CACHE"),
            "caches_reads": caching in ("READ_CACHE", "WRITE_READ_CACHE"),
            "resources": tuple(self._numbers(name) for name in _IDS),
            "occupancy": self._percent("Initial_Occupancy_Percentage", least=0) / 100,
            "unknown": tuple(name for name in self._found if name not in known),
        }
        return self._synthetic(every) if self._kind == SYNTHETIC else self._recorded(every)

    def _synthetic(self, every: Mapping[str, Any]) -> SyntheticFlow:
        distributions = ("STREAMING", "RANDOM_UNIFORM", "RANDOM_HOTCOLD")
        distribution = self._word("Address_Distribution", {each: each for each in distributions})
        sizes = self._word("Request_Size_Distribution", {"FIXED": False, "NORMAL": True})
        deviation = self._number("Variance_Request_Size") if sizes else 0
        mean = self._number("Average_Request_Size", least=1)
        hot = 0.0
        if distribution == "RANDOM_HOTCOLD":
            hot = self._percent("Percentage_of_Hot_Region", least=1, most=99) / 100
        closed = self._word("Synthetic_Generator_Type", {"QUEUE_DEPTH": True, "BANDWIDTH": False})
        aligned = self._word("Generated_Aligned_Addresses", {"TRUE": True, "FALSE": False})
        stop = self._number("Stop_Time", most=_LONGEST_NS)
        requests = self._number("Total_Requests_To_Generate", most=10**10)
        if stop == 0 and requests == 0:
            raise self._error(
                "Total_Requests_To_Generate",
                "is 0 as Stop_Time is, so that the flow never ends; give one of them",
            )
        return SyntheticFlow(
            **every,
            working_set=self._percent("Working_Set_Percentage", least=1) / 100,
            queue_depth=self._depth() if closed else None,
            bandwidth=0 if closed else self._bandwidth(mean),
            read_ratio=self._percent("Read_Percentage", least=0) / 100,
            distribution=distribution,
            hot_ratio=hot,
            mean_sectors=mean,
            deviation_sectors=deviation,
            alignment_sectors=self._number("Address_Alignment_Unit", least=1) if aligned else 1,
            stop_ns=stop,
            requests=0 if stop else requests,
        )

    def _depth(self) -> int:
        return self._number("Average_No_of_Reqs_in_Queue", least=1, most=65_536)

    def _bandwidth(self, mean_sectors: int) -> int:
        if "Bandwidth" not in self._found:
            named = "; MQSim does not read Intensity" if "Intensity" in self._found else ""
            raise self._error(
                "Bandwidth", f"is missing, as Synthetic_Generator_Type is BANDWIDTH{named}"
            )
        return self._number("Bandwidth", least=mean_sectors * 512)

    def _recorded(self, every: Mapping[str, Any]) -> RecordedFlow:
        path = self._text("File_Path")
        if not path or "\0" in path:
            raise self._error("File_Path", f"is {path[:60]!r}; allowed: the file of a trace")
        return RecordedFlow(
            **every,
            path=path,
            executed=self._percent("Percentage_To_Be_Executed", least=1) / 100,
            repeats=self._number("Relay_Count", least=1, most=1_000_000),
            time_unit_ns=self._word("Time_Unit", _UNITS_NS),
        )

    def _error(self, setting: str, reason: str) -> UsageError:
        line = self._found[setting].line if setting in self._found else self._line
        return UsageError(f"line {line}: {setting} of {self._name} {reason}")

    def _text(self, setting: str) -> str:
        if setting not in self._found:
            raise self._error(setting, "is missing; give it as MQSim's own workload.xml does")
        return self._found[setting].text

    def _read(self, setting: str, parse: Callable[[str], Any], allowed: str) -> Any:
        text = self._text(setting)
        try:
            return parse(text)
        except (ValueError, OverflowError, KeyError) as error:
            raise self._error(setting, f"is {text[:40]!r}; allowed: {allowed}") from error

    def _number(self, setting: str, least: int = 0, most: int = _MOST) -> int:
        def parse(text: str) -> int:
            if not (text.isascii() and text.isdigit() and len(text) < 19):
                raise ValueError(text)
            if not least <= int(text) <= most:
                raise ValueError(text)
            return int(text)

        return int(self._read(setting, parse, f"a whole number from {least} to {most}"))

    def _percent(self, setting: str, least: int, most: int = 100) -> float:
        return float(self._number(setting, least, most))

    def _numbers(self, setting: str) -> frozenset[int]:
        def parse(text: str) -> frozenset[int]:
            parts = [each.strip() for each in text.split(",")]
            if not all(each.isascii() and each.isdigit() and len(each) < 6 for each in parts):
                raise ValueError(text)
            return frozenset(int(each) for each in parts)

        found: frozenset[int] = self._read(setting, parse, "numbers from 0 with commas, as 0,1,2")
        return found

    def _word(self, setting: str, words: Mapping[str, Any]) -> Any:
        return self._read(setting, lambda text: words[text.upper()], " or ".join(words))
