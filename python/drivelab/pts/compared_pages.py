"""Pages of a comparison over stimuli: bars, columns, wins and losses, figures of merit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any, Final

from drivelab.errors import UsageError
from drivelab.exhibits import Axis, BarFigure, Caution, ColumnFigure, Page, Table
from drivelab.pts.cell_exhibits import block_text, mix_text
from drivelab.pts.class_file import load_class
from drivelab.pts.compared import Compared
from drivelab.pts.compared_cells import (
    Asked,
    Key,
    Measure,
    Standing,
    at_size_and_mix,
    beats,
    cells_of,
    efficiency_of,
    measure_of,
    standings,
    words_of,
)
from drivelab.pts.merit import merit_classes, merits
from drivelab.student import Interval, mean_interval, ratio_interval

#: In addition to the user's cell, those that the specification judges the IOPS test by.
_HEADLINES: Final = ((4096, 0.0), (65536, 0.65), (1048576, 1.0))
_DEFAULT: Final = (4096, 0.0)
_CLASS_TEST: Final = "class"
#: Tests whose stimuli are not a choice of block sizes and mixes.
_FIXED_TESTS: Final = ("ecw", "dirth", _CLASS_TEST)
_NOTE: Final = "Whiskers are 95 % intervals of the mean (Student's t over the window's rounds)."

Cells = Sequence[Mapping[Key, list[float]]]


def cell_pages(
    drives: Sequence[Compared],
    *,
    block_bytes: int | None,
    read_ratio: float | None,
    merit: str | None,
) -> tuple[list[Page], dict[str, Any]]:
    """Compare drives over the stimuli that all of them have run.

    Returns
    -------
    tuple
        The pages, and ``pts compare`` as in docs/json-pts.md.
    """
    test = drives[0].result["test"]
    measure = measure_of(test)
    every = [cells_of(drive.result, measure) for drive in drives]
    shared = [key for key in every[0] if all(key in of for of in every)]
    if not shared:
        raise UsageError(
            "the drives have run no stimulus in common; name runs that reached their first window"
        )
    if test in _FIXED_TESTS:
        if block_bytes is not None or read_ratio is not None or merit is not None:
            raise UsageError(
                f"the test {test!r} has no block sizes and mixes to choose from: leave "
                "--block-size, --read-ratio and --class out, or compare runs of the IOPS test"
            )
        words, rounds = _tracked(drives, every, shared)
        asked = None
    else:
        asked = _asked(every, block_bytes, read_ratio)
        words, rounds = asked.words, asked.rounds
    found = standings(drives, rounds, measure)
    values: dict[str, Any] = {
        "measure": measure.name,
        "unit": measure.unit,
        "is_less_better": measure.is_time,
        "block_bytes": None if asked is None else asked.block_bytes,
        "read_ratio": None if asked is None else asked.read_ratio,
        "is_measured": asked is None or asked.is_measured,
        "standings": [_standing_json(one, found[0].interval.mean) for one in found],
    }
    pages = [
        _asked_page(words, found, measure, is_measured=asked is None or asked.is_measured),
        _normalised_page(drives, every, shared, measure, asked),
    ]
    if test not in _FIXED_TESTS:
        pages += _column_pages(drives, every, shared, measure)
    pages.append(_all_cells_page(drives, every, shared, measure))
    chosen = _headline_cells(shared, measure, asked)
    efficient = efficiency_page(drives, chosen)
    pages += [efficient] if efficient is not None else []
    if test == "iops":
        page, values["merits"] = _merit_page(drives, every, merit)
        pages.append(page)
    elif merit is not None:
        raise UsageError("--class needs runs of the IOPS test")
    return pages, values


def _tracked(
    drives: Sequence[Compared], every: Cells, shared: Sequence[Key]
) -> tuple[str, tuple[tuple[float, ...], ...]]:
    """Return what a test without a choice of cells is judged by, and its rounds on each drive."""
    windows = [drive.result["sections"][0]["windows"] for drive in drives]
    if drives[0].result["test"] == _CLASS_TEST and all(windows):
        return windows[0][0]["tracked"], tuple(tuple(of[0]["values"]) for of in windows)
    return words_of(shared[0]), tuple(tuple(of[shared[0]]) for of in every)


def _asked(every: Cells, block_bytes: int | None, read_ratio: float | None) -> Asked:
    size, mix = block_bytes, read_ratio
    if size is None:
        known = sorted({int(key[1]) for key in every[0] if key[1].isdigit()})
        size = _DEFAULT[0] if not known or _DEFAULT[0] in known else known[0]
    return at_size_and_mix(every, size, _DEFAULT[1] if mix is None else mix)


def _standing_json(one: Standing, reference: float) -> dict[str, Any]:
    return {
        "label": one.drive.label,
        "mean": one.interval.mean,
        "low": one.interval.low,
        "high": one.interval.high,
        "normalised": one.interval.mean / reference if reference > 0 else None,
        "wins": one.wins,
        "losses": one.losses,
        "undecided": one.undecided,
    }


def _asked_page(
    words: str, found: Sequence[Standing], measure: Measure, *, is_measured: bool
) -> Page:
    bars = BarFigure(
        "asked",
        f"{measure.name.capitalize()} at {words}",
        Axis(measure.label),
        (words,),
        tuple((one.drive.label, (one.interval.mean,), (one.interval.ends,)) for one in found),
        _NOTE,
    )
    ranked = sorted(found, key=lambda one: one.interval.mean, reverse=not measure.is_time)
    rows = tuple(
        (
            place,
            one.drive.label,
            one.interval.mean,
            one.interval.low,
            one.interval.high,
            one.wins,
            one.losses,
            one.undecided,
        )
        for place, one in enumerate(ranked, start=1)
    )
    better = "less" if measure.is_time else "more"
    table = Table(
        "wins",
        (
            *("rank", "drive", measure.label, "95 % from", "95 % to"),
            *("wins", "losses", "undecided"),
        ),
        rows,
        title=f"Wins and losses at {words} ({better} is better)",
        note="A drive wins against another if it is better and their intervals do not overlap; "
        "if they overlap, this number of rounds does not decide.",
    )
    cautions = (
        ()
        if is_measured
        else (Caution(seen="Not a cell of the test: interpolated between its cells."),)
    )
    return Page(f"At {words}", (bars, table), cautions)


def _normalised_page(
    drives: Sequence[Compared],
    every: Cells,
    shared: Sequence[Key],
    measure: Measure,
    asked: Asked | None,
) -> Page:
    chosen = _headline_cells(shared, measure, asked)
    groups = [(words_of(key), [of[key] for of in every]) for key in chosen]
    if asked is not None and not asked.is_measured:
        groups.insert(0, (asked.words, [list(rounds) for rounds in asked.rounds]))
    bars = []
    for place, drive in enumerate(drives):
        ratios = [_over(of_group, place) for _, of_group in groups]
        bars.append(
            (
                drive.label,
                tuple(None if ratio is None else ratio.mean for ratio in ratios),
                tuple(None if ratio is None else ratio.ends for ratio in ratios),
            )
        )
    figure = BarFigure(
        "normalised",
        f"{measure.name.capitalize()}, {drives[0].label} = 1",
        Axis(f"{drives[0].label} = 1"),
        tuple(words for words, _ in groups),
        tuple(bars),
        f"Each drive's mean divided by that of {drives[0].label}. Whiskers are 95 % intervals of "
        "the ratio: both means are uncertain (Student's t, degrees of freedom after Welch).",
    )
    return Page("Normalised", (figure,))


def efficiency_page(drives: Sequence[Compared], chosen: Sequence[Key]) -> Page | None:
    """Show IOPS per watt, if any drive's energy is known at a chosen stimulus."""
    known = [efficiency_of(drive.result) for drive in drives]
    keys = [key for key in chosen if any(key in of for of in known)]
    if not keys:
        return None
    bars = tuple(
        (drive.label, tuple(of.get(key) for key in keys), (None,) * len(keys))
        for drive, of in zip(drives, known, strict=True)
    )
    figure = BarFigure(
        "efficiency",
        "Throughput over power",
        Axis("IOPS/W"),
        tuple(words_of(key) for key in keys),
        bars,
        "Requests per joule over the whole window. A drive without a value reports no energy.",
    )
    return Page("Power efficiency", (figure,))


def _headline_cells(shared: Sequence[Key], measure: Measure, asked: Asked | None) -> list[Key]:
    """Choose at most four cells: the user's, those that are tracked, or those at the ends."""
    wanted = list(_HEADLINES)
    if asked is not None and asked.is_measured:
        wanted.insert(0, (asked.block_bytes, asked.read_ratio))
    found = [key for size, mix in wanted for key in shared if (key[1], key[2]) == (str(size), mix)]
    if len(found) < 3 or measure.is_time or asked is None:
        found += [shared[0], shared[-1], shared[len(shared) // 2], *shared[:4]]
    return list(dict.fromkeys(found))[:4]


def _over(rounds: Sequence[Sequence[float]], place: int) -> Interval | None:
    """Divide a drive's rounds by those of the first one, which is exactly 1 for itself."""
    if fmean(rounds[0]) <= 0:
        return None
    return ratio_interval(rounds[place], rounds[0]) if place else Interval(1.0, None, None)


def _column_pages(
    drives: Sequence[Compared], every: Cells, shared: Sequence[Key], measure: Measure
) -> list[Page]:
    pages = []
    for mix in dict.fromkeys(key[2] for key in shared):
        keys = [key for key in shared if key[2] == mix and key[1].isdigit()]
        sizes = tuple(block_text(int(key[1])) for key in keys)
        words = mix_text(round(100 * mix))
        figure = ColumnFigure(
            f"columns-{round(100 * mix)}",
            f"{measure.name.capitalize()} by block size and drive, {words}",
            Axis("block size", categories=sizes),
            Axis("drive", categories=tuple(drive.label for drive in drives)),
            Axis(measure.label, "log10"),
            tuple(tuple(mean_interval(of[key]).mean for key in keys) for of in every),
        )
        pages.append(Page(f"Block sizes at {words}", (figure,)))
    return pages


def _all_cells_page(
    drives: Sequence[Compared], every: Cells, shared: Sequence[Key], measure: Measure
) -> Page:
    rows = []
    counts = {drive.label: [0, 0, 0, 0] for drive in drives}
    for key in shared:
        intervals = [mean_interval(of[key]) for of in every]
        order = sorted(
            range(len(drives)),
            key=lambda place: intervals[place].mean,
            reverse=not measure.is_time,
        )
        best, second = order[0], order[1]
        outcome = beats(intervals[best], intervals[second], measure)
        rows.append(
            (
                words_of(key),
                drives[best].label,
                intervals[best].mean,
                drives[second].label,
                intervals[second].mean,
                "yes" if outcome == 1 else "no",
            )
        )
        if outcome == 1:
            counts[drives[best].label][0] += 1
        for place, drive in enumerate(drives):
            for other in range(len(drives)):
                if other != place:
                    result = beats(intervals[place], intervals[other], measure)
                    counts[drive.label][{1: 1, -1: 2, 0: 3}[result]] += 1
    totals = Table(
        "wins-overall",
        ("drive", "best of all", "wins", "losses", "undecided"),
        tuple((label, *found) for label, found in counts.items()),
        title=f"Over all {len(shared)} stimuli that every drive has run",
        note="Best of all: ahead of every other with intervals that do not overlap. Wins, losses: "
        "against each other drive at each stimulus.",
    )
    each = Table(
        "best-by-cell",
        (
            *("stimulus", "best", measure.label, "second", f"second, {measure.label}"),
            "intervals apart",
        ),
        tuple(rows),
        title="The two best at each stimulus",
    )
    return Page("Wins and losses over all stimuli", (totals, each))


def _merit_page(
    drives: Sequence[Compared], every: Cells, asked: str | None
) -> tuple[Page, list[dict[str, Any]]]:
    chosen = [load_class(asked)] if asked is not None else []
    others = merit_classes().values()
    # A user's edition of a class replaces the package's.
    classes = [*chosen, *(each for each in others if each.name not in [of.name for of in chosen])]
    found = {}
    for of in classes:
        try:
            found[of.name] = [mean_interval(rounds) for rounds in merits(of, every)]
        except UsageError:
            # A drive that cannot serve its small blocks has no figure.
            if of.name == asked:
                raise
    shown = [of for of in classes if of.name in found]
    bars = BarFigure(
        "merit",
        "Figure of merit by class of workloads",
        Axis("figure of merit (requests/s)"),
        tuple(of.title for of in shown),
        tuple(
            (
                drive.label,
                tuple(found[of.name][place].mean for of in shown),
                tuple(found[of.name][place].ends for of in shown),
            )
            for place, drive in enumerate(drives)
        ),
        f"The rate at which a drive serves the class's requests, one kind after the other. {_NOTE}",
    )
    sources = Table(
        "merit-sources",
        ("class", "where from"),
        tuple((of.title, of.source) for of in shown),
        title="Where the weights come from",
    )
    weights = Table(
        "merit-weights",
        ("class", "block size", "R/W", "share of requests (%)"),
        tuple(
            (of.title, block_text(size), mix_text(round(100 * mix)), round(100 * share, 3))
            for of in shown
            for size, mix, share in of.weights
        ),
        title="Weights",
    )
    values = [
        {
            "class": of.name,
            "source": of.source,
            "weights": [
                {"block_bytes": size, "read_ratio": mix, "share": share}
                for size, mix, share in of.weights
            ],
            "drives": [
                {"label": drive.label, "mean": one.mean, "low": one.low, "high": one.high}
                for drive, one in zip(drives, found[of.name], strict=True)
            ],
        }
        for of in shown
    ]
    return Page("Figures of merit", (bars, sources, weights)), values
