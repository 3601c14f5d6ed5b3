"""Closed form and simulator against the equations written a second time, in exact fractions."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drivelab._core import ClosedForm
from drivelab.drives.closed_form.drive import AnalyticDrive
from drivelab.drives.plan import MeasurementPlan
from drivelab.drives.presets.source import read_preset
from drivelab.drives.simulated.drive import SimulatedDrive
from drivelab.workloads.characteristics import Characteristics

PAGE = 4096


def last_completion(pages: int, units: int, dispatch: int, register: int, cell: int) -> int:
    """Return when the last page completes, by cycles: page i starts in cycle i // units.

    A cycle starts when the first unit is free again and when dispatch has gone round, whichever
    is later; inside a cycle pages start one dispatch after another.
    """
    page = dispatch + register + cell
    cycle_start = max(page, units * dispatch)
    return max((i // units) * cycle_start + (i % units) * dispatch + page for i in range(pages))


times = st.integers(1, 1_000_000)


@settings(max_examples=200, deadline=None)
@given(
    pages=st.integers(1, 500),
    channels=st.integers(1, 16),
    ways=st.integers(1, 8),
    dispatch=st.integers(1, 60_000),
    share=st.fractions(0, 1),
    cell=times,
    op=st.sampled_from(["read", "write"]),
)
def test_equations_are_the_last_completion(
    *, pages: int, channels: int, ways: int, dispatch: int, share: Fraction, cell: int, op: str
) -> None:
    register = int(channels * dispatch * share)
    cell_name = "read_cell_ns" if op == "read" else "program_cell_ns"
    text = (
        'base = "x25m-yoo2014"\nname = "drawn"\n'
        f"[geometry]\nchannels = {channels}\nways_per_channel = {ways}\n"
        "over_provisioning_ratio = 0.1\n"
        f"[timing]\n{op}_dispatch_ns = {dispatch}\n{op}_register_ns = {register}\n"
        f"{cell_name} = {cell}\n[closed_form]\nrho = {channels * ways}\n"
    )
    expected = last_completion(pages, channels * ways, dispatch, register, cell)
    assert ClosedForm(text, {}).record(op, pages * PAGE)["record_ns"] == expected


@pytest.mark.parametrize("base", ["x25m-yoo2014", "x25m-yoo2014-planes"])
@pytest.mark.parametrize("random", [0.0, 1.0])
def test_both_kinds_of_drive_give_the_same_measurement(
    base: str, random: float, tmp_path: Path
) -> None:
    path = tmp_path / "small.toml"
    path.write_text(
        f'base = "{base}"\nname = "small"\n'
        "[geometry]\nblocks_per_plane = 16\nover_provisioning_ratio = 1.0\n"
    )
    sizes = [pages * PAGE for pages in (1, 2, 19, 20, 21, 40, 41, 128)]
    work = [
        (
            index,
            Characteristics(
                write_ratio=write_ratio,
                read_size=size,
                write_size=size,
                read_random=random,
                write_random=random,
            ),
        )
        for index, (size, write_ratio) in enumerate(
            (size, write_ratio) for size in sizes for write_ratio in (0.0, 1.0)
        )
    ]
    plan = MeasurementPlan(warmup_requests=3, requests=50)
    assert read_preset(str(path)).resolved()[0]["geometry"]["blocks_per_plane"] == 16
    with AnalyticDrive.open(str(path)) as equations, SimulatedDrive.open(f"sim:{path}") as drive:
        for expected, found in zip(
            equations.measure(work, plan), drive.measure(work, plan), strict=True
        ):
            assert found.read == expected.read
            assert found.write == expected.write
            assert found.duration_ns == expected.duration_ns
            assert found.iops == expected.iops
