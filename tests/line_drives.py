"""Drives whose access times are known beforehand: lines, with noise or without."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from drivelab.drives.pass_measurement import PassMeasurement
from drivelab.workloads.whole_pass import WholePass


class LineDrive:
    """Access times of each test on a line of its own: ns at size 0, ns a byte."""

    def __init__(self, lines: dict[tuple[str, bool], tuple[int, int]]) -> None:
        self.lines = lines

    def measure_passes(
        self, work: Sequence[tuple[int, WholePass]], *, seed: int
    ) -> Iterator[PassMeasurement]:
        for index, each in work:
            base, slope = self.lines[each.direction, each.is_random]
            time = each.requests * (base + slope * each.request_bytes)
            yield PassMeasurement(index, each, time, None)


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

    def measure_passes(
        self, work: Sequence[tuple[int, WholePass]], *, seed: int
    ) -> Iterator[PassMeasurement]:
        for one in super().measure_passes(work, seed=seed):
            rare, longer = self.outlier
            factor = np.exp(self.rng.normal(0, self.sigma)) * self.rng.choice(
                [1, longer], p=[1 - rare, rare]
            )
            yield PassMeasurement(one.index, one.whole_pass, int(one.duration_ns * factor), None)
