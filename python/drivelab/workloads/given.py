"""Checks of values that a program or a file gives for a workload."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import wraps
from inspect import signature
from typing import Any, TypeGuard, TypeVar

from drivelab.errors import UnknownNameError, UsageError
from drivelab.near_names import meant

Made = TypeVar("Made")

#: Largest whole number of the native core.
END = 1 << 63


def shown(value: object) -> str:
    """Return a value for an error message: short, on one line."""
    if isinstance(value, float) and math.isnan(value):
        return "NaN"
    if isinstance(value, int) and abs(value) >= 10**30:
        return "a number of more than 30 digits"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def is_whole(value: object) -> TypeGuard[int]:
    """Return whether a value is a whole number."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_number(value: object) -> TypeGuard[float]:
    """Return whether a value is a number."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def refuses_unknown_names(what: str) -> Callable[[type[Made]], type[Made]]:
    """Make a class report an unknown argument name with a suggestion.

    Parameters
    ----------
    what
        Word for one of its values: ``characteristic``.
    """

    def decorated(made: type[Made]) -> type[Made]:
        plain = made.__init__
        names = tuple(signature(made).parameters)

        @wraps(plain)
        def init(self: Made, *values: Any, **named: Any) -> None:
            unknown = next((name for name in named if name not in names), None)
            if unknown is not None:
                raise UnknownNameError(
                    f"there is no {what} {shown(unknown)}; {meant(unknown, names)}there are "
                    f"{', '.join(names)}"
                )
            plain(self, *values, **named)

        made.__init__ = init  # type: ignore[assignment, method-assign]
        return made

    return decorated


def attributes_of(
    data: object, what: str, names: Sequence[str], required: Sequence[str]
) -> dict[str, Any]:
    """Return attributes by name, checked.

    Parameters
    ----------
    data
        The value that was read.
    what
        Word for the owner of the attributes: ``a stimulus``.
    names, required
        All names, and those without a default.

    Raises
    ------
    UsageError
        When it is not an object, or an attribute is unknown or missing.
    """
    if not isinstance(data, dict):
        raise UsageError(f"{what} is an object with {', '.join(names)}; found {shown(data)}")
    for name in data:
        if name not in names:
            guess = meant(name, names) if isinstance(name, str) else ""
            raise UsageError(
                f"{shown(name)} is no attribute of {what}; {guess}allowed: {', '.join(names)}"
            )
    missing = [name for name in required if name not in data]
    if missing:
        raise UsageError(f"{what} lacks {', '.join(missing)}")
    return data


def check_items(name: str, value: object, is_one: Callable[[Any], bool], allowed: str) -> None:
    """Raise `UsageError` unless a value is a list of valid items.

    Parameters
    ----------
    name
        Name of the attribute.
    value
        The value: a list or a tuple.
    is_one
        Returns whether an item is valid.
    allowed
        Word for valid items, in the plural: ``stimuli``.
    """
    if not isinstance(value, (list, tuple)):
        raise UsageError(f"{name} is {shown(value)}; allowed: a list of {allowed}")
    for place, item in enumerate(value):
        if not is_one(item):
            raise UsageError(f"{name} has {shown(item)} at place {place}; allowed: {allowed}")
