"""Events from a processor's counters: groups that take turns, and machines without counters."""

from __future__ import annotations

import json
import stat
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from made_firmware_records import made_profiled

from drivelab.cli.main import main
from drivelab.errors import RunError, UsageError
from drivelab.firmware import counters, profile
from drivelab.firmware.counters import (
    GROUPS,
    check_counters,
    check_groups,
    corrected,
    observe_counters,
    told_shares,
)
from drivelab.firmware.profiled import EVENTS
from drivelab.runs.header import this_processor

NAMES = {
    "cycles": ("cpu_cycles", "instructions", "bus_cycles"),
    "stalls": ("stalled_cycles",),
    "branches": ("branches", "branch_misses"),
    "last-cache": ("llc_references", "llc_misses"),
    "first-cache": ("l1d_loads", "l1d_stores"),
    "micro-operations": ("micro_operations",),
}


def reading(group: str, enabled: int, running: int, count: int) -> dict[str, object]:
    counts = dict.fromkeys(NAMES[group], count)
    return {"group": group, "enabled_ns": enabled, "running_ns": running, **counts}


def test_counts_are_scaled_by_the_turns_that_a_group_had() -> None:
    readings = [
        reading("branches", 1000, 1000, 70),
        reading("branches", 1000, 250, 70),
        reading("branches", 0, 0, 0),
    ]
    found = corrected("branches", readings)
    assert found.values["branches"].tolist() == [70, 280, 0]
    assert found.shares.tolist() == [1, 0.25, 1]


def test_a_group_that_never_had_its_turn_is_refused() -> None:
    readings = [reading("stalls", 1000, 1000, 7), reading("stalls", 1000, 0, 0)]
    with pytest.raises(RunError, match=r"stalls were never counted in record 1: other programs"):
        corrected("stalls", readings)
    for broken in ([], [{}], [{**readings[0], "group": "cycles"}], [{"group": "stalls"}]):
        with pytest.raises(RunError, match="reported no events stalls"):
            corrected("stalls", broken)


def test_a_run_a_group_makes_a_row_a_record(tmp_path: Path) -> None:
    asked: list[str] = []

    def run(words: Sequence[str]) -> None:
        assert words[:2] == ["--requests", "list"]
        group, path = words[3], tmp_path / words[5]
        asked.append(group)
        lines = [
            {
                "record": number,
                "requests": 1000,
                "wall_ns": 5000 - len(asked) * 100 + number,
                "events": reading(group, 1000, 500 if group == "branches" else 1000, 9 + number),
            }
            for number in range(2)
        ]
        path.write_text("\n".join(map(json.dumps, lines)))

    counted, events = observe_counters(run, ["--requests", "list"], tmp_path)
    assert tuple(asked) == GROUPS
    assert [each.name for each in events.columns] == list(EVENTS)
    assert counted.column("requests").tolist() == [1000, 1000]
    assert events.column("instructions").tolist() == [9, 10]
    assert events.column("branch_misses").tolist() == [18, 20]
    # The least of six runs.
    assert events.column("time_ns").tolist() == [4400, 4401]
    assert told_shares(events.parameters) == (
        "counters were shared; counted, at least, and scaled up: branches 50 %"
    )
    assert told_shares({"counted_ratio": {"cycles": 1.0}}) is None
    assert np.array_equal(events.values, np.rint(events.values))


def test_a_machine_without_counters_gets_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "software").mkdir()
    with pytest.raises(UsageError, match=r"shows no counters .* the events come from qemu"):
        check_counters(tmp_path)
    with pytest.raises(UsageError, match="shows no counters"):
        check_counters(tmp_path / "none")
    (tmp_path / "armv8_cortex_a53").mkdir()
    check_counters(tmp_path)
    monkeypatch.setattr("drivelab.firmware.counters.check_counters", lambda: check_counters(Path()))
    monkeypatch.chdir(tmp_path / "software")
    words = ["firmware", "profile", "RR", "--events", "pmu", "--out", "run"]
    assert main(words) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_processor_that_does_not_count_everything_is_refused_before_anything_is_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Many virtual machines show counters and lack some."""
    native = tmp_path / "native"
    native.write_text(
        '#!/bin/sh\ncase "$*" in\n'
        '*cycles*) event="bus_cycles cannot be counted: no counter" ;;\n'
        '*stalls*) event="stalled_cycles cannot be counted: no counter" ;;\n'
        "*) exit 0 ;;\nesac\n"
        'echo "drivelab-firmware: --events: $event; see drivelab-firmware --help" >&2\nexit 2\n'
    )
    native.chmod(0o755)
    with pytest.raises(UsageError) as refused:
        check_groups(native)
    assert str(refused.value) == (
        "bus_cycles, stalled_cycles cannot be counted: no counter; leave --events pmu out, and the "
        "events come from qemu"
    )
    native.write_text("#!/bin/sh\nexit 0\n")
    check_groups(native)
    monkeypatch.setattr(counters, "check_counters", lambda: None)
    monkeypatch.setattr(counters, "check_groups", refuse_groups)
    monkeypatch.chdir(tmp_path)
    assert main(["firmware", "profile", "RR", "--events", "pmu", "--out", "run"]) == 2
    assert capsys.readouterr().err == "drivelab: some cannot be counted\n"
    assert not Path("run").exists()


def refuse_groups(_: Path) -> None:
    raise UsageError("some cannot be counted")


def test_a_run_of_counters_goes_on_on_the_same_processor_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from drivelab.runs import header

    log = made_profiled("mixed.toml", 0.5, records=1)
    this = ["One CPU @ 2.0 GHz"]
    monkeypatch.setattr(counters, "check_counters", lambda: None)
    monkeypatch.setattr(counters, "check_groups", lambda _: None)
    monkeypatch.setattr(profile, "observe", lambda *_: log)
    for module in (profile, header):
        monkeypatch.setattr(module, "this_processor", lambda: this[0])
    monkeypatch.chdir(tmp_path)
    Path("mixed.toml").write_text(
        'summary = "any"\nrequests = 1000\n[[stream]]\nname = "mixed"\nqueue_depth = 1\n'
    )
    words = ["firmware", "profile", "mixed.toml", "--geometry", "2x2x1x64x64", "--out", "run"]
    assert main([*words, "--events", "pmu"]) == 0
    assert main([*words, "--events", "pmu"]) == 0
    capsys.readouterr()
    this[0] = "Other CPU"
    assert main([*words, "--events", "pmu"]) == 2
    error = capsys.readouterr().err
    assert "the run counted events on One CPU @ 2.0 GHz, and this machine has Other CPU" in error
    assert error.count("\n") == 1
    assert main(words) == 2
    assert "events: pmu before" in capsys.readouterr().err


def test_an_arm_processor_is_known_by_its_makers_numbers(tmp_path: Path) -> None:
    described = tmp_path / "cpuinfo"
    lines = (
        "processor\t: 0",
        "CPU implementer\t: 0x41",
        "CPU architecture: 8",
        "CPU part\t: 0xd03",
    )
    described.write_text("\n".join(lines * 2))
    assert this_processor(described) == "implementer 0x41, part 0xd03"
    described.write_text("model name\t: A CPU \n")
    assert this_processor(described) == "A CPU"
    described.write_text("")
    assert this_processor(described) is None


def test_software_events_are_counted_by_the_program(tmp_path: Path) -> None:
    import subprocess

    from drivelab.firmware.programs import firmware_program
    from drivelab.firmware.record_logs import read_with_events

    program = str(firmware_program())
    assert stat.S_ISREG(Path(program).stat().st_mode)
    snapshot, requests, records = (tmp_path / name for name in ("snapshot", "list", "records"))
    made = [program, "snapshot", "--out", str(snapshot), "--geometry", "2x2x1x64x64"]
    subprocess.run(made, check=True, capture_output=True)
    pages = np.zeros(2000, dtype=[("first", "<u8"), ("sectors", "<u4"), ("kind", "<u4")])
    pages["first"], pages["sectors"] = np.arange(2000) * 32, 32
    requests.write_bytes(pages.tobytes())
    run = [program, "--requests", str(requests), "--snapshot", str(snapshot)]
    words = [*run, "--records", str(records), "--events", "software"]
    subprocess.run(words, check=True, capture_output=True)
    counted, readings = read_with_events(records)
    found = corrected("software", readings)
    assert len(counted) == len(readings) == 2
    # The clock of a task runs while it runs; nothing shares it.
    assert (found.shares == 1).all()
    assert (found.values["task_clock_ns"] > 0).all()
    assert (found.values["task_clock_ns"] <= 1.01 * readings[0]["enabled_ns"] + 10**9).all()
    for group, said in (("nope", "there are cycles, stalls"), ("software --threads", "one thread")):
        words = [*run, "--events", *group.split()]
        refused = subprocess.run(words, capture_output=True, text=True, check=False)
        assert refused.returncode == 2
        assert said in refused.stderr
