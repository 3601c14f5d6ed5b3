"""What several drives do under one sweep, in sentences: who is fastest, and by how much."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from drivelab.campaign.exhibits import sweeps
from drivelab.campaign.exhibits.courses import SAME, noise_text, times_text, value_text
from drivelab.campaign.exhibits.sweep_words import SweepWords, missing_points, sweep_words
from drivelab.campaign.exhibits.sweeps import Line, lines_of
from drivelab.exhibits.quantities import METRICS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from drivelab.exhibits import Table

#: At which values drives are compared, and by what: the first (0) or last (-1) of the axis.
_AT: Final = {
    sweeps.WRITE_RATIO: ((0, "latency_ns_mean"), (-1, "latency_ns_mean")),
    sweeps.QUEUE_DEPTH: ((-1, "iops"),),
    sweeps.SIZE: ((0, "iops"), (-1, "bandwidth_bytes_per_second")),
    sweeps.PATTERN_LATENCY: ((-1, "latency_ns_mean"),),
    sweeps.PATTERN_THROUGHPUT: ((0, "iops"),),
}


def compared_words(figure: int, drives: Sequence[tuple[str, Table, str]]) -> SweepWords:
    """Return the texts of a figure that shows several drives.

    Parameters
    ----------
    figure
        As for `drivelab.campaign.exhibits.sweep_words.sweep_words`.
    drives
        Name, table and the reason for missing points of each; at least one.
    """
    alone = sweep_words(figure, drives[0][1], drives[0][2])
    by_drive = [(name, lines_of(table, figure)) for name, table, _ in drives]
    source = {sweeps.PATTERN_LATENCY: "figure 6"}.get(figure, alone.source)
    findings = [
        ranking([(name, found[place]) for name, found in by_drive], end, metric)
        for place in range(len(by_drive[0][1]))
        for end, metric in _AT[figure]
    ]
    missing = [
        f"{name}: {text}"
        for name, table, reason in drives
        if (text := missing_points(lines_of(table, figure), reason))
    ]
    return SweepWords(
        title=alone.title,
        source=source,
        setting=alone.setting,
        findings=tuple(text for text in dict.fromkeys(findings) if text),
        missing=" ".join(missing),
        noise=noise_text([line for _, lines in by_drive for line in lines]),
    )


def ranking(lines: Sequence[tuple[str, Line]], end: int, metric: str) -> str:
    """Say how drives compare at the first or last value that at least two have.

    Parameters
    ----------
    lines
        Name and line of each drive, of one series.
    end
        0 for the first such value, -1 for the last.
    metric
        By which; the best comes first.

    Returns
    -------
    str
        Empty where no value is common to two drives.
    """
    having: dict[float, list[tuple[float, str]]] = {}
    for name, line in lines:
        for value, performance in zip(line.values, line.performance[metric], strict=True):
            having.setdefault(value, []).append((performance, name))
    shared = sorted(value for value, found in having.items() if len(found) > 1)
    if not shared:
        return ""
    item = METRICS[metric]
    found = sorted(having[shared[end]], reverse=not item.lower_is_better)
    best = found[0][0]
    parts = [f"{found[0][1]} {item.text(best)}"]
    for value, name in found[1:]:
        ratio = max(value / best, best / value)
        word = "longer" if item.lower_is_better else "less"
        behind = "about the same" if ratio < SAME else f"{times_text(ratio)} {word}"
        parts.append(f"{name} {item.text(value)} ({behind})")
    line = lines[0][1]
    at = value_text(line.characteristic, shared[end])
    return f"{line.label}, {at}, {item.label.lower()}: {', '.join(parts)}."
