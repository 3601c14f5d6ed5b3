"""docs/coming-from-mqsim.md says for every setting of MQSim what the importer makes of it."""

from __future__ import annotations

import re
from pathlib import Path

from mqsim_file import DEVICE, FLASH, HOST, ssdconfig

from drivelab.drives.presets.mqsim import import_ssdconfig
from drivelab.drives.presets.mqsim_flows import (
    OF_EVERY_FLOW,
    OF_RECORDED_FLOWS,
    OF_SYNTHETIC_FLOWS,
)
from drivelab.drives.presets.mqsim_words import WITHOUT_COUNTERPART

PAGE = Path(__file__).parents[4] / "docs" / "coming-from-mqsim.md"


def rows() -> dict[str, str]:
    table = PAGE.read_text().partition("## What it calls what")[2]
    found = re.findall(r"^\| `([A-Za-z_]+)` \| (.+) \|$", table, re.M)
    assert len(found) == len({name for name, _ in found})
    return dict(found)


def test_every_setting_of_a_drive_has_a_row_with_its_keys() -> None:
    listed = rows()
    assert set(HOST | DEVICE | FLASH) | set(WITHOUT_COUNTERPART) <= set(listed)
    for changes in ({}, {"Ideal_Mapping_Table": "true"}, {"HostInterface_Type": "SATA"}):
        made = import_ssdconfig(ssdconfig(changes).encode(), "made")
        for setting, keys in made.used.items():
            for key in keys:
                assert f"`{key}`" in listed[setting], (setting, key)


def test_every_setting_of_a_flow_has_a_row_with_what_it_is_here() -> None:
    listed = rows()
    for setting, here in (OF_EVERY_FLOW | OF_SYNTHETIC_FLOWS | OF_RECORDED_FLOWS).items():
        if setting != "Seed":
            assert listed[setting] == here


def test_no_row_is_of_nothing() -> None:
    known = set(HOST | DEVICE | FLASH) | set(WITHOUT_COUNTERPART)
    assert set(rows()) == known | set(OF_EVERY_FLOW | OF_SYNTHETIC_FLOWS | OF_RECORDED_FLOWS)
