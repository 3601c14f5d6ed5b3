"""How long workloads run when they are tried: long enough for the slowest, short enough for all.

All groups run equally long in the drive's time, so that a workload alone can be compared with the
same workload next to others. If no time was asked for, one thing ends a window sooner: workloads
that wait for the drive have sent enough requests. Their pace is not known before.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from drivelab._core import MOST_SIMULATED_NS
from drivelab.errors import UsageError
from drivelab.place.plan import Demand
from drivelab.units import format_duration_ns
from drivelab.workloads.given import shown
from drivelab.workloads.trace import Trace
from drivelab.workloads.trace_length import least_speed, length_text

#: Requests of the workload with the fewest, where the others allow it: 20 are beyond 99 %.
_LEAST_REQUESTS: Final = 2000
#: Arrivals of all workloads together; what is overrun keeps so many waiting.
MOST_REQUESTS: Final = 400_000
#: And the bytes of their requests: a drive that is overrun has as many pages under way.
_MOST_BYTES: Final = 4 << 30
_LEAST_SECONDS: Final = 0.5
#: Of what arrives at random so many come to none once in 150 times.
_FEWEST_AT_RANDOM: Final = 5.0
_WARMUP_SHARE: Final = 0.1
#: Of windows in which something waits for the drive: at its pace these are many requests.
_MOST_WARMUP_SECONDS: Final = 20.0
#: A trace that is sent as fast as the drive answers may end a little sooner next to others.
_TRACE_SHARE: Final = 0.95
#: Of simulated time; what arrives next must come before its end.
_LONGEST_SHARE: Final = 0.95


@dataclass(frozen=True)
class Window:
    """When counting begins and ends.

    Attributes
    ----------
    seconds
        Counted, in the drive's time.
    requests
        Counted requests that end it sooner: workloads that wait for the drive may be fast. ``None``
        where the time was asked for.
    most_warmup_seconds
        Before counting begins; ``None`` for a tenth of the window, however long that is.
    is_of_fast_trace
        Whether a trace that is sent as fast as the drive answers made it so short.
    """

    seconds: float
    requests: int | None = MOST_REQUESTS
    most_warmup_seconds: float | None = None
    is_of_fast_trace: bool = False

    @property
    def duration_ns(self) -> int:
        """Counted."""
        return max(1, round(self.seconds * 1e9))

    @property
    def warmup_ns(self) -> int:
        """Before counting begins."""
        seconds = self.seconds * _WARMUP_SHARE
        if self.most_warmup_seconds is not None:
            seconds = min(seconds, self.most_warmup_seconds)
        return round(seconds * 1e9)

    def for_copies(self, demand: Demand) -> Window:
        """Return the window for many times the load of a workload.

        What is overrun by then serves a fourth of it, and keeps the rest waiting.
        """
        usual = MOST_REQUESTS if self.requests is None else self.requests
        most = min(usual, round(_MOST_BYTES / demand.request_bytes))
        return replace(self, requests=max(1, most // 4))

    def within(self, lasting_ns: int) -> Window:
        """Return a window that is over, with its warm-up, before a trace of this length is."""
        seconds = _TRACE_SHARE * lasting_ns / 1e9 / (1 + _WARMUP_SHARE)
        if seconds >= self.seconds:
            return self
        return replace(self, seconds=seconds, is_of_fast_trace=True)


def window_for(demands: Sequence[Demand], seconds: float | None = None) -> Window:
    """Return the window in which these workloads are tried.

    Parameters
    ----------
    demands
        All of the plan.
    seconds
        As asked for; else so long that the slowest workload counts 2,000 requests, unless all
        together then come to more than 400,000 or 4 GiB. A trace is never outlasted.
    """
    rates = [each.rate_iops for each in demands if each.rate_iops is not None]
    wanted = seconds
    if wanted is None:
        wanted = max((_LEAST_REQUESTS / rate for rate in rates), default=_LEAST_SECONDS)
        wanted = max(wanted, _LEAST_SECONDS)
        if rates:
            arriving = sum(each.request_bytes * (each.rate_iops or 0.0) for each in demands)
            wanted = min(wanted, MOST_REQUESTS / sum(rates), _MOST_BYTES / arriving)
    lasting = [each.lasting_ns for each in demands if each.lasting_ns is not None]
    if lasting:
        wanted = min(wanted, min(lasting) / 1e9 / (1 + _WARMUP_SHARE))
    return Window(
        max(wanted, 1e-6),
        MOST_REQUESTS if seconds is None else None,
        None if len(rates) == len(demands) else _MOST_WARMUP_SECONDS,
    )


def refuse_window(
    demands: Sequence[Demand], window: Window, word: Callable[[str], str] = str
) -> None:
    """Raise `UsageError` for a window in which the workloads cannot be judged.

    It is longer than a simulated run can be, or a workload may send nothing at all in it.

    Parameters
    ----------
    demands
        All of the plan.
    window
        In which they are tried.
    word
        How an option is written where it was asked for.
    """
    for each in demands:
        if each.lasting_ns == 0:
            raise UsageError(
                f"workload {shown(each.name)}: all requests of its trace have one time, so nothing "
                'says how fast they arrive; add speed = "max" to send them as fast as the drive '
                "answers"
            )
    _refuse_long(demands, window, word)
    for each in demands:
        # Those of a trace have their times.
        if each.rate_iops is None or each.lasting_ns is not None:
            continue
        expected = each.rate_iops * window.seconds
        if expected < (_FEWEST_AT_RANDOM if each.part.is_poisson else 1.0):
            raise UsageError(
                f"workload {shown(each.name)} sends about {expected:.2g} requests in the "
                f"{format_duration_ns(window.duration_ns)} that each measurement counts, "
                f"{_why_short(demands, window, 10 / each.rate_iops, word)}"
            )


def _refuse_long(demands: Sequence[Demand], window: Window, word: Callable[[str], str]) -> None:
    is_long = window.duration_ns + window.warmup_ns > MOST_SIMULATED_NS
    for each in demands:
        workload = each.part.workload
        if not isinstance(workload, Trace) or (each.lasting_ns or 0) <= MOST_SIMULATED_NS:
            continue
        # The simulator looks ahead to the next request, which may be beyond the end of its time.
        if is_long or (each.rate_iops or 0.0) * window.seconds < 1.0:
            raise UsageError(
                f"workload {shown(each.name)}: its trace "
                f"{length_text(each.lasting_ns or 0, 'a simulated run')}; write speed = "
                f'{least_speed(workload)} or more to replay it faster, or speed = "max" to send it '
                "as fast as the drive answers"
            )
    if not is_long:
        return
    hours = math.floor(_LONGEST_SHARE * MOST_SIMULATED_NS / 3.6e12 / (1 + _WARMUP_SHARE))
    why = f"as {word('seconds')} says"
    if window.requests is not None:
        slowest = min(demands, key=lambda each: each.rate_iops or math.inf)
        why = (
            f"because workload {shown(slowest.name)} sends {slowest.rate_iops or 0:.3g} requests "
            "a second"
        )
    raise UsageError(
        f"each measurement lasts {format_duration_ns(window.duration_ns)}, {why}, and a "
        f"simulated run at most {format_duration_ns(MOST_SIMULATED_NS)}; give {word('seconds')} "
        f"{3600 * hours} or less"
    )


def _why_short(
    demands: Sequence[Demand], window: Window, needed: float, word: Callable[[str], str]
) -> str:
    """Say what keeps a window short, and what to do about it."""
    lasting = {each.name: each.lasting_ns for each in demands if each.lasting_ns is not None}
    if lasting and min(lasting.values()) / 1e9 < needed:
        shortest = min(lasting, key=lambda name: lasting[name])
        return (
            f"because the trace of workload {shown(shortest)} lasts "
            f"{format_duration_ns(lasting[shortest])}; name a longer trace or a higher rate"
        )
    unknown = next((each for each in demands if each.ends_unknown), None)
    if unknown is not None and window.is_of_fast_trace:
        return (
            f"because the trace of workload {shown(unknown.name)} is over by then on this drive; "
            "name a longer trace or a higher rate"
        )
    longer = f"give {word('seconds')} {seconds_text(needed)} or more"
    if window.requests is None:
        return f"as {word('seconds')} says; {longer}"
    fastest = max(demands, key=lambda each: each.rate_iops or 0.0)
    return (
        f"because workload {shown(fastest.name)} sends {fastest.rate_iops or 0:,.0f} a second; "
        f"{longer}"
    )


def seconds_text(seconds: float) -> str:
    """Write seconds as programs and the command line take them, rounded up."""
    return str(math.ceil(seconds)) if seconds > 1 else f"{math.ceil(seconds * 1e3) / 1e3:g}"
