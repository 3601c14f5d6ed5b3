"""The results of fuzzing every reader of outside data, and how much of each was reached."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

from validation.document import Section

_ROOT: Final = Path(__file__).parents[1]
_SECONDS: Final = 300
_RESULTS: Final = _ROOT / "target" / "fuzz" / "fuzzing.json"


def fuzzing() -> Section:
    """Fuzz for five minutes in total, each reader from its seeds alone."""
    ended = subprocess.run(
        [sys.executable, "-m", "fuzz", "--seconds", str(_SECONDS), "--out", str(_RESULTS)],
        cwd=_ROOT,
        stdout=subprocess.DEVNULL,
        check=False,
    )
    if ended.returncode not in (0, 1):
        # It has said why, and there are no results.
        sys.exit(ended.returncode)
    return section_of(json.loads(_RESULTS.read_text(encoding="utf-8")))


def section_of(results: dict[str, Any]) -> Section:
    """Make the section from the results of `python -m fuzz`."""
    section = Section("Fuzzing", "python -m validation fuzzing")
    readers = results["readers"]
    inputs = sum(reader["inputs"] for reader in readers)
    section.say(
        f"Every reader of outside data is fuzzed, {results['seconds']:.0f} s for all together in "
        "two processes, each from its seeds alone, following the coverage (fuzz/README.md says "
        "what is checked). Edges are the ways from one part of the program to the next that "
        "some input took; in Rust they include those of libraries. Lines are those of the "
        "reader's own source; in Rust only those at which such a part begins. Other parts of a "
        "reader's source, such as writing and locking, count too and are never reached."
    )
    rows = []
    for reader in readers:
        found = reader["coverage"] or {"edges": "-", "lines_met": "-", "lines": "-"}
        rows.append(
            (
                reader["name"],
                f"{reader['inputs']:,}",
                f"{reader['kept']:,}",
                found["edges"] if found["edges"] == "-" else f"{found['edges']:,}",
                f"{found['lines_met']} of {found['lines']}",
            )
        )
    section.tabulate(("reader", "inputs", "that reached new code", "edges", "lines reached"), rows)
    failed = [reader["name"] for reader in readers if reader["failure"] is not None]
    section.claim(
        f"none of {inputs:,} inputs to {len(readers)} readers met a panic, a traceback, a broken "
        "promise, 10 s or 2 GiB" + (f" (failed: {', '.join(failed)})" if failed else ""),
        holds=not failed,
    )
    return section
