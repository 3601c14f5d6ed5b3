"""docs/json-measure.md has the counters as they are, and what runs print is what the table says."""

from __future__ import annotations

import pytest
from validation.counters_table import TARGET, table_text, with_table

from drivelab import _core
from drivelab.drives.plan import MeasurementPlan
from drivelab.drives.simulated.drive import SimulatedDrive
from drivelab.workloads.characteristics import Characteristics

AGAIN = "write docs/json-measure.md again: .venv/bin/python -m validation.counters_table"


def test_the_document_has_the_table_as_it_is() -> None:
    text = TARGET.read_text(encoding="utf-8")
    assert with_table(text) == text, AGAIN


def test_a_table_is_replaced_and_what_is_around_it_stays() -> None:
    text = TARGET.read_text(encoding="utf-8")
    older = text.replace("| blocks erased inside the window |", "| blocks |")
    assert older != text
    assert with_table(older) == text
    with pytest.raises(ValueError, match="no table of counters"):
        with_table("# A page without one\n")


def test_every_counter_says_what_it_is() -> None:
    for line, counter in zip(table_text().splitlines()[2:], _core.counters(), strict=True):
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        assert len(cells) == 5
        assert all(cells[:4])
        assert counter["key"]


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("sim:x25m", {"flash"}),
        ("sim:array-x25m", {"flash"}),
        ("sim:spinpoint-m7", {"disk"}),
        ("sim:array-cheetah-raid6", {"disk", "array"}),
    ],
)
def test_a_measurement_reports_what_the_table_says(name: str, kinds: set[str]) -> None:
    workload = Characteristics(write_ratio=0.5, queue_depth=4)
    with SimulatedDrive.open(name) as drive:
        (measured,) = drive.measure([(0, workload)], MeasurementPlan(requests=60))
    of_kind = set()
    for counter in _core.counters():
        kind = str(counter["key"]).partition(".")[0]
        # What has no object of its own is under `flash`.
        if (kind if kind in ("disk", "array") else "flash") in kinds:
            of_kind.add(counter["measured"])
    assert set(measured.extra) == of_kind - {None} | {"variability_factor"}
