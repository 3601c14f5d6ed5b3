"""Drawings as files: they refer to nothing outside, and names in them are harmless."""

from __future__ import annotations

import re
import warnings
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from drivelab.report.drawing.svg import document, panel, with_titles

IMAGES = Path(__file__).parents[4] / "docs" / "images"
# What names a vocabulary is fetched by nobody.
NAMES = {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
EVIL = "a\x1b[2Jb\x9bc\u202ed\ue000$\\frac$ <i>&\udcff"
SHOWN = "a\\x1b[2Jb\\x9bc\\u202ed\ue000$\\frac$ <i>&\\udcff"


def draw(axes: Axes) -> None:
    axes.plot([1, 2], [1, 2], label=EVIL)
    axes.set_title(EVIL)
    axes.set_xlabel(EVIL)
    axes.legend()


def draw_all(figure: Figure) -> None:
    draw(figure.add_subplot())


def references(text: str) -> set[str]:
    return {found for found in re.findall(r"[a-z]+://[^\s\"'<>)]+", text) if found not in NAMES}


def test_a_file_refers_to_nothing_outside() -> None:
    text = document(draw_all, (4, 3))
    assert references(text) == set()
    for word in ("<!DOCTYPE", "<metadata", "rdf:", "purl.org", "<script", "<image"):
        assert word not in text
    root = ET.fromstring(text)  # noqa: S314 - our own
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    links = [
        value for one in root.iter() for key, value in one.attrib.items() if key.endswith("href")
    ]
    assert links
    assert all(link.startswith("#") for link in links)


@pytest.mark.parametrize("path", sorted(IMAGES.glob("*.svg")), ids=lambda path: path.stem)
def test_pictures_of_the_manual_neither(path: Path) -> None:
    assert references(path.read_text("utf-8")) == set()
    assert ET.parse(path).getroot().tag.endswith("svg")  # noqa: S314 - our own


def test_names_are_shown_as_they_are_written() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        text = document(draw_all, (4, 3))
        part = panel(draw, identifier="x", label=EVIL)
    for drawing in (text, part):
        root = ET.fromstring(drawing)  # noqa: S314 - our own
        texts = [one.text for one in root.iter() if one.tag.endswith("text")]
        assert texts.count(SHOWN) == 3


def test_titles_of_shapes_are_harmless() -> None:
    text = with_titles('<g id="x"><path d="M 0 0"/></g>', {"x": [EVIL]})
    assert ET.fromstring(text).find("path/title").text == SHOWN  # noqa: S314 - our own
