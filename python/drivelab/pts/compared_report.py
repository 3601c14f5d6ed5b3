"""A report on several drives that have run one test, made from their results alone."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from drivelab.errors import UsageError
from drivelab.exhibits import Card, Cards, Caution, First, Page, Report, Table, WhatIf
from drivelab.exhibits.number_text import value_text
from drivelab.exhibits.quantities import TIMES
from drivelab.pts.compared import KINDS, Compared, differences, setting_text
from drivelab.pts.compared_courses import COURSES, refuse_lacking
from drivelab.pts.compared_pages import cell_pages
from drivelab.pts.report import picture_of
from drivelab.pts.settings import EDITIONS

LAYOUT: Final = 1
_MOST_CARDS: Final = 3
_VERDICTS: Final = {
    "steady": "steady",
    "not_steady": "never steady",
    "untested": "not tested",
    "bounded": "not reached",
    "incomplete": "INCOMPLETE",
}


def compare(
    drives: Sequence[Compared],
    *,
    block_bytes: int | None = None,
    read_ratio: float | None = None,
    merit: str | None = None,
) -> Report:
    """Compare drives.

    Parameters
    ----------
    drives
        Two or more, from `drivelab.pts.compared.read_results`.
    block_bytes, read_ratio
        The user's block size and share of reads; default: the test's first tracked cell.
    merit
        The class of workloads whose figure of merit ranks the drives; every class is shown.

    Returns
    -------
    Report
        The other drives are normalised to the first.

    Raises
    ------
    UsageError
        If the test cannot answer the question.
    """
    first = drives[0].result
    test = first["test"]
    if test in COURSES:
        if block_bytes is not None or read_ratio is not None or merit is not None:
            raise UsageError(
                f"the test {test!r} has no block sizes and mixes to choose from: leave "
                "--block-size, --read-ratio and --class out, or compare runs of the IOPS test"
            )
        refuse_lacking(drives)
        pages, values = COURSES[test](drives)
    else:
        pages, values = cell_pages(
            drives, block_bytes=block_bytes, read_ratio=read_ratio, merit=merit
        )
    title = f"Comparison: {first['title']} ({EDITIONS[first['edition']]})"
    return Report(
        title=title,
        header=_header(drives),
        stamp=next((drive.result["stamp"] for drive in drives if drive.result["stamp"]), ""),
        subject="comparison",
        first=First(
            f"{kinds_text(drives).capitalize()}, normalised to {drives[0].label}.",
            picture_of(pages),
            _cards(drives[0].label, values),
        ),
        pages=(_overview(drives), *pages),
        what_if=WhatIf.of_drives((one.result["drive"]["name"], one.kind) for one in drives),
        result={
            "kind": "pts-comparison",
            "layout": LAYOUT,
            "test": test,
            "edition": first["edition"],
            "drives": [
                {
                    "label": drive.label,
                    "kind": drive.kind,
                    "source": drive.source,
                    "verdict": drive.result["verdict"],
                }
                for drive in drives
            ],
            "cautions": _cautions(drives),
            **values,
        },
    )


def _cards(first: str, values: Mapping[str, Any]) -> Cards | None:
    """Return the best drives with their intervals; None if a test has no single value per drive."""
    standings = sorted(
        values.get("standings", ()),
        key=lambda one: one["mean"],
        reverse=not values.get("is_less_better", False),
    )
    if not standings:
        return None
    cards = []
    for one in standings[:_MOST_CARDS]:
        ratio = one["normalised"]
        times = "" if ratio is None or one["label"] == first else f"{ratio:.3g}{TIMES} {first}, "
        said = f"{times}95 % from {value_text(one['low'])} to {value_text(one['high'])}"
        cards.append(Card(one["label"], f"{value_text(one['mean'])} {values['unit']}", said=said))
    return Cards(tuple(cards))


def _header(drives: Sequence[Compared]) -> tuple[tuple[str, str], ...]:
    first = drives[0].result
    settings = first["settings"]
    intervals = "none: one series per drive"
    if first["test"] not in COURSES:
        intervals = "95 %, Student's t over the rounds of the measurement window"
    return (
        ("test", _header_of(first, "test")),
        ("specification", first["header"]["specification"]),
        ("numbers", kinds_text(drives)),
        ("normalised to", drives[0].label),
        ("intervals", intervals),
        ("outstanding", _alike({_header_of(each.result, "outstanding") for each in drives})),
        ("active range", _alike({_active_range(each.result) for each in drives})),
        ("data pattern", str(settings["content"])),
        ("scale", f"{settings['scale']:g}"),
        ("drives", ", ".join(drive.label for drive in drives)),
    )


def kinds_text(drives: Sequence[Compared]) -> str:
    """Return how many drives are real and how many are not."""
    kinds = [KINDS[drive.kind] for drive in drives]
    counts = [f"{kinds.count(kind)} {kind}" for kind in KINDS.values() if kind in kinds]
    return f"{' and '.join(counts)} drives" if len(drives) > 1 else f"{counts[0]} drive"


def _active_range(result: Mapping[str, Any]) -> str:
    key = "active_range_ratio"
    return setting_text(key, result["settings"][key])


def _alike(texts: Collection[str]) -> str:
    return next(iter(texts)) if len(texts) == 1 else "differs (see page 1)"


def _overview(drives: Sequence[Compared]) -> Page:
    rows = tuple(
        (
            drive.label,
            KINDS[drive.kind],
            drive.result["drive"]["capacity_bytes"] / 1e9,
            _header_of(drive.result, "firmware"),
            _header_of(drive.result, "date"),
            _purge_of(drive),
            _VERDICTS.get(drive.result["verdict"], drive.result["verdict"]),
            drive.source,
        )
        for drive in drives
    )
    table = Table(
        "drives",
        ("drive", "kind", "capacity (GB)", "firmware", "date", "purge", "steady state", "source"),
        rows,
        title="The drives",
    )
    cautions = tuple(Caution(seen=text) for text in _cautions(drives))
    return Page("What is compared", (table,), cautions)


def _header_of(result: Mapping[str, Any], name: str) -> str:
    return str(result["header"].get(name, "not known"))


def _purge_of(drive: Compared) -> str:
    """Return the result of the purge; only for a real drive also its command."""
    text = _header_of(drive.result, "purge")
    return text if drive.kind == "real" else text.partition(" (")[0]


def _cautions(drives: Sequence[Compared]) -> list[str]:
    notes = []
    simulated = [drive.label for drive in drives if drive.kind != "real"]
    if simulated and len(simulated) < len(drives):
        notes.append(
            f"Not measured on hardware: {', '.join(simulated)}. They are compared with real "
            "drives, and their bars are hatched."
        )
    elif simulated:
        notes.append("All drives are simulated: nothing here was measured on hardware.")
    for drive in drives:
        if drive.result["verdict"] == "incomplete":
            notes.append(f"{drive.label} did not finish the test.")
        elif drive.result["verdict"] == "not_steady":
            notes.append(f"{drive.label} never settled: its last rounds are compared.")
    return [*notes, *differences(drives)]
