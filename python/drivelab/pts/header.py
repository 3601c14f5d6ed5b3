"""The header of a report: what the specification wants on every page."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from drivelab.pts.applied_settings import PRECONDITIONING_FILLS
from drivelab.pts.cell_exhibits import mix_text
from drivelab.pts.journal import Record
from drivelab.pts.settings import EDITIONS, Settings
from drivelab.pts.steady_state import PTS
from drivelab.pts.test import PtsTest
from drivelab.runs.starts import beside_text
from drivelab.units import format_decimal_size, format_duration_ns, format_size

NOT_KNOWN: Final = "not known"
#: What the tests follow, by the source of their steps.
VERSIONS: Final = {
    "specification": "follows SNIA SSS PTS 2.0.x",
    "implementations": "PTS-style, after public implementations of SNIA SSS PTS 2.0.x",
    "own": "by the method of SNIA SSS PTS 2.0.x; not one of its tests",
}
# In the order in which the specification lists what a session reports.
_OF_DRIVE: Final = ("vendor", "model", "serial", "firmware")
_OF_BUILD: Final = ("interface", "form factor", "media")
_OF_HOST: Final = ("host", "operating system", "driver")
_OF_REAL_DRIVES: Final = ("software", "I/O scheduler", "file system")


#: Tests that leave out blocks below the drive's, and their smallest block.
_OF_SMALL_BLOCKS: Final = ("iops", "latency", "blocks")
_SMALLEST_BYTES: Final = 512


def header_fields(record: Record, test: PtsTest) -> tuple[tuple[str, str], ...]:
    """Return fields and values in the specification's order."""
    drive, session = record.header["drive"], record.header["session"]
    origin, settings = record.header["origin"], record.settings

    def field_of(name: str) -> tuple[str, str]:
        return name, session.get(name) or NOT_KNOWN

    return (
        ("date", _date(origin.get("started_at"))),
        ("operator", settings.operator or NOT_KNOWN),
        ("specification", _specification(settings, test)),
        ("test", f"{test.title} ({EDITIONS[settings.edition]}){_chosen_text(record)}"),
        ("drive", drive["name"]),
        ("kind", _kind(record)),
        *(field_of(name) for name in _OF_DRIVE),
        ("capacity", format_decimal_size(drive["capacity_bytes"])),
        ("logical block", f"{drive['block_bytes']} B"),
        *(field_of(name) for name in _OF_BUILD),
        *(field_of(name) for name in _OF_HOST),
        *((name, session[name]) for name in _OF_REAL_DRIVES if session.get(name)),
        ("purge", purge_text(record)),
        ("write cache", _write_cache(record)),
        ("preconditioning", _preconditioning(record)),
        ("active range", _active_range(record)),
        ("outstanding", _outstanding(record)),
        ("data pattern", settings.content),
        ("steady state", f"rule {settings.rule}" if test.settles else "not judged"),
        ("seed", str(settings.seed)),
        ("scale", f"{settings.scale:g}"),
        ("Drivelab", str(origin.get("drivelab_version") or NOT_KNOWN)),
    )


def _outstanding(record: Record) -> str:
    """Return the queue depth of the test, and that of its preconditioning if it differs."""
    settings = record.settings
    asked = _outstanding_text(settings.threads, settings.queue_depth)
    tested = {
        (stimulus.threads, stimulus.queue_depth)
        for step in record.steps
        for stimulus in step.action.stimuli
        if step.action.phase != "preconditioning"
    }
    if tested <= {(settings.threads, settings.queue_depth)}:
        return asked
    outstanding = (
        "as each table says" if len(tested) > 1 else _outstanding_text(*next(iter(tested)))
    )
    return (
        outstanding
        if _preconditioning(record) == "none"
        else f"{outstanding}; preconditioning {asked}"
    )


def _outstanding_text(threads: int, queue_depth: int) -> str:
    return f"{threads} thread{'s' if threads > 1 else ''} x queue depth {queue_depth}"


def purge_text(record: Record) -> str:
    """Return the result of purging, the worst of several."""
    if not record.purges:
        return "not yet"
    worst = max(
        record.purges, key=lambda purge: ("done", "unavailable", "refused").index(purge.outcome)
    )
    if worst.outcome == "done":
        return f"done ({worst.method})"
    tried = f" ({worst.method})" if worst.method else ""
    return f"NOT DONE, {worst.outcome}{tried}: {worst.reason}"


def cautions(record: Record, *, settles: bool = True) -> list[str]:
    """Return what a reader must know before believing a report.

    Parameters
    ----------
    record
        The record of the test.
    settles
        Whether the test has rounds that should become steady.
    """
    drive, settings = record.header["drive"], record.settings
    notes = []
    if settings.scale < 1:
        notes.append(
            f"Times and capacities were scaled by {settings.scale:g}; a minute of the test lasted "
            f"{format_duration_ns(60e9 * settings.scale)}. This is for trying out, and not a PTS "
            "result. The drive itself was not scaled, and may still be fresh even where its "
            "rounds are steady."
        )
    if drive["kind"] == "simulated":
        notes.append("A simulated drive: nothing here was measured on hardware.")
    elif not drive["is_whole_device"]:
        notes.append(
            "This is a file or a partition: what was measured is not a device-level result."
        )
    if any(purge.outcome != "done" for purge in record.purges):
        notes.append(
            f"The drive was not purged ({purge_text(record)}): the specification wants a purge "
            "before the test."
        )
    wanted = "off" if settings.writes_are_forced else "on"
    if drive["kind"] == "real" and not _write_cache(record).startswith(wanted):
        notes.append(
            f"The write cache is {_write_cache(record)}; the specification wants it {wanted}."
        )
    notes += [caution for _, caution in _departures(settings, test_settles=settles)]
    if drive["kind"] == "real":
        notes += _disturbances(record)
    if drive["block_bytes"] > _SMALLEST_BYTES and record.test in _OF_SMALL_BLOCKS:
        notes.append(
            f"Blocks of 0.5 KiB are left out: the drive's logical block is "
            f"{format_size(drive['block_bytes'])}."
        )
    if not record.is_complete:
        why = f": {record.failure.message}" if record.failure else ""
        notes.append(f"The test did not finish{why}. What was measured is shown.")
    return notes


def _disturbances(record: Record) -> list[str]:
    """Return what disturbed the test of a real drive."""
    notes = []
    if record.starts > 1:
        times = "once" if record.starts == 2 else f"{record.starts - 1} times"
        notes.append(
            f"The test was stopped and resumed, {times}: the drive was idle in between, where "
            "the specification allows no gap."
        )
    if record.has_new_file:
        notes.append("It resumed with another file, which was never preconditioned.")
    if record.beside:
        notes.append(f"{beside_text(record.beside)}.")
    return notes


def _departures(settings: Settings, *, test_settles: bool) -> list[tuple[str, str]]:
    """Return choices that differ from the specification, by name and as a sentence."""
    notes = []
    if test_settles and settings.rule != PTS.name:
        notes.append(
            (
                "the steady-state rule",
                f"Steady state was judged by the rule {settings.rule}; the specification's is "
                f"{PTS.name}.",
            )
        )
    if settings.active_range_ratio != settings.usual_active_range_ratio:
        notes.append(
            (
                "the active range",
                f"The active range was {100 * settings.active_range_ratio:g} % of the drive; the "
                f"specification wants {100 * settings.usual_active_range_ratio:g} %.",
            )
        )
    if settings.content != "random":
        notes.append(
            (
                "the data pattern",
                f"Written data was {settings.content}; the specification wants random data.",
            )
        )
    return notes


def _specification(settings: Settings, test: PtsTest) -> str:
    """Return what a test follows, and which choices differ from it."""
    names = [name for name, _ in _departures(settings, test_settles=test.settles)]
    follows, *rest = VERSIONS[test.known].split(";")
    excepted = f", except for {' and '.join(names)}" if names else ""
    return ";".join([follows + excepted, *rest])


def _chosen_text(record: Record) -> str:
    """Return what a test sent, if that is the operator's choice."""
    settings = record.settings
    if settings.workload_class is not None:
        return f": {settings.workload_class['title']}"
    mix = mix_text(round(100 * (1 - settings.write_ratio)))
    chosen = {
        "blocks": [mix],
        "dirth": [f"{format_size(settings.block_bytes)} random {mix}"],
        "wsat": _saturation_words(settings),
    }.get(record.test)
    return f": {', '.join(chosen)}" if chosen else ""


def _saturation_words(settings: Settings) -> list[str]:
    """Return what differs from 4 KiB random writes without a rest, which the legends name."""
    words = [] if settings.workload == Settings.workload else [settings.workload]
    if settings.idle_seconds:
        scaled = f", scaled by {settings.scale:g}" if settings.scale < 1 else ""
        words.append(f"{settings.idle_seconds:g} s idle after every minute of writes{scaled}")
    return words


def _kind(record: Record) -> str:
    drive = record.header["drive"]
    if drive["kind"] == "simulated":
        is_varying = drive["identity"].get("variability") != "off"
        return f"simulated drive{'' if is_varying else ', without its variability'}"
    return "real device" if drive["is_whole_device"] else "file or partition, not a device"


def _date(text: str | None) -> str:
    if not text:
        return NOT_KNOWN
    return f"{datetime.fromisoformat(text):%Y-%m-%d %H:%M} UTC"


def _write_cache(record: Record) -> str:
    reported = record.header["session"].get("write cache")
    if record.header["drive"]["kind"] != "simulated":
        return reported or NOT_KNOWN
    if record.settings.writes_are_forced:
        return "off: every write is forced"
    return f"on, {reported}" if reported else "on"


def _preconditioning(record: Record) -> str:
    written = [
        step
        for step in record.steps
        if step.action.phase == "preconditioning" and step.action.total_bytes is not None
    ]
    if not written:
        return "none"
    sizes = dict.fromkeys(step.stimulus.sizes[0][0] for step in written)
    blocks = ", ".join(format_size(size) for size in sizes)
    return f"{PRECONDITIONING_FILLS} x user capacity, {blocks} sequential writes"


def _active_range(record: Record) -> str:
    share = f"{100 * record.settings.active_range_ratio:g} %"
    if record.settings.scale < 1:
        share += f", scaled by {record.settings.scale:g}"
    return f"{share}, {format_decimal_size(record.extent.range_bytes)}"
