"""Files of JSON that end with the sum of all before, so that any changed bit is noticed.

::

    {"format": ..., ...,
    "sha256": "HEX"}

The sum is of the bytes before the comma, so the file is JSON for everybody, and one that was
edited, or written again by another program, differs from what was written. It proves nothing
against somebody who can count a sum: what is read is checked all the same.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any, Final

from drivelab.bounded_json import parse_json

#: The name of the sum.
SUM: Final = "sha256"
_END: Final = re.compile(rb',\n"sha256": "([0-9a-f]{64})"\}\n\Z')
_END_BYTES: Final = len(f',\n"{SUM}": "{"0" * 64}"}}\n')


class NoSealError(ValueError):
    """A file does not end with a sum."""


class BrokenSealError(ValueError):
    """A file is not what was written."""


def sealed_json(values: Mapping[str, Any], *, indent: int | None = None) -> bytes:
    """Write an object, which is not empty, with its sum.

    Raises
    ------
    ValueError
        When it is not JSON-able.
    """
    return seal(json.dumps(values, indent=indent, allow_nan=False).encode())


def seal(text: bytes) -> bytes:
    """Give the text of an object its sum as the last value."""
    body = text.rstrip().removesuffix(b"}").rstrip()
    return body + f',\n"{SUM}": "{_sum_of(body)}"}}\n'.encode()


def unsealed_json(data: bytes) -> Any:
    """Read what `sealed_json` wrote, without the sum.

    Raises
    ------
    NoSealError
        When there is no sum.
    BrokenSealError
        When it does not fit.
    UnreadableJsonError
        When somebody gave a sum to what is no JSON that can be read.
    """
    found = _END.search(data, max(0, len(data) - _END_BYTES))
    if found is None:
        raise NoSealError
    if found[1].decode() != _sum_of(data[: found.start()]):
        raise BrokenSealError
    return parse_json(data[: found.start()] + b"}")


def _sum_of(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()
