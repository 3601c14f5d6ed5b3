"""JSON files that end with a checksum of all bytes before it, so that any change is noticed.

::

    {"format": ..., ...,
    "sha256": "HEX"}

The checksum covers the bytes before the comma, so the file stays valid JSON. A file that was
edited, or rewritten by another program, no longer fits its checksum. Anybody can compute a new
checksum, so a reader still has to check every value.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any, Final

from drivelab.bounded_json import parse_json

#: Key of the checksum.
SUM: Final = "sha256"
_END: Final = re.compile(rb',\n"sha256": "([0-9a-f]{64})"\}\n\Z')
_END_BYTES: Final = len(f',\n"{SUM}": "{"0" * 64}"}}\n')


class NoSealError(ValueError):
    """A file does not end with a checksum."""


class BrokenSealError(ValueError):
    """A file does not fit its checksum."""


def sealed_json(values: Mapping[str, Any], *, indent: int | None = None) -> bytes:
    """Write a non-empty object with its checksum.

    Raises
    ------
    ValueError
        When it cannot be written as JSON.
    """
    return seal(json.dumps(values, indent=indent, allow_nan=False).encode())


def seal(text: bytes) -> bytes:
    """Add the checksum as the last value to the text of an object."""
    body = text.rstrip().removesuffix(b"}").rstrip()
    return body + f',\n"{SUM}": "{_sum_of(body)}"}}\n'.encode()


def unsealed_json(data: bytes) -> Any:
    """Read what `sealed_json` wrote, without the checksum.

    Raises
    ------
    NoSealError
        When there is no checksum.
    BrokenSealError
        When the checksum does not fit.
    UnreadableJsonError
        When the checksum fits, but the content is not readable JSON.
    """
    found = _END.search(data, max(0, len(data) - _END_BYTES))
    if found is None:
        raise NoSealError
    if found[1].decode() != _sum_of(data[: found.start()]):
        raise BrokenSealError
    return parse_json(data[: found.start()] + b"}")


def _sum_of(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()
