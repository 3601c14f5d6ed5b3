"""How good models of 300 measurements are on eleven drives, and what runs forecast, also early."""

from __future__ import annotations

import csv
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Final

from drivelab._core import preset_names
from drivelab.drives.presets.source import read_preset
from drivelab.reproduce.processes import in_processes
from validation.document import Section
from validation.few_runs import (
    CHECK,
    DISKS,
    EARLY,
    EARLY_CHECK,
    MEASUREMENTS,
    REPEATED,
    SCATTERED,
    SEEDS,
    SLOW,
    SSDS,
    Found,
    Job,
    early_jobs,
    run,
    scatter,
    slow_jobs,
    whole_jobs,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

# Targets for the mean relative errors of latency, bandwidth and throughput.
_OF_SSDS: Final = (0.04, 0.03, 0.03)
_OF_DISKS: Final = (0.08, 0.08, 0.08)
_TARGETS: Final = {**dict.fromkeys((*SSDS, *SLOW), _OF_SSDS), **dict.fromkeys(DISKS, _OF_DISKS)}
_BLOCK_MAPS: Final = ("block", "bast", "fast")
# A forecast may be off by a fifth of the error found.
_TOLERANCE: Final = 0.2
# Runs with another seed, of which the latency is kept.
_OTHER_RUNS: Final = Path(__file__).parents[1] / "docs" / "images" / "few-measurements.csv"


def few_measurements() -> Section:
    """Compare errors off the grid with the targets."""
    return section_of(_found(whole_jobs()))


def slow_drives() -> Section:
    """Compare errors on drives that take long to measure with the targets."""
    return slow_section_of(_found(slow_jobs()))


def early_forecasts() -> Section:
    """Compare what runs forecast early with the errors found."""
    return early_section_of(_found(early_jobs()))


def _found(every: Sequence[Job]) -> dict[Job, Found]:
    found = in_processes(run, every, what="runs", name=lambda job: job.name)
    return dict(zip(every, found, strict=True))


def section_of(whole: Mapping[Job, Found]) -> Section:
    """Put the results of whole runs into a section."""
    section = Section(f"Models from {MEASUREMENTS} measurements", "python -m validation few")
    section.say(
        f"`drivelab model DRIVE --writes burst --check {CHECK}` on {len(SSDS) + len(DISKS)} "
        f"drives: {MEASUREMENTS} measurements, chosen during the run. *Found*: mean relative "
        f"errors of latency, bandwidth and throughput on {CHECK} other workloads spread over the "
        "whole ranges. *Forecast*: the error that the run expects for the worst of the three, by "
        "cross-validation, before it measures those workloads. *Repeated*: the mean difference in "
        f"latency of two measurements of {REPEATED['burst']} workloads with other random numbers. "
        "There is one run per drive, with one seed. *Other seed*: the error of the latency in a "
        "run of `benches/few_measurements.py`, which has other workloads to check."
    )
    section.say(_unmeasured())
    _bursts(section, {job: one for job, one in whole.items() if job.writes == "burst"})
    section.say(
        "The same with `--writes sustained`: every workload starts from a state after hours of "
        f"its own kind of writing. {REPEATED['sustained']} workloads are repeated:"
    )
    _sustained(section, {job: one for job, one in whole.items() if job.writes == "sustained"})
    return section


def _unmeasured() -> str:
    """Say of which presets nothing is known here."""
    left: dict[str, list[str]] = {}
    for name in preset_names():
        if f"sim:{name}" not in _TARGETS:
            left.setdefault(read_preset(name).resolved()[0]["kind"], []).append(name)
    left["raid0"] = sorted(left.get("raid0", []) + left.pop("raid", []))
    words = (("SSDs", "ssd"), ("disks", "hdd"), ("arrays", "raid0"))
    said = (f"the {what} {', '.join(left.pop(kind))}" for what, kind in words)
    listed = "; ".join(said)
    if left:
        raise ValueError(f"no word for {', '.join(left)}")
    return (
        f"These are {len(_TARGETS)} of {len(preset_names())} presets, with {_listed(SLOW)} in the "
        "next section, so this says nothing about the other simulated drives. Not measured are "
        f"{listed}."
    )


def _bursts(section: Section, found: Mapping[Job, Found]) -> None:
    """Compare errors with the targets, and say what limits them if a target is missed."""
    others = _other_runs()
    rows = []
    for job, one in found.items():
        other = others.get(job.drive)
        rows.append((*_cells(job, one), "" if other is None else _percent((other,))))
    section.tabulate((*_HEAD, "other seed, latency (%)"), rows)
    said = (_limits(found), _merges(found), _far_forecasts(found))
    section.say(" ".join(each for each in said if each))
    _target(section, "bursts", found)


def slow_section_of(found: Mapping[Job, Found]) -> Section:
    """Put the results of drives that take long into a section."""
    title = f"A model of a drive with shared log blocks from {MEASUREMENTS} measurements"
    section = Section(title, "python -m validation slow")
    section.say(
        f"The same as bursts of writes in the section above on {_listed(SLOW)}, whose run takes "
        "three times as long as the others'. Half of its workloads with writes fit whole into its "
        "buffer of 64 MB, and many others fill it while they are measured, so their speed depends "
        "on how much they write. The probes find the buffer, but no estimator knows how much of a "
        "measurement it takes. Its log blocks are shared by all blocks of a plane: where the "
        "buffer is full, each of them costs a merge of a whole block when it is needed again."
    )
    section.tabulate(_HEAD, [_cells(job, one) for job, one in found.items()])
    section.say(f"{_limits(found)} {_far_forecasts(found)}".strip())
    _target(section, "shared log blocks", found)
    return section


def _sustained(section: Section, found: Mapping[Job, Found]) -> None:
    """Show the errors of drives whose writes are sustained."""
    section.tabulate(_HEAD, [_cells(job, one) for job, one in found.items()])
    section.say(f"{_limits(found)} {_far_forecasts(found)}".strip())
    _target(section, "sustained writes", found)


_HEAD: Final = (
    *("drive", "found (%)", "target (%)", "missed by (points)", "forecast (%)", "repeated (%)"),
)


def _cells(job: Job, one: Found) -> tuple[str, ...]:
    over = _over(job, one)
    return (
        job.drive,
        _percent(one.errors),
        " / ".join(f"{100 * most:g}" for most in _TARGETS[job.drive]),
        f"{100 * over:.2f}" if over > 0 else "",
        _percent((one.forecast,)),
        "" if one.repeated is None else _percent((one.repeated,)),
    )


def _over(job: Job, one: Found) -> float:
    """Give by how much the target is missed by the performance that misses it most."""
    return max(error - most for error, most in zip(one.errors, _TARGETS[job.drive], strict=True))


def _limits(found: Mapping[Job, Found]) -> str:
    """Say whether measurements or models limit the drives that miss the target."""
    missing = {job: one for job, one in found.items() if _over(job, one) > 0}
    noisy = [job for job, one in missing.items() if (one.repeated or 0) > max(one.errors)]
    models = [job.drive for job in missing if job not in noisy]
    said = []
    if noisy:
        floors = [f"{_percent(scatter(job))} % on {job.drive}" for job in noisy]
        said.append(
            "Two measurements of a workload are farther apart than the model is off on "
            f"{_listed(job.drive for job in noisy)}: one measurement in a hundred takes many times "
            "as long, and no model can predict which. The median of "
            f"{SCATTERED - 1} measurements is off by this much from another measurement of the "
            f"same workload, in latency and bandwidth: {_listed(floors)} (mean over "
            f"{REPEATED[noisy[0].writes]} workloads and {SCATTERED} choices of the other). A "
            "model that knew everything else would be off by about as much, by more or less with "
            "the number of such measurements among those that check it."
        )
    if models:
        apart = [100 * (one.repeated or 0) for job, one in missing.items() if job.drive in models]
        spread = f"{max(apart):.2f}" if len(apart) == 1 else f"{min(apart):.2f} to {max(apart):.2f}"
        said.append(
            f"On {_listed(models)} two measurements are {spread} % apart, so the model, or its "
            "view of workloads, limits the error."
        )
    return " ".join(said)


def _far_forecasts(found: Mapping[Job, Found]) -> str:
    wrong = [job.drive for job, one in found.items() if _is_off(one.forecast, max(one.errors))]
    if not wrong:
        return "Every forecast is within a fifth of the error found."
    return f"The forecast differs from the error found by more than a fifth on {_listed(wrong)}."


def _merges(found: Mapping[Job, Found]) -> str:
    """Say on which drives that miss the target a model cannot know what a write costs."""
    missing = [job.drive for job, one in found.items() if _over(job, one) > 0]
    drives = [drive for drive in missing if _mapping(drive) in _BLOCK_MAPS]
    if not drives:
        return ""
    return (
        f"{_listed(drives)} maps blocks (docs/simulator.md). An overwritten page goes to a log, "
        "and a log that is full or needed for another block costs a merge: from none to dozens of "
        "moved pages for each written one, depending on where earlier writes went. The queueing "
        "model has such logs, but nothing shows what they hold when a workload begins."
    )


def _mapping(drive: str) -> str:
    """Return how a drive maps pages; nothing of those that map none."""
    preset = read_preset(drive.removeprefix("sim:")).resolved()[0]
    return str(preset.get("mapping", {}).get("scheme", ""))


def _target(section: Section, what: str, found: Mapping[Job, Found]) -> None:
    """Compare the errors with the target, met or not."""
    missed = {job.drive: _over(job, one) for job, one in found.items() if _over(job, one) > 0}
    listed = ", ".join(f"{drive} by {100 * over:.2f}" for drive, over in missed.items())
    section.claim(
        f"target, {what}: at most 4 % of the latency, 3 % of bandwidth and throughput on SSDs, "
        f"8 % on disks; missed on {len(missed)} of {len(found)} drives"
        + (f", in percentage points of the worst of the three: {listed}" if missed else ""),
        holds=not missed,
        target=True,
    )


def early_section_of(found: Mapping[Job, Found]) -> Section:
    """Compare the forecasts of early runs with their errors, by drive and in total."""
    section = Section(f"Forecasts after {EARLY} measurements", "python -m validation early")
    drives = tuple(dict.fromkeys(job.drive for job in found))
    section.say(
        f"`drivelab model DRIVE --writes burst --check {EARLY_CHECK}`: forecasts of the error are "
        f"checked after {EARLY} measurements, when they are hardest, in {SEEDS} runs per drive, "
        "with other random numbers. They are compared with the worst of the three errors found on "
        f"{EARLY_CHECK} other workloads. The table has the mean over the runs, and the smallest "
        f"and largest. {_listed(SLOW)} is left out, because its runs take too long."
    )
    rows, off = [], {}
    for drive in drives:
        ones = [one for job, one in found.items() if job.drive == drive]
        forecasts, errors = [one.forecast for one in ones], [max(one.errors) for one in ones]
        off[drive] = fmean(forecasts) / fmean(errors) - 1
        within = sum(not _is_off(one.forecast, max(one.errors)) for one in ones)
        cells = (f"{100 * off[drive]:+.0f} %", f"{within} of {len(ones)}")
        rows.append((drive, _range(forecasts), _range(errors), *cells))
    head = ("drive", "forecast (%)", "found (%)", "forecast is off by", "runs within a fifth")
    section.tabulate(head, rows)
    low, high = (
        [drive for drive in drives if abs(off[drive]) > _TOLERANCE and (off[drive] < 0) == is_low]
        for is_low in (True, False)
    )
    within = sum(not _is_off(one.forecast, max(one.errors)) for one in found.values())
    size = fmean(abs(each) for each in off.values())
    section.say(
        "For single drives the mean forecast is within a fifth on "
        f"{len(drives) - len(low) - len(high)} of {len(drives)}. It is too optimistic on "
        f"{_listed(low)}, and too pessimistic on {_listed(high)}. These errors cancel in the mean "
        f"over all drives. A drive's forecast is off by {100 * size:.0f} % on average, and "
        f"{within} of {len(found)} runs forecast within a fifth."
    )
    forecast = fmean(one.forecast for one in found.values())
    worst = fmean(max(one.errors) for one in found.values())
    section.claim(
        f"the mean forecast of {len(found)} runs, {100 * forecast:.2f} %, is within a fifth of the "
        f"mean error found, {100 * worst:.2f} %; errors of drives cancel in this mean",
        holds=not _is_off(forecast, worst),
    )
    return section


def _is_off(forecast: float, error: float) -> bool:
    return abs(forecast / error - 1) > _TOLERANCE


def _other_runs() -> dict[str, float]:
    """Return the latency's error by drive of runs that the benchmark kept."""
    with _OTHER_RUNS.open(encoding="utf-8", newline="") as file:
        return {
            row["drive"]: float(row["mean_relative_error"])
            for row in csv.DictReader(file)
            if row["design"] == "adaptive" and int(row["measurements"]) == MEASUREMENTS
        }


def _listed(drives: Iterable[str]) -> str:
    *others, last = drives or ["none"]
    return f"{', '.join(others)} and {last}" if others else last


def _percent(ratios: Sequence[float]) -> str:
    return " / ".join(f"{100 * ratio:.2f}" for ratio in ratios)


def _range(ratios: Sequence[float]) -> str:
    return f"{100 * fmean(ratios):.1f} ({100 * min(ratios):.1f} to {100 * max(ratios):.1f})"
