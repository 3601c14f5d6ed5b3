"""Ctrl-Z in the middle of a campaign: a pause never falls into a real measurement.

Stopped at once, Drivelab would not see requests complete, and fio, in a process group of its
own, would go on without it. So a real drive is stopped between two measurements. Simulated
time stands still with the process: those stop at once.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from types import FrameType, TracebackType
from typing import Self


class Pause:
    """Stops this process when the terminal asks (SIGTSTP), at a moment that spoils nothing.

    Parameters
    ----------
    at_once
        Stop where the signal finds us; else wait for `here`.

    Attributes
    ----------
    seconds
        How long the process was stopped, in all.
    """

    def __init__(self, *, at_once: bool) -> None:
        self.seconds = 0.0
        self._at_once = at_once
        self._asked = False
        self._installed = False

    def here(self) -> None:
        """Stop now if that was asked for; returns when the process is continued."""
        if not self._asked:
            return
        self._asked = False
        before = time.monotonic()
        signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        # To this thread, which then stops inside the call, and every other one with it.
        signal.pthread_kill(threading.get_ident(), signal.SIGTSTP)
        signal.signal(signal.SIGTSTP, self._on_signal)
        self.seconds += time.monotonic() - before

    def _on_signal(self, _number: int, _frame: FrameType | None) -> None:
        if self._at_once:
            self._asked = True
            self.here()
        elif not self._asked:
            self._asked = True
            # Not by print: the signal may come in the middle of one.
            text = "\ndrivelab: pausing after this measurement; `fg` resumes\n"
            os.write(sys.stderr.fileno(), text.encode())

    def __enter__(self) -> Self:
        # A shell without job control has it ignored, and that is to stay.
        if (
            threading.current_thread() is threading.main_thread()
            and signal.getsignal(signal.SIGTSTP) is signal.SIG_DFL
        ):
            signal.signal(signal.SIGTSTP, self._on_signal)
            self._installed = True
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        if self._installed:
            signal.signal(signal.SIGTSTP, signal.SIG_DFL)
            self._installed = False
            if self._asked and kind is None:
                # Asked for in the last measurement: there is nothing left to spoil.
                signal.pthread_kill(threading.get_ident(), signal.SIGTSTP)
