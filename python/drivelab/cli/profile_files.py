"""What `drivelab profile` writes: tables, the drawing, and all of it as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from drivelab.cli.outputs import output_errors
from drivelab.profile.kind import ANSWER
from drivelab.report.saved import PAGE, PAGE_KIND, PDF, PDF_KIND, WHAT_IF

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from drivelab.exhibits import Report, Table
    from drivelab.outputs import OutputFolder
    from drivelab.profile.decision import Decision
    from drivelab.profile.profile import Profile
    from drivelab.profile.settings import ProfileSettings
    from drivelab.profile.stored import StoredProfile


_KINDS: Final = {".csv": "table", ".svg": "drawing", ".html": PAGE_KIND, ".json": "profile"}
#: The files of a profile, in addition to its journal.
FILES: Final = (
    *("ratios.csv", "ratio_intervals.csv", "access_times.csv", "passes.csv", "decisions.csv"),
    *("profile.svg", PAGE, ANSWER),
)


def _tables(found: Profile, answers: Sequence[Decision]) -> Iterator[Table]:
    from drivelab.profile import tables

    yield tables.ratio_table(found)
    yield tables.interval_table(found)
    yield tables.access_time_table(found)
    yield tables.pass_table(found)
    if answers:
        yield tables.decision_table(answers)


def check_files(folder: OutputFolder) -> None:
    """Refuse a profile with files that somebody changed, before more is measured."""
    found = (name for name in FILES if (folder.path / name).exists())
    folder.check({name: _KINDS[Path(name).suffix] for name in found})


def write_files(
    found: Profile,
    plan: ProfileSettings,
    head: Mapping[str, Any],
    answers: Sequence[Decision],
    folder: OutputFolder,
) -> list[str]:
    """Write tables, the drawing and all values into a folder; return the files' names."""
    from drivelab.profile.cautions import cautions
    from drivelab.profile.exhibits import profile_figures, profile_report
    from drivelab.report.drawing.grid import grid_document
    from drivelab.report.written import rendered_into

    texts = {f"{table.name}.csv": table.csv() for table in _tables(found, answers)}
    note = _note(found, plan, head)
    heading = f"{head['drive']} ({head['kind']})"
    texts["profile.svg"] = grid_document(profile_figures(found, head["kind"]), heading, note)
    limits = cautions(found, plan, has_new_file=head["has_new_file"], beside=head["beside"])
    report = profile_report(
        found, answers, drive=head["drive"], kind=head["kind"], note=note, cautions=limits
    )
    rendered = rendered_into(folder.path, report, force=folder.force)
    texts[PAGE] = rendered.html
    further = [WHAT_IF] if rendered.has_what_if else []
    files = [str(folder.path / name) for name in (*texts, *further, ANSWER)]
    texts[ANSWER] = json.dumps(values_of(found, plan, head, answers, files), indent=2) + "\n"
    page = folder.path / PAGE
    if not page.is_file() or page.read_bytes() != texts[PAGE].encode():
        # An older file would contradict the page.
        folder.remove(PDF, PDF_KIND)
    for name, text in texts.items():
        with output_errors(folder.path / name):
            folder.write(name, _KINDS[Path(name).suffix], text)
    if not answers:
        # From another cost, which was given before.
        folder.remove("decisions.csv", _KINDS[".csv"])
    return files


def write_page(stored: StoredProfile, header: Mapping[str, Any], folder: OutputFolder) -> Report:
    """Write the page of a stored profile, and its tables; return the report."""
    from drivelab.profile.cautions import cautions
    from drivelab.profile.decision import decisions
    from drivelab.profile.exhibits import profile_report
    from drivelab.report.written import rendered_into

    found, plan, drive = stored.found, stored.plan, header["drive"]
    answers = [] if plan.cost is None else decisions(found, plan.cost)
    limits = cautions(
        found,
        plan,
        is_complete=stored.is_complete,
        has_new_file=stored.has_new_file,
        beside=stored.beside,
    )
    report = profile_report(
        found,
        answers,
        drive=drive["name"],
        kind=drive["kind"],
        note=_note(found, plan, between(drive["kind"], drive["identity"])),
        cautions=limits,
    )
    rendered = rendered_into(folder.path, report, force=folder.force)
    texts = {f"{table.name}.csv": table.csv() for table in (*rendered.tables, *report.tables)}
    for name, text in {**texts, PAGE: rendered.html}.items():
        with output_errors(folder.path / name):
            folder.write(name, _KINDS[Path(name).suffix], text)
    return report


def between(kind: str, identity: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is between a drive and the requests."""
    is_real = kind == "real"
    device, volatile = identity.get("device") or {}, identity.get("volatile") or {}
    return {
        "file_system": identity.get("file_system") if is_real else None,
        "mount_options": identity.get("mount_options") if is_real else None,
        "scheduler": device.get("scheduler") if is_real else None,
        "kernel": volatile.get("kernel_release") if is_real else None,
    }


def _note(found: Profile, plan: ProfileSettings, head: Mapping[str, Any]) -> str:
    """Return what was measured, and what is between the drive and the requests."""
    from drivelab.profile.sizes import size_text

    note = f"{len(found.measured):,} passes over {size_text(plan.file_bytes)}"
    if plan.share < 1:
        note += f", partial: at least {100 * plan.share:.3g} % of the file each"
    between = [head[name] for name in ("file_system", "scheduler") if head[name]]
    between += [f"Linux {head['kernel']}"] if head["kernel"] else []
    return f"{note}; {', '.join(between) if between else 'simulated time'}"


def values_of(
    found: Profile,
    plan: ProfileSettings,
    head: Mapping[str, Any],
    answers: Sequence[Decision],
    files: list[str],
) -> dict[str, Any]:
    """Return what ``--json`` prints (docs/json-profile.md)."""
    from drivelab.profile import tables

    times = tables.access_time_table(found).records()
    intervals = tables.interval_table(found)
    return {
        **head,
        "plan": plan.to_json(),
        "is_partial": plan.share < 1,
        "passes": len(found.measured),
        "measured_sizes_bytes": sorted({one.whole_pass.request_bytes for one in found.measured}),
        "measuring_ns": found.measuring_ns,
        "tests_not_known": found.tests_not_known if plan.is_full else None,
        "lines_through_ends": [
            {
                "direction": direction,
                "order": "random" if is_random else "sequential",
                "low_bytes": interval.low_bytes,
                "high_bytes": interval.high_bytes,
            }
            for (direction, is_random), interval in found.through_ends
        ],
        "ratios": {
            direction: {
                "mean_ratio": ratios.mean,
                "least_ratio": ratios.least,
                "most_ratio": ratios.most,
                "half_width_ratio": ratios.half_width_ratio,
                "is_less_sure_than_asked": plan.missed(ratios.half_width_ratio),
                "repetition_spread_ratio": _spread(found, direction),
                "sizes": [
                    {name: value for name, value in row.items() if name != "direction"}
                    for row in intervals.records(direction=direction)
                ],
            }
            for direction, ratios in found.ratios.items()
        },
        "access_times": times,
        "decisions": [] if not answers else tables.decision_table(answers).records(),
        "files": files,
    }


def _spread(found: Profile, direction: Any) -> float | None:
    variance = found.centres[direction].variance
    return None if variance is None else float(variance**0.5)
