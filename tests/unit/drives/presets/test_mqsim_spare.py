"""Too little spare space in an ssdconfig.xml: the error names MQSim's settings, in its units."""

from __future__ import annotations

import re

import pytest
from mqsim_file import ssdconfig

from drivelab.drives.presets.mqsim import import_ssdconfig
from drivelab.errors import UsageError

PROPOSED = re.compile(r"(?:raise|lower) (\w+) to (?:at (?:least|most) )?([0-9.]*[0-9])")
#: One step back towards the value in the file.
BACK = {"Overprovisioning_Ratio": -1e-4, "GC_Exec_Threshold": 1e-4, "Block_No_Per_Plane": -1}
RANGES = {"Overprovisioning_Ratio": 0.8, "GC_Exec_Threshold": 1, "Block_No_Per_Plane": 1 << 20}


def refused(changes: dict[str, str | None]) -> str:
    with pytest.raises(UsageError) as error:
        import_ssdconfig(ssdconfig(changes).encode(), "made")
    return str(error.value)


def test_the_settings_that_contribute_are_named_and_the_one_to_lower() -> None:
    assert refused({"GC_Exec_Threshold": "0.9"}) == (
        "Overprovisioning_Ratio 0.2 leaves 39322 spare pages but collection needs 181248: "
        "collection keeps 115 blocks of each plane free (GC_Exec_Threshold 0.9 x "
        "Block_No_Per_Plane 128, cut to a whole number and at least 10); lower GC_Exec_Threshold "
        "to at most 0.1796; Overprovisioning_Ratio alone is not enough, as it is at most 0.8"
    )


@pytest.mark.parametrize(
    ("changes", "settings"),
    [
        ({"GC_Exec_Threshold": "0.9"}, ["GC_Exec_Threshold"]),
        ({"GC_Exec_Threshold": "0.5"}, ["GC_Exec_Threshold", "Overprovisioning_Ratio"]),
        ({"GC_Exec_Threshold": "1"}, ["GC_Exec_Threshold"]),
        ({"Overprovisioning_Ratio": "0.01"}, ["Overprovisioning_Ratio"]),
        ({"Overprovisioning_Ratio": "0"}, ["Overprovisioning_Ratio"]),
        ({"Block_No_Per_Plane": "8"}, ["Block_No_Per_Plane"]),
        ({"Block_No_Per_Plane": "14"}, ["Block_No_Per_Plane"]),
        ({"Block_No_Per_Plane": "20"}, ["Overprovisioning_Ratio", "Block_No_Per_Plane"]),
        (
            {"Block_No_Per_Plane": "20", "Ideal_Mapping_Table": "true"},
            ["Overprovisioning_Ratio", "Block_No_Per_Plane"],
        ),
    ],
)
def test_a_proposed_value_suffices_and_the_one_before_it_does_not(
    changes: dict[str, str | None], settings: list[str]
) -> None:
    said = refused(changes)
    assert "geometry." not in said
    assert "user_capacity_bytes" not in said
    proposed = PROPOSED.findall(said)
    assert [name for name, _ in proposed] == settings
    assert ("alone is not enough" in said) == ("Overprovisioning_Ratio" not in settings)
    for name, value in proposed:
        assert 0 <= float(value) <= RANGES[name]
        import_ssdconfig(ssdconfig({**changes, name: value}).encode(), "made")
        before = f"{float(value) + BACK[name]:g}"
        assert "collection" in refused({**changes, name: before})


@pytest.mark.parametrize(
    ("changes", "usual"),
    [
        (
            {"Overprovisioning_Ratio": "0.05", "Block_No_Per_Plane": "14"},
            {"Overprovisioning_Ratio": "0.07", "Block_No_Per_Plane": "2048"},
        ),
        (
            {"Overprovisioning_Ratio": "0", "GC_Exec_Threshold": "0.9"},
            {
                "Overprovisioning_Ratio": "0.07",
                "GC_Exec_Threshold": "0.05",
                "Block_No_Per_Plane": "2048",
            },
        ),
    ],
)
def test_settings_that_are_not_enough_alone_are_set_together(
    changes: dict[str, str | None], usual: dict[str, str]
) -> None:
    said = " and ".join(f"{name} to {value}" for name, value in usual.items())
    assert refused(changes).endswith(f"alone: set {said}, as in MQSim's own ssdconfig.xml")
    import_ssdconfig(ssdconfig({**changes, **usual}).encode(), "made")


def test_planes_without_room_for_more_blocks_have_to_be_fewer() -> None:
    many: dict[str, str | None] = {
        "Flash_Channel_Count": "256",
        "Chip_No_Per_Channel": "64",
        "Die_No_Per_Chip": "16",
        "Plane_No_Per_Die": "4",
        "Page_No_Per_Block": "512",
        "Block_No_Per_Plane": "3",
    }
    assert "; lower Page_No_Per_Block or Flash_Channel_Count or" in refused(many)


@pytest.mark.parametrize(("ratio", "is_possible"), [("0.8", True), ("0.81", False)])
def test_the_largest_ratio_is_given_as_mqsim_counts_it(ratio: str, is_possible: bool) -> None:
    if is_possible:
        import_ssdconfig(ssdconfig({"Overprovisioning_Ratio": ratio}).encode(), "made")
    else:
        said = refused({"Overprovisioning_Ratio": ratio})
        assert said == "Overprovisioning_Ratio is '0.81'; allowed: a number from 0 to 0.8"
