"""A file in the format of MQSim's ssdconfig.xml, with a different number for each setting."""

from __future__ import annotations

HOST = {
    "PCIe_Lane_Bandwidth": "0.5",
    "PCIe_Lane_Count": "4",
    "Enable_ResponseTime_Logging": "true",
    "ResponseTime_Logging_Period_Length": "1000000",
}
DEVICE = {
    "Seed": "321",
    "Enabled_Preconditioning": "true",
    "Memory_Type": "FLASH",
    "HostInterface_Type": "NVME",
    "IO_Queue_Depth": "1024",
    "Queue_Fetch_Size": "512",
    "Data_Cache_Sharing_Mode": "SHARED",
    "Data_Cache_Capacity": "1000000",
    "Data_Cache_DRAM_Row_Size": "8192",
    "Data_Cache_DRAM_Data_Rate": "800",
    "Data_Cache_DRAM_Data_Busrt_Size": "4",
    "Data_Cache_DRAM_tRCD": "13",
    "Data_Cache_DRAM_tCL": "14",
    "Data_Cache_DRAM_tRP": "15",
    "Address_Mapping": "PAGE_LEVEL",
    "Ideal_Mapping_Table": "false",
    "CMT_Capacity": "2097152",
    "CMT_Sharing_Mode": "SHARED",
    "Plane_Allocation_Scheme": "CWDP",
    "Transaction_Scheduling_Policy": "PRIORITY_OUT_OF_ORDER",
    "Overprovisioning_Ratio": "0.2",
    "GC_Exec_Threshold": "0.05",
    "GC_Block_Selection_Policy": "RGA",
    "Use_Copyback_for_GC": "false",
    "Preemptible_GC_Enabled": "true",
    "GC_Hard_Threshold": "0.005",
    "Dynamic_Wearleveling_Enabled": "true",
    "Static_Wearleveling_Enabled": "true",
    "Static_Wearleveling_Threshold": "100",
    "Preferred_suspend_erase_time_for_read": "700000",
    "Preferred_suspend_erase_time_for_write": "700000",
    "Preferred_suspend_write_time_for_read": "100000",
    "Flash_Channel_Count": "2",
    "Flash_Channel_Width": "1",
    "Channel_Transfer_Rate": "400",
    "Chip_No_Per_Channel": "3",
    "Flash_Comm_Protocol": "NVDDR2",
}
FLASH = {
    "Flash_Technology": "MLC",
    "CMD_Suspension_Support": "ERASE",
    "Page_Read_Latency_LSB": "60000",
    "Page_Read_Latency_CSB": "70000",
    "Page_Read_Latency_MSB": "80000",
    "Page_Program_Latency_LSB": "500000",
    "Page_Program_Latency_CSB": "500000",
    "Page_Program_Latency_MSB": "500000",
    "Block_Erase_Latency": "3800000",
    "Block_PE_Cycles_Limit": "10000",
    "Suspend_Erase_Time": "700000",
    "Suspend_Program_Time": "100000",
    "Die_No_Per_Chip": "2",
    "Plane_No_Per_Die": "2",
    "Block_No_Per_Plane": "128",
    "Page_No_Per_Block": "64",
    "Page_Capacity": "8192",
    "Page_Metadat_Capacity": "448",
}


def ssdconfig(changes: dict[str, str | None] | None = None, *, before: str = "") -> str:
    """Give the file; `changes` replace settings, or leave them out with `None`."""
    changes = changes or {}

    def lines(settings: dict[str, str]) -> str:
        values = {name: changes.get(name, value) for name, value in settings.items()}
        return "\n".join(
            f"\t\t<{name}>{value}</{name}>" for name, value in values.items() if value is not None
        )

    extra = {name: value for name, value in changes.items() if name not in HOST | DEVICE | FLASH}
    return f"""<?xml version="1.0" encoding="us-ascii"?>
{before}<Execution_Parameter_Set>
\t<Host_Parameter_Set>
{lines(HOST)}
\t</Host_Parameter_Set>
\t<Device_Parameter_Set>
{lines(DEVICE | {name: value for name, value in extra.items() if value})}
\t\t<Flash_Parameter_Set>
{lines(FLASH)}
\t\t</Flash_Parameter_Set>
\t</Device_Parameter_Set>
</Execution_Parameter_Set>
"""


SYNTHETIC = {
    "Priority_Class": "HIGH",
    "Device_Level_Data_Caching_Mode": "WRITE_CACHE",
    "Channel_IDs": "0,1",
    "Chip_IDs": "0,1,2",
    "Die_IDs": "0,1",
    "Plane_IDs": "0,1",
    "Initial_Occupancy_Percentage": "70",
    "Working_Set_Percentage": "50",
    "Synthetic_Generator_Type": "QUEUE_DEPTH",
    "Read_Percentage": "75",
    "Address_Distribution": "RANDOM_UNIFORM",
    "Percentage_of_Hot_Region": "0",
    "Generated_Aligned_Addresses": "true",
    "Address_Alignment_Unit": "16",
    "Request_Size_Distribution": "FIXED",
    "Average_Request_Size": "8",
    "Variance_Request_Size": "0",
    "Seed": "798",
    "Average_No_of_Reqs_in_Queue": "16",
    "Stop_Time": "0",
    "Total_Requests_To_Generate": "300",
}
RECORDED = {
    **{name: SYNTHETIC[name] for name in list(SYNTHETIC)[:7]},
    "File_Path": "requests.trace",
    "Percentage_To_Be_Executed": "100",
    "Relay_Count": "1",
    "Time_Unit": "NANOSECOND",
}


def workload(*scenarios: list[dict[str, str | None]]) -> str:
    """Give a workload.xml; each flow is what differs from `SYNTHETIC`, or from `RECORDED`.

    A flow with a `File_Path` is of a trace.
    """
    lines = ['<?xml version="1.0" encoding="us-ascii"?>', "<MQSim_IO_Scenarios>"]
    for flows in scenarios:
        lines.append("\t<IO_Scenario>")
        for changes in flows:
            usual = RECORDED if "File_Path" in changes else SYNTHETIC
            kind = "Trace_Based" if usual is RECORDED else "Synthetic"
            settings = {**usual, **changes}
            lines.append(f"\t\t<IO_Flow_Parameter_Set_{kind}>")
            lines += [
                f"\t\t\t<{name}>{value}</{name}>"
                for name, value in settings.items()
                if value is not None
            ]
            lines.append(f"\t\t</IO_Flow_Parameter_Set_{kind}>")
        lines.append("\t</IO_Scenario>")
    return "\n".join([*lines, "</MQSim_IO_Scenarios>\n"])
