"""Random changes of inputs, the same for the same seed: fuzzing without coverage."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

# Numbers at the ends of types, and other things where a number or a text is expected.
_ODD_TEXTS: Final = tuple(
    text.encode()
    for text in (
        *("0", "-1", "0.0", "1e400", "-0.5", "NaN", "Infinity", "1" * 5000),
        *(str(2**31), str(2**32), str(2**63), str(2**64), str(-(2**63) - 1)),
        *("null", "true", '""', '"x"', "[]", "{}", "[" * 2000, "\n", "\r", "\0", '"', ","),
    )
)
_MOST_BYTES: Final = 200


class Mutator:
    """Draws inputs.

    Parameters
    ----------
    seed
        Of the random numbers.
    """

    def __init__(self, seed: int) -> None:
        self._draw = random.Random(seed)  # noqa: S311

    def input(self, seeds: Sequence[bytes]) -> bytes:
        """Give one of the seeds, changed in one to four places."""
        draw = self._draw
        data = draw.choice(seeds)
        for _ in range(draw.randint(1, 4)):
            begin, end = self._range(data, 40)
            kind = draw.randrange(6)
            if kind == 0:
                put = b""
            elif kind == 1:
                put = bytes([draw.randrange(256)])
            elif kind == 2:
                bit = 1 << draw.randrange(8)
                put = bytes(byte ^ bit for byte in data[begin:end])
            elif kind == 3:
                put = draw.choice(_ODD_TEXTS)
                begin, end = self._word(data, begin)
            else:
                other = data if kind == 4 else draw.choice(seeds)
                first, last = self._range(other, _MOST_BYTES)
                put = other[first:last]
            data = data[:begin] + put + data[end:]
        return data

    def _range(self, data: bytes, most: int) -> tuple[int, int]:
        begin = self._draw.randint(0, len(data))
        return begin, min(len(data), begin + self._draw.randint(0, most))

    @staticmethod
    def _word(data: bytes, at: int) -> tuple[int, int]:
        """Find the number or the word around a place."""
        begin = end = at
        while begin > 0 and (data[begin - 1 : begin].isalnum() or data[begin - 1] in b".-+"):
            begin -= 1
        while end < len(data) and (data[end : end + 1].isalnum() or data[end] in b".-+"):
            end += 1
        return begin, end
