"""Where recorded traces lie that are not ours to give away: a folder named in the environment."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

    from validation.document import Section

#: The environment variable that names the folder.
VARIABLE: Final = "DRIVELAB_TRACES"


def command(section: str) -> str:
    """Return what reproduces a section."""
    return f"{VARIABLE}=FOLDER .venv/bin/python -m validation {section}"


def found(names: Iterable[str], section: Section) -> dict[str, Path] | None:
    """Return the traces of these file names; None where one is missing, which the section says."""
    folder = os.environ.get(VARIABLE)
    paths = {name: Path(folder or "") / name for name in names}
    missing = [name for name, path in paths.items() if not folder or not path.is_file()]
    if not missing:
        return paths
    section.say(
        f"Not run: {VARIABLE} names no folder with {', '.join(missing)}. The traces are public, "
        "and no part of the project."
    )
    return None
