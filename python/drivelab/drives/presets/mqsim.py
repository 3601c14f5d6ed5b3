"""MQSim's ssdconfig.xml as a preset, and the settings without a counterpart.

The format is that of MQSim's `Host_Parameter_Set`, `Device_Parameter_Set` and
`Flash_Parameter_Set`, with its own spelling. Times are ns in both.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from drivelab.drives.presets.mqsim_spare import MOST_BLOCKS, MOST_SPARE, spare_remedy
from drivelab.drives.presets.mqsim_words import (
    BITS,
    FORMULAS,
    KNOWN,
    ORDERS,
    SWITCHES,
    USUAL,
    VICTIMS,
    WITHOUT_COUNTERPART,
)
from drivelab.drives.presets.mqsim_xml import Element, read_elements
from drivelab.drives.presets.source import PresetSource
from drivelab.drives.presets.template import toml_value
from drivelab.errors import ImpossibleValueError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_ROOT: Final = "Execution_Parameter_Set"
_SETS: Final = ("Host_Parameter_Set", "Device_Parameter_Set", "Flash_Parameter_Set")
_MOST_TEXT: Final = 200
#: Whole numbers have at most 18 digits.
_MOST_NUMBER: Final = 10**18 - 1

_KEY: Final = re.compile(r"[a-z_]+\.[a-z_]+")
_SHORTAGE: Final = re.compile(r"leaves \d+ spare pages but collection needs \d+")
#: Line coding of a 6 Gb/s link: ten line bits per byte.
_SATA_BYTES_PER_SECOND: Final = 600e6
#: MQSim collects if fewer blocks are free than it may collect at the same time.
_LEAST_RESERVE: Final = 10
_SECTOR_BYTES: Final = 512
#: Their product is the number of planes.
_PLANES: Final = ("channels", "ways_per_channel", "dies_per_way", "planes_per_die")
#: Assumed for every link, as NVMe's entries: a command's, and its completion's.
_QUEUE_ENTRY_BYTES: Final = 64 + 16


@dataclass(frozen=True)
class FlowsCondition:
    """What flows say about a drive's state before their first request.

    Attributes
    ----------
    filled
        The share of the pages that contain data if the drive is preconditioned.
    is_first
        Whether this is the first scenario, whose flows find the initial state.
    reads
        Whether the flows read.
    """

    filled: float
    is_first: bool
    reads: bool


@dataclass
class Imported:
    """A preset made from MQSim's settings.

    Attributes
    ----------
    toml_text
        The preset.
    used
        By setting, the keys that it became.
    unused
        By setting, why it became no key.
    unusual
        By setting that became no key but is not as usual, its value.
    assumed
        By key, the reason for a value that no setting gives.
    condition
        The preset's condition.
    is_written
        Whether MQSim fills the drive before the first request.
    """

    toml_text: str
    used: dict[str, list[str]]
    unused: dict[str, str]
    unusual: dict[str, str]
    assumed: dict[str, str]
    condition: str
    is_written: bool


def import_ssdconfig(content: bytes, name: str, flows: FlowsCondition | None = None) -> Imported:
    """Make a preset from the bytes of an ssdconfig.xml.

    Parameters
    ----------
    content
        The file.
    name
        Name of the preset.
    flows
        What a scenario of a workload.xml says about the drive's state, if one is known.

    Raises
    ------
    UsageError
        If it is no such file, or a setting is missing or impossible.
    """
    made = _Conversion(_settings(content), flows)
    made.convert()
    return made.imported(name)


def _impossible(text: str) -> ImpossibleValueError | None:
    """Return why no drive can be as a preset says, if none can."""
    try:
        PresetSource("imported", text).resolved()
    except ImpossibleValueError as error:
        return error
    return None


def _is_shortage(error: ImpossibleValueError) -> bool:
    """Whether collection has too little space, whichever key the error is about."""
    return "kept free by collection" in error.reason or _SHORTAGE.search(error.reason) is not None


def _settings(content: bytes) -> dict[str, str]:
    """Read the settings by name, from any of the sets."""
    found: dict[str, str] = {}

    def take(element: Element) -> None:
        for child in element.children:
            if child.name in _SETS:
                take(child)
            elif child.children:
                inner = child.children[0]
                raise UsageError(f"line {inner.line}: {inner.name!r:.60} is not a setting")
            elif child.name in found:
                raise UsageError(f"line {child.line}: {child.name!r:.60} is given twice")
            else:
                found[child.name] = child.text[:_MOST_TEXT]

    take(read_elements(content, _ROOT, "ssdconfig.xml"))
    return found


@dataclass
class _Conversion:
    """Settings that are being converted to a preset."""

    settings: dict[str, str]
    flows: FlowsCondition | None = None
    values: dict[str, tuple[Any, str]] = field(default_factory=dict)
    used: dict[str, list[str]] = field(default_factory=dict)
    unused: dict[str, str] = field(default_factory=dict)
    assumed: dict[str, str] = field(default_factory=dict)

    def convert(self) -> None:
        """Convert all settings."""
        self._check_words()
        self.geometry()
        self.timing()
        self.mapping()
        self.collection()
        self.wear()
        self.scheduling()
        self.host()

    def _check_words(self) -> None:
        """Refuse words that MQSim does not know, also of settings without a counterpart."""
        for setting, words in KNOWN.items():
            if setting in self.settings:
                self._word(setting, {word: word for word in words})
        for setting in SWITCHES:
            if setting in self.settings:
                self._boolean(setting)

    def geometry(self) -> None:
        """Convert the shape of the flash."""
        for key, setting in (
            ("channels", "Flash_Channel_Count"),
            ("ways_per_channel", "Chip_No_Per_Channel"),
            ("dies_per_way", "Die_No_Per_Chip"),
            ("planes_per_die", "Plane_No_Per_Die"),
            ("blocks_per_plane", "Block_No_Per_Plane"),
            ("pages_per_block", "Page_No_Per_Block"),
            ("page_size_bytes", "Page_Capacity"),
        ):
            most = MOST_BLOCKS if key == "blocks_per_plane" else None
            self._set(f"geometry.{key}", self._integer(setting, most), setting)
        spare = self._number("Overprovisioning_Ratio", 0.0, MOST_SPARE)
        # MQSim's is a share of the whole flash, ours of the capacity that the host sees.
        ratio = round(spare / (1 - spare), 6)
        self._set("geometry.over_provisioning_ratio", ratio, "Overprovisioning_Ratio")
        self._assume("geometry.plane_mode", False, "planes of a die work together or not at all")
        self._word("Memory_Type", {"FLASH": "FLASH"})
        self.used["Memory_Type"] = ["kind"]
        self._assume("scheduling.dispatch", "per_die", "operations queue at the dies")

    def timing(self) -> None:
        """Convert the times of the flash."""
        for kind in ("read", "write", "erase"):
            reason = "dispatch takes no time in MQSim"
            self._assume(f"timing.{kind}_dispatch_ns", 0, reason)
        rate = self._integer("Channel_Transfer_Rate") * self._integer("Flash_Channel_Width")
        if rate == 0:
            raise UsageError("Channel_Transfer_Rate and Flash_Channel_Width have to be above 0")
        # MT/s times bytes a transfer are bytes a microsecond.
        register = round(self._integer("Page_Capacity") * 1000 / rate)
        for kind in ("read", "write"):
            key = f"timing.{kind}_register_ns"
            rated = ("Channel_Transfer_Rate", "Flash_Channel_Width", "Page_Capacity")
            self._set(key, register, *rated)
        technology = self._word("Flash_Technology", {each: each for each in BITS})
        for key, kind in (("read", "Read"), ("program", "Program")):
            names = [f"Page_{kind}_Latency_{bit}" for bit in BITS[technology]]
            times = [self._integer(name) for name in names]
            value = times[0] if len(set(times)) == 1 else times
            self._set(f"timing.{key}_cell_ns", value, "Flash_Technology", *names)
            for bit in {"LSB", "CSB", "MSB"} - set(BITS[technology]):
                self.unused[f"Page_{kind}_Latency_{bit}"] = f"{technology} has no such page"
        erase = self._integer("Block_Erase_Latency")
        self._set("timing.erase_cell_ns", erase, "Block_Erase_Latency")
        # If one operation has several kinds of pages, the other needs them too.
        kinds = [self.values[f"timing.{key}_cell_ns"][0] for key in ("read", "program")]
        if isinstance(kinds[0], list) != isinstance(kinds[1], list):
            count = len(BITS[technology])
            for key, value in zip(("read", "program"), kinds, strict=True):
                if not isinstance(value, list):
                    full = f"timing.{key}_cell_ns"
                    self.values[full] = ([value] * count, self.values[full][1])

    def mapping(self) -> None:
        """Convert how pages are mapped, and the state of the drive at the start."""
        if self._word("Address_Mapping", {"PAGE_LEVEL": "page", "HYBRID": "hybrid"}) == "page":
            self.used["Address_Mapping"] = ["mapping"]
            self._cached_map()
        else:
            self.unused["Address_Mapping"] = "MQSim's HYBRID is not described: pages are mapped"
            self._assume("mapping.scheme", "page", "the usual scheme")
            for setting in ("Ideal_Mapping_Table", "CMT_Capacity"):
                self.unused[setting] = "Address_Mapping is not PAGE_LEVEL: the map is in memory"
        if "Plane_Allocation_Scheme" in self.settings:
            order = self.settings["Plane_Allocation_Scheme"].lower()
            self._set("mapping.order", order, "Plane_Allocation_Scheme")
        else:
            self._assume("mapping.order", "cwdp", "the usual order: channels first, planes last")
        self._condition()

    def _condition(self) -> None:
        """Convert the drive's initial state; a workload says how much of it is filled."""
        is_preconditioned = self._boolean("Enabled_Preconditioning")
        flows = self.flows
        if flows is None or (flows.filled == 0 and not flows.reads):
            condition = "preconditioned" if is_preconditioned and flows is None else "fresh"
            self._set("condition", condition, "Enabled_Preconditioning")
            return
        if not is_preconditioned:
            if flows.reads:
                reason = "MQSim answers reads of pages that were never written"
                self._assume("condition", "filled", reason)
                self.used["Enabled_Preconditioning"] = ["condition"]
            else:
                self._set("condition", "fresh", "Enabled_Preconditioning")
            return
        self._set("condition", "filled", "Enabled_Preconditioning")
        occupied = "Initial_Occupancy_Percentage of the workload"
        self.values["occupancy.filled"] = (max(flows.filled, 1e-6), f"imported: {occupied}")
        order = "in_order" if flows.is_first else "random"
        reason = "pages that the workload accesses have data at the start"
        self._assume("occupancy.order", order, reason)
        reason = "MQSim's blocks begin with as many valid pages as in the long run"
        self._assume("occupancy.steady", True, reason)

    def _cached_map(self) -> None:
        """Convert where the map is, and how many of its entries are in memory."""
        if self._boolean("Ideal_Mapping_Table"):
            self.used["Ideal_Mapping_Table"] = ["mapping"]
            self.unused["CMT_Capacity"] = "the whole map is in memory, as Ideal_Mapping_Table says"
            return
        self._set("mapping.scheme", "demand_cached_page", "Address_Mapping", "Ideal_Mapping_Table")
        capacity = self._integer("CMT_Capacity")
        least = self._entry_bytes()
        if capacity < least:
            raise UsageError(
                f"CMT_Capacity {capacity} holds no entry of the map; allowed: at least {least} "
                "bytes, those of an entry, or Ideal_Mapping_Table true for the whole map"
            )
        entries = capacity // least
        self._set("mapping.cached_entries", entries, "CMT_Capacity")

    def _entry_bytes(self) -> int:
        """Return the size of a cached map entry: two page numbers and a bit for each sector."""
        shape = (*_PLANES, "blocks_per_plane", "pages_per_block")
        pages = math.prod(self.values[f"geometry.{key}"][0] for key in shape)
        sectors = self._integer("Page_Capacity") // _SECTOR_BYTES
        return max(1, math.ceil((2 * math.log2(max(pages, 2)) + sectors) / 8))

    def collection(self) -> None:
        """Convert when and where blocks are collected."""
        blocks = self._integer("Block_No_Per_Plane")
        victims = self.settings.get("GC_Block_Selection_Policy", "").upper()
        if victims in VICTIMS:
            self._set("collection.policy", VICTIMS[victims], "GC_Block_Selection_Policy")
            if victims == "RGA":
                choices = max(1, int(math.log2(max(blocks, 2))))
                self._set("collection.victim_choices", choices, "GC_Block_Selection_Policy")
        else:
            self.unused["GC_Block_Selection_Policy"] = f"no rule is like {victims[:40]!r}"
            self._assume("collection.policy", "greedy", "the usual first choice")
        share_free = self._number("GC_Exec_Threshold", 0.0, 1.0)
        reserve = max(_LEAST_RESERVE, int(share_free * blocks))
        share = ("GC_Exec_Threshold", "Block_No_Per_Plane")
        self._set("collection.reserve_blocks_per_plane", reserve, *share)
        self._assume("collection.pace", "whole_block", "a victim block is emptied completely")

    def wear(self) -> None:
        """Convert wear levelling."""
        levels = self._boolean("Dynamic_Wearleveling_Enabled")
        self._set("wear.least_worn_first", levels, "Dynamic_Wearleveling_Enabled")
        if self._boolean("Static_Wearleveling_Enabled"):
            spread = self._integer("Static_Wearleveling_Threshold")
            settings = ("Static_Wearleveling_Enabled", "Static_Wearleveling_Threshold")
            self._set("wear.static_spread", spread, *settings)
        else:
            self.used["Static_Wearleveling_Enabled"] = ["wear.static_spread"]
            self.unused["Static_Wearleveling_Threshold"] = "static wear levelling is off"

    def scheduling(self) -> None:
        """Convert the order of operations."""
        self._set(
            "scheduling.copyback", self._boolean("Use_Copyback_for_GC"), "Use_Copyback_for_GC"
        )
        reason = "MQSim gives a chip one command at a time, whatever its dies"
        self._assume("scheduling.unit", "chip", reason)
        reason = "MQSim begins nothing on a channel for which data that was read waits"
        self._assume("scheduling.channel", "data_out_first", reason)
        if self.values["geometry.planes_per_die"][0] > 1:
            reason = "MQSim puts pages of one place in their blocks into one command"
            self._assume("scheduling.multi_plane", "same_page", reason)
        self._urgency()
        policy = self.settings.get("Transaction_Scheduling_Policy", "").upper()
        if policy in ORDERS:
            self._set("scheduling.order", ORDERS[policy], "Transaction_Scheduling_Policy")
        else:
            self.unused["Transaction_Scheduling_Policy"] = f"no order is like {policy[:40]!r}"
            self._assume("scheduling.order", "first_come", "nothing overtakes")

    def _urgency(self) -> None:
        """Convert what overtakes what, and how often."""
        overtakes = self.settings.get("Transaction_Scheduling_Policy", "").upper() in ORDERS
        if not overtakes:
            return
        reason = "reads overtake any number of times in MQSim"
        self._assume("scheduling.starvation_limit", 65_536, reason)
        if self.values.get("mapping.scheme", ("", ""))[0] == "demand_cached_page":
            reason = "MQSim reads its map before everything else"
            self._assume("scheduling.map_reads_first", True, reason)

    def host(self) -> None:
        """Convert the link, the queues and the write buffer."""
        interface = self._word("HostInterface_Type", {"NVME": "nvme", "SATA": "sata"})
        self._set("host.interface", interface, "HostInterface_Type")
        lanes = ("PCIe_Lane_Bandwidth", "PCIe_Lane_Count")
        depth = self._integer("IO_Queue_Depth")
        if interface == "nvme":
            # GB/s a lane.
            rate = self._number(lanes[0], 0.0, 1000.0) * self._integer(lanes[1]) * 1e9
            self._set("host.link_bytes_per_second", round(rate), *lanes)
            self._set("host.queue_pair_depth", depth, "IO_Queue_Depth")
        else:
            self._assume("host.link_gigabits_per_second", 6.0, "MQSim's rate of SATA is its own")
            self._set("host.commands", depth, "IO_Queue_Depth")
            rate = _SATA_BYTES_PER_SECOND
            for lane in lanes:
                self.unused[lane] = "the link is SATA"
        for key in ("read_command_ns", "write_command_ns", "write_acknowledge_ns"):
            self._assume(f"host.{key}", 0, "commands take no time of their own in MQSim")
        # Without data a command would take no time at all, and a loop of them would never end.
        for key in ("trim_command_ns", "flush_command_ns"):
            # A link without a rate is refused elsewhere.
            entries = max(1, round(_QUEUE_ENTRY_BYTES / max(rate, 1e6) * 1e9))
            self._assume(f"host.{key}", entries, "MQSim has none: 80 bytes, as NVMe's entries")
        self._buffer_bytes()
        self._memory()
        self._assume("variability.sigma", 0.0, "the same drive in every run")

    def _memory(self) -> None:
        """Convert what the cache's memory costs."""
        dram = ("Data_Cache_DRAM_tRCD", "Data_Cache_DRAM_tCL")
        burst = ("Data_Cache_DRAM_Data_Rate", "Data_Cache_DRAM_Data_Busrt_Size")
        if self.values.get("mapping.scheme", ("", ""))[0] == "demand_cached_page":
            for setting in (*dram, *burst):
                self._integer(setting)
                reason = "with a cached map the cache takes no time here"
                self.unused[setting] = reason
            return
        latency = self._integer(dram[0]) + self._integer(dram[1])
        self._set("buffer.memory_ns", latency, *dram)
        # Two bursts a cycle, as MQSim counts them.
        rate = 2 * self._integer(burst[0]) * self._integer(burst[1]) * 1_000_000
        self._set("buffer.memory_bytes_per_second", rate, *burst)
        self._assume("buffer.memory_takes_writes", True, "MQSim's writes pass the cache's memory")

    def _buffer_bytes(self) -> None:
        """Return the buffer size: at most one page per plane may be on its way to the flash."""
        page = max(self._integer("Page_Capacity"), 1)
        planes = math.prod(self.values[f"geometry.{key}"][0] for key in _PLANES)
        pages = min(self._integer("Data_Cache_Capacity") // page, planes)
        counts = ("Flash_Channel_Count", "Chip_No_Per_Channel", "Die_No_Per_Chip")
        settings = ("Data_Cache_Capacity", *counts, "Plane_No_Per_Die", "Page_Capacity")
        self._set("buffer.write_buffer_bytes", pages * page, *settings)

    def imported(self, name: str) -> Imported:
        """Return the preset, and what became of each setting."""
        for setting in self.settings:
            if setting not in self.used and setting not in self.unused:
                reason = "no setting of MQSim that Drivelab knows"
                self.unused[setting] = WITHOUT_COUNTERPART.get(setting, reason)
        unused = {name: why for name, why in self.unused.items() if name in self.settings}
        text = self._toml(name)
        if (error := _impossible(text)) is not None:
            if _is_shortage(error):
                raise UsageError(self._shortage(error)) from error
            # The error's line numbers are those of a preset that the user does not have.
            raise UsageError(f"{error.reason}; {self._remedy(error)}") from error
        is_written = self._boolean("Enabled_Preconditioning")
        return Imported(
            text,
            self.used,
            unused,
            {
                name: self.settings[name]
                for name, usual in USUAL.items()
                if name in unused and self.settings[name].upper() not in usual
            },
            self.assumed,
            condition=self.values["condition"][0],
            is_written=is_written,
        )

    def _shortage(self, error: ImpossibleValueError) -> str:
        """Return what leaves collection too little space, and what to change, in MQSim's units."""

        def suffices(settings: Mapping[str, str]) -> bool:
            other = _Conversion(dict(settings), self.flows)
            other.convert()
            found = _impossible(other._toml("other"))
            return found is None or not _is_shortage(found)

        given = {name: text[:40] for name, text in self.settings.items()}
        spare, share = given["Overprovisioning_Ratio"], given["GC_Exec_Threshold"]
        blocks = self.values["geometry.blocks_per_plane"][0]
        reserve = self.values["collection.reserve_blocks_per_plane"][0]
        pages = _SHORTAGE.search(error.reason)
        said = (
            f"Overprovisioning_Ratio {spare} {pages[0]}"
            if pages
            else f"Block_No_Per_Plane {blocks} leaves no block for data"
        )
        return (
            f"{said}: collection keeps {reserve} blocks of each plane free "
            f"(GC_Exec_Threshold {share} x Block_No_Per_Plane {blocks}, cut to a whole number and "
            f"at least {_LEAST_RESERVE}); {spare_remedy(self.settings, suffices)}"
        )

    def _remedy(self, error: ImpossibleValueError) -> str:
        """Return which settings determine the keys that an error names."""
        named = set(_KEY.findall(error.reason))
        keys = [error.key, *(key for key in self.values if key in named - {error.key})]
        settings = [name for key in keys for name in self.used if key in self.used[name]]
        if not settings:
            return f"no setting gives it: {self.assumed.get(error.key, 'it is the default')}"
        made = "".join(f"{key} is {FORMULAS[key]}: " for key in keys if key in FORMULAS)
        listed = dict.fromkeys(f"{name} ({self.settings[name][:40]!r})" for name in settings)
        return f"{made}change {' or '.join(listed)}"

    def _toml(self, name: str) -> str:
        lines = [
            "# Made from MQSim's ssdconfig.xml; a value's comment names the settings it comes "
            "from.",
            "",
            f"name = {toml_value(name)}",
            'kind = "ssd"',
            'summary = "imported from MQSim"',
        ]
        lines += [self._line(key) for key in self.values if "." not in key]
        # Settings in the order in which they were used, each once.
        tables = dict.fromkeys(key.partition(".")[0] for key in self.values if "." in key)
        for table in tables:
            lines += ["", f"[{table}]"]
            lines += [self._line(key) for key in self.values if key.startswith(f"{table}.")]
        return "\n".join(lines) + "\n"

    def _line(self, key: str) -> str:
        value, said = self.values[key]
        return f"{key.rpartition('.')[2]} = {toml_value(value)}  # {said}"

    def _set(self, key: str, value: Any, *settings: str) -> None:
        self.values[key] = (value, f"imported: {', '.join(settings)}")
        for setting in settings:
            self.used.setdefault(setting, []).append(key)

    def _assume(self, key: str, value: Any, reason: str) -> None:
        self.values[key] = (value, f"assumed: {reason}")
        self.assumed[key] = reason

    def _read(self, setting: str, parse: Callable[[str], Any], allowed: str) -> Any:
        if setting not in self.settings:
            raise UsageError(f"{setting} is missing; allowed: {allowed}")
        text = self.settings[setting]
        try:
            return parse(text)
        except (ValueError, OverflowError, KeyError) as error:
            raise UsageError(f"{setting} is {text[:40]!r}; allowed: {allowed}") from error

    def _integer(self, setting: str, most: int | None = None) -> int:
        def parse(text: str) -> int:
            if not (text.isascii() and text.isdigit() and len(text) < 19):
                raise ValueError(text)
            if most is not None and not 1 <= int(text) <= most:
                raise ValueError(text)
            return int(text)

        allowed = f"from 1 to {most}" if most is not None else f"from 0 to {_MOST_NUMBER}"
        return int(self._read(setting, parse, f"a whole number {allowed}"))

    def _number(self, setting: str, least: float, most: float) -> float:
        def parse(text: str) -> float:
            value = float(text)
            if not least <= value <= most:
                raise ValueError(text)
            return value

        return float(self._read(setting, parse, f"a number from {least:g} to {most:g}"))

    def _boolean(self, setting: str) -> bool:
        words = {"TRUE": True, "FALSE": False}
        return bool(self._read(setting, lambda text: words[text.upper()], "true or false"))

    def _word(self, setting: str, words: dict[str, str]) -> str:
        allowed = " or ".join(words)
        return str(self._read(setting, lambda text: words[text.upper()], allowed))
