"""Files import each other in one direction, so a reader can take them one at a time."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PACKAGE = ROOT / "python" / "drivelab"
# `from drivelab import _core` asks nothing of `drivelab/__init__.py`.
NATIVE = "drivelab._core"
# Of the drives: kinds never import each other, and what all share imports no kind.
KINDS = {"real": set(), "simulated": {"presets"}, "closed_form": {"presets"}, "presets": set()}
# From a name to a drive of any kind.
OPENERS = {"naming", "sessions"}


def module_of(path: Path, package: Path) -> str:
    parts = path.relative_to(package.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(source: str, modules: set[str]) -> Iterator[str]:
    """Give the modules that a file imports anywhere, for types alone too."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                names = (f"{node.module}.{alias.name}", node.module)
                yield from [name for name in names if name in modules][:1]
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules)


def graph_of(package: Path) -> dict[str, set[str]]:
    files = {module_of(path, package): path for path in package.rglob("*.py")}
    modules = {*files, NATIVE}
    return {
        name: set(imports(path.read_text(), modules)) - {NATIVE} for name, path in files.items()
    }


def in_circles(graph: dict[str, set[str]]) -> set[str]:
    """Give what lies on a circle: taking away what imports nothing that is left leaves it."""
    left = {name: {*others} - {name} for name, others in graph.items()}
    while free := {name for name, others in left.items() if not others & left.keys()}:
        left = {name: others for name, others in left.items() if name not in free}
    # What only leads to a circle goes too.
    while free := {name for name in left if not any(name in others for others in left.values())}:
        left = {name: others for name, others in left.items() if name not in free}
    return set(left)


def test_no_files_import_each_other() -> None:
    graph = graph_of(PACKAGE)
    assert len(graph) > 100
    assert in_circles(graph) == set()


@pytest.mark.parametrize(
    ("sources", "circle"),
    [
        ({"a": "from p import b", "b": "import p.c", "c": "import json"}, set()),
        ({"a": "from p import b", "b": "from p.c import x", "c": "def f():\n import p.b"}, "bc"),
        ({"a": "if TYPE_CHECKING:\n from p.b import x", "b": "from p.a import y"}, "ab"),
    ],
)
def test_a_circle_is_found(sources: dict[str, str], circle: str, tmp_path: Path) -> None:
    package = tmp_path / "p"
    package.mkdir()
    for name, source in sources.items():
        (package / f"{name}.py").write_text(source)
    assert in_circles(graph_of(package)) == {f"p.{name}" for name in circle}


def wrong_among_drives(graph: dict[str, set[str]]) -> list[str]:
    prefix = "drivelab.drives."
    wrong = []
    for name, others in graph.items():
        if not name.startswith(prefix):
            continue
        kind = name.removeprefix(prefix).split(".")[0]
        if kind in OPENERS:
            continue
        for other in others:
            found = other.removeprefix(prefix).split(".")[0] if other.startswith(prefix) else ""
            if found in KINDS and found != kind and found not in KINDS.get(kind, set()):
                wrong.append(f"{name} imports {other}")
    return wrong


def test_kinds_of_drives_know_nothing_of_each_other() -> None:
    assert wrong_among_drives(graph_of(PACKAGE)) == []


def test_a_kind_that_knows_another_is_found() -> None:
    drives = "drivelab.drives"
    wrong = {f"{drives}.real.fio.drive": {f"{drives}.simulated.drive"}}
    assert len(wrong_among_drives(wrong)) == 1
    assert len(wrong_among_drives({f"{drives}.plan": {f"{drives}.presets.source"}})) == 1
    assert wrong_among_drives({f"{drives}.naming": {f"{drives}.real.fio.drive"}}) == []


def test_tests_lie_as_the_source_does() -> None:
    unit = ROOT / "tests" / "unit"
    folders = {path.parent.relative_to(unit) for path in unit.rglob("test_*.py")}
    # What is asked of the repository itself has no room in the package.
    wrong = [str(one) for one in folders if not (PACKAGE / one).is_dir() and one.name != "project"]
    assert wrong == []
    alone = {path.stem.removeprefix("test_") for path in unit.glob("test_*.py")}
    rooms = {path.stem for path in PACKAGE.glob("*.py")} | {"bounded_text"}
    assert alone <= rooms
