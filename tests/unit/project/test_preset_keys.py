"""docs/preset-keys.md has the keys of presets as they are."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from validation.preset_keys_table import TARGET, with_tables

from drivelab.drives.naming import open_drive
from drivelab.drives.presets.keys import preset_exclusions, preset_keys
from drivelab.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

AGAIN = "write docs/preset-keys.md again: .venv/bin/python -m validation.preset_keys_table"


def test_the_document_has_the_tables_as_they_are() -> None:
    text = TARGET.read_text(encoding="utf-8")
    assert with_tables(text) == text, AGAIN
    older = text.replace("| `buffer.policy` |", "| `buffer.way` |")
    assert older != text
    assert with_tables(older) == text
    with pytest.raises(ValueError, match="no tables of keys"):
        with_tables("# A page without one\n")


@pytest.mark.parametrize("kind", ["ssd", "hdd", "raid0", "raid"])
def test_a_row_says_what_its_key_is(kind: str) -> None:
    keys = preset_keys(kind)
    assert len({key.name for key in keys}) == len(keys)
    assert all(key.allowed for key in keys)
    assert all(key.unit == "ns" for key in keys if key.name.endswith("_ns"))
    # A switch is off unless it must be said.
    switches = {key.usual for key in keys if key.allowed == "true or false"}
    assert switches <= {"`false`", None}


def test_an_exclusion_is_what_presets_are_refused_with(tmp_path: Path) -> None:
    rows = preset_exclusions("ssd")
    keys = {key.name for key in preset_keys("ssd")}
    assert {row.key for row in rows} <= keys
    row = next(row for row in rows if (row.setting, row.key) == ("`[slc]`", "mapping.allocation"))
    assert row.only == '"static"'
    drive = tmp_path / "drive.toml"
    drive.write_text(
        'base = "consumer-qlc"\nname = "mine"\nmapping.allocation = "round_robin"\n',
        encoding="utf-8",
    )
    said = f"allowed: {row.only}, as a drive with [slc] {row.reason}"
    with pytest.raises(UsageError, match=re.escape(said)):
        open_drive(f"sim:{drive}")
    assert not preset_exclusions("raid0")
    # Disks have links too.
    drive.write_text(
        'base = "spinpoint-m7"\nname = "mine"\nhost.interface = "free"\nhost.read_command_ns = 5\n',
        encoding="utf-8",
    )
    (row,) = (row for row in preset_exclusions("hdd") if row.key == "host.read_command_ns")
    with pytest.raises(UsageError, match=re.escape(f"allowed: {row.only}, as")):
        open_drive(f"sim:{drive}")
    with pytest.raises(UsageError, match="no kind of drive"):
        preset_exclusions("tape")
