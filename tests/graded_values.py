"""The rule that every value of a preset or a scenario has a source of a known grade."""

from __future__ import annotations

import re
from collections.abc import Sequence


def lines_without_source(text: str, grades: Sequence[str], without: Sequence[str]) -> list[str]:
    """Give the lines of a TOML text whose value has no source; keys in `without` need none."""
    graded = re.compile(rf"= .*# ({'|'.join(grades)}): \S.{{4,}}$")
    values = [
        line
        for line in text.splitlines()
        if re.match(r"[a-z_]+ *=", line) and line.split("=")[0].strip() not in without
    ]
    assert values
    return [line for line in values if not graded.search(line)]
