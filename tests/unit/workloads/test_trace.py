"""Traces as workloads: what is known about files, JSON and back, and what is refused."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from drivelab.drives.plan import MeasurementPlan
from drivelab.drives.simulated.drive import SimulatedDrive
from drivelab.errors import UsageError
from drivelab.workloads.recorded import RecordedFiles, TraceFacts
from drivelab.workloads.trace import Trace
from drivelab.workloads.workload import names_of_streams, workload_json, workload_of_json

SMALL = f"sim:{Path(__file__).parents[2] / 'small_drive.toml'}"
#: us, sector, bytes, kind.
ROWS = [(at * 50, at * 977 % 4000 * 8, 4096, "w" if at % 3 == 0 else "r") for at in range(600)]


def spc(rows=ROWS, *, device=0) -> str:
    return "".join(
        f"{device},{sector},{size},{kind},{us / 1e6:.6f}\n" for us, sector, size, kind in rows
    )


@pytest.fixture
def files(tmp_path: Path) -> RecordedFiles:
    path = tmp_path / "trace.spc"
    path.write_text(spc())
    return RecordedFiles((str(path),))


def results(workload: Trace, **plan: int):
    with SimulatedDrive.open(SMALL) as drive:
        (measured,) = drive.measure([(0, workload)], MeasurementPlan(**plan))
        return measured


def in_memory(**how) -> Trace:
    kinds = {"r": "read", "w": "write"}
    requests = tuple(
        (us * 1000, kinds[kind], sector * 512, size) for us, sector, size, kind in ROWS
    )
    return Trace(requests, **how)


def without_workload(measured) -> dict:
    values = measured.to_json()
    del values["workload"]
    return values


def test_what_is_in_files_is_known_before_anything_is_sent(files: RecordedFiles) -> None:
    trace = Trace(files=files)
    facts = trace.facts
    assert facts is not None
    assert (facts.requests, facts.format, facts.device_count) == (600, "spc", 1)
    assert dict(facts.commands) == {"read": 400, "write": 200}
    assert facts.span_ns == 599 * 50_000
    assert trace.footprint_bytes == max(512 * row[1] + row[2] for row in ROWS)
    assert trace.describe() == "400 reads and 200 writes of trace.spc recorded over 29.9 ms"


@pytest.mark.parametrize("how", [{}, {"speed": 3.0, "depth": 2}, {"speed": None, "depth": 4}])
def test_a_file_and_the_same_requests_in_memory_give_the_same(files: RecordedFiles, how) -> None:
    # Without a depth a list waits for nobody, and these never wait for 1024.
    of_file = without_workload(results(Trace(files=files, **how)))
    of_list = without_workload(results(in_memory(**how)))
    if not how:
        del of_file["streams"][0]["lateness"]
    assert of_file == of_list


def test_json_brings_it_back_without_the_file(files: RecordedFiles) -> None:
    trace = Trace(files=files, speed=None, depth=3, fit="scale")
    kept = json.loads(json.dumps(workload_json(trace)))
    Path(files.paths[0]).unlink()
    again = workload_of_json(kept)
    assert again == trace
    assert (again.describe(), again.footprint_bytes) == (trace.describe(), trace.footprint_bytes)
    assert names_of_streams(again) == ["trace"]
    with pytest.raises(UsageError, match=r"trace\.spc"):
        again.streams()


def test_a_measurement_of_a_file_is_read_back(files: RecordedFiles) -> None:
    measured = results(Trace(files=files, depth=1, speed=10.0))
    lateness = measured.streams[0].lateness
    assert lateness is not None
    assert lateness.was_late
    assert "more than 1.00 ms late" in (lateness.caution() or "")
    Path(files.paths[0]).unlink()
    assert type(measured).from_json(json.loads(json.dumps(measured.to_json()))) == measured


def test_another_file_under_the_same_name_is_refused(files: RecordedFiles) -> None:
    kept = workload_json(Trace(files=files))
    path = Path(files.paths[0])
    path.write_text(spc([*ROWS[:-1], (ROWS[-1][0], 8, 4096, "r")]))
    again = workload_of_json(kept)
    with pytest.raises(UsageError, match="contains other requests than before"):
        again.streams()
    # The same requests in another form are the same.
    path.write_text(spc().replace(",r,", ", R ,").replace("\n", ",more\n"))
    assert len(workload_of_json(kept).streams()) == 1


def test_devices_lie_one_after_the_other_or_one_is_chosen(tmp_path: Path) -> None:
    path = tmp_path / "two.spc"
    path.write_text("a,0,4096,r,0\n".replace("a", "5") + "9,0,4096,w,0.1\n")
    both = Trace(files=RecordedFiles((str(path),)))
    assert (both.footprint_bytes, both.facts.device_count) == ((1 << 20) + 4096, 2)
    one = Trace(files=RecordedFiles((str(path),), devices=("9",)))
    assert (one.footprint_bytes, one.facts.devices) == (4096, (("9", 1),))
    with pytest.raises(UsageError, match='no device "7"; it has 5, 9'):
        Trace(files=RecordedFiles((str(path),), devices=("7",)))


def test_a_fitted_list_falls_as_a_file_does(files: RecordedFiles) -> None:
    for fit in ("wrap", "scale"):
        of_file = results(Trace(files=files, fit=fit, depth=8))
        of_list = results(in_memory(fit=fit, depth=8))
        assert without_workload(of_file) == without_workload(of_list)
    assert in_memory(fit="wrap").footprint_bytes is None


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"speed": 0.0}, "speed is 0.0; allowed: 1e-06 to 1e"),
        ({"speed": "fast"}, "speed is 'fast'"),
        ({"depth": 0}, "depth is 0; allowed: 1 to 65536"),
        ({"depth": True}, "depth is True"),
        ({"fit": "squeeze"}, "fit is 'squeeze'; allowed: keep, wrap, scale"),
    ],
)
def test_impossible_values_are_refused(files: RecordedFiles, how, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        Trace(files=files, **how)
    with pytest.raises(UsageError, match=said):
        Trace.of_files(files, **how)
    with pytest.raises(UsageError, match=said):
        in_memory(**how)


def test_what_is_no_trace_of_files_is_refused(files: RecordedFiles) -> None:
    with pytest.raises(UsageError, match="requests or files, not both"):
        Trace(((0, "read", 0, 512),), files)
    with pytest.raises(UsageError, match="no recorded depth; give a depth"):
        in_memory(speed=None)
    with pytest.raises(UsageError, match="600 of 600 requests have no response time"):
        Trace(files=files, speed=None)
    with pytest.raises(UsageError, match="paths is empty"):
        RecordedFiles(())
    with pytest.raises(UsageError, match=r"format 'spcc'; did you mean spc\? there are spc, msr"):
        RecordedFiles(("a",), format="spcc")
    with pytest.raises(UsageError, match="sort_window is 'x'; allowed: a whole number"):
        RecordedFiles(("a",), sort_window="x")  # type: ignore[arg-type]
    kept = workload_json(Trace(files=files))
    for name, value in [("requests", -1), ("commands", []), ("devices", [[1]]), ("cautions", 3)]:
        broken = json.loads(json.dumps(kept))
        broken["facts"][name] = value
        with pytest.raises(UsageError):
            workload_of_json(broken)


def test_files_are_kept_with_what_is_not_as_usual() -> None:
    files = RecordedFiles(
        ("a", "b"), format="parquet", devices=("0",), columns=(("arrival", "when"),), sort_window=7
    )
    kept = json.loads(json.dumps(files.to_json()))
    assert kept == {
        "paths": ["a", "b"],
        "format": "parquet",
        "devices": ["0"],
        "columns": [["arrival", "when"]],
        "sort_window": 7,
    }
    assert RecordedFiles.from_json(kept) == files
    assert RecordedFiles.from_json({"paths": ["a"]}) == RecordedFiles(("a",))
    assert files.name == "a and 1 more"


def test_facts_are_all_that_is_compared(files: RecordedFiles) -> None:
    trace = Trace.of_files(files)
    assert trace == Trace(files=files)
    assert trace.facts == TraceFacts.from_json(trace.facts.to_json())
    assert trace != dataclasses.replace(trace, speed=2.0)
