"""How long a measurement lasts: the plan that every kind of drive follows.

::

    submitted ──── warm-up ────┬───────────── window ─────────────┬── drained
      warmup_requests and      │  `requests` or `seconds`, or until the
      warmup_seconds are over ─┘  half-width of the mean latency is reached

On simulated drives seconds are simulated, so results depend neither on the machine nor on its load.

A workload may have its own end, such as a pass, a trace or a scenario with a duration. Then
whatever comes first ends the measurement: the workload's end or what the plan asks for. The plan's
default end gives way to the workload's own (`MeasurementPlan.holding`). Such a workload is counted
from its first request on, a scenario after its own warm-up: the plan's warm-up is for workloads
without an end. Steps of a session end by the same rule (`drivelab.drives.session.StepPlan`).
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Any, Final, Literal

from drivelab.drives.write_pattern import BURST, WRITES
from drivelab.errors import UsageError
from drivelab.workloads.content import CONTENTS, USUAL
from drivelab.workloads.given import attributes_of, is_number, is_whole, shown

StoppedBy = Literal["requests", "seconds", "half_width", "max_requests", "bytes"]

MAX_REQUESTS: Final = 400_000
#: Number of counted requests if nothing else ends a measurement.
USUAL_REQUESTS: Final = 20_000
_MAX_SEED: Final = 2**64 - 1
_MAX_SECONDS: Final = 366 * 86400
_LEAST_REQUESTS: Final = 5000
_REAL_SECONDS: Final = 1.0
# Enough for a few hundred thousand requests of a fast drive; a slow drive ends here.
_REAL_SECONDS_FOR_HALF_WIDTH: Final = 10.0
_SIMULATED_HALF_WIDTH_RATIO: Final = 0.01
# Less than most drives have in erased or in log blocks.
_SIMULATED_BURST_RATIO: Final = 0.01
_REAL_WARMUP_SHARE: Final = 0.1
_REAL_WARMUP_SECONDS: Final = 0.2


@dataclass(frozen=True)
class MeasurementPlan:
    """How long, how exactly and from which random numbers each workload is measured.

    Without `half_width_ratio` the window closes at `requests` or `seconds`, whichever comes first.
    With it, the window closes when at least `requests` are counted and the half-width is reached,
    at `max_requests`, or at `seconds`; a burst also at `burst_ratio`. Without any of them it closes
    at the workload's own end, or at 20,000 requests if it has none.

    Attributes
    ----------
    seed
        Together with a measurement's index the key of all its random numbers, 0 to 2**64 - 1.
    warmup_requests
        The window opens when this many requests have completed ...
    warmup_seconds
        ... and this much of the drive's time has passed.
    requests
        Requests counted; with `half_width_ratio` at least this many.
    seconds
        The drive's time in which requests are counted.
    half_width_ratio
        95 % half-width of the mean latency over that mean, more than 0 and below 1.
    max_requests
        Ends a measurement that does not reach `half_width_ratio`.
    burst_ratio
        Also ends it, after at least `requests`, when a burst has written this share of the drive,
        the requests of the warm-up included: more than 0, at most 1. If it went on, it would mix
        the time until the erased blocks are used up with the time after, in a proportion that only
        its length decides. ``None`` for no such end.
    workers
        Threads on simulated drives; ``None`` chooses. Results are the same for any number.
    content
        What written data looks like to a drive that compresses: ``zero``, ``database`` or
        ``random``.
    writes
        The state that writes find: the drive unchanged (``burst``), or after writing of the
        workload's own kind until more of it changes nothing (``sustained``).
    is_usual
        Whether the end is only the default of a kind of drive; a workload with its own end is then
        measured to that end.

    Raises
    ------
    UsageError
        When a value is impossible.
    """

    seed: int = 0
    warmup_requests: int = 2000
    warmup_seconds: float = 0.0
    requests: int | None = None
    seconds: float | None = None
    half_width_ratio: float | None = None
    max_requests: int = MAX_REQUESTS
    burst_ratio: float | None = None
    workers: int | None = None
    content: str = USUAL
    writes: str = BURST
    is_usual: bool = field(default=False, compare=False)

    def __post_init__(self) -> None:
        _check_count("seed", self.seed, 0)
        _check_count("warmup_requests", self.warmup_requests, 0)
        if not is_number(self.warmup_seconds) or not 0 <= self.warmup_seconds <= _MAX_SECONDS:
            raise UsageError(
                f"warmup_seconds is {shown(self.warmup_seconds)}; allowed: 0 to {_MAX_SECONDS}"
            )
        _check_count("max_requests", self.max_requests, 1)
        if self.content not in CONTENTS:
            raise UsageError(f"content is {shown(self.content)}; allowed: {', '.join(CONTENTS)}")
        if self.writes not in WRITES:
            raise UsageError(f"writes is {shown(self.writes)}; allowed: {', '.join(WRITES)}")
        for name in ("requests", "workers"):
            if getattr(self, name) is not None:
                _check_count(name, getattr(self, name), 1)
        _check_burst_ratio(self.burst_ratio)
        seconds, ratio = self.seconds, self.half_width_ratio
        if seconds is not None and not (is_number(seconds) and 0 < seconds <= _MAX_SECONDS):
            raise UsageError(
                f"seconds is {shown(seconds)}; allowed: more than 0, to {_MAX_SECONDS}"
            )
        if ratio is None:
            return
        if not (is_number(ratio) and 0 < ratio < 1):
            raise UsageError(
                f"half_width_ratio is {shown(ratio)}; allowed: more than 0 and below 1"
            )
        if self.requests is not None and self.requests > self.max_requests:
            raise UsageError(
                f"max_requests is {self.max_requests}; allowed: at least requests, {self.requests}"
            )

    def holding(self, *, ends_by_itself: bool) -> MeasurementPlan:
        """Return the plan that applies to a workload.

        Parameters
        ----------
        ends_by_itself
            Whether the workload has its own end. Then nothing else ends it unless it was asked for.
        """
        has_end = (self.requests, self.seconds, self.half_width_ratio) != (None, None, None)
        if has_end and not (self.is_usual and ends_by_itself):
            return self
        if ends_by_itself:
            return replace(self, requests=None, seconds=None, half_width_ratio=None)
        return replace(self, requests=USUAL_REQUESTS)

    def counted_whole(self) -> MeasurementPlan:
        """Return the plan that applies to a trace: from its first request to its end."""
        held = self.holding(ends_by_itself=True)
        return replace(held, warmup_requests=0, warmup_seconds=0.0)

    @classmethod
    def of_kind(cls, kind: str, *, seed: int = 0, **asked: Any) -> MeasurementPlan:
        """Return the plan of a kind of drive; what was not given has that kind's default.

        The default end gives way to what was given: with `seconds` alone no number of requests ends
        a measurement, with `requests` alone no time does.

        Parameters
        ----------
        kind
            ``simulated``, ``closed_form`` or ``real``.
        seed
            See the attribute.
        asked
            Attributes of the plan by name; ``None`` counts as not asked for.
        """
        asked = {name: value for name, value in asked.items() if value is not None}
        is_usual = not asked.keys() & {"requests", "seconds", "half_width_ratio", "max_requests"}
        defaults: dict[str, Any] = {"requests": None, "seconds": None}
        if kind == "real":
            defaults |= {"warmup_requests": 0}
            if "half_width_ratio" in asked:
                defaults["seconds"] = _REAL_SECONDS_FOR_HALF_WIDTH
            elif "requests" not in asked:
                defaults["seconds"] = _REAL_SECONDS
            warmup = asked.get("seconds", defaults["seconds"] or 0) * _REAL_WARMUP_SHARE
            defaults["warmup_seconds"] = max(_REAL_WARMUP_SECONDS, warmup)
        elif "half_width_ratio" in asked or (
            kind == "simulated" and not {"requests", "seconds"} & asked.keys()
        ):
            # A number of requests alone would end after a drive's change for large requests and
            # before it for small ones.
            defaults["half_width_ratio"] = _SIMULATED_HALF_WIDTH_RATIO
            defaults["requests"] = min(_LEAST_REQUESTS, asked.get("max_requests", MAX_REQUESTS))
            if is_usual and asked.get("writes", BURST) == BURST:
                defaults["burst_ratio"] = _SIMULATED_BURST_RATIO
        elif "seconds" not in asked:
            defaults["requests"] = USUAL_REQUESTS
        return cls(seed=seed, is_usual=is_usual, **{**defaults, **asked})

    def to_json(self) -> dict[str, int | float | str | None]:
        """Return what results depend on, under names that carry the unit."""
        # Only if it is not the default, because runs of older versions lack the key.
        content = {} if self.content == USUAL else {"content": self.content}
        writes = {} if self.writes == BURST else {"writes": self.writes}
        has_burst = self.burst_ratio is not None and self.half_width_ratio is not None
        burst = {"burst_ratio": self.burst_ratio} if has_burst else {}
        return {
            "seed": self.seed,
            "warmup_requests": self.warmup_requests,
            "warmup_seconds": float(self.warmup_seconds),
            "requests": self.requests,
            "seconds": None if self.seconds is None else float(self.seconds),
            "half_width_ratio": self.half_width_ratio,
            # Without a half-width nothing uses it.
            "max_requests": None if self.half_width_ratio is None else self.max_requests,
            **burst,
            **content,
            **writes,
        }

    def on_capacity(self, planned_bytes: int, capacity_bytes: int) -> MeasurementPlan:
        """Return the plan for a drive of another capacity, with bursts of as many bytes.

        Parameters
        ----------
        planned_bytes
            Capacity of the drive that it was made for.
        capacity_bytes
            Capacity of the other drive.
        """
        if self.burst_ratio is None:
            return self
        larger = planned_bytes / capacity_bytes
        return replace(self, burst_ratio=min(1.0, larger * self.burst_ratio))

    @classmethod
    def from_json(cls, data: object) -> MeasurementPlan:
        """Read what `to_json` wrote; anything else is a `UsageError`."""
        names = [each.name for each in fields(cls) if each.compare]
        values = dict(attributes_of(data, "a measurement plan", names, ()))
        if values.get("max_requests", 0) is None:
            del values["max_requests"]
        return cls(**values)


def _check_burst_ratio(value: object) -> None:
    if value is not None and not (is_number(value) and 0 < value <= 1):
        raise UsageError(f"burst_ratio is {shown(value)}; allowed: more than 0, to 1")


def _check_count(name: str, value: object, low: int) -> None:
    if not is_whole(value) or not low <= value <= _MAX_SEED:
        raise UsageError(f"{name} is {shown(value)}; allowed: {low} to {_MAX_SEED}")
