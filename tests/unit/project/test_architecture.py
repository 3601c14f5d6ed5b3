"""ARCHITECTURE.md names only what exists, and leaves out no room."""

from __future__ import annotations

import os
import re
from pathlib import Path

from tests.unit.project.test_structure import PYTHON_ORDER, RUST_ORDER

ROOT = Path(__file__).parents[3]
TEXT = (ROOT / "ARCHITECTURE.md").read_text()
SUFFIXES = r"rs|py|toml|md|yml|c|h|js|patch"
# A path in backticks or in a diagram: a file, or a folder that ends with a slash.
FILE = re.compile(rf"[\w.*/-]+\.(?:{SUFFIXES})\b")
FOLDER = re.compile(r"`([\w./-]+/)`")
BUILT = {".git", ".tools", ".venv", "__pycache__", "target"}
# What the page asks the reader to write, or what `make` writes.
TO_WRITE = re.compile(r"NAME|KIND|\*|^dist/$")


def existing() -> set[str]:
    """Give the files and folders of the project, without what a build makes."""
    found = set()
    for folder, folders, files in os.walk(ROOT):
        folders[:] = [name for name in folders if name not in BUILT]
        here = Path(folder).relative_to(ROOT)
        found |= {f"{here / name}/" for name in folders} | {str(here / name) for name in files}
    return found


def missing(text: str) -> list[str]:
    """Give the named files and folders with which no path of the project ends."""
    paths = [f"/{path}" for path in existing()]
    named = sorted({*FILE.findall(text), *FOLDER.findall(text)})
    return [
        name
        for name in named
        if not TO_WRITE.search(name) and not any(path.endswith(f"/{name}") for path in paths)
    ]


def test_every_file_and_folder_that_it_names_exists() -> None:
    assert missing(TEXT) == []
    assert missing("`ssd/front/`, `ssd/mirror/`, page_map.rs, paged_map.rs") == [
        "paged_map.rs",
        "ssd/mirror/",
    ]


def diagram_after(heading: str) -> str:
    return TEXT.split(f"## {heading}\n", 1)[1].split("```text\n", 1)[1].split("```", 1)[0]


def test_the_orders_are_those_that_the_structure_test_checks() -> None:
    package = diagram_after("The Python package").splitlines()
    assert [set(re.sub(r"\(.*\)", "", line).split()) for line in package] == PYTHON_ORDER
    crates = diagram_after("The Rust crates").split("<-")
    assert [set(re.split(r"[\s,]+", names.strip())) for names in crates] == RUST_ORDER


def test_every_crate_has_a_row() -> None:
    crates = {path.parent.name for path in (ROOT / "crates").glob("*/Cargo.toml")}
    rows = set(re.findall(r"^\| `([\w-]+)` \|", TEXT, re.MULTILINE))
    assert crates - rows == set()
    assert {name for rooms in RUST_ORDER for name in rooms} == crates


def test_every_room_of_the_package_has_a_row() -> None:
    package = ROOT / "python" / "drivelab"
    rooms = {f"{path.parent.name}/" for path in package.glob("*/__init__.py")}
    rooms |= {path.name for path in package.glob("*.py")} - {"__init__.py"}
    assert [room for room in sorted(rooms) if f"`{room}`" not in TEXT] == []
