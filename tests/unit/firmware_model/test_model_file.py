"""A model of firmware as a file: a written one is read, anything else is a one-line error."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from made_firmware_model import made_firmware_model

from drivelab.errors import DamagedError, DrivelabError, RunError, UsageError
from drivelab.firmware_model.costs import COUNTS
from drivelab.firmware_model.model_file import (
    find_firmware_model,
    model_bytes,
    read_firmware_model,
    write_firmware_model,
)
from drivelab.sealed_json import sealed_json, unsealed_json


def changed(path: Path, change: Any) -> Path:
    """Write a model of which `change` did something to the values, with a sum that fits."""
    values = unsealed_json(model_bytes(made_firmware_model()))
    change(values)
    path.write_bytes(sealed_json(values))
    return path


def test_what_was_written_is_read(tmp_path: Path) -> None:
    model = made_firmware_model()
    path = tmp_path / "model.json"
    write_firmware_model(path, model)
    assert read_firmware_model(path) == model
    assert find_firmware_model("model.json", tmp_path) == model
    # Any program reads it.
    assert json.loads(path.read_text())["cost"]["command"] == {"cycles": 1000, "memory_ns": 500}


def test_cycles_scale_with_the_clock_and_memory_does_not() -> None:
    learned = made_firmware_model().learned
    assert learned.core_ns({"command": 2}, 1000) == 2 * (1000 + 500)
    assert learned.core_ns({"command": 1, "flash_erase": 10}, 2000) == 500 + 500 + 10 * (50 + 50)
    assert learned.core_ns({}, 1000) == 0


def test_a_preset_has_two_keys_a_count() -> None:
    table = made_firmware_model().learned.table()
    assert len(table) == 2 * len(COUNTS)
    assert table["command_cycles"] == 1000
    assert table["page_moved_memory_ns"] == 50


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda one: one.update(version=2), "version 2 is of a newer Drivelab, this one reads 1"),
        (lambda one: one["cost"]["command"].update(cycles=1e7), "a number from 0 to 1e+06"),
        (lambda one: one["cost"]["command"].update(memory_ns=10**400), "number of more than"),
        (lambda one: one["target"].update(cores=65), "a whole number from 1 to 64"),
        (lambda one: one["target"].update(clock_mhz=2e5), "a number from 10 to 100000"),
        (lambda one: one["firmware"].update(geometry="4x4"), "as 4x4x2x5120x512"),
        (lambda one: one["firmware"].update(geometry="9" * 5000), "firmware.geometry is not five"),
        (lambda one: one["firmware"].update(victim="a\nb"), "firmware.victim is not a name of one"),
        (lambda one: one["firmware"].update(mapping="m" * 5000), "at most 200 characters"),
        (lambda one: one.update(format="x"), "it contains something else"),
        (lambda one: one.pop("static"), "the file is not an object with 'static'"),
        (lambda one: one["cost"].pop("command"), "cost is not an object with 'command'"),
        (lambda one: one["cost"].update(comand={}), "without 'comand'; counts: command, read_page"),
        (
            lambda one: one["cost"]["command"].update(cycles=-1),
            "cost.command.cycles is not a number from 0",
        ),
        (
            lambda one: one["cost"]["command"].update(memory_ns=True),
            "cost.command.memory_ns is not a number",
        ),
        (
            lambda one: one.update(static={name: {"cycles": 0, "memory_ns": 0} for name in COUNTS}),
            "no firmware is free",
        ),
        (lambda one: one["target"].update(clock_mhz=0), "target.clock_mhz is not a number from 1"),
        (lambda one: one["target"].update(cores=0), "target.cores is not a whole number from 1"),
        (lambda one: one["firmware"].update(has_slc=1), "firmware.has_slc is not true or false"),
        (lambda one: one.update(record_model=[]), "record_model is not an object"),
        (lambda one: one["accuracy"].pop("records"), "accuracy is not an object with 'records'"),
        (lambda one: one["trained_on"].update(workloads=[]), "is not a list of workloads"),
    ],
)
def test_what_is_wrong_is_said_in_a_line(tmp_path: Path, change: Any, said: str) -> None:
    path = changed(tmp_path / "model.json", change)
    with pytest.raises(UsageError) as refused:
        read_firmware_model(path)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_changed_digit_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    data = model_bytes(made_firmware_model())
    path.write_bytes(data.replace(b"1000.0", b"1001.0", 1))
    with pytest.raises(DamagedError, match="train it again: drivelab firmware train"):
        read_firmware_model(path)
    path.write_bytes(data[: data.rindex(b",")] + b"}")
    with pytest.raises(DamagedError):
        read_firmware_model(path)


def test_what_is_no_file_of_ours_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    refused: list[tuple[type[DrivelabError], str]] = []
    for content in (b"", b"{", b"\xff", b"[]", b'{"format": "else"}', b"[" * 1000):
        path.write_bytes(content)
        with pytest.raises(UsageError) as found:
            read_firmware_model(path)
        refused.append((found.type, str(found.value)))
    assert all("\n" not in said for _, said in refused)
    with pytest.raises(
        UsageError,
        match="does not exist; make a model of firmware",
    ):
        read_firmware_model(tmp_path / "none.json")
    with pytest.raises(UsageError, match="it is not a regular file"):
        read_firmware_model(tmp_path)
    os.mkfifo(tmp_path / "pipe.json")
    with pytest.raises(UsageError, match="it is not a regular file"):
        read_firmware_model(tmp_path / "pipe.json")


def test_an_unknown_name_is_no_path() -> None:
    with pytest.raises(UsageError, match=r"no model of firmware 'pagemap'.*ends in \.json"):
        find_firmware_model("pagemap")


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="name another place"):
        write_firmware_model(tmp_path / "none" / "model.json", made_firmware_model())
