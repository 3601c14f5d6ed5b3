"""Which values can be fitted, and the effect of factors on them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from drivelab.drives.presets.source import read_preset
from drivelab.errors import UsageError
from drivelab.preset_fit.fitting import base_of
from drivelab.preset_fit.parameters import chosen_parameters, fitted_values, parameters_of


def test_what_a_preset_does_without_is_not_fitted() -> None:
    base = base_of(read_preset("x25m"))
    names = [one.name for one in parameters_of(base.kind, base.values)]
    assert "timing.read_cell_ns" in names
    # 0 in the preset, and a part that it lacks.
    assert "timing.read_dispatch_ns" not in names
    assert "slc.read_cell_ns" not in names


def test_factors_keep_steps_lists_and_ratios() -> None:
    base = base_of(read_preset("enterprise-tlc-pcie4"))
    parameters = parameters_of(base.kind, base.values)
    doubled = fitted_values(parameters, np.full(len(parameters), np.log(2)), base.values)
    assert doubled["timing.read_cell_ns"] == [90_000, 120_000, 150_000]
    assert doubled["buffer.write_buffer_bytes"] == 2 * base.values["buffer.write_buffer_bytes"]
    tiny = fitted_values(parameters, np.full(len(parameters), -30.0), base.values)
    # Nothing becomes 0: a drive would do without.
    assert tiny["buffer.write_buffer_bytes"] == base.values["geometry.page_size_bytes"] == 16384
    assert tiny["timing.program_cell_ns"] == 1


def test_buffers_stay_whole_pages_of_any_size() -> None:
    # 8 KiB, and buffers of odd numbers of 4 KiB are not a drive.
    base = base_of(read_preset("micron-c400"))
    parameters = parameters_of(base.kind, base.values)
    for factor in (0.87, 1.16, 1.31):
        logarithms = np.full(len(parameters), np.log(factor))
        base.changed(fitted_values(parameters, logarithms, base.values)).resolved()


def test_spare_blocks_are_fitted_where_writes_last() -> None:
    base = base_of(read_preset("x25m"))
    assert "geometry.blocks_per_plane" not in [
        one.name for one in parameters_of(base.kind, base.values)
    ]
    blocks = parameters_of(base.kind, base.values, "sustained")[0]
    assert blocks.name == "geometry.blocks_per_plane"
    # What the user sees, 70 that collection keeps free, and two that are written to.
    held = -(-base.values["geometry.user_capacity_bytes"] // (40 * 256 * 4096)) + 70 + 2
    for factor, above in ((0.001, 1), (1.0, 2048 - held), (2.0, 2 * (2048 - held))):
        values = fitted_values([blocks], np.array([np.log(factor)]), base.values)
        assert values["geometry.blocks_per_plane"] == held + above
        base.changed(values).resolved()


@pytest.mark.parametrize("name", ["bench-64gib", "consumer-qlc"])
def test_spare_blocks_leave_what_the_user_sees_and_what_is_kept_for_else(name: str) -> None:
    # One states a share for spare blocks, the other has a region of 31 pseudo-SLC blocks a plane.
    base = base_of(read_preset(name))
    blocks = parameters_of(base.kind, base.values, "sustained")[0]
    assert blocks.name == "geometry.blocks_per_plane"
    for factor in (0.001, 0.5, 2.0):
        values = fitted_values([blocks], np.array([np.log(factor)]), base.values)
        base.changed(values).resolved()
        again = base_of(base.changed(values))
        key = "geometry.user_capacity_bytes"
        assert again.values[key] == base.values[key]
        assert again.values["geometry.blocks_per_plane"] == values["geometry.blocks_per_plane"]


def test_each_class_of_temperature_keeps_an_open_block() -> None:
    base = base_of(read_preset("slc-i"))
    user, reserve, classes, pages = (
        base.values[key]
        for key in (
            "geometry.user_capacity_bytes",
            "collection.reserve_blocks_per_plane",
            "collection.temperature_classes",
            "geometry.pages_per_block",
        )
    )
    assert classes == 4
    places = ("channels", "ways_per_channel", "dies_per_way", "planes_per_die", "page_size_bytes")
    row_bytes = pages * math.prod(base.values[f"geometry.{place}"] for place in places)
    blocks = parameters_of(base.kind, base.values, "sustained")[0]
    assert blocks.fixed == -(-user // row_bytes) + reserve + classes
    # One more block is enough for a drive.
    values = fitted_values([blocks], np.array([-30.0]), base.values)
    base.changed(values).resolved()


def test_seeks_change_together() -> None:
    base = base_of(read_preset("sas-15k"))
    [seeks] = [one for one in parameters_of(base.kind, base.values) if one.name == "seeks"]
    found = fitted_values([seeks], np.array([np.log(1.5)]), base.values)
    ratios = {key: round(found[key] / base.values[key], 3) for key in found}
    assert ratios == dict.fromkeys(seeks.keys, 1.5)


@pytest.mark.parametrize(
    ("only", "fixed", "message"),
    [
        (["seek"], [], r"'seek' is nothing that can be fitted here; did you mean seeks\?.*allowed"),
        ([], ["timing.read_cell_ns"], r"'timing.read_cell_ns' is nothing that can be fitted here"),
        (["seeks"], ["seeks"], "no value is left to fit"),
    ],
)
def test_unknown_names_list_the_known_ones(only: list[str], fixed: list[str], message: str) -> None:
    base = base_of(read_preset("sas-15k"))
    with pytest.raises(UsageError, match=message):
        chosen_parameters(parameters_of(base.kind, base.values), only, fixed)


def test_an_array_is_fitted_by_its_member() -> None:
    with pytest.raises(UsageError, match=r"array-x25m is an array: .* its member, x25m; fit that"):
        base_of(read_preset("array-x25m"))
