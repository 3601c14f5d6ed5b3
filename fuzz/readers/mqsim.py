"""MQSim's ssdconfig.xml: an accepted file becomes a preset, and every setting is accounted for."""

from __future__ import annotations

from pathlib import Path

from drivelab.drives.presets.mqsim import import_ssdconfig
from drivelab.drives.presets.source import PresetSource
from fuzz.reader import Reader


def _check(data: bytes) -> None:
    made = import_ssdconfig(data, "imported")
    resolved, _ = PresetSource("imported", made.toml_text).resolved()
    assert resolved["name"] == "imported"
    for setting in made.used.keys() & made.unused.keys():
        # Said twice only where a part of it became something.
        assert made.used[setting], setting
    assert all(why for why in made.unused.values())


def _seeds() -> list[bytes]:
    return [(Path(__file__).parents[1] / "seeds" / "ssdconfig.xml").read_bytes()]


READER = Reader("mqsim", ("drivelab.drives.presets.mqsim",), _check, _seeds)
