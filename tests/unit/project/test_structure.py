"""The shape of the source: which way imports point, how long files are, what they are called."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PACKAGE = ROOT / "python" / "drivelab"

# Left imports nothing to its right; rooms in one set never import each other.
PYTHON_ORDER: list[set[str]] = [
    {"_core"},
    {"errors"},
    {
        *("units", "whole_file", "closed_on_exit", "notes", "signals_later", "plain_text"),
        *("csv_text", "near_names", "student", "ssh"),
    },
    {"bounded_json", "bounded_toml", "core_panic", "named_file"},
    {"memory", "sealed_json", "checked_json", "one_thread"},
    {"sealed_model"},
    {"store"},
    {"output_mark"},
    {"outputs"},
    {"workloads"},
    {"firmware_model"},
    {"drives", "exhibits"},
    {"runs", "prices"},
    {"campaign"},
    {
        *("profile", "pts", "models", "timeline", "traces", "choose", "place", "live"),
        *("preset_fit", "firmware"),
    },
    {"report"},
    {"pages"},
    {"reproduce"},
    {"api"},
    {"cli"},
]
# What draws knows what can be shown, and nobody who shows something.
DRAWING_KNOWS = {
    *("exhibits", "report", "errors", "units", "plain_text", "csv_text", "sealed_json"),
    *("output_mark", "outputs", "store"),
}
# What `import drivelab` offers, for types and when it is first used: never the command line.
OFFERED_FROM = {"api", "errors", "workloads"}
RUST_ORDER: list[set[str]] = [
    {"request"},
    {"ftl", "workload", "queueing", "tree", "table", "csv", "trace", "processor"},
    {"sim"},
    {"replay"},
    {"live"},
    {"firmware", "qemu", "python", "what-if"},
    {"own-firmware"},
]
FORBIDDEN_NAME = re.compile(r"(^|_)(utils?|helpers?|misc|common|new|old|v\d+)(_|$)")
# In pieces, so that this file passes its own test.
UNFINISHED_WORDS = [("TO", "DO"), ("FIX", "ME"), ("XX", "X"), ("HA", "CK")]
UNFINISHED = re.compile("|".join(rf"\b{start}{end}\b" for start, end in UNFINISHED_WORDS))
SOURCE_SUFFIXES = {".py", ".rs", ".toml", ".md", ".html", ".j2", ".css", ".js", ".sh", ".yml"}
MAX_LINES = 600


def rank(name: str, order: list[set[str]]) -> int:
    for position, rooms in enumerate(order):
        if name in rooms:
            return position
    pytest.fail(f"{name} has no place in the order of the house: {order}")


def allowed(importer: str, imported: str, order: list[set[str]]) -> bool:
    return importer == imported or rank(imported, order) < rank(importer, order)


def room_of(path: Path, package: Path = PACKAGE) -> str:
    return path.relative_to(package).parts[0].removesuffix(".py")


def imported_rooms(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            module = node.module or ""
            # "from drivelab import units" names the room in the list, not in the module.
            names = [f"{module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            parts = name.split(".")
            if parts[0] == "drivelab" and len(parts) > 1:
                yield parts[1]


def wrong_imports(files: dict[str, str]) -> list[str]:
    """Give what in `files` (path inside the package: source) imports against the order."""
    wrong = []
    for path, source in files.items():
        room = room_of(Path(path), Path())
        if room == "__init__":
            rooms = set(imported_rooms(source)) - OFFERED_FROM
            wrong += [f"{path} imports {name}" for name in sorted(rooms)]
            continue
        for name in imported_rooms(source):
            if not allowed(room, name, PYTHON_ORDER):
                wrong.append(f"{path} imports {name}")
    return wrong


def python_files() -> dict[str, str]:
    return {str(path.relative_to(PACKAGE)): path.read_text() for path in PACKAGE.rglob("*.py")}


def test_python_imports_point_one_way() -> None:
    files = python_files()
    assert len(files) > 10
    assert wrong_imports(files) == []


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("units.py", "import drivelab.store"),
        ("store.py", "from drivelab.drives.measurement import Measurement"),
        ("drives/real/fio/drive.py", "def f():\n    from drivelab import campaign"),
        ("models/model.py", "from drivelab.pts import x"),
        ("errors.py", "import drivelab.units as u"),
        ("__init__.py", "from drivelab import cli"),
        ("api/run.py", "from drivelab.cli.model import run"),
    ],
)
def test_import_against_the_order_is_found(path: str, source: str) -> None:
    assert len(wrong_imports({path: source})) == 1


def known_by_drawing(files: dict[str, str]) -> set[str]:
    """Give the rooms that `report` imports."""
    drawing = (source for path, source in files.items() if room_of(Path(path), Path()) == "report")
    return {name for source in drawing for name in imported_rooms(source)}


def test_drawing_knows_no_investigation() -> None:
    assert known_by_drawing(python_files()) <= DRAWING_KNOWS
    found = known_by_drawing({"report/page.py": "from drivelab.models.model import x"})
    assert found - DRAWING_KNOWS == {"models"}


def test_imports_along_the_order_pass() -> None:
    source = "from drivelab.errors import RunError\nfrom drivelab import _core\nimport json"
    assert wrong_imports({"cli/main.py": source, "drives/real/fio/drive.py": source}) == []


def test_only_the_command_line_imports_by_name() -> None:
    # An import by name would go round the test of the order.
    by_name = [name for name, text in python_files().items() if "importlib.import" in text]
    assert by_name == ["cli/main.py"]


def wrong_dependencies(name: str, manifest: dict[str, object]) -> list[str]:
    tables = [manifest, *manifest.get("target", {}).values()]
    names = [
        dependency
        for table in tables
        for kind in ("dependencies", "dev-dependencies", "build-dependencies")
        for dependency in table.get(kind, {})
    ]
    ours = [
        dependency.removeprefix("drivelab-") for dependency in names if "drivelab" in dependency
    ]
    return [other for other in ours if not allowed(name, other, RUST_ORDER) or other == name]


def test_rust_dependencies_point_one_way() -> None:
    manifests = list((ROOT / "crates").glob("*/Cargo.toml"))
    assert len(manifests) >= 6
    for path in manifests:
        manifest = tomllib.loads(path.read_text())
        assert manifest["package"]["name"] == f"drivelab-{path.parent.name}"
        assert wrong_dependencies(path.parent.name, manifest) == [], path


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("ftl", "[dependencies]\ndrivelab-sim.workspace = true"),
        ("ftl", "[dev-dependencies]\ndrivelab-workload.workspace = true"),
        ("tree", "[target.'cfg(unix)'.dependencies]\ndrivelab-ftl.workspace = true"),
    ],
)
def test_dependency_against_the_order_is_found(name: str, text: str) -> None:
    assert len(wrong_dependencies(name, tomllib.loads(text))) == 1


def test_every_file_of_rust_tests_is_run() -> None:
    # Cargo runs only what `all.rs` names, and says nothing of the rest.
    programs = list((ROOT / "crates").glob("*/tests/all.rs"))
    assert len(programs) >= 5
    for program in programs:
        named = set(re.findall(r"^mod (\w+);$", program.read_text(), re.MULTILINE))
        assert named == {path.stem for path in program.parent.iterdir()} - {"all"}, program
        manifest = tomllib.loads((program.parents[1] / "Cargo.toml").read_text())
        assert manifest["test"] == [{"name": "all", "path": "tests/all.rs"}]


def source_files() -> list[Path]:
    rooms = (
        "python",
        "crates",
        "tests",
        "benches",
        "docs",
        "examples",
        "presets",
        "processors",
        "scenarios",
        "fuzz",
        "validation",
        ".ci",
    )
    inside = [path for room in rooms for path in (ROOT / room).rglob("*")]
    top = [path for path in ROOT.iterdir() if path.is_file()]
    return sorted(
        path
        for path in (*inside, *top, *(ROOT / ".github").rglob("*"))
        if path.is_file()
        and (path.suffix in SOURCE_SUFFIXES or path.name in ("Makefile", "run"))
        and "target" not in path.relative_to(ROOT).parts
    )


def test_files_are_short_enough() -> None:
    written_by_hand = [path for path in source_files() if path.name != "VALIDATION.md"]
    assert len(written_by_hand) > 20
    lengths = {path: len(path.read_text().splitlines()) for path in written_by_hand}
    assert {path: length for path, length in lengths.items() if length > MAX_LINES} == {}


def test_names_say_what_is_inside() -> None:
    stems = {path: path.stem.replace("-", "_") for path in source_files()}
    assert [path for path, stem in stems.items() if FORBIDDEN_NAME.search(stem)] == []
    for stem in ("utils", "test_helpers", "model_v2", "new_model"):
        assert FORBIDDEN_NAME.search(stem)
    assert not FORBIDDEN_NAME.search("renewal")


def test_nothing_is_left_unfinished() -> None:
    assert [path for path in source_files() if UNFINISHED.search(path.read_text())] == []
    assert UNFINISHED.search(f"# {'TO'}DO: later")


# The device says when, its caller waits: no clock, environment, file or hash order inside.
IMPURE = re.compile(
    r"\b(Instant|SystemTime|HashMap|HashSet|RandomState)\b|std::(env|fs|net|process)\b|thread::sleep"
)


def without_tests(source: str) -> str:
    return source.split("#[cfg(test)]", maxsplit=1)[0]


def test_simulator_is_pure() -> None:
    crates = ("request", "ftl", "workload", "queueing", "tree", "processor", "sim", "what-if")
    files = [path for name in crates for path in (ROOT / "crates" / name / "src").rglob("*.rs")]
    assert len(files) >= len(crates)
    # A library is looked at before it is loaded, and never while the simulator runs.
    files.remove(ROOT / "crates/ftl/src/external/image.rs")
    found = {
        str(path): match[0]
        for path in files
        if (match := IMPURE.search(without_tests(path.read_text())))
    }
    assert found == {}
    assert IMPURE.search("use std::time::Instant;")
    assert IMPURE.search("std::fs::read(path)")


def test_tests_lie_as_the_source_does() -> None:
    tests = ROOT / "tests" / "unit"
    rooms = {path.parent.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py")}
    with_tests = {path.parent.relative_to(tests) for path in tests.rglob("test_*.py")}
    assert rooms - with_tests == set()
    assert with_tests - rooms == {Path("project")}
