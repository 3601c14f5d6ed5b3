"""`drivelab simulate --mqsim`: MQSim's ssdconfig.xml and workload.xml, one result per scenario."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from drivelab.cli.courses import LABEL, line
from drivelab.cli.terminal import in_lines, show
from drivelab.cli.trace_options import measured_trace_of
from drivelab.errors import RunError, UsageError

if TYPE_CHECKING:
    import argparse

    from drivelab.drives.presets.mqsim import Imported
    from drivelab.drives.presets.mqsim_flows import Flow
    from drivelab.drives.presets.mqsim_scenario import Translated
    from drivelab.drives.presets.source import PresetSource

_MOST_BYTES: Final = 1 << 20
#: Options of `simulate` about a single run, or about what MQSim's files set.
_NOT_BESIDE: Final = (
    "scenario",
    "trace",
    "content",
    "csv",
    "log",
    "log_requests",
    "firmware",
    "from_state",
    "save_state",
)
_OF_THE_RUN: Final = ("seconds", "interval")


def check(args: argparse.Namespace) -> None:
    """Refuse options that have no effect together with MQSim's files."""
    from drivelab.workloads.characteristics import FIELDS

    if args.drive is not None:
        raise UsageError(f"ssdconfig.xml describes the drive: leave out {args.drive} or --mqsim")
    for name in (*FIELDS, *_NOT_BESIDE):
        if getattr(args, name, None) is not None:
            option = f"--{name.replace('_', '-')}"
            raise UsageError(f"MQSim's files set what is simulated: leave out {option} or --mqsim")
    for name in _OF_THE_RUN:
        if getattr(args, name) == 0:
            raise UsageError(f"--{name} is 0; allowed: more than 0, for example 100ms")
    if args.force:
        raise UsageError("--force is for files that are written: leave out --force or --mqsim")
    # Without a trace, this refuses the options for traces.
    measured_trace_of(args)


def simulate(args: argparse.Namespace) -> int:
    """Simulate each scenario on its own drive, and print."""
    check(args)
    config, workload = args.mqsim
    flows, content = _read(config, workload)
    # All are read before the first one runs.
    prepared = [
        _prepared(workload, (config, content), place, each, len(flows))
        for place, each in enumerate(flows)
    ]
    for one in prepared:
        _refuse_beyond_list(args, one)
    results = [_result(args, one) for one in prepared]
    if args.json:
        print(json.dumps({"scenarios": results}, indent=2))
        return 0
    show(_text(results, workload.name))
    return 0


def _text(results: list[dict[str, Any]], name: str) -> str:
    """Return the scenarios as a text; a note on each of several is printed once, first."""
    from drivelab.cli.simulate_text import COLUMNS, text
    from drivelab.cli.trace_text import in_width

    first = results[0]["notes"]
    common = [
        note
        for note in (first if len(results) > 1 else [])
        if all(note in each["notes"] for each in results)
    ]
    said = []
    if common:
        lines = [line("scenarios", f"all {len(results)} of {in_lines(name)}")]
        for note in in_lines(_named(common)):
            lines += in_width("", note, label_width=LABEL, columns=COLUMNS)
        said.append("\n".join(lines))
    for each in results:
        notes = _named([note for note in each["notes"] if note not in common])
        title, values = in_lines(each["scenario"]), in_lines(each["simulation"])
        said.append(text(values, title=title, notes=in_lines(notes)))
    return "\n\n".join(said)


def _named(notes: list[str]) -> list[str]:
    return [f"MQSim's files: {note}" for note in notes]


def _read(config: Path, workload: Path) -> tuple[list[list[Flow]], bytes]:
    from drivelab.drives.presets.mqsim_flows import read_workload
    from drivelab.drives.presets.mqsim_xml import file_of
    from drivelab.named_file import read_file

    content = read_file(config, "MQSim's ssdconfig.xml", _MOST_BYTES, "name MQSim's ssdconfig.xml")
    asked = read_file(workload, "MQSim's workload.xml", _MOST_BYTES, "name MQSim's workload.xml")
    if (file_of(content), file_of(asked)) == ("workload.xml", "ssdconfig.xml"):
        raise UsageError(f"the two files are swapped: write --mqsim {workload} {config}")
    try:
        return read_workload(asked), content
    except UsageError as error:
        raise UsageError(f"{workload}: {error}") from error


@dataclass(frozen=True)
class _Prepared:
    """A scenario from MQSim's files that can run.

    Attributes
    ----------
    title
        Its title.
    where
        Its position in the files, for errors.
    source
        The drive.
    sent
        What its flows send.
    notes
        Settings with another meaning than in MQSim, or without effect.
    """

    title: str
    where: str
    source: PresetSource
    sent: Translated
    notes: list[str]


def _prepared(
    workload: Path,
    config: tuple[Path, bytes],
    place: int,
    flows: list[Flow],
    count: int,
) -> _Prepared:
    from drivelab.drives.presets.mqsim_facts import facts_of
    from drivelab.drives.presets.mqsim_scenario import translated
    from drivelab.drives.presets.source import PresetSource

    path = config[0]
    where = f"{workload}: IO_Scenario {place + 1}"
    made = _imported(config, flows)
    source = PresetSource(path.stem, made.toml_text)
    title = f"{workload.name}, IO_Scenario {place + 1} of {count}"
    try:
        facts = facts_of(source.resolved()[0], is_written=made.is_written)
        sent = translated(flows, facts, workload.parent, title)
    except UsageError as error:
        raise UsageError(f"{where}: {error}") from error
    notes = [*sent.notes, *_unexpected(made)]
    return _Prepared(title, where, source, sent, notes)


def _refuse_beyond_list(args: argparse.Namespace, one: _Prepared) -> None:
    """Refuse to count more requests than the traces of a scenario have."""
    if args.requests is None and args.warmup_requests is None:
        return
    # A flow that draws its requests has no number of them.
    listed = [stream.requests for stream in one.sent.scenario.streams()]
    if None in listed:
        return
    total = sum(count or 0 for count in listed)
    requests, warmup = args.requests or 1, args.warmup_requests or 0
    if warmup + requests > total:
        options = {"--requests": args.requests, "--warmup-requests": warmup}
        asked = " and ".join(f"{name} {count}" for name, count in options.items() if count)
        raise UsageError(
            f"{one.where}: its traces have {total:,} requests, too few for {asked}; give less"
        )


def _result(args: argparse.Namespace, one: _Prepared) -> dict[str, Any]:
    from drivelab.cli.simulate_progress import SimulateProgress
    from drivelab.cli.simulate_text import asked_of
    from drivelab.drives.simulated.drive import SimulatedDrive

    varies = not args.no_variability
    with (
        SimulatedDrive(f"sim:{one.source.reference}", one.source, varies=varies) as drive,
        SimulateProgress() as progress,
    ):
        try:
            simulation = drive.simulate(
                one.sent.scenario,
                seed=args.seed,
                warmup_requests=args.warmup_requests,
                requests=args.requests,
                seconds=args.seconds,
                interval_seconds=args.interval,
                progress=progress,
            )
        except (UsageError, RunError) as error:
            raise type(error)(f"{one.where}: {error}") from error
    values = dict(simulation.values)
    for stream, plan in zip(values["streams"], simulation.asked, strict=True):
        stream.update(asked_of(plan))
    values["saved_state"] = None
    return {"scenario": one.title, "notes": one.notes, "simulation": values}


def _unexpected(made: Imported) -> list[str]:
    """Return settings that became nothing: those not on the importer's page, and unusual values."""
    from drivelab.drives.presets.mqsim_words import WITHOUT_COUNTERPART

    return [
        f"{name} {made.unusual[name]}: {why}" if name in made.unusual else f"{name}: {why}"
        for name, why in made.unused.items()
        if name in made.unusual or name not in WITHOUT_COUNTERPART
    ]


def _imported(config: tuple[Path, bytes], flows: list[Flow]) -> Imported:
    from drivelab.drives.presets.mqsim import import_ssdconfig
    from drivelab.drives.presets.mqsim_scenario import condition_of

    path, content = config
    try:
        return import_ssdconfig(content, path.stem, condition_of(flows))
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from error
