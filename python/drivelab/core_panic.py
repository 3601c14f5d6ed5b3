"""A panic of the native core as an error of ours, with the place to look at.

PyO3 raises ``pyo3_runtime.PanicException``, which is no `Exception`, cannot be pickled and does not
know where it came from; the core keeps that (``crates/python/src/panics.rs``).
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator

from drivelab.errors import PanicError


def panic_error(error: BaseException) -> PanicError | None:
    """Give the text about a panic; nothing for any other error."""
    # What was never imported has not panicked, and importing it takes time.
    core = sys.modules.get("drivelab._core")
    if core is None or not isinstance(error, core.PanicException):
        return None
    place, message = core.take_panic() or ("a place that is not known", str(error))
    return PanicError(f"its native core panicked at {place}: {message}")


@contextlib.contextmanager
def panics_told() -> Iterator[None]:
    """Raise `PanicError` for a panic of the core inside, and everything else as it is."""
    try:
        yield
    except BaseException as error:
        panic = panic_error(error)
        if panic is None:
            raise
        raise panic from None
