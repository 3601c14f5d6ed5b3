"""Figures of merit: one number for a class of workloads, its weights beside it.

A class says how requests are spread over block sizes and mixes. Its figure is the rate at which
a drive serves that many requests of each, one kind after the other: the harmonic mean of the
rates of the IOPS test, weighted by requests. What a class is made of, and where its numbers come
from, stands in ``merit_classes.toml``.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Final

from drivelab.errors import UsageError
from drivelab.pts.compared_cells import Key, at_size_and_mix

_FILE: Final = "merit_classes.toml"


@dataclass(frozen=True)
class MeritClass:
    """A class of workloads.

    Attributes
    ----------
    name, title
        The word on the command line, and what it is called.
    source
        Where its weights come from; ``assumed`` where nobody measured them.
    weights
        Block size in bytes, share of reads, share of requests; the last add up to 1.
    """

    name: str
    title: str
    source: str
    weights: tuple[tuple[int, float, float], ...]


@cache
def merit_classes() -> dict[str, MeritClass]:
    """Give every class by its name."""
    text = (resources.files("drivelab.pts") / _FILE).read_text("utf-8")
    found = {}
    for name, entry in tomllib.loads(text).items():
        requests = entry["requests"]
        total = sum(one["weight"] for one in requests)
        weights = tuple(
            (int(one["block_bytes"]), float(one["read_ratio"]), one["weight"] / total)
            for one in requests
        )
        found[name] = MeritClass(name, entry["title"], entry["source"], weights)
    return found


def class_named(name: str) -> MeritClass:
    """Give a class by its name.

    Raises
    ------
    UsageError
        For a name that is none; lists them.
    """
    classes = merit_classes()
    if name not in classes:
        raise UsageError(f"no workload class {name!r}; the classes are {', '.join(classes)}")
    return classes[name]


def merits(of: MeritClass, cells: Sequence[Mapping[Key, list[float]]]) -> list[list[float]]:
    """Give a class's figure of each drive, round by round, in requests a second.

    Parameters
    ----------
    of
        The class.
    cells
        Of each drive the rounds of the IOPS test's cells.

    Raises
    ------
    UsageError
        When the drives have not run sizes and mixes around those of the class.
    """
    parts = [
        (share, at_size_and_mix(cells, size, read_ratio).rounds)
        for size, read_ratio, share in of.weights
    ]
    figures = []
    for drive in range(len(cells)):
        count = min(len(rounds[drive]) for _, rounds in parts)
        figures.append(
            [
                _harmonic([(share, rounds[drive][number]) for share, rounds in parts])
                for number in range(count)
            ]
        )
    return figures


def _harmonic(weighted: Sequence[tuple[float, float]]) -> float:
    if any(rate <= 0 for _, rate in weighted):
        return 0.0
    return 1 / sum(share / rate for share, rate in weighted)
