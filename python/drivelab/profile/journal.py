"""The passes of a profile as a run folder keeps them, so that a stopped profile resumes.

A profile asks for its passes in an order that only their results decide. Started again, it asks for
the same ones, is given what is stored, and measures what is not. Asked about another cost, or for
another half-width, it may ask for others from some pass on: then it is given all that are stored,
and goes on from there. Such a profile may go on with other passes than it would have, if it was
stopped once more: what of those that are stored was measured for which question is not kept.
"""

from __future__ import annotations

import math
import operator
from dataclasses import asdict
from typing import Any, Final

from drivelab._core import RequestStream
from drivelab.drives.measurement import Measurement
from drivelab.errors import UsageError
from drivelab.profile.measured_pass import MeasuredPass
from drivelab.store import RunStore, damaged
from drivelab.workloads.whole_pass import WholePass

# Of simulated time and of fio's; some 292 years.
_LONGEST_NS: Final = (1 << 63) - 1


def entry_of(measurement: Measurement) -> dict[str, Any]:
    """Return what is kept of the measurement of a pass."""
    return pass_json(MeasuredPass.of(measurement))


def pass_json(measured: MeasuredPass) -> dict[str, Any]:
    """Return a pass and its time, JSON-able."""
    return asdict(measured)


def pass_of_json(data: dict[str, Any]) -> MeasuredPass:
    """Read what `pass_json` wrote.

    Raises
    ------
    KeyError, TypeError, ValueError, OverflowError, UsageError
        When it is not a pass, or none that a drive could have measured.
    """
    values = {**data, "whole_pass": WholePass(**data["whole_pass"])}
    measured = MeasuredPass(**{**values, "marks_ns": tuple(data["marks_ns"])})
    # Whoever sends a pass decides which there are.
    RequestStream.of_pass(measured.whole_pass.as_tuple(), 0, measured.index)
    _check_times(measured)
    return measured


def _check_times(measured: MeasuredPass) -> None:
    """Raise `ValueError` when a drive cannot have taken these times."""
    duration_ns, factor = measured.duration_ns, measured.variability_factor
    marks, requests_per_mark = measured.marks_ns, measured.requests_per_mark
    if not (_is_whole(duration_ns) and 0 < duration_ns <= _LONGEST_NS):
        raise ValueError(f"its duration is {duration_ns!r:.40} ns")
    if factor is not None and not (isinstance(factor, float) and 0 < factor < math.inf):
        raise ValueError(f"its variability factor is {factor!r:.40}")
    at_most = measured.whole_pass.requests // max(1, len(marks))
    if not (_is_whole(requests_per_mark) and bool(marks) <= requests_per_mark <= at_most):
        raise ValueError(f"its marks are of {requests_per_mark!r:.40} requests each")
    ends = (0, *marks, duration_ns)
    rises = all(_is_whole(mark) for mark in marks) and all(map(operator.le, ends, ends[1:]))
    if not rises:
        raise ValueError("its marks do not rise from 0 to its duration")


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def stored_passes(store: RunStore) -> dict[int, MeasuredPass]:
    """Read every pass of a run, by place.

    Where passes come in any order, one may be missing before others: it is measured again.

    Raises
    ------
    RunError
        When the run holds anything else.
    """
    found = {}
    for place, each in zip(sorted(store.done()), store.measurements(), strict=True):
        try:
            found[place] = pass_of_json(each)
        except (KeyError, TypeError) as error:
            raise damaged(store.path, f"pass {place} says something else") from error
        except (ValueError, OverflowError, UsageError) as error:
            raise damaged(store.path, f"pass {place} is none: {error}") from error
        if found[place].index != place:
            raise damaged(store.path, f"pass {place} is stored as another")
    return found
