"""Error messages that name Python arguments instead of options of the command line.

Code that Python and the command line share gets a function `word` that writes an option
(`drivelab.drives.asked`). The native core and drives have none and always name options of the
command line; this module translates their messages.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from typing import Final

from drivelab.errors import DrivelabError

_IN_PYTHON: Final = {
    "--on-bad skip": "skip_bad_lines=True",
    "--column MEANING=COLUMN": "columns={MEANING: COLUMN}",
    "--column": "columns",
    "--format": "format",
    "--device-size": "device_size",
    "--time-unit": "time_unit_ns",
    "--address-unit": "address_unit",
    "--sort-window": "sort_window",
    "--window": "window_seconds",
    "--fit": "fit",
    "--speed": "speed",
    "--time-limit": "time_limit",
}
_OPTION: Final = re.compile(
    r"(?<![\w-])(?:"
    + "|".join(re.escape(each) for each in sorted(_IN_PYTHON, key=len, reverse=True))
    + r")(?![\w-])"
)
# A command that a message recommends stays as it is.
_COMMAND: Final = re.compile(r"(`[^`]*`)")


@contextlib.contextmanager
def spelled_in_python() -> Iterator[None]:
    """Re-raise errors from the block with options of the command line written as arguments."""
    try:
        yield
    except DrivelabError as error:
        parts = _COMMAND.split(str(error))
        parts[::2] = [_OPTION.sub(lambda found: _IN_PYTHON[found[0]], each) for each in parts[::2]]
        error.args = ("".join(parts), *error.args[1:])
        raise
