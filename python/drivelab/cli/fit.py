"""Fit a simulated drive to the measurements of a drive, and write it as a preset.

RUN is a run of `drivelab model` or another campaign of one drive, or a CSV file: a workload per row
with its latency or rate (docs/fit.md). The preset of --base says how the drive is built. If you
name several, they are compared; without --base, every preset of the same kind is compared. The fit
searches times, rates and buffers until the simulated drive has the measured latencies. If it does
not come near them, it changes geometry and policies one at a time and keeps what helps. A quarter
of the workloads, or the run's off-grid part, is held out to judge the result.

`--base analytic:PRESET` fits the closed form of an SSD instead of a simulated drive. It needs
single requests of several sizes, and finds the times of a page (dispatch, register, cell) and how
many pages are in flight at once.

Every value comes with an interval. If the measurements do not determine a value, the preset says
so.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from drivelab.cli.arguments import add_json, seed, whole_number
from drivelab.cli.command_line import command_line
from drivelab.cli.drive_options import add_workers, add_writes
from drivelab.cli.executor_options import add_executor_options, check_simulating
from drivelab.cli.outputs import add_force
from drivelab.cli.terminal import in_lines, show
from drivelab.drives.write_pattern import BURST, WRITES
from drivelab.errors import UsageError

if TYPE_CHECKING:
    import argparse

    from drivelab.outputs import Output, OutputFolder
    from drivelab.preset_fit.candidate import Base
    from drivelab.preset_fit.fitting import Fitted
    from drivelab.preset_fit.observed import Run
    from drivelab.runs.executor import TurningExecutors

#: Files of a report.
WRITTEN: Final = ("report", "tables", "result")
_SUFFIX: Final = ".toml"
_NAME: Final = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*")
_MOST_GENERATIONS: Final = 1000
# Choice of --hold: everything about how the drive is built.
_BUILD: Final = "build"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `drivelab fit`."""
    parser.add_argument(
        "run", metavar="RUN", type=Path, help="a run's folder, or a CSV file of measurements"
    )
    add_search(parser, several=True)
    parser.add_argument(
        "-o",
        "--preset",
        dest="preset",
        type=Path,
        required=True,
        metavar="FILE.toml",
        help="output file for the fitted preset; `sim:FILE.toml` then names the drive",
    )
    parser.add_argument(
        "--seed", type=seed, default=0, metavar="N", help="seed of all random numbers [0]"
    )
    parser.add_argument(
        "--out",
        type=Path,
        metavar="FOLDER",
        help="output folder for a report and its tables [nothing is saved]",
    )
    add_writes(parser, WRITES, f"{BURST}; only for a CSV file, a run says it")
    add_workers(parser)
    add_executor_options(parser)
    add_force(parser)
    add_json(parser)


def add_search(parser: argparse.ArgumentParser, *, several: bool = False) -> None:
    """Add the options that `base_and_file` and `fit_as_asked` read.

    Parameters
    ----------
    parser
        The parser of the command.
    several
        Whether several bases, or none, may be named.
    """
    from drivelab.preset_fit.fitting import USUAL_GENERATIONS

    more = ", or several, separated by commas: the closest one is used [all of that kind]"
    parser.add_argument(
        "--base",
        required=not several,
        default="",
        metavar="PRESET",
        help=f"a preset of the same kind of drive, by name or as a TOML file{more * several}",
    )
    parser.add_argument(
        "--fit",
        default="",
        metavar="NAMES",
        help="fit only these values, separated by commas [all that the base preset has]",
    )
    parser.add_argument(
        "--hold",
        default="",
        metavar="NAMES",
        help="do not change these values of the base preset; `build` holds geometry and policies",
    )
    parser.add_argument(
        "--generations",
        type=whole_number(0, _MOST_GENERATIONS),
        default=USUAL_GENERATIONS,
        metavar="N",
        help="generations of the wide search (CMA-ES); 0 starts at the base preset "
        f"[{USUAL_GENERATIONS}]",
    )


def base_and_file(args: argparse.Namespace) -> tuple[Base, Output]:
    """Read ``--base``, and check that the preset of ``-o`` can be written and can start from it.

    Raises
    ------
    UsageError
        If there is no such base, or if the file cannot be written or would name another drive.
    """
    from drivelab.cli.fit_bases import named_bases

    preset = _file(args)
    [base] = named_bases([args.base])
    _refuse_another_folder(args.preset, base)
    return base, preset


def _file(args: argparse.Namespace) -> Output:
    from drivelab.cli.outputs import answer_to, check_files

    preset = answer_to(args, "preset", args.preset)
    check_files([((_SUFFIX,), preset)], force=args.force)
    return preset


def fit_as_asked(
    args: argparse.Namespace, run: Run, *bases: Base, executors: TurningExecutors
) -> Fitted:
    """Search the values, from the nearest of several bases."""
    from drivelab.preset_fit.fitting import fit_nearest

    held = _names(args.hold)
    return fit_nearest(
        replace(run, plan=replace(run.plan, workers=args.workers)),
        bases,
        only=_names(args.fit),
        fixed=[name for name in held if name != _BUILD],
        generations=args.generations,
        seed=args.seed,
        builds=_BUILD not in held,
        executors=executors,
    )


def _closed_form_as_asked(args: argparse.Namespace, measured: Run, base: Base) -> Fitted:
    from drivelab.preset_fit.closed_form import fit_closed_form

    for name in ("executor", "on", "address", "workers"):
        if getattr(args, name) is not None:
            raise UsageError(
                f"--{name} is for simulations, and a closed form has none: leave it out"
            )
    held = _names(args.hold)
    return fit_closed_form(
        measured,
        base,
        only=_names(args.fit),
        fixed=[name for name in held if name != _BUILD],
    )


def run(args: argparse.Namespace) -> int:
    """Read, search, write and print."""
    from drivelab.cli.fit_bases import closed_form_base, measured_by, named_bases, usual_bases
    from drivelab.cli.outputs import write_file

    # What is wrong with a named preset is said before the run is read, which may take long.
    executors = check_simulating(args)
    formula = closed_form_base(_names(args.base))
    bases = named_bases(_names(args.base)) if formula is None else [formula]
    preset = _file(args)
    for base in bases:
        _refuse_another_folder(args.preset, base)
    folder = None if args.out is None else _folder(args)
    measured = measured_by(args, formula)
    if formula is not None:
        fitted = _closed_form_as_asked(args, measured, formula)
        write_file(preset, fitted.text(args.preset.stem), force=args.force)
        _tell(args, fitted, folder)
        return 0
    if not bases:
        bases = usual_bases(measured)
        for base in bases:
            _refuse_another_folder(args.preset, base)
    fitted = fit_as_asked(args, measured, *bases, executors=executors)
    write_file(preset, fitted.text(args.preset.stem), force=args.force)
    _tell(args, fitted, folder)
    return 0


def _refuse_another_folder(path: Path, base: Base) -> None:
    """Refuse a file from which the preset could not find its base, or would find another."""
    if base.texts and Path(base.reference).resolve().parent != path.resolve().parent:
        raise UsageError(
            f"{path} would start from {base.reference}, which must be in the same "
            f"folder: write it as {Path(base.reference).parent / path.name}"
        )
    _refuse_another_drive(path, base)


def _refuse_another_drive(path: Path, base: Base) -> None:
    """Refuse a file in which the preset would start from another drive than the fitted one."""
    from drivelab._core import preset_names
    from drivelab.drives.presets.source import preset_at
    from drivelab.drives.presets.values import preset_values
    from drivelab.preset_fit.candidate import preset_text

    if not _NAME.fullmatch(path.stem):
        raise UsageError(f"{path.name} names no drive: use letters, digits, '.', '_' and '-'")
    if path.stem in (base.name, *base.texts, *preset_names()):
        raise UsageError(
            f"{path.stem} is the name of a preset that others start from; choose another file name"
        )
    try:
        read = preset_values(preset_at(str(path), preset_text(base.name, path.stem, {})))
        values = {one.key: one.value for one in read}
        # Keys above the tables describe the base itself and are not copied.
        is_same = all(values.get(key) == base.values[key] for key in base.values if "." in key)
    except UsageError:
        is_same = False
    if not is_same:
        raise UsageError(
            f"in the folder of {path} another preset is called {base.name}, or {base.name} is no "
            "name that a preset can start from; write it into another folder"
        )


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _folder(args: argparse.Namespace) -> OutputFolder:
    from drivelab.outputs import OutputFolder
    from drivelab.report.saved import refuse_folder

    what = f"the fit of {args.base or 'a preset'} to {args.run.name}"
    folder = OutputFolder(args.out, what, force=args.force)
    refuse_folder(folder)
    return folder


def _tell(args: argparse.Namespace, fitted: Fitted, folder: OutputFolder | None) -> None:
    from drivelab.preset_fit.answer import answer_of
    from drivelab.preset_fit.exhibits import fit_report
    from drivelab.report.written import write_report

    answer = answer_of(fitted, str(args.preset))
    written = {}
    if folder is not None:
        written = write_report(fit_report(fitted, str(args.preset)), folder)
    answer |= {each: str(written[each]) if each in written else None for each in WRITTEN}
    if args.json:
        print(json.dumps(answer, indent=2))
    else:
        show(fit_text(in_lines(answer), fitted, args.preset))


def fit_text(answer: dict[str, Any], fitted: Fitted, preset: Path) -> str:
    """Return a fit's answer as text."""
    from drivelab.preset_fit.answer import amount_text, chosen_text, interval_text
    from drivelab.preset_fit.closed_form import measured_directions

    cells = [("", "base", "fitted", "95 % interval")]
    for one in fitted.values:
        amounts = amount_text(one.base), amount_text(one.value)
        cells.append((one.parameter.name, *amounts, interval_text(one)))
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = [answer["headline"], ""]
    for first, *others in cells:
        right = (f"{each:>{width}}" for each, width in zip(others, widths[1:], strict=True))
        lines.append("  ".join([f"{first:<{widths[0]}}", *right]))
    lines += [line for text in chosen_text(fitted) for line in ("", text)]
    lines += [line for text in answer["cautions"] for line in ("", text)]
    lines += ["", f"preset   {preset}"]
    lines += [f"{each:8} {answer[each]}" for each in WRITTEN[:1] if answer[each]]
    if fitted.is_closed_form:
        direction = "write" if "write" in measured_directions(fitted) else "read"
        single = [f"analytic:{preset}", "--op", direction, "--record", "64KiB"]
        lines.append(f"try it   {command_line('analytic', single)}")
    else:
        lines.append(f"try it   {command_line('measure', [f'sim:{preset}'])}")
    return "\n".join(lines)
