"""How sure fitted values are, for known results."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from types import SimpleNamespace

import numpy as np
import pytest

from drivelab.preset_fit.bench import loss_of
from drivelab.preset_fit.likelihood import Interval, intervals
from drivelab.preset_fit.search import Found
from drivelab.preset_fit.surface import Lines


@dataclass
class Line:
    """A drive whose logarithms are straight lines of the parameters, with some noise."""

    slopes: np.ndarray
    noise: np.ndarray
    asked: int = field(default=0)

    @property
    def active(self) -> list[int]:
        return list(range(self.slopes.shape[1]))

    @property
    def observed(self) -> SimpleNamespace:
        return SimpleNamespace(workloads=list(range(len(self.noise))))

    def left(self, logarithms: np.ndarray) -> np.ndarray:
        self.asked += 1
        return self.noise + self.slopes @ logarithms


def of_line(slopes: np.ndarray, deviation: float = 0.01) -> list[Interval]:
    noise = np.random.default_rng(1).normal(0, deviation, len(slopes))
    noise -= slopes @ np.linalg.lstsq(slopes, noise, rcond=1e-6)[0]
    line = Line(slopes, noise)
    nothing = np.zeros(slopes.shape[1])
    lines = Lines(noise, slopes, np.zeros(len(noise)), np.zeros((slopes.shape[1],) * 2))
    loss = loss_of(noise, nothing)
    found = Found(nothing, noise, lines, loss, loss)
    return intervals(line, found)  # type: ignore[arg-type]


def test_of_straight_lines_an_interval_is_that_of_least_squares() -> None:
    slopes = np.random.default_rng(2).normal(0, 1, (60, 2))
    for place, one in enumerate(of_line(slopes)):
        normal = np.linalg.inv(slopes.T @ slopes)
        # Student's t of 58 degrees of freedom; what is found doubles, so at most twice as wide.
        expected = 2.0 * 0.01 * math.sqrt(normal[place, place])
        assert 0.8 * expected < one.high < 2.4 * expected
        assert one.is_determined


def test_a_value_that_nothing_depends_on_is_not_determined() -> None:
    slopes = np.column_stack([np.random.default_rng(2).normal(0, 1, 60), np.zeros(60)])
    sure, open_ended = of_line(slopes)
    assert sure.is_determined
    assert not open_ended.is_determined
    assert open_ended.high == math.inf


def test_of_two_values_with_the_same_effect_neither_is_determined() -> None:
    column = np.random.default_rng(2).normal(0, 1, 60)
    for one in of_line(np.column_stack([column, column])):
        assert not one.is_determined


@pytest.mark.parametrize(("low", "high", "is_determined"), [(-0.1, 0.1, True), (-0.7, 0.7, False)])
def test_a_determined_value_may_not_be_halved_or_doubled(
    low: float, high: float, is_determined: bool
) -> None:
    assert Interval(low, high).is_determined is is_determined
