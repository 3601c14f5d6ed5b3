"""Values read from JSON, each with its place in the file, so that an error can name the place."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray


class MismatchError(Exception):
    """A value in a file is not what its reader expects."""


class Node:
    """A value and its place in the file. Each reading method checks what it returns."""

    def __init__(self, value: object, place: str) -> None:
        self.value = value
        self.place = place

    def refuse(self, wanted: str) -> NoReturn:
        """Raise `MismatchError`, which says what this value should have been."""
        raise MismatchError(f"{self.place or 'the file'} is not {wanted}")

    def of(self, name: str) -> Node:
        """Return the value under a name."""
        if not isinstance(self.value, dict) or name not in self.value:
            self.refuse(f"an object with {name!r}")
        return Node(self.value[name], f"{self.place}.{name}" if self.place else name)

    def items(self) -> Iterator[Node]:
        """Return the entries of a list."""
        if not isinstance(self.value, list):
            self.refuse("a list")
        for number, value in enumerate(self.value):
            yield Node(value, f"{self.place}[{number}]")

    def text(self) -> str:
        """Return text."""
        if not isinstance(self.value, str):
            self.refuse("text")
        return self.value

    def choice(self, allowed: tuple[str, ...]) -> str:
        """Return one of the allowed texts."""
        text = self.text()
        if text not in allowed:
            self.refuse(f"one of {', '.join(allowed)}")
        return text

    def boolean(self) -> bool:
        """Return true or false."""
        if not isinstance(self.value, bool):
            self.refuse("true or false")
        return self.value

    def integer(self, low: int, high: int) -> int:
        """Return a whole number from `low` to `high`, both included."""
        value = self.value
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            self.refuse(f"a whole number from {low} to {high}")
        return value

    def number(self) -> float:
        """Return a finite number."""
        if not isinstance(self.value, (int, float)) or isinstance(self.value, bool):
            self.refuse("a number")
        try:
            number = float(self.value)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            self.refuse("a finite number")
        return number

    def numbers(self, length: int | None = None) -> NDArray[np.float64]:
        """Return a list of finite numbers, of the given length if there is one."""
        numbers = np.array([item.number() for item in self.items()], dtype=np.float64)
        if length is not None and len(numbers) != length:
            self.refuse(f"a list of {length} numbers")
        return numbers

    def numbers_or_null(self, length: int) -> NDArray[np.float64]:
        """Return a list of `length` finite numbers; null becomes NaN."""
        values = [math.nan if item.value is None else item.number() for item in self.items()]
        if len(values) != length:
            self.refuse(f"a list of {length} numbers")
        return np.array(values, dtype=np.float64)

    def positive_numbers(self, length: int) -> NDArray[np.float64]:
        """Return a list of `length` numbers above 0."""
        numbers = self.numbers(length)
        if not (numbers > 0).all():
            self.refuse("a list of numbers above 0")
        return numbers
