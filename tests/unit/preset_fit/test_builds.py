"""Which changes of how a drive is built are tried, and that they are possible drives."""

from __future__ import annotations

from dataclasses import replace

import pytest

from drivelab.drives.presets.source import read_preset
from drivelab.errors import UsageError
from drivelab.preset_fit.builds import as_large, as_probed, builds_of
from drivelab.preset_fit.candidate import Base
from drivelab.preset_fit.fitting import base_of


def preset(name: str) -> Base:
    return base_of(read_preset(name))


@pytest.mark.parametrize("name", ["x25m", "slc-f", "sas-15k", "spinpoint-m7"])
def test_changes_are_of_one_key_each_and_most_are_drives(name: str) -> None:
    base = preset(name)
    every = builds_of(base.kind, base.values)
    described = [one.describe() for one in every]
    assert len(set(described)) == len(described)
    impossible = 0
    for one in every:
        assert one.values[one.key] != base.values.get(one.key), one
        try:
            replace(base, built=one.values).changed({}).resolved()
        except UsageError:
            impossible += 1
    assert impossible < len(every) / 2


def test_words_are_those_of_the_table_of_keys() -> None:
    base = preset("x25m")
    words = {one.describe() for one in builds_of(base.kind, base.values)}
    assert {"scheduling.dispatch = in_order", "mapping.scheme = bast"} <= words
    # A preset that says nothing of it maps pages, and no stream of a campaign has a class.
    assert "mapping.scheme = page" not in words
    assert "scheduling.order = priority" not in words


def test_how_blocks_are_collected_is_tried_where_writes_last() -> None:
    base = preset("x25m")
    words = {one.describe() for one in builds_of(base.kind, base.values, "sustained")}
    more = words - {one.describe() for one in builds_of(base.kind, base.values)}
    assert {"collection.policy = fifo", "collection.pace = whole_block"} <= more
    assert all(one.startswith("collection.") for one in more)
    disk = preset("sas-15k")
    assert builds_of("hdd", disk.values, "sustained") == builds_of("hdd", disk.values)


def test_counts_keep_the_capacity() -> None:
    base = preset("x25m")
    doubled = {one.key: one.values for one in builds_of(base.kind, base.values)}
    assert doubled["geometry.page_size_bytes"]["geometry.page_size_bytes"] in {2048, 8192}
    for key in ("geometry.channels", "geometry.planes_per_die"):
        other = doubled[key]["geometry.blocks_per_plane"]
        product = base.values[key] * base.values["geometry.blocks_per_plane"]
        assert doubled[key][key] * other == product


def test_a_part_that_a_drive_lacks_is_tried_and_one_that_it_has_is_left_out() -> None:
    with_buffer, without = preset("x25m"), preset("samsung-slc-32gb")
    key = "buffer.write_buffer_bytes"
    (there,) = (o for o in builds_of("ssd", with_buffer.values) if o.key == key)
    (lacking,) = (o for o in builds_of("ssd", without.values) if o.key == key)
    assert there.values[key] == 0
    assert lacking.values[key] > 0


@pytest.mark.parametrize(
    ("page", "units", "expected"),
    [
        (None, None, {}),
        # As it is: 20 dies, or their 40 planes.
        (4096, 20, {}),
        (4096, 40, {}),
        (8192, None, {"geometry.page_size_bytes": 8192, "geometry.pages_per_block": 128}),
        (
            *(None, 80),
            {
                "geometry.ways_per_channel": 8,
                "geometry.blocks_per_plane": 512,
                "collection.reserve_blocks_per_plane": 18,
            },
        ),
        (
            *(None, 16),
            {
                "geometry.channels": 8,
                "geometry.blocks_per_plane": 2560,
                "collection.reserve_blocks_per_plane": 88,
            },
        ),
    ],
)
def test_a_geometry_has_the_pages_and_units_that_probes_found(
    page: int | None, units: int | None, expected: dict[str, int]
) -> None:
    base = preset("x25m")
    found = as_probed(base.values, page, units)
    assert found == expected
    replace(base, built=found).changed({}).resolved()


@pytest.mark.parametrize("name", ["x25m", "spinpoint-m7"])
@pytest.mark.parametrize("ratio", [0.4, 1.0, 2.5])
def test_a_drive_is_as_large_as_what_was_measured(name: str, ratio: float) -> None:
    base = preset(name)
    capacity = int(base.values["geometry.user_capacity_bytes"] * ratio) // 512 * 512
    found = as_large(base.kind, base.values, capacity)
    resolved, _ = replace(base, built=found).changed({}).resolved()
    assert 0 <= capacity - resolved["geometry"]["user_capacity_bytes"] < 4096
