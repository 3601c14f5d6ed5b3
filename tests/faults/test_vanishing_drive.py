"""A drive that fails or disappears in round 17 of a performance test: no measurement is lost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from python_program import write_program

from drivelab._core import histogram_bin, histogram_value
from drivelab.cli import main as cli
from drivelab.pts.journal import read_record
from drivelab.store import RunStore

pytestmark = pytest.mark.faults

LATENCY_NS = histogram_value(histogram_bin(100_000))
# A drive that serves 15 % more with every round: it never settles.
FIO = """
import json, sys
from pathlib import Path
here, ns = Path(FOLDER), LATENCY
if sys.argv[1:] == ["--version"]:
    print("fio-3.33"); sys.exit()
given = dict(word.removeprefix("--").partition("=")[::2] for word in sys.argv[1:])
def report_of(part, sent, size):
    return {"io_bytes": sent * size, "total_ios": sent, "short_ios": 0, "drop_ios": 0,
        "runtime": milliseconds if sent else 0, "lat_ns": {"min": ns, "max": ns,
        "mean": float(ns), "N": sent, "bins": {str(ns): sent} if sent else {}}}
if "read_iolog" in given:
    # The short read by which Drivelab tries a drive.
    lines = Path(given["read_iolog"]).read_text().splitlines()[3:]
    rows = [line.split()[2:] for line in lines]
    Path(given["write_lat_log"] + "_lat.1.log").write_text(
        "".join(f"1, {ns}, 0, {size}, {at}, 0\\n" for at, size in rows))
    milliseconds, reads, writes, size = 1, len(rows), 0, int(rows[0][1])
else:
    with (here / "calls").open("a") as calls:
        calls.write(json.dumps(given) + "\\n")
    number = len((here / "calls").read_text().splitlines())
    size = int(given["bs"])
    milliseconds = int(given.get("runtime", "10ms").removesuffix("ms"))
    if (here / "fails").exists() and number == int((here / "fails").read_text()):
        (here / "fails").unlink()
        what = (here / "how").read_text()
        if what == "error":
            print("fio: io_u error on file x: Input/output error: write offset=0, buflen=4096",
                  file=sys.stderr)
            sys.exit(1)
        if what == "full":
            print("fio: pid=1, err=28/file:x, No space left on device", file=sys.stderr)
            sys.exit(1)
        Path(what).unlink()
    growth = 1.15 ** (number // 2)
    count = int(given["io_size"]) // size if "io_size" in given else round(1000 * growth)
    reads, writes = (count, 0) if given["rw"] == "read" else (0, count)
parts = {"read": report_of("read", reads, size), "write": report_of("write", writes, size)}
print(json.dumps({"jobs": [{"error": 0, "job_runtime": milliseconds, **parts}]}))
"""
# Preconditioning, then 2 stimuli a round: the second of round 17 is this run of fio.
FAILS_AT = 1 + 16 * 2 + 2


@pytest.fixture
def fio(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put a fio in front of the machine's; give the folder whose files say when it fails."""
    folder = tmp_path / "fio"
    folder.mkdir()
    script = folder / "fio"
    text = FIO.replace("FOLDER", repr(str(folder))).replace("LATENCY", str(LATENCY_NS))
    write_program(script, text, "-SE")
    monkeypatch.setenv("PATH", str(folder), prepend=":")
    (folder / "calls").touch()
    return folder


def words(drive: Path, run: Path) -> list[str]:
    given = ["pts", "run", "throughput", str(drive), "--client", "--scale", "0.1", "--threads", "1"]
    return [*given, "--size", "64MiB", "--keep", "--out", str(run)]


def steps_of(run: Path) -> list[tuple[int, dict[str, Any]]]:
    with RunStore.open(run) as store:
        return [(step.position, step.result.to_json()) for step in read_record(store).steps]


def calls_of(fio: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in (fio / "calls").read_text().splitlines()]


SAID = {
    "error": "io_u error on file x: Input/output error",
    "full": "No space left on device",
    "vanished": "vanished while it was measured",
}


@pytest.mark.parametrize("how", SAID)
def test_a_drive_that_fails_in_round_17(
    how: str, fio: Path, drive_folder: Path, tmp_path: Path, capsys: Any
) -> None:
    drive, run = drive_folder / f"round-17-{how}.bin", tmp_path / "run"
    (fio / "how").write_text(str(drive) if how == "vanished" else how)
    (fio / "fails").write_text(str(FAILS_AT))
    assert cli.main(words(drive, run)) == 1
    complaint = capsys.readouterr().err.splitlines()[-1]
    assert complaint.startswith("drivelab: throughput did not finish: 1024 KiB, round 17: ")
    assert SAID[how] in complaint
    assert "Traceback" not in complaint
    kept = steps_of(run)
    assert len(kept) == FAILS_AT - 1
    result = json.loads((run / "result.json").read_text())
    assert (result["verdict"], result["sections"][0]["rounds"]) == ("incomplete", 16)
    assert SAID[how] in result["problem"]
    assert (run / "report.html").is_file()
    # It goes on with the step that failed, to the end.
    assert cli.main(words(drive, run)) == 1
    assert "steady state was never reached" in capsys.readouterr().err.splitlines()[-1]
    assert len(calls_of(fio)) == 1 + 1 + 25 * 2
    again, failed = calls_of(fio)[FAILS_AT], calls_of(fio)[FAILS_AT - 1]
    # A file that was made anew has a tag of its own.
    differs = {"filename", *(["buffer_pattern"] if how == "vanished" else [])}
    again, failed = (
        {key: one[key] for key in one if key not in differs} for one in (again, failed)
    )
    assert again == failed
    assert steps_of(run)[: len(kept)] == kept
    assert json.loads((run / "result.json").read_text())["starts"] == 2
    drive.unlink()
    (drive.parent / f"{drive.name}.drivelab.json").unlink()


def test_a_drive_of_another_size_does_not_go_on(
    fio: Path, drive_folder: Path, tmp_path: Path, capsys: Any
) -> None:
    drive, run = drive_folder / "another.bin", tmp_path / "run"
    (fio / "how").write_text("error")
    (fio / "fails").write_text("7")
    assert cli.main(words(drive, run)) == 1
    before = (run / "result.json").read_bytes()
    drive.unlink()
    given = words(drive, run)
    given[given.index("64MiB")] = "65MiB"
    capsys.readouterr()
    assert cli.main(given) == 2
    line = capsys.readouterr().err
    assert line.count("\n") == 1
    assert "another" in line
    assert (run / "result.json").read_bytes() == before
    assert len(calls_of(fio)) == 7
    drive.unlink()
    (drive.parent / f"{drive.name}.drivelab.json").unlink()
