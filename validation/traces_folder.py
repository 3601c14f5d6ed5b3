"""Where recorded traces lie that are not ours to give away: a folder named in the environment."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

#: The environment variable that names the folder.
VARIABLE: Final = "DRIVELAB_TRACES"


def found(names: tuple[str, ...]) -> dict[str, Path] | None:
    """Return the traces of these file names; None unless the folder has all of them."""
    folder = os.environ.get(VARIABLE)
    if not folder:
        return None
    paths = {name: Path(folder) / name for name in names}
    return paths if all(path.is_file() for path in paths.values()) else None
