"""Windows as lines: many are merged, gaps stay, short ends are left out."""

from __future__ import annotations

import numpy as np

from drivelab.exhibits import Axis
from drivelab.exhibits.course import MOST_POINTS, Course


def test_windows_that_are_not_known_are_gaps() -> None:
    course = Course.of(np.array([0, 2]), 60e9, 180e9)
    assert (course.unit.name, course.begins.tolist()) == ("min", [0.0, 1.0, 2.0])
    assert course.rate(np.array([60.0, 120.0])).tolist() == [1.0, 0.0, 2.0]
    means = course.means(np.array([5.0, 7.0]))
    assert means[[0, 2]].tolist() == [5.0, 7.0]
    assert np.isnan(means[1])
    assert course.note == ""


def test_many_windows_are_put_together() -> None:
    count = 2 * MOST_POINTS
    course = Course.of(np.arange(count), 1e9, count * 1e9)
    assert len(course.begins) == MOST_POINTS
    assert course.note.startswith("Each point stands for 2 windows")
    values = np.arange(count, dtype=float)
    assert course.sums(values)[:2].tolist() == [1.0, 5.0]
    assert course.means(values)[:2].tolist() == [0.5, 2.5]
    # What is not known counts nothing, whatever it weighs.
    values[1] = np.nan
    assert course.means(values, np.full(count, 3.0))[:2].tolist() == [0.0, 2.5]
    weights = np.ones(count)
    weights[3] = 3.0
    assert course.means(values, weights)[1] == 2.75
    drawn = course.figure("x", "", Axis("y"), [("a", course.means(values))])
    assert len(drawn.lines[0].y) == MOST_POINTS


def test_an_end_that_is_too_short_is_no_peak() -> None:
    course = Course.of(np.array([0, 1]), 10e9, 10.5e9)
    rates = course.rate(np.array([10.0, 10.0]))
    assert rates[0] == 1.0
    assert np.isnan(rates[1])
