"""MQSim's flows as streams: what each asks for, where, and for how long."""

from __future__ import annotations

import math
import tomllib
from pathlib import Path
from typing import Any

import pytest
from mqsim_file import RECORDED, SYNTHETIC, workload

from drivelab.drives.presets.mqsim_facts import DriveFacts
from drivelab.drives.presets.mqsim_flows import (
    OF_EVERY_FLOW,
    OF_RECORDED_FLOWS,
    OF_SYNTHETIC_FLOWS,
    read_workload,
)
from drivelab.drives.presets.mqsim_scenario import (
    Translated,
    condition_of,
    translated,
)
from drivelab.errors import UsageError

DRIVE = DriveFacts(capacity_bytes=1 << 30, shape=(2, 3, 2, 2), is_shared=False)
TRACE = "1000 0 0 8 1\n3000 5 16 32 0\n9000 0 4194300 8 0\n"


def made(*flows: dict[str, str | None], drive: DriveFacts = DRIVE) -> Translated:
    (found,) = read_workload(workload(list(flows)).encode())
    return translated(found, drive, Path("elsewhere"), "made")


def streams(sent: Translated) -> list[dict[str, Any]]:
    result: list[dict[str, Any]] = tomllib.loads(sent.scenario.text)["stream"]
    return result


def test_every_setting_of_mqsim_s_own_flows_is_known() -> None:
    assert set(SYNTHETIC) | {"Bandwidth"} == set(OF_EVERY_FLOW) | set(OF_SYNTHETIC_FLOWS)
    assert set(RECORDED) == set(OF_EVERY_FLOW) | set(OF_RECORDED_FLOWS)


def test_a_closed_loop_has_its_depth_kinds_sizes_and_range() -> None:
    sent = made({"Address_Alignment_Unit": "8"})
    (stream,) = streams(sent)
    assert stream["queue_depth"] == 16
    assert stream["write_ratio"] == 0.25
    assert stream["sizes_bytes"] == [4096]
    assert (stream["range_offset_bytes"], stream["range_bytes"]) == (0, 1 << 29)
    assert stream["priority"] == 1
    assert sent.scenario.window[2:4] == (300, None)
    assert sent.notes == []
    (core,) = sent.scenario.streams()
    ((kinds, offsets, sizes),) = core.generate(1, 0, 4000)
    assert set(sizes) == {4096}
    assert max(offsets) < 1 << 29
    # Four standard deviations of a share of 4,000.
    assert abs(sum(kinds) / 4000 - 0.25) < 4 * math.sqrt(0.25 * 0.75 / 4000)


def test_the_hot_part_gets_what_the_cold_part_is_large() -> None:
    changes: dict[str, str | None] = {
        "Address_Distribution": "RANDOM_HOTCOLD",
        "Percentage_of_Hot_Region": "20",
        "Read_Percentage": "0",
    }
    (core,) = made(changes).scenario.streams()
    ((_, offsets, _),) = core.generate(1, 0, 4000)
    hot = sum(offset < 0.2 * (1 << 29) for offset in offsets) / 4000
    assert abs(hot - 0.8) < 4 * math.sqrt(0.8 * 0.2 / 4000)


def test_sizes_of_a_normal_distribution_have_its_mean_and_deviation() -> None:
    changes: dict[str, str | None] = {
        "Request_Size_Distribution": "NORMAL",
        "Average_Request_Size": "64",
        "Variance_Request_Size": "8",
    }
    sizes = [size / 512 for size in streams(made(changes))[0]["sizes_bytes"]]
    mean = math.fsum(sizes) / len(sizes)
    # MQSim takes the next whole sector above: half of one more in the mean.
    assert mean == pytest.approx(64.5, abs=0.1)
    spread = math.sqrt(math.fsum((size - mean) ** 2 for size in sizes) / len(sizes))
    assert spread == pytest.approx(8, rel=0.03)


def test_requests_that_arrive_have_the_rate_of_their_bandwidth() -> None:
    changes: dict[str, str | None] = {
        "Synthetic_Generator_Type": "BANDWIDTH",
        "Bandwidth": "40960000",
        "Stop_Time": "1000000",
        "Address_Distribution": "STREAMING",
    }
    sent = made(changes)
    (stream,) = streams(sent)
    assert stream["rate_iops"] == 10_000.0
    assert stream["arrivals"] == "poisson"
    assert (stream["read_random"], stream["write_random"]) == (0, 0)
    assert sent.scenario.window[2:4] == (None, 1_000_000)


def test_each_flow_has_its_part_of_the_drive() -> None:
    first, second = streams(made({}, {"Priority_Class": "URGENT"}))
    assert (first["range_offset_bytes"], second["range_offset_bytes"]) == (0, 1 << 29)
    assert first["range_bytes"] == second["range_bytes"] == 1 << 28
    assert second["priority"] == 0
    # Half of the planes are shared: three quarters and a quarter of the drive.
    first, second = streams(made({}, {"Channel_IDs": "1"}))
    assert second["range_offset_bytes"] == 3 << 28
    assert (first["range_bytes"], second["range_bytes"]) == (3 << 27, 1 << 27)
    shared = DriveFacts(capacity_bytes=1 << 30, shape=DRIVE.shape, is_shared=True)
    assert [each["range_offset_bytes"] for each in streams(made({}, {}, drive=shared))] == [0, 0]


def test_a_trace_is_sent_as_often_and_as_far_as_is_said(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("requests.trace").write_text(TRACE)

    def rows(**changes: str | None) -> list[str]:
        sent = made({"File_Path": "requests.trace", **changes})
        ((_, text),) = sent.scenario.files
        return text.splitlines()[1:]

    # Devices do not count; what ends behind the flow's part ends with it.
    wrapped = f"8000,write,{4194300 * 512 % (1 << 30)},2048"
    assert rows() == ["0,read,0,4096", "2000,write,8192,16384", wrapped]
    assert rows(Percentage_To_Be_Executed="67") == rows()[:2]
    twice = rows(Relay_Count="2")
    assert twice[3:] == [
        "8000,read,0,4096",
        "10000,write,8192,16384",
        wrapped.replace("8", "16", 1),
    ]
    # As in MQSim, a trace that is repeated is sent whole; that is said where a share was asked for.
    assert rows(Relay_Count="2", Percentage_To_Be_Executed="67") == twice
    repeated: dict[str, str | None] = {"File_Path": "requests.trace", "Relay_Count": "2"}
    beyond = made(repeated).notes
    assert {note.partition(":")[0] for note in beyond} == {"File_Path of flow 1"}
    (note,) = set(made({**repeated, "Percentage_To_Be_Executed": "67"}).notes) - set(beyond)
    assert note.startswith("Percentage_To_Be_Executed of flow 1: no effect, as in MQSim")
    assert rows(Time_Unit="MICROSECOND")[1].startswith("2000000,")
    # Without a cache for writes they are complete in the flash.
    forced = rows(Device_Level_Data_Caching_Mode="TURNED_OFF")
    assert forced[:2] == ["0,read,0,4096,false", "2000,write,8192,16384,true"]


def test_writes_of_a_trace_are_of_whole_pages_where_nothing_was_written(
    tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("requests.trace").write_text("1 0 10 16 0\n2 0 10 16 1\n")
    drive = DriveFacts(1 << 30, DRIVE.shape, is_shared=False, whole_bytes=8192)
    ((_, text),) = made({"File_Path": "requests.trace"}, drive=drive).scenario.files
    assert text.splitlines()[1:] == ["0,write,0,16384", "1,read,5120,8192"]


def test_requests_of_parts_of_pages_and_beyond_the_drive_are_counted(
    tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.chdir(tmp_path)
    drive = DriveFacts(1 << 30, DRIVE.shape, is_shared=False, page_bytes=8192)
    Path("requests.trace").write_text("1 0 0 16 1\n2 0 2097152 16 1\n3 0 2097144 16 0\n")
    notes = made({"File_Path": "requests.trace"}, drive=drive).notes
    beyond, cut, pages = notes
    assert beyond.startswith("File_Path of flow 1: 1 of 3 requests begin beyond the flow's 1 GiB")
    assert cut.startswith("File_Path of flow 1: 1 of 3 requests reach beyond the flow's 1 GiB")
    assert pages.startswith("Page_Capacity: whole pages of 8 KiB cross the channel here; MQSim")
    assert pages.endswith("take longer here (flow 1, 1 of 3 requests)")
    flow: dict[str, str | None] = {"Average_Request_Size": "8", "Address_Alignment_Unit": "8"}
    whole: dict[str, str | None] = {"Average_Request_Size": "32", "Address_Alignment_Unit": "32"}
    notes = made(flow, whole, flow, drive=drive).notes
    assert notes[0].endswith("(flow 1, requests of 4 KiB; flow 3, requests of 4 KiB)")
    Path("requests.trace").write_text("1 0 0 16 1\n2 0 16 32 0\n")
    assert made({"File_Path": "requests.trace"}, drive=drive).notes == []


def test_the_condition_is_that_of_the_flows() -> None:
    def of(*flows: dict[str, str | None]) -> tuple[float, bool, bool]:
        (found,) = read_workload(workload(list(flows)).encode())
        said = condition_of(found)
        return said.filled, said.is_first, said.reads

    assert of({}) == (0.7, True, True)
    assert of({"Working_Set_Percentage": "80", "Read_Percentage": "0"}) == (0.7, False, False)
    filled, is_first, _ = of({}, {"Initial_Occupancy_Percentage": "30"})
    assert filled == pytest.approx(0.5)
    assert not is_first


def test_what_differs_from_mqsim_is_reported_by_its_setting() -> None:
    sent = made(
        {"Intensity": "7", "Channel_IDs": "0", "Generated_Aligned_Addresses": "false"},
        {"Priority_Class": "LOW", "Device_Level_Data_Caching_Mode": "READ_CACHE"},
    )
    assert [note.partition(":")[0] for note in sent.notes] == [
        "Intensity",
        "Priority_Class",
        "Channel_IDs to Plane_IDs",
        "Device_Level_Data_Caching_Mode",
        "Address_Alignment_Unit of flow 1",
        "Address_Alignment_Unit of flow 2",
        "Total_Requests_To_Generate",
    ]
    assert streams(sent)[1]["writes_as"] == "forced_write"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"Read_Percentage": "101"}, "Read_Percentage of flow 1 is '101'; allowed: a whole number"),
        ({"Read_Percentage": None}, "Read_Percentage of flow 1 is missing"),
        ({"Address_Distribution": "ZIPF"}, "allowed: STREAMING or RANDOM_UNIFORM"),
        ({"Synthetic_Generator_Type": "BANDWIDTH"}, "Bandwidth of flow 1 is missing"),
        (
            {"Synthetic_Generator_Type": "BANDWIDTH", "Intensity": "3"},
            "MQSim does not read Intensity",
        ),
        ({"Total_Requests_To_Generate": "0"}, "is 0 as Stop_Time is"),
        ({"Average_No_of_Reqs_in_Queue": "0"}, "Average_No_of_Reqs_in_Queue of flow 1 is '0'"),
        ({"Channel_IDs": "0;1"}, "numbers from 0 with commas"),
        ({"Channel_IDs": "0,7"}, "Channel_IDs of flow 1 names 7; allowed: 0 to 1"),
        ({"Average_Request_Size": "900000"}, "Average_Request_Size of flow 1 makes requests of"),
        ({"File_Path": "nowhere.trace"}, "there is no file nowhere.trace"),
        ({"File_Path": "x", "Time_Unit": "PICOSECOND"}, "allowed: NANOSECOND or MICROSECOND"),
        (
            {"Address_Distribution": "RANDOM_HOTCOLD"},
            "Percentage_of_Hot_Region of flow 1 is '0'; allowed",
        ),
    ],
)
def test_impossible_settings_are_one_line_that_names_them(
    changes: dict[str, str | None], said: str
) -> None:
    with pytest.raises(UsageError) as refused:
        made(changes)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("<a/>", "its outermost element is 'a', not MQSim_IO_Scenarios"),
        ("<MQSim_IO_Scenarios/>", "it has 0 IO_Scenario; allowed: 1 to 100"),
        (workload([]), "has 0 flows; allowed: 1 to 64"),
        (workload([{"Seed": "<b>1</b>"}]), "'b' is not a setting"),
        ("<MQSim_IO_Scenarios><IO_Scenario><x/></IO_Scenario></MQSim_IO_Scenarios>", "is no flow"),
        ("<!DOCTYPE a><MQSim_IO_Scenarios/>", "declares a document type"),
    ],
)
def test_what_is_no_workload_is_one_clear_line(content: str, said: str) -> None:
    with pytest.raises(UsageError) as refused:
        read_workload(content.encode())
    assert said in str(refused.value)
