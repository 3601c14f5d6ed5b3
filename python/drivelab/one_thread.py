"""Linear algebra on one thread."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from threadpoolctl import ThreadpoolController


@functools.cache
def _libraries() -> ThreadpoolController:
    # Only libraries that are loaded can be limited.
    import scipy.linalg  # noqa: F401
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def one_thread() -> AbstractContextManager[object]:
    """Limit linear algebra to one thread: on a busy machine threads cost more than they save."""
    limited: AbstractContextManager[object] = _libraries().limit(limits=1, user_api="blas")
    return limited
