"""MQSim's ssdconfig.xml as a preset, and what of it has no counterpart.

The format is that of MQSim's `Host_Parameter_Set`, `Device_Parameter_Set` and
`Flash_Parameter_Set`, its own spelling included. Times are ns there as here.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final
from xml.parsers import expat

from drivelab.drives.presets.source import PresetSource
from drivelab.drives.presets.template import toml_value
from drivelab.errors import ImpossibleValueError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

_ROOT: Final = "Execution_Parameter_Set"
_SETS: Final = ("Host_Parameter_Set", "Device_Parameter_Set", "Flash_Parameter_Set")
_MOST_SETTINGS: Final = 1000
_MOST_TEXT: Final = 200

# How many entries a capacity in bytes holds is MQSim's own matter.
_CACHED_MAP: Final = (
    "not taken over, the whole map is in memory: "
    'set mapping.scheme = "demand_cached_page" and mapping.cached_entries'
)

#: Settings that become no key of the preset, with the reason.
WITHOUT_COUNTERPART: Final = {
    "Enable_ResponseTime_Logging": "what is told is an option of the command",
    "ResponseTime_Logging_Period_Length": "an option of the command (--interval)",
    "SATA_Processing_Delay": "commands take the time of host.read_command_ns, set to 0",
    "Seed": "an option of the command (--seed)",
    "Queue_Fetch_Size": "the drive takes commands one by one",
    "Caching_Mechanism": "there is one kind of write buffer",
    "Data_Cache_Sharing_Mode": "streams share the write buffer",
    "Data_Cache_DRAM_Row_Size": "memory has no rows",
    "Data_Cache_DRAM_tRP": "memory has no rows",
    "Ideal_Mapping_Table": _CACHED_MAP,
    "CMT_Capacity": _CACHED_MAP,
    "CMT_Sharing_Mode": "streams share the map, and its cached entries if it has them",
    "Preemptible_GC_Enabled": "a collection that began is not put off",
    "GC_Hard_Threshold": "a collection that began is not put off",
    "Preferred_suspend_erase_time_for_read": "imported drives pause nothing",
    "Preferred_suspend_erase_time_for_write": "imported drives pause nothing",
    "Preferred_suspend_write_time_for_read": "imported drives pause nothing",
    "CMD_Suspension_Support": "imported drives pause nothing",
    "Suspend_Erase_Time": "imported drives pause nothing",
    "Suspend_Program_Time": "imported drives pause nothing",
    "Flash_Comm_Protocol": "a transfer takes what rate and width of the channel say",
    "Block_PE_Cycles_Limit": "blocks do not wear out",
    "Page_Metadat_Capacity": "only user data crosses the channel",
}
_REGISTER: Final = "Page_Capacity x 1000 / (Channel_Transfer_Rate x Flash_Channel_Width)"
_BITS: Final = {"SLC": ("LSB",), "MLC": ("LSB", "MSB"), "TLC": ("LSB", "CSB", "MSB")}
#: Of keys that are no setting's own number what they are made of.
_FORMULAS: Final = {
    "geometry.over_provisioning_ratio": "Overprovisioning_Ratio / (1 - Overprovisioning_Ratio)",
    "timing.read_register_ns": _REGISTER,
    "timing.write_register_ns": _REGISTER,
    "collection.reserve_blocks_per_plane": "GC_Exec_Threshold x Block_No_Per_Plane",
    "host.link_bytes_per_second": "PCIe_Lane_Bandwidth x PCIe_Lane_Count x 10^9",
    "buffer.memory_bytes_per_second": (
        "Data_Cache_DRAM_Data_Rate x Data_Cache_DRAM_Data_Busrt_Size x 10^6"
    ),
}
_KEY: Final = re.compile(r"[a-z_]+\.[a-z_]+")
_VICTIMS: Final = {"GREEDY": "greedy", "RGA": "d_choices", "RANDOM": "random", "FIFO": "fifo"}
_ORDERS: Final = {
    "OUT_OF_ORDER": "reads_first",
    "PRIORITY_OUT_OF_ORDER": "priority",
}


#: What 6 Gb/s of the line carry, a tenth of the bits.
_SATA_BYTES_PER_SECOND: Final = 600e6
#: Assumed of every link, as NVMe's entries: of a command, with that of its completion.
_QUEUE_ENTRY_BYTES: Final = 64 + 16


@dataclass
class Imported:
    """A preset made of MQSim's settings.

    Attributes
    ----------
    toml_text
        The preset.
    used
        By setting the keys that it became.
    unused
        By setting why it became none.
    assumed
        By key why it has the value that no setting says.
    """

    toml_text: str
    used: dict[str, list[str]]
    unused: dict[str, str]
    assumed: dict[str, str]


def import_ssdconfig(content: bytes, name: str) -> Imported:
    """Make a preset of the bytes of an ssdconfig.xml.

    Parameters
    ----------
    content
        The file.
    name
        What the preset is called.

    Raises
    ------
    UsageError
        When it is no such file, a setting is missing or impossible.
    """
    made = _Conversion(_settings(content))
    made.geometry()
    made.timing()
    made.mapping()
    made.collection()
    made.wear()
    made.scheduling()
    made.host()
    return made.imported(name)


def _settings(content: bytes) -> dict[str, str]:
    """Read the settings by name, whichever set they stand in."""
    found: dict[str, str] = {}
    path: list[str] = []
    text: list[str] = []

    def start(name: str, attributes: dict[str, str]) -> None:
        if not path and name != _ROOT:
            raise UsageError(f"its outermost element is {name!r:.60}, not {_ROOT}")
        inside_set = not path[1:] or path[-1] in _SETS
        if not inside_set or attributes or len(found) > _MOST_SETTINGS:
            raise UsageError(f"line {parser.CurrentLineNumber}: {name!r:.60} is no setting")
        path.append(name)
        text.clear()

    def end(name: str) -> None:
        path.pop()
        if name in (_ROOT, *_SETS):
            return
        if name in found:
            raise UsageError(f"line {parser.CurrentLineNumber}: {name!r:.60} stands there twice")
        found[name] = "".join(text).strip()[:_MOST_TEXT]

    def refuse_doctype(*_: object) -> None:
        raise UsageError("it declares a document type, which no ssdconfig.xml does")

    parser = expat.ParserCreate()
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = text.append
    # Entities could be declared there, to be expanded without end or read from other files.
    parser.StartDoctypeDeclHandler = refuse_doctype
    try:
        parser.Parse(content, True)
    except expat.ExpatError as error:
        raise UsageError(f"line {error.lineno}: it is not XML: {error}") from error
    except (LookupError, ValueError) as error:
        raise UsageError(f"it is not XML in an encoding that can be read: {error}") from error
    return found


@dataclass
class _Conversion:
    """Settings on their way into a preset."""

    settings: dict[str, str]
    values: dict[str, tuple[Any, str]] = field(default_factory=dict)
    used: dict[str, list[str]] = field(default_factory=dict)
    unused: dict[str, str] = field(default_factory=dict)
    assumed: dict[str, str] = field(default_factory=dict)

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
            self._set(f"geometry.{key}", self._integer(setting), setting)
        spare = self._number("Overprovisioning_Ratio", 0.0, 0.99)
        # Theirs is of the whole flash, ours of what the host sees.
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
        technology = self._word("Flash_Technology", {each: each for each in _BITS})
        for key, kind in (("read", "Read"), ("program", "Program")):
            names = [f"Page_{kind}_Latency_{bit}" for bit in _BITS[technology]]
            times = [self._integer(name) for name in names]
            value = times[0] if len(set(times)) == 1 else times
            self._set(f"timing.{key}_cell_ns", value, "Flash_Technology", *names)
            for bit in {"LSB", "CSB", "MSB"} - set(_BITS[technology]):
                self.unused[f"Page_{kind}_Latency_{bit}"] = f"{technology} has no such page"
        erase = self._integer("Block_Erase_Latency")
        self._set("timing.erase_cell_ns", erase, "Block_Erase_Latency")
        # One kind of page for one operation needs one for the other.
        kinds = [self.values[f"timing.{key}_cell_ns"][0] for key in ("read", "program")]
        if isinstance(kinds[0], list) != isinstance(kinds[1], list):
            count = len(_BITS[technology])
            for key, value in zip(("read", "program"), kinds, strict=True):
                if not isinstance(value, list):
                    full = f"timing.{key}_cell_ns"
                    self.values[full] = ([value] * count, self.values[full][1])

    def mapping(self) -> None:
        """Convert how pages are mapped, and the state of the drive at the start."""
        if self._word("Address_Mapping", {"PAGE_LEVEL": "page", "HYBRID": "hybrid"}) == "page":
            self.used["Address_Mapping"] = ["mapping"]
        else:
            self.unused["Address_Mapping"] = "MQSim's HYBRID is not described: pages are mapped"
            self._assume("mapping.scheme", "page", "the usual scheme")
        order = self.settings.get("Plane_Allocation_Scheme", "").lower()
        if sorted(order) == sorted("cwdp"):
            self._set("mapping.order", order, "Plane_Allocation_Scheme")
        else:
            self.unused["Plane_Allocation_Scheme"] = (
                "allocation that is not in one order of channel, way, die and plane"
            )
            self._assume("mapping.order", "cwdp", "the usual order: channels first, planes last")
        condition = "preconditioned" if self._boolean("Enabled_Preconditioning") else "fresh"
        self._set("condition", condition, "Enabled_Preconditioning")

    def collection(self) -> None:
        """Convert when and where blocks are collected."""
        blocks = self._integer("Block_No_Per_Plane")
        victims = self.settings.get("GC_Block_Selection_Policy", "").upper()
        if victims in _VICTIMS:
            self._set("collection.policy", _VICTIMS[victims], "GC_Block_Selection_Policy")
            if victims == "RGA":
                choices = max(1, int(math.log2(max(blocks, 2))))
                self._set("collection.victim_choices", choices, "GC_Block_Selection_Policy")
        else:
            self.unused["GC_Block_Selection_Policy"] = f"no rule is like {victims[:40]!r}"
            self._assume("collection.policy", "greedy", "the usual first choice")
        reserve = max(2, math.ceil(self._number("GC_Exec_Threshold", 0.0, 1.0) * blocks))
        share = ("GC_Exec_Threshold", "Block_No_Per_Plane")
        self._set("collection.reserve_blocks_per_plane", reserve, *share)
        self._assume("collection.pace", "whole_block", "a victim is emptied at once")

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
        policy = self.settings.get("Transaction_Scheduling_Policy", "").upper()
        if policy in _ORDERS:
            self._set("scheduling.order", _ORDERS[policy], "Transaction_Scheduling_Policy")
        else:
            self.unused["Transaction_Scheduling_Policy"] = f"no order is like {policy[:40]!r}"
            self._assume("scheduling.order", "first_come", "nothing overtakes")

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
        # Without data a command would take no time at all, and a loop of them never end.
        for key in ("trim_command_ns", "flush_command_ns"):
            # A link without a rate is refused for that.
            entries = max(1, round(_QUEUE_ENTRY_BYTES / max(rate, 1e6) * 1e9))
            self._assume(f"host.{key}", entries, "MQSim has none: 80 bytes, as NVMe's entries")
        page = self._integer("Page_Capacity")
        buffer = self._integer("Data_Cache_Capacity") // max(page, 1) * page
        self._set("buffer.write_buffer_bytes", buffer, "Data_Cache_Capacity")
        latency = self._integer("Data_Cache_DRAM_tRCD") + self._integer("Data_Cache_DRAM_tCL")
        dram = ("Data_Cache_DRAM_tRCD", "Data_Cache_DRAM_tCL")
        self._set("buffer.memory_ns", latency, *dram)
        burst = ("Data_Cache_DRAM_Data_Rate", "Data_Cache_DRAM_Data_Busrt_Size")
        rate = self._integer(burst[0]) * self._integer(burst[1]) * 1_000_000
        self._set("buffer.memory_bytes_per_second", rate, *burst)
        self._assume("variability.sigma", 0.0, "the same drive in every run")

    def imported(self, name: str) -> Imported:
        """Give the preset, and what became of each setting."""
        for setting in self.settings:
            if setting not in self.used and setting not in self.unused:
                reason = "no setting of MQSim that Drivelab knows"
                self.unused[setting] = WITHOUT_COUNTERPART.get(setting, reason)
        unused = {name: why for name, why in self.unused.items() if name in self.settings}
        text = self._toml(name)
        try:
            PresetSource(name, text).resolved()
        except ImpossibleValueError as error:
            # Its lines are those of a preset that nobody has.
            raise UsageError(f"{error.reason}; {self._remedy(error)}") from error
        return Imported(text, self.used, unused, self.assumed)

    def _remedy(self, error: ImpossibleValueError) -> str:
        """Say which settings the keys are made of that an error names."""
        named = set(_KEY.findall(error.reason))
        keys = [error.key, *(key for key in self.values if key in named - {error.key})]
        settings = [name for key in keys for name in self.used if key in self.used[name]]
        if not settings:
            return f"no setting says it: {self.assumed.get(error.key, 'it is the usual')}"
        made = "".join(f"{key} is {_FORMULAS[key]}: " for key in keys if key in _FORMULAS)
        listed = dict.fromkeys(f"{name} ({self.settings[name][:40]!r})" for name in settings)
        return f"{made}change {' or '.join(listed)}"

    def _toml(self, name: str) -> str:
        lines = [
            "# Made of MQSim's ssdconfig.xml; a value's comment names the settings behind it.",
            "",
            f'name = "{name}"',
            'kind = "ssd"',
            'summary = "imported from MQSim"',
        ]
        lines += [self._line(key) for key in self.values if "." not in key]
        # In the order in which they came, each once.
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

    def _integer(self, setting: str) -> int:
        def parse(text: str) -> int:
            if not (text.isascii() and text.isdigit() and len(text) < 19):
                raise ValueError(text)
            return int(text)

        return int(self._read(setting, parse, "a whole number of at least 0"))

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
