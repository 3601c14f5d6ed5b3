"""Drives with known access times: lines, with or without noise."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from drivelab.drives.measurement import Measurement
from drivelab.drives.plan import MeasurementPlan
from drivelab.profile.measured_pass import evenly
from drivelab.workloads.whole_pass import WholePass


class LineDrive:
    """Access times of each test on a line of its own: ns at size 0, ns a byte."""

    def __init__(self, lines: dict[tuple[str, bool], tuple[int, int]]) -> None:
        self.lines = lines

    def measure(
        self, work: Sequence[tuple[int, WholePass]], plan: MeasurementPlan
    ) -> Iterator[Measurement]:
        for index, each in work:
            base, slope = self.lines[each.direction, each.is_random]
            time = each.requests * (base + slope * each.request_bytes)
            yield evenly(index, each, time)


LINES = {
    ("read", False): (10_000, 2),
    ("read", True): (4_000_000, 2),
    ("write", False): (20_000, 3),
    ("write", True): (20_000, 6),
}


class NoisyDrive(LineDrive):
    """Every pass takes longer by a factor of its own: log-normal, one in 50 three times as long."""

    def __init__(self, sigma: float, seed: int, outlier: tuple[float, float] = (0.02, 3)) -> None:
        super().__init__(LINES)
        self.sigma, self.rng = sigma, np.random.default_rng(seed)
        self.outlier = outlier

    def measure(
        self, work: Sequence[tuple[int, WholePass]], plan: MeasurementPlan
    ) -> Iterator[Measurement]:
        for one in super().measure(work, plan):
            rare, longer = self.outlier
            factor = np.exp(self.rng.normal(0, self.sigma)) * self.rng.choice(
                [1, longer], p=[1 - rare, rare]
            )
            yield evenly(one.index, one.workload, int(one.duration_ns * factor))
