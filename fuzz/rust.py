"""The readers in Rust under libFuzzer: built with counters of coverage, run, and read out.

libFuzzer needs a program whose edges count. What ``cargo fuzz`` asks of a nightly compiler for that
is an option of LLVM, which every compiler passes on; only the sanitizers need a nightly one, and
they find little in a workspace that is nearly all safe Rust.
"""

from __future__ import annotations

import os
import subprocess
from functools import cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Final

from fuzz.outcome import Coverage, counted

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT: Final = Path(__file__).parents[1]
_TARGET: Final = ROOT / "target" / "fuzz-build"
# Readers end at the same time; the first one looks lines up for all.
_LOOKED_UP: Final = Lock()
_TRIPLE: Final = "x86_64-unknown-linux-gnu"
_COUNTED: Final = (
    "--cfg fuzzing",
    # Otherwise the linker drops the sections that show libFuzzer where the counters are.
    "-Clink-dead-code",
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
)


@cache
def program() -> Path:
    """Build the program that fuzzes; takes a minute or two the first time."""
    subprocess.run(
        [
            *("cargo", "build", "--quiet", "--locked", "--package", "drivelab-fuzz"),
            *("--features", "libfuzzer", "--profile", "fuzz"),
            # Named, the target alone is counted: not what runs while it is built.
            *("--target", _TRIPLE, "--target-dir", str(_TARGET)),
        ],
        cwd=ROOT,
        env={**os.environ, "RUSTFLAGS": " ".join(_COUNTED)},
        check=True,
    )
    return _TARGET / _TRIPLE / "fuzz" / "readers"


def sources() -> dict[str, tuple[str, ...]]:
    """Give the readers, each with the path of its source."""
    text = subprocess.run([program()], capture_output=True, text=True, check=True).stdout
    return {name: tuple(each) for name, *each in map(str.split, text.splitlines())}


@cache
def _lines_of(places: tuple[str, ...]) -> list[str]:
    """Look up the lines of the program's counters: a minute, and the same for every reader."""
    return subprocess.run(
        ["addr2line", "-e", str(program())],
        input="\n".join(places),
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()


def coverage(name: str, folders: Sequence[Path], edges: Path) -> Coverage:
    """Send every saved input once more, and return the lines of the reader's source that it met."""
    given = {**os.environ, "FUZZ_READER": name, "FUZZ_EDGES": str(edges)}
    command = [str(program()), "-runs=0", *map(str, folders)]
    subprocess.run(command, env=given, capture_output=True, check=True, cwd=edges.parent)
    places, met = zip(*(line.split() for line in edges.read_text().splitlines()), strict=True)
    wanted = tuple(str(ROOT / source) for source in sources()[name])
    lines: dict[str, bool] = {}
    with _LOOKED_UP:
        found = _lines_of(places)
    for line, was_met in zip(found, met, strict=True):
        if line.startswith(wanted):
            # Some lines end with the number of a branch.
            line = line.partition(" ")[0]  # noqa: PLW2901
            lines[line] = lines.get(line, False) or was_met == "1"
    return counted(lines.values(), met.count("1"))
