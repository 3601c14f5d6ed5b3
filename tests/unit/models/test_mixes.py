"""Mixes between the write ratios that were measured."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drivelab.models.features import FEATURE_SETS, FloatArray, workload_table
from drivelab.models.least_squares import fit_least_squares
from drivelab.models.mixes import MOST_RATIOS, BetweenRatios, between_ratios
from drivelab.models.tree_models import fit_cart
from drivelab.workloads.characteristics import Characteristics

RATIOS = np.array([0.0, 0.25, 0.5, 0.75, 1.0])
READ_NS, WRITE_NS = 3.0, 17.0


def request_ns(table: FloatArray) -> FloatArray:
    """Time of a request on a drive that does one after another, by its bytes."""
    reads = np.nan_to_num(table[:, 2]) * READ_NS
    writes = np.nan_to_num(table[:, 3]) * WRITE_NS
    return (1 - table[:, 0]) * reads + table[:, 0] * writes


class Steps:
    """Knows the drive at five write ratios, and answers between like the nearest."""

    def predict(self, table: FloatArray) -> FloatArray:
        stepped = table.copy()
        stepped[:, 0] = np.round(table[:, 0] * 4) / 4
        return np.log(request_ns(stepped))

    def to_json(self) -> dict[str, Any]:
        return {"kind": "steps"}


def mixes(write_ratio: float, read_size: int, write_size: int) -> FloatArray:
    return workload_table(
        [Characteristics(write_ratio=write_ratio, read_size=read_size, write_size=write_size)]
    )


@given(
    write_ratio=st.floats(0, 1),
    read_size=st.integers(1, 64).map(lambda sectors: 512 * sectors),
    write_size=st.integers(1, 64).map(lambda sectors: 512 * sectors),
)
def test_requests_of_two_mixes_take_their_time(
    write_ratio: float, read_size: int, write_size: int
) -> None:
    table = mixes(write_ratio, read_size, write_size)
    answer = np.exp(BetweenRatios(Steps(), RATIOS).predict(table))
    assert answer == pytest.approx(request_ns(table), rel=1e-9)


def test_without_a_size_of_reads_a_mix_counts_by_requests() -> None:
    """Shuffled write ratios ask how a workload that only wrote does with one write in eight."""
    table = mixes(1, 512, 1024)
    table[:, 0] = 0.125

    class Known:
        """Reads in 1 s and writes in 3 s, whatever their size."""

        def predict(self, table: FloatArray) -> FloatArray:
            seconds: FloatArray = np.log(1 + 2 * table[:, 0])
            return seconds

        def to_json(self) -> dict[str, Any]:
            return {}

    answer = np.exp(BetweenRatios(Known(), RATIOS).predict(table))
    assert answer == pytest.approx(1.25)


def test_at_and_beyond_the_trained_ratios_nothing_changes() -> None:
    ratios = RATIOS[1:4]
    workloads = [Characteristics(write_ratio=ratio) for ratio in (0, 0.1, 0.25, 0.5, 0.75, 0.9, 1)]
    table = workload_table(workloads)
    steps = Steps()
    mixed = BetweenRatios(steps, ratios)
    assert mixed.predict(table).tobytes() == steps.predict(table).tobytes()
    assert mixed.predict(table[:0]).size == 0
    assert mixed.to_json() == {"kind": "steps"}


def test_only_trees_on_a_grid_are_mixed() -> None:
    def table(ratios: FloatArray) -> FloatArray:
        return workload_table([Characteristics(write_ratio=float(ratio)) for ratio in ratios])

    for count, mixed in ((1, False), (2, True), (MOST_RATIOS, True), (MOST_RATIOS + 1, False)):
        trained = np.tile(table(np.linspace(0, 1, count)), (3, 1))
        targets, noise = trained[:, 0], np.zeros(len(trained))
        tree = fit_cart(FEATURE_SETS["extended"], trained, targets, noise, 0)
        assert isinstance(between_ratios(tree, trained), BetweenRatios) == mixed
        line = fit_least_squares(FEATURE_SETS["extended"], trained, targets, noise, 0)
        assert between_ratios(line, trained) is line
