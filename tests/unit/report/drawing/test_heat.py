"""Grids of counts: what is drawn, what is saved."""

from __future__ import annotations

import base64
import io
import re

import numpy as np
import pytest

from drivelab.exhibits import Axis, HeatFigure
from drivelab.report.drawing.drawn import drawn
from drivelab.report.drawing.looks import ramp


def figure(*cells: tuple[int, int, int]) -> HeatFigure:
    return HeatFigure(
        "heat",
        "Where it goes",
        Axis("time (s)"),
        Axis("address (GiB)"),
        Axis("requests a cell", "log10"),
        column=0.5,
        row=2.0,
        ends=(5.0, 10.0),
        cells=cells,
    )


def pixels(svg: str) -> np.ndarray:
    from matplotlib.image import imread

    data = re.search(r"data:image/png;base64,([^\"]+)", svg)
    assert data is not None
    return np.asarray(imread(io.BytesIO(base64.b64decode(data[1]))))


def test_cells_are_an_image_as_they_are_counted() -> None:
    one = drawn(figure((0, 0, 1), (9, 4, 1000), (3, 2, 30)))
    (shown,) = one.panels
    image = pixels(shown.svg)
    # Its first row is the lowest: the drawing turns it over.
    assert "matrix(" in shown.svg
    assert image.shape[:2] == (5, 10)
    assert image[4, 9, :3] == pytest.approx(ramp(1.0), abs=0.01)
    assert image[0, 0, 3] == 1
    assert (image[..., 3] > 0).sum() == 3
    brightness = [image[row, column, :3].sum() for column, row in ((0, 0), (3, 2), (9, 4))]
    assert brightness == sorted(brightness, reverse=True)
    assert "image-rendering:pixelated" in shown.svg
    assert [text for _, text in one.legend] == ["1", "10", "100", "1,000"]


def test_the_same_is_the_same_bytes_and_is_saved() -> None:
    cells = ((0, 0, 1), (1, 3, 7))
    assert drawn(figure(*cells)) == drawn(figure(*cells))
    (table,) = drawn(figure(*cells)).saved
    assert table.columns == ("time (s) from", "address (GiB) from", "requests a cell")
    assert table.rows == ((0.0, 0.0, 1), (0.5, 6.0, 7))


def test_one_cell_and_none() -> None:
    assert [text for _, text in drawn(figure((0, 0, 1))).legend] == ["1"]
    assert drawn(figure()).panels == ()
