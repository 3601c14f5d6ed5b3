"""The additions of `examples/extending/` work, and change only the places that they name."""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from brief_models import PROGRAM

from drivelab import _core

ROOT = Path(__file__).parents[3]
EXAMPLES = ROOT / "examples" / "extending"


def patched(patch: str, tree: Path, *folders: str) -> Path:
    """Copy folders and files of the source into `tree`, and apply a patch there."""
    tree.mkdir()
    for name in folders:
        source = ROOT / name
        if source.is_dir():
            ignored = shutil.ignore_patterns("__pycache__", "*.so")
            shutil.copytree(source, tree / name, ignore=ignored)
        else:
            shutil.copy(source, tree / name)
    # A folder above that is a repository would have its own idea of what to change.
    environment = {**os.environ, "GIT_CEILING_DIRECTORIES": str(tree.parent)}
    subprocess.run(
        ["git", "apply", "--whitespace=error", str(EXAMPLES / patch)],  # noqa: S607
        cwd=tree,
        env=environment,
        check=True,
    )
    return tree


def places(patch: str) -> dict[str, tuple[int, int]]:
    """Give how many lines a patch adds to each file and takes from it, documents left out."""
    finished = subprocess.run(
        ["git", "apply", "--numstat", str(EXAMPLES / patch)],  # noqa: S607
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    rows = [line.split("\t") for line in finished.splitlines()]
    return {
        name: (int(added), int(taken)) for added, taken, name in rows if not name.endswith(".md")
    }


def drivelab(tree: Path, *words: str) -> str:
    """Run a command of the Drivelab in `tree`; give what it prints."""
    return python(tree, "-c", PROGRAM, *words)


def python(tree: Path, *words: str) -> str:
    """Run Python with the Drivelab in `tree`; give what it prints."""
    environment = {**os.environ, "PYTHONPATH": str(tree / "python")}
    done = subprocess.run(
        [sys.executable, *words],
        cwd=tree,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def with_this_core(tree: Path) -> Path:
    """Give the Python package of `tree` the native core of this one."""
    shutil.copy(str(_core.__file__), tree / "python" / "drivelab")
    return tree


def with_own_core(tree: Path) -> Path:
    """Build the native core of `tree`, with the libraries that this source's tests have built."""
    environment = {
        **os.environ,
        "CARGO_TARGET_DIR": str(ROOT / "target"),
        "PYO3_PYTHON": sys.executable,
    }
    # To compile its own crates well takes minutes, and few requests are simulated.
    quickly = [
        word
        for manifest in tree.glob("crates/*/Cargo.toml")
        for key in ("opt-level=0", "codegen-units=16")
        for word in (
            "--config",
            f"profile.test.package.{tomllib.loads(manifest.read_text())['package']['name']}.{key}",
        )
    ]
    finished = subprocess.run(
        [
            *("cargo", "build", "--quiet", "--locked", "--package", "drivelab-python"),
            *("--profile", "test", "--message-format", "json", *quickly),
        ],
        cwd=tree,
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    built = [
        name
        for message in map(json.loads, finished.splitlines())
        if message.get("target", {}).get("name") == "drivelab_core"
        for name in message.get("filenames", ())
    ]
    shutil.copy(built[-1], tree / "python" / "drivelab" / "_core.abi3.so")
    return tree


def test_every_patch_is_tried_here_and_listed() -> None:
    names = sorted(path.name for path in EXAMPLES.glob("*.patch"))
    listed = (EXAMPLES / "README.md").read_text()
    assert [name for name in names if f"`{name}`" not in listed] == []
    source = Path(__file__).read_text()
    assert [name for name in names if f'"{name}"' not in source] == []


@pytest.mark.long
def test_a_counter_costs_two_places(tmp_path: Path) -> None:
    patch = "counter.patch"
    assert len(places(patch)) == 2
    assert (EXAMPLES / patch).read_text().count("\n@@ ") == 2
    tree = with_own_core(
        patched(
            patch,
            tmp_path / "tree",
            "Cargo.toml",
            "Cargo.lock",
            "benches",
            "crates",
            "fuzz",
            "presets",
            "scenarios",
            "python",
        )
    )
    asked = ("--queue-depth", "32", "--write-ratio", "1", "--requests", "3000", "--json")
    answer = json.loads(drivelab(tree, "simulate", "sim:x25m", *asked))
    assert answer["flash"]["waiting_writes"] > 0


def test_an_estimator_costs_a_file_and_a_line(tmp_path: Path) -> None:
    patch = "estimator.patch"
    # The line that names it, and the import.
    changed = {name: lines for name, lines in places(patch).items() if "nearest" not in name}
    assert changed == {"python/drivelab/models/predictors.py": (2, 0)}
    tree = with_this_core(patched(patch, tmp_path / "tree", "python"))
    small = ("--design", "huang2011:20", "--requests", "50", "--check", "20", "--no-sweeps")
    small += ("--writes", "burst")
    finished = drivelab(tree, "model", "sim:x25m", *small, "--out", "run")
    assert finished.count("nearest neighbours") == 2
    assert "nearest neighbours" in (tree / "run" / "report.html").read_text("utf-8")
    # It is read back from the model's file.
    asked = ("--queue-depth", "8", "--estimator", "nearest", "--json")
    assert json.loads(drivelab(tree, "predict", "run", *asked))


def test_a_figure_of_a_report_costs_a_function_and_its_name(tmp_path: Path) -> None:
    patch = "report-figure.patch"
    assert set(places(patch)) == {
        "python/drivelab/campaign/exhibits/latency.py",
        "python/drivelab/pages/campaign.py",
    }
    assert places(patch)["python/drivelab/pages/campaign.py"] == (2, 2)
    tree = with_this_core(patched(patch, tmp_path / "tree", "python"))
    small = ("--design", "huang2011:20", "--requests", "50", "--check", "0", "--no-sweeps")
    small += ("--writes", "burst")
    drivelab(tree, "model", "sim:x25m", *small, "--out", "run")
    page = (tree / "run" / "report.html").read_text("utf-8")
    assert "How many workloads stay below a mean latency" in page
    saved = (tree / "run" / "data" / "spread-of-means.csv").read_text().splitlines()
    assert len(saved) == 1 + 20


def test_a_kind_of_workload_costs_a_file_and_its_name(tmp_path: Path) -> None:
    patch = "workload-kind.patch"
    sources = [name for name in places(patch) if name.startswith("python/")]
    assert sources == [
        "python/drivelab/workloads/bursts.py",
        "python/drivelab/workloads/workload.py",
    ]
    tree = with_this_core(patched(patch, tmp_path / "tree", "python", "tests"))
    # What every kind is held to holds it too; its example is one of theirs now.
    tests = (
        "tests/unit/workloads/test_workload.py",
        "tests/unit/drives/simulated/test_every_kind.py",
    )
    finished = python(tree, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests)
    assert " passed" in finished


def test_a_kind_of_drive_costs_a_folder_and_a_line(tmp_path: Path) -> None:
    patch = "drive-kind.patch"
    changed = {name: lines for name, lines in places(patch).items() if "/constant/" not in name}
    assert changed == {"python/drivelab/drives/naming.py": (1, 0)}
    tree = with_this_core(patched(patch, tmp_path / "tree", "python"))
    design = ("--design", "huang2011:20", "--requests", "50", "--check", "0", "--no-sweeps")
    drivelab(tree, "model", "constant:100us", *design, "--out", "run")
    rows = list(csv.DictReader((tree / "run" / "measurements.csv").read_text().splitlines()))
    assert len(rows) == 20
    assert {float(row["latency_ns_mean"]) for row in rows} == {100_000.0}
