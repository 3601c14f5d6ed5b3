"""The user's own firmware as a library that the simulator runs, built from its source."""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from drivelab.drives.presets.firmware_costs import OwnSource
from drivelab.firmware.own import SUFFIXES, library_of

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def simulated_firmware(path: Path | None) -> Iterator[tuple[Path | None, OwnSource | None]]:
    """Give the library of a firmware, and its source where `path` is one.

    Parameters
    ----------
    path
        A source in C or Rust, built for as long as it is used; a library as it is; or none.

    Raises
    ------
    UsageError
        When there is no compiler, or the source does not compile.
    """
    if path is None or path.suffix not in SUFFIXES:
        yield path, None
        return
    with tempfile.TemporaryDirectory(prefix="drivelab-firmware-") as folder:
        library, sha256 = library_of(path, Path(folder))
        yield library, OwnSource(path.name, sha256)
