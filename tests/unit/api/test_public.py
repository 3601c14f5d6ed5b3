"""What `import drivelab` offers: few names, found when they are used, with true examples."""

from __future__ import annotations

import doctest
import importlib
import inspect
import subprocess
import sys
from pathlib import Path
from types import FunctionType, MethodType

import pytest

import drivelab as dl

pytestmark = pytest.mark.usefixtures("models_in_outline")

GUIDE = Path(__file__).parents[3] / "docs" / "python.md"
HEAVY = ("numpy", "scipy", "sklearn", "matplotlib", "pandas", "pyarrow", "jinja2")
DOCUMENTED = (
    *("api.choice", "api.drive", "api.measurements", "api.model", "api.placement", "api.run"),
    *("api.table", "api.trace"),
    "workloads.characteristics",
)


def test_there_are_twenty_names_at_most_and_each_is_found_and_explained() -> None:
    assert len(dl.__all__) <= 20
    assert set(dl.__all__) <= set(dir(dl))
    for name in dl.__all__:
        assert inspect.getdoc(getattr(dl, name)), name


def test_every_method_that_is_offered_is_explained() -> None:
    offered = (getattr(dl, name) for name in dl.__all__)
    for one in (each for each in offered if isinstance(each, type)):
        if issubclass(one, Exception):
            continue
        for name, member in inspect.getmembers(one):
            if not name.startswith("_") and isinstance(
                member, FunctionType | MethodType | property
            ):
                assert inspect.getdoc(member), f"{one.__name__}.{name}"


def test_a_name_that_is_not_offered_is_an_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'drvie'"):
        _ = dl.drvie


def imported_after(statement: str) -> set[str]:
    code = f"import sys\n{statement}\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_importing_imports_nothing_else() -> None:
    modules = imported_after("import drivelab")
    assert {name for name in modules if name.startswith("drivelab.")} == set()
    # Nor does opening a drive, looking up a name or making a workload take a library.
    modules = imported_after("import drivelab as dl; dl.Model; dl.Run; dl.Characteristics()")
    assert modules.isdisjoint(HEAVY)


def test_a_notebook_keeps_its_own_matplotlib() -> None:
    """Reports draw to files; where figures of a notebook go is not theirs to say."""
    code = (
        "import logging, os, drivelab.pages.run, drivelab.pages.campaign, matplotlib as mpl\n"
        "print(os.environ['MPLBACKEND'], mpl.rcParams['backend'],"
        " logging.getLogger('matplotlib').level)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={"MPLBACKEND": "svg", "PYTHONPATH": ":".join(sys.path)},
    )
    assert done.stdout.split() == ["svg", "svg", "0"]


@pytest.mark.parametrize("name", ["drivelab", *(f"drivelab.{each}" for each in DOCUMENTED)])
def test_examples_are_true(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    module = importlib.import_module(name)
    result = doctest.testmod(module, optionflags=doctest.ELLIPSIS)
    assert result.attempted > 0
    assert result.failed == 0


def test_the_guide_is_true(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    result = doctest.testfile(str(GUIDE), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert result.attempted > 10
    assert result.failed == 0
