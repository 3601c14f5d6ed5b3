"""What a choice was asked: one workload, how often, with which random numbers."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Asked:
    """What all drives were asked alike.

    Attributes
    ----------
    name
        Of the workload: a scenario's, a file's, or characteristics in words.
    description
        What it is, in a line.
    seed
        Key of all random numbers, with a repetition's number.
    repetitions
        On each drive.
    writes
        Of each drive, what its writes find, in words; empty where nothing is to be said.
    """

    name: str
    description: str
    seed: int
    repetitions: int
    writes: str = ""
