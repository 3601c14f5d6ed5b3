"""What fuzzing gave every reader of outside data, and how much of it that met."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

from validation.document import Section

_ROOT: Final = Path(__file__).parents[1]
_SECONDS: Final = 300
_TOLD: Final = _ROOT / "target" / "fuzz" / "fuzzing.json"


def fuzzing() -> Section:
    """Fuzz for five minutes in all, each reader from its seeds alone."""
    subprocess.run(
        [sys.executable, "-m", "fuzz", "--seconds", str(_SECONDS), "--out", str(_TOLD)],
        cwd=_ROOT,
        stdout=subprocess.DEVNULL,
        check=False,
    )
    return section_of(json.loads(_TOLD.read_text(encoding="utf-8")))


def section_of(told: dict[str, Any]) -> Section:
    """Make the section of what `python -m fuzz` told."""
    section = Section("Fuzzing", "python -m validation fuzzing")
    readers = told["readers"]
    inputs = sum(reader["inputs"] for reader in readers)
    section.say(
        f"Every reader of outside data, {told['seconds']:.0f} s of fuzzing for all together in two "
        "processes, each from its seeds alone, following the coverage (fuzz/README.md says what "
        "is checked of each). Edges are ways from one part of the program to the next that some "
        "input took, those of libraries included in Rust; lines are those of the reader's own "
        "source, in Rust those at which such a part begins. What a reader's source holds beside "
        "reading, such as writing and locking, is counted too and never met."
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
    section.tabulate(("reader", "inputs", "that met something new", "edges", "lines met"), rows)
    failed = [reader["name"] for reader in readers if reader["failure"] is not None]
    section.claim(
        f"none of {inputs:,} inputs to {len(readers)} readers met a panic, a traceback, a broken "
        "promise, 10 s or 2 GiB" + (f" (failed: {', '.join(failed)})" if failed else ""),
        holds=not failed,
    )
    return section
