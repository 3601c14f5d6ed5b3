"""MQSim's words and settings with Drivelab's: the lists for the importer and its page."""

from __future__ import annotations

from itertools import permutations
from typing import Final

#: Settings that become no key of the preset, with the reason.
WITHOUT_COUNTERPART: Final = {
    "Enable_ResponseTime_Logging": "what is shown is an option of the command",
    "ResponseTime_Logging_Period_Length": "an option of the command (--interval)",
    "SATA_Processing_Delay": "commands take the time of host.read_command_ns, set to 0",
    "Seed": "an option of the command (--seed)",
    "Queue_Fetch_Size": "the drive takes commands one by one",
    "Caching_Mechanism": "there is one kind of write buffer",
    "Data_Cache_Sharing_Mode": "streams share the write buffer",
    "Data_Cache_DRAM_Row_Size": "memory has no rows",
    "Data_Cache_DRAM_tRP": "memory has no rows",
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
#: For some of them, the words that change nothing: as in MQSim's own file, or as the drive is here.
USUAL: Final = {
    "Caching_Mechanism": ("ADVANCED",),
    "Data_Cache_Sharing_Mode": ("SHARED",),
    "CMT_Sharing_Mode": ("SHARED",),
    "Preemptible_GC_Enabled": ("FALSE",),
    "CMD_Suspension_Support": ("NONE", "ERASE"),
}
_REGISTER: Final = "Page_Capacity x 1000 / (Channel_Transfer_Rate x Flash_Channel_Width)"
BITS: Final = {"SLC": ("LSB",), "MLC": ("LSB", "MSB"), "TLC": ("LSB", "CSB", "MSB")}
#: For keys that combine several settings: the formula.
FORMULAS: Final = {
    "timing.read_register_ns": _REGISTER,
    "timing.write_register_ns": _REGISTER,
    "buffer.write_buffer_bytes": (
        "whole pages of Data_Cache_Capacity, and no more than one page of each plane"
    ),
    "mapping.cached_entries": "CMT_Capacity / bytes of an entry",
    "host.link_bytes_per_second": "PCIe_Lane_Bandwidth x PCIe_Lane_Count x 10^9",
    "buffer.memory_bytes_per_second": (
        "2 x Data_Cache_DRAM_Data_Rate x Data_Cache_DRAM_Data_Busrt_Size x 10^6"
    ),
}
VICTIMS: Final = {"GREEDY": "greedy", "RGA": "d_choices", "RANDOM": "random", "FIFO": "fifo"}
ORDERS: Final = {
    "OUT_OF_ORDER": "reads_first",
    "PRIORITY_OUT_OF_ORDER": "priority",
}
#: Settings whose words do not all become something: the words that MQSim reads. It refuses others.
KNOWN: Final = {
    "Plane_Allocation_Scheme": tuple("".join(order) for order in permutations("CWDP")),
    "Transaction_Scheduling_Policy": (*ORDERS, "FLIN"),
    "GC_Block_Selection_Policy": (*VICTIMS, "RANDOM_P", "RANDOM_PP"),
    "Caching_Mechanism": ("SIMPLE", "ADVANCED"),
    "Data_Cache_Sharing_Mode": ("SHARED", "EQUAL_PARTITIONING"),
    "CMT_Sharing_Mode": ("SHARED", "EQUAL_PARTITIONING"),
    "Flash_Comm_Protocol": ("NVDDR2",),
    "CMD_Suspension_Support": ("NONE", "ERASE", "PROGRAM", "PROGRAM_ERASE"),
}
#: The same for true and false. MQSim takes any other word as true.
SWITCHES: Final = ("Preemptible_GC_Enabled", "Enable_ResponseTime_Logging")
