"""Short texts for steps, stimuli and minutes, as the specification writes them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from drivelab.units import format_duration_ns, format_size

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from drivelab.pts.journal import Action, Step
    from drivelab.workloads.stimulus import Stimulus


def words_of(action: Action) -> str:
    """Return what a step does, in a few words."""
    unit = "minute" if action.phase == "minutes" else "round"
    where = f"{unit} {action.round}" if action.round else action.phase
    if action.section:
        where = f"{action.section}, {where}"
    if action.kind == "purge":
        return f"{where}: purge"
    if action.kind == "idle":
        return f"{where}: {action.seconds:g} s idle"
    if action.stimulus is None:
        return where
    if action.beside:
        how = "in proportion" if action.shares else "together"
        return f"{where}: {len(action.stimuli)} streams {how}"
    return f"{where}: {stimulus_words(action.stimulus)}"


def stimulus_words(stimulus: Stimulus) -> str:
    """Return a stimulus as the specification writes it: ``4 KiB random, R/W 0/100, 4 x 32``."""
    sizes = "composite"
    if len(stimulus.sizes) == 1:
        sizes = format_size(stimulus.sizes[0][0])
    order = "random" if stimulus.is_random else "sequential"
    read = round(100 * stimulus.read_ratio)
    return (
        f"{sizes} {order}, R/W {read}/{100 - read}, {stimulus.threads} x {stimulus.queue_depth} "
        "outstanding"
    )


def minute_words(settings: Mapping[str, Any]) -> str:
    """Return what the minutes of a test are: the drive's time, or not.

    Parameters
    ----------
    settings
        Settings of a result, as in docs/json-pts.md.
    """
    scale = settings["scale"]
    scaled = f" of {format_duration_ns(60e9 * scale)}" if scale < 1 else ""
    return f"min{scaled}{' of writes' if settings.get('idle_seconds') else ''}"


def span_words(steps: Sequence[Step]) -> str:
    """Return how long steps in a row were sent: ``20 minutes``, or ``1.20 s`` in a scaled test."""
    seconds = sum(step.action.seconds or 0.0 for step in steps)
    minutes = round(seconds / 60)
    if minutes and math.isclose(seconds, 60 * minutes):
        return f"{minutes} minute{'s' if minutes > 1 else ''}"
    return format_duration_ns(1e9 * seconds)
