"""MQSim's workload.xml: its flows become a scenario, or one clear line says why not."""

from __future__ import annotations

from pathlib import Path

from drivelab.drives.presets.mqsim_facts import DriveFacts
from drivelab.drives.presets.mqsim_flows import read_workload
from drivelab.drives.presets.mqsim_scenario import condition_of, translated
from fuzz.reader import Reader

_DRIVE = DriveFacts(capacity_bytes=1 << 36, shape=(8, 4, 2, 2), is_shared=False)


def _check(data: bytes) -> None:
    for flows in read_workload(data):
        assert 0 <= condition_of(flows).filled <= 1
        sent = translated(flows, _DRIVE, Path("/nowhere"), "fuzzed")
        assert len(sent.scenario.streams()) == len(flows)
        assert all(note for note in sent.notes)


def _seeds() -> list[bytes]:
    return [(Path(__file__).parents[1] / "seeds" / "workload.xml").read_bytes()]


READER = Reader(
    "mqsim_workload",
    ("drivelab.drives.presets.mqsim_flows", "drivelab.drives.presets.mqsim_scenario"),
    _check,
    _seeds,
)
