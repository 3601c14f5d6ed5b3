"""Turning a panic of the native core into an error that says where it happened.

PyO3 raises ``pyo3_runtime.PanicException``. It is not an `Exception`, cannot be pickled and does
not contain the place of the panic. The core records that place (``crates/python/src/panics.rs``).
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator

from drivelab.errors import PanicError


def panic_error(error: BaseException) -> PanicError | None:
    """Return the error for a panic of the core; ``None`` for any other error."""
    # If the core was never imported, it has not panicked; importing it here would take time.
    core = sys.modules.get("drivelab._core")
    if core is None or not isinstance(error, core.PanicException):
        return None
    place, message = core.take_panic() or ("a place that is not known", str(error))
    return PanicError(f"its native core panicked at {place}: {message}")


@contextlib.contextmanager
def panic_errors() -> Iterator[None]:
    """Turn a panic of the core inside the block into `PanicError`; pass on all other errors."""
    try:
        yield
    except BaseException as error:
        panic = panic_error(error)
        if panic is None:
            raise
        raise panic from None
