"""`drivelab simulate --mqsim`: MQSim's own files, one result per scenario."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from mqsim_file import ssdconfig, workload

from drivelab.cli import main as cli


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)


def written(
    *scenarios: list[dict[str, str | None]], drive: dict[str, str | None] | None = None
) -> list[str]:
    Path("ssdconfig.xml").write_text(ssdconfig({"Ideal_Mapping_Table": "true", **(drive or {})}))
    Path("workload.xml").write_text(workload(*scenarios))
    return ["simulate", "--mqsim", "ssdconfig.xml", "workload.xml"]


def answers(capsys, words: list[str]) -> list[dict[str, Any]]:
    assert cli.main([*words, "--json"]) == 0
    answer: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["scenarios"]
    return answer


def test_every_scenario_is_run_from_a_drive_of_its_own(capsys) -> None:
    words = written([{}], [{}, {"Read_Percentage": "0"}], [{}])
    first, second, third = answers(capsys, words)
    assert first["scenario"] == "workload.xml, IO_Scenario 1 of 3"
    assert [each["simulation"]["counted_requests"] for each in (first, second)] == [300, 600]
    assert [stream["name"] for stream in second["simulation"]["streams"]] == ["flow 1", "flow 2"]
    for name in ("streams", "flash"):
        assert first["simulation"][name] == third["simulation"][name]
    operations = first["simulation"]["streams"][0]["operations"]
    assert operations["read"]["requests"] + operations["write"]["requests"] == 300


def test_a_preconditioned_drive_holds_what_the_flows_say(capsys) -> None:
    (answer,) = answers(
        capsys, written([{"Read_Percentage": "100", "Working_Set_Percentage": "100"}])
    )
    simulation = answer["simulation"]
    assert simulation["condition"] == "filled"
    words = "of 157286 pages, drawn at random, hold data"
    assert simulation["occupancy"] == f"{round(157_286 * 0.7)} {words}"
    # Of reads anywhere 70 % find data: four standard deviations of 300 are 10 %.
    assert abs(simulation["flash"]["page_reads"] / 300 - 0.7) < 0.11


def test_a_drive_that_was_never_written_answers_reads_as_mqsim_s(capsys) -> None:
    (answer,) = answers(capsys, written([{}], drive={"Enabled_Preconditioning": "false"}))
    assert answer["simulation"]["condition"] == "filled"
    words = written([{"Read_Percentage": "0"}], drive={"Enabled_Preconditioning": "false"})
    (answer,) = answers(capsys, words)
    assert answer["simulation"]["condition"] == "fresh"


def test_the_words_of_a_run_name_what_is_otherwise(capsys) -> None:
    assert cli.main(written([{"Intensity": "7"}])) == 0
    said = capsys.readouterr().out
    assert "workload.xml, IO_Scenario 1 of 1" in said
    assert "75 % reads, else writes of 4 KiB at random, queue depth 16" in said
    assert "MQSim's files: Intensity: MQSim does not read it either" in said


def test_a_share_of_a_trace_that_is_repeated_is_said_to_have_no_effect(capsys) -> None:
    Path("requests.trace").write_text("1000 0 0 8 1\n3000 0 16 8 1\n")
    share = {"Percentage_To_Be_Executed": "50", "Relay_Count": "2"}
    words = written([{"File_Path": "requests.trace", **share}])
    assert cli.main(words) == 0
    printed = " ".join(capsys.readouterr().out.split())
    said = "Percentage_To_Be_Executed of flow 1: no effect, as in MQSim, because Relay_Count is 2"
    assert f"MQSim's files: {said}: the whole trace is sent each time" in printed
    (answer,) = answers(capsys, words)
    assert said in " ".join(answer["notes"])
    (stream,) = answer["simulation"]["streams"]
    assert sum(each["requests"] for each in stream["operations"].values()) == 4


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["sim:x25m"], "ssdconfig.xml describes the drive: leave out sim:x25m or --mqsim"),
        (["--scenario", "tpc-c"], "leave out --scenario or --mqsim"),
        (["--queue-depth", "4"], "leave out --queue-depth or --mqsim"),
        (["--save-state", "a.state"], "leave out --save-state or --mqsim"),
    ],
)
def test_what_the_files_say_themselves_is_refused(words: list[str], said: str, capsys) -> None:
    given = written([{}])
    assert cli.main([given[0], *words[:1], *given[1:], *words[1:]][:1] + words + given[1:]) == 2
    refused = capsys.readouterr().err
    assert said in refused
    assert refused.count("\n") == 1


@pytest.mark.parametrize(
    ("drive", "flow", "said"),
    [
        ({}, {"Seed": "<b>1</b>"}, "drivelab: workload.xml: line "),
        ({}, {"Channel_IDs": "9"}, "drivelab: workload.xml: IO_Scenario 1: Channel_IDs of flow 1"),
        ({"Page_Capacity": "8 KiB"}, {}, "drivelab: ssdconfig.xml: Page_Capacity is '8 KiB'"),
    ],
)
def test_what_is_wrong_is_one_line_with_its_file(drive, flow, said: str, capsys) -> None:
    assert cli.main(written([flow], drive=drive)) == 2
    refused = capsys.readouterr().err
    assert refused.startswith(said)
    assert refused.count("\n") == 1


def test_a_drive_has_to_be_named_without_the_files(capsys) -> None:
    assert cli.main(["simulate"]) == 2
    assert "no drive is named; give sim:PRESET" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--speed", "2x"], "--speed is for a trace"),
        (["--fit", "wrap"], "--fit is for a trace"),
        (["--seconds", "0"], "--seconds is 0; allowed: more than 0"),
        (["--force"], "--force is for files that are written"),
    ],
)
def test_options_without_effect_are_refused(words: list[str], said: str, capsys) -> None:
    assert cli.main([*written([{}]), *words]) == 2
    assert said in capsys.readouterr().err


def test_a_mistake_in_the_last_scenario_is_reported_before_the_first_runs(
    capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: object, **__: object) -> None:
        raise AssertionError("a scenario was simulated")

    monkeypatch.setattr("drivelab.drives.simulated.drive.SimulatedDrive.simulate", never)
    words = written([{}], [{"Channel_IDs": "9"}])
    assert cli.main(words) == 2
    assert "IO_Scenario 2: Channel_IDs of flow 1" in capsys.readouterr().err


def test_what_is_otherwise_than_in_mqsim_is_said(capsys) -> None:
    flow = {"Address_Alignment_Unit": "16", "Initial_Occupancy_Percentage": "50"}
    (answer,) = answers(capsys, written([flow, flow], drive={"Enabled_Preconditioning": "true"}))
    notes = " ".join(answer["notes"])
    assert "Address_Alignment_Unit of flow 1: requests begin at multiples of their own" in notes
    assert "Initial_Occupancy_Percentage: pages with data are anywhere" in notes
    assert answer["simulation"]["unit"] == "chip"
    (answer,) = answers(
        capsys, written([{"Channel_IDs": "0"}], drive={"Enabled_Preconditioning": "false"})
    )
    (stream,) = answer["simulation"]["streams"]
    whole = answer["simulation"]["capacity_bytes"]
    assert 0 < stream["range_bytes"] < whole / 2


def test_a_drive_that_mqsim_does_not_fill_starts_otherwise(capsys) -> None:
    def notes(drive: dict[str, str | None], *flows: dict[str, str | None]) -> str:
        Path("requests.trace").write_text("1000 0 0 16 0\n3000 0 16 16 0\n")
        drive = {"Ideal_Mapping_Table": "false", **drive}
        (answer,) = answers(capsys, written(list(flows), drive=drive))
        flash = answer["simulation"]["flash"]
        # The map of this drive fits, so every entry is found.
        assert flash["map_misses"] == 0
        assert flash["map_hits"] > 0
        return "\n".join(answer["notes"])

    unwritten: dict[str, str | None] = {"Enabled_Preconditioning": "false"}
    whole, trace = {"Average_Request_Size": "16"}, {"File_Path": "requests.trace"}
    cached = "CMT_Capacity: as many entries of the map as fit are cached at the start here"
    filled = "Enabled_Preconditioning: the whole drive holds data here, because flows read"
    said = notes(unwritten, whole)
    assert cached in said
    assert filled in said
    assert filled in notes(unwritten, trace)
    assert filled not in notes(unwritten, {**whole, "Read_Percentage": "100"})
    writes = notes(unwritten, {**whole, "Read_Percentage": "0"})
    assert cached in writes
    assert filled not in writes
    said = notes({"Enabled_Preconditioning": "true"}, whole)
    assert cached not in said
    assert filled not in said


def test_words_of_the_drive_without_an_effect_are_named_if_they_are_unusual(capsys) -> None:
    unusual: dict[str, str | None] = {
        "Preemptible_GC_Enabled": "true",
        "CMT_Sharing_Mode": "EQUAL_PARTITIONING",
        "Data_Cache_Sharing_Mode": "EQUAL_PARTITIONING",
        "CMD_Suspension_Support": "PROGRAM_ERASE",
        "Caching_Mechanism": "SIMPLE",
    }
    (answer,) = answers(capsys, written([{}], drive=unusual))
    for name, value in unusual.items():
        assert any(note.startswith(f"{name} {value}: ") for note in answer["notes"]), name
    usual: dict[str, str | None] = {
        "Preemptible_GC_Enabled": "false",
        "Caching_Mechanism": "ADVANCED",
    }
    (answer,) = answers(capsys, written([{}], drive=usual))
    assert not any(note.partition(" ")[0] in unusual for note in answer["notes"])


def test_what_is_true_of_every_scenario_is_printed_once(capsys) -> None:
    assert cli.main(written([{}], [{"Intensity": "7"}], [{}])) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("scenarios all 3 of workload.xml\n")
    assert printed.count("Preemptible_GC_Enabled") == 1
    before, first, second, third = printed.split("scenario  workload.xml, IO_Scenario")
    assert "Preemptible_GC_Enabled" in before
    assert ["Intensity" in each for each in (before, first, second, third)] == [
        False,
        False,
        True,
        False,
    ]


@pytest.mark.parametrize(
    ("words", "asked"),
    [
        (["--requests", "3"], "--requests 3"),
        (["--warmup-requests", "2"], "--warmup-requests 2"),
        (["--requests", "1", "--warmup-requests", "2"], "--requests 1 and --warmup-requests 2"),
    ],
)
def test_more_requests_than_a_later_trace_has_are_refused_before_anything_runs(
    words: list[str], asked: str, capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: object, **__: object) -> None:
        raise AssertionError("a scenario was simulated")

    monkeypatch.setattr("drivelab.drives.simulated.drive.SimulatedDrive.simulate", never)
    Path("requests.trace").write_text("1000 0 0 8 1\n3000 0 16 8 1\n")
    assert cli.main([*written([{}], [{"File_Path": "requests.trace"}]), *words]) == 2
    refused = capsys.readouterr().err
    said = f"IO_Scenario 2: its traces have 2 requests, too few for {asked}; give less"
    assert said in refused
    assert refused.count("\n") == 1


def test_the_remedy_for_a_bad_trace_works(capsys) -> None:
    Path("requests.trace").write_text("1000 0 0 8 1\nbad\n3000 0 16 8 1\n")
    words = written([{"File_Path": "requests.trace"}])
    assert cli.main(words) == 2
    refused = capsys.readouterr().err
    assert "or name the right --format" not in refused
    assert refused.endswith("-o FILE` and name FILE in File_Path\n")
    remedy = refused.split("`drivelab ")[1].partition("`")[0]
    assert cli.main(remedy.replace("FILE", "good.trace").split()) == 0
    capsys.readouterr()
    (answer,) = answers(capsys, written([{"File_Path": "good.trace"}]))
    assert answer["simulation"]["counted_requests"] == 2


def test_swapped_files_are_said_to_be_swapped(capsys) -> None:
    command, option, config, workload_file = written([{}])
    assert cli.main([command, option, workload_file, config]) == 2
    refused = capsys.readouterr().err
    assert refused.endswith(f"swapped: write --mqsim {config} {workload_file}\n")
    assert cli.main([command, option, config, config]) == 2
    assert "it is MQSim's ssdconfig.xml, not its workload.xml" in capsys.readouterr().err
