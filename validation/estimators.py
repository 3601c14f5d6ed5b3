"""Time and error of kriging and of the tree with linear leaves, beside others in the same run."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import Final, NamedTuple

from validation.document import Section

KRIGING: Final = "benches/kriging.py"
TREE: Final = "benches/linear_leaf_tree.py"
# Seconds of one search, by rows.
_MOST_SECONDS: Final = {"300": 2.0, "1,200": 30.0}
_MOST_TREE_SECONDS: Final = 1.0
_MOST_TREE_ERROR: Final = 0.05
_KRIGING_LINE: Final = re.compile(
    r"^ *(?P<rows>[\d,]+) rows +(?P<name>\w+) +(?P<seconds>[\d.]+) s +(?P<error>[\d.]+) %$", re.M
)
_STRIDES_LINE: Final = re.compile(r"^\d+ rows of 8, .*, strides (?P<strides>.+)$", re.M)
_TREE_LINE: Final = re.compile(
    r"^ours, defaults +(?P<error>[\d.]+)% +(?P<worst>[\d.]+)% +(?P<seconds>[\d.]+) s", re.M
)


class TreeResult(NamedTuple):
    """What the benchmark of trees found with strides of one kind."""

    strides: str
    error: float
    worst: float
    seconds: float


def estimators() -> Section:
    """Run both benchmarks and compare what they print with the targets."""
    return section_of(*(_printed(script) for script in (KRIGING, TREE)))


def section_of(kriging: str, tree: str) -> Section:
    """Put what both benchmarks print into a section.

    Raises
    ------
    ValueError
        If a line that is compared is missing.
    """
    section = Section("Time and error of the estimators", "python -m validation estimators")
    section.say(
        f"`{KRIGING}` learns the work of 300 and of 1,200 workloads of a drive that is a formula, "
        "with 2 % of noise; errors are those of 2,000 other workloads. Seconds are processor time "
        "on one thread."
    )
    section.say(f"```\n{kriging.rstrip()}\n```")
    section.say(
        f"`{TREE}` learns 12,000 workloads with 3 % of noise; errors are those of 4,000 others, "
        "means of three draws. Strides are whole pages, or any value: then alignment decides about "
        "up to 30 % of the latency, and no characteristic shows it."
    )
    section.say(f"```\n{tree.rstrip()}\n```")
    found = {line["rows"]: line for line in _KRIGING_LINE.finditer(kriging) if _is_ours(line)}
    for rows, most in _MOST_SECONDS.items():
        if rows not in found:
            raise ValueError(f"{KRIGING} printed nothing for {rows} rows")
        seconds = float(found[rows]["seconds"])
        section.claim(
            f"target: kriging learns {rows} rows within {most:g} s ({seconds:.2f} s)",
            holds=seconds <= most,
            target=True,
        )
    for one in tree_results(tree):
        section.claim(
            f"target, strides {one.strides}: the tree learns 12,000 rows within "
            f"{_MOST_TREE_SECONDS:g} s ({one.seconds:.2f} s) and is off by at most "
            f"{100 * _MOST_TREE_ERROR:g} % ({100 * one.error:.2f} %, worst draw "
            f"{100 * one.worst:.2f} %)",
            holds=one.seconds <= _MOST_TREE_SECONDS and one.worst <= _MOST_TREE_ERROR,
            target=True,
        )
    return section


def tree_results(printed: str) -> list[TreeResult]:
    """Return our tree's results, by strides."""
    strides = [line["strides"] for line in _STRIDES_LINE.finditer(printed)]
    lines = list(_TREE_LINE.finditer(printed))
    if not strides or len(strides) != len(lines):
        raise ValueError(f"{TREE} printed {len(lines)} results for {len(strides)} kinds of strides")
    return [
        TreeResult(
            one, float(line["error"]) / 100, float(line["worst"]) / 100, float(line["seconds"])
        )
        for one, line in zip(strides, lines, strict=True)
    ]


def _is_ours(line: re.Match[str]) -> bool:
    return line["name"] == "KrigingRegressor"


def _printed(script: str) -> str:
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    return done.stdout
