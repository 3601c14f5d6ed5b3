"""Delaying signals while work must not be interrupted."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from typing import Final

_ENDING: Final = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}


@contextlib.contextmanager
def signals_later() -> Iterator[None]:
    """Handle signals that would end the program only after the block."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
