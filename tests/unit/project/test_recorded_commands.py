"""What commands measure stays the same, to the byte, however the code is arranged.

``tests/golden/recorded-commands.json`` holds the SHA-256 of each file. A change that is meant to
measure something else writes it anew with ``--regenerate-golden`` and says so in the changelog.
"""

from __future__ import annotations

import csv
import hashlib
import json
from pathlib import Path

import pytest

from drivelab.cli import main as cli

# What was measured does not depend on the models that are fitted to it.
pytestmark = pytest.mark.usefixtures("models_in_outline")

ROOT = Path(__file__).parents[3]
GOLDEN = ROOT / "tests" / "golden" / "recorded-commands.json"
SMALL = f"sim:{ROOT / 'tests' / 'small_drive.toml'}"
EXAMPLES = ROOT / "examples"
MODEL = ["--check", "4", "--requests", "60", "--writes", "burst", "--out", "run"]
# What a command writes about the machine, not about the drive.
OF_THE_MACHINE = {"loop_wall_seconds", "preparation_wall_seconds", "peak_memory_bytes"}
COMMANDS = {
    "campaign of an SSD": ["model", SMALL, "--design", "huang2011:16", *MODEL],
    "campaign of a disk": ["model", "sim:spinpoint-m7", "--design", "huang2011:16", *MODEL],
    "campaign of an array": [
        *["model", "sim:taurus-st3300657ss", "--design", "huang2011:12", *MODEL],
        *["--content", "random", "--seed", "3"],
    ],
    "campaign of a formula": [
        *["model", "analytic:x25m-yoo2014", "--design", "huang2011:12", "--check", "0"],
        *["--out", "run"],
    ],
    "campaign to a half-width": [
        *["model", SMALL, "--design", "sobol:12", "--half-width", "10%"],
        *["--max-requests", "3000", "--check", "0", "--writes", "burst", "--out", "run"],
    ],
    "campaign of what lasts": [
        *["model", SMALL, "--design", "sobol:12", "--requests", "60", "--check", "0"],
        *["--writes", "sustained", "--out", "run"],
    ],
    "passes on an SSD": ["profile", SMALL, "--file-size", "8MiB", "--out", "run"],
    "passes on a disk": [
        *["profile", "sim:spinpoint-m7", "--file-size", "40MiB", "--partial", "5%"],
        *["--out", "run"],
    ],
    "a performance test": [
        *["pts", "run", "iops", SMALL, "--scale", "0.02", "--no-variability", "--out", "run"],
    ],
    "streams of a class at once": [
        *["pts", "run", "class", SMALL, "--class", "oltp"],
        *["--scale", "0.02", "--out", "run"],
    ],
    "a scenario on an SSD": [
        *["simulate", SMALL, "--scenario", str(EXAMPLES / "database-and-backup.toml")],
        *["--requests", "3000", "--interval", "50ms", "--csv", "series.csv", "--json"],
    ],
    "a scenario on an array": [
        *["simulate", "sim:chimint-st3300657ss-h", "--write-ratio", "0.4", "--queue-depth", "8"],
        *["--requests", "2000", "--interval", "1s", "--csv", "series.csv", "--json"],
    ],
}


def rows_of(path: Path, left_out: set[str]) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return [
            {key: value for key, value in row.items() if key not in left_out}
            for row in csv.DictReader(file)
        ]


def measured(folder: Path, printed: str) -> dict[str, str]:
    """Give the SHA-256 of each file of measurements that a command left, and of its JSON."""
    found = {}
    for name in ("run/measurements.csv", "run/passes.csv", "run/data/steps.csv", "series.csv"):
        path = folder / name
        if path.exists():
            content = path.read_bytes()
            if name == "run/measurements.csv":
                # The small drive is named by where the tests lie.
                content = json.dumps(rows_of(path, {"drive"})).encode()
            found[name] = hashlib.sha256(content).hexdigest()
    if printed.startswith("{"):
        values = json.loads(printed)
        values = {key: value for key, value in values.items() if key not in OF_THE_MACHINE}
        values["drive"] = ""
        found["--json"] = hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()
    return found


@pytest.mark.parametrize("name", COMMANDS)
def test_it_measures_what_it_measured(
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    *,
    regenerate_golden: bool,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(COMMANDS[name]) in (0, 1)
    found = measured(tmp_path, capsys.readouterr().out)
    assert found
    recorded = json.loads(GOLDEN.read_text()) if GOLDEN.exists() else {}
    if regenerate_golden:
        GOLDEN.write_text(json.dumps({**recorded, name: found}, indent=1, sort_keys=True) + "\n")
        return
    assert found == recorded[name]
