"""`drivelab model --from`: models of measurements that exist already."""

from __future__ import annotations

import argparse
import json
import math
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from drivelab.cli.arguments import CommandParser, argument_type
from drivelab.cli.command_line import command_line
from drivelab.cli.outputs import add_force, output_errors
from drivelab.cli.terminal import in_lines, show
from drivelab.drives.naming import kind_of
from drivelab.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from drivelab.models.own.model import FittedTable

#: Options of `drivelab model` that are not about measuring, by their attribute.
_OWN: Final = ("own_files", "targets", "columns", "features_from", "group", "last_share", "force")
_SHARED: Final = ("out", "json", "seed", "command")


def add_own_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that `fit_own` reads."""
    group = parser.add_argument_group(
        "your own measurements instead of a drive's", "without DRIVE; --seed, --out and --json too"
    )
    group.add_argument(
        "--from",
        dest="own_files",
        type=Path,
        nargs="+",
        metavar="FILE",
        help="CSV or Parquet tables, fio's JSON results, or a folder of JSON results",
    )
    group.add_argument(
        "--target",
        dest="targets",
        action="append",
        metavar="NAME",
        help="a column to model, such as p99_ms; may be repeated [columns whose names look like "
        "results; of a table that Drivelab exported, latency, bandwidth and throughput]",
    )
    group.add_argument(
        "--column",
        dest="columns",
        type=_mapping,
        action="append",
        metavar="COLUMN=NAME",
        help="rename a column of the file, such as bs=read_size; may be repeated",
    )
    group.add_argument(
        "--features-from",
        metavar="COLUMN,...",
        help="columns that the models see; all: every column that is not a result [the eight "
        "workload characteristics if all of them exist, else all]",
    )
    group.add_argument(
        "--group",
        metavar="COLUMN",
        help="rows with the same value in this column are repeats and are never on both sides "
        "of cross-validation; the models see the column only if --features-from names it [rows "
        "with equal settings]",
    )
    group.add_argument(
        "--test-last",
        dest="last_share",
        type=argument_type(_share),
        metavar="PERCENT",
        help="rows are in the order of time: learn from the first rows, and report how far off "
        "the predictions for the last rows are, such as 33%%",
    )
    add_force(group)


def refuse_measuring(
    args: argparse.Namespace, add_arguments: Callable[[argparse.ArgumentParser], None]
) -> None:
    """Refuse options about a drive together with ``--from``.

    Parameters
    ----------
    args
        The command's arguments.
    add_arguments
        Adds every option of the command.

    Raises
    ------
    UsageError
        For drives, and for the first option that says how to measure.
    """
    if args.drives:
        raise UsageError(
            f"{' '.join(args.drives)} and --from: models are fitted to a drive or to files; leave "
            "one out (--from takes several files)"
        )
    for path in args.own_files:
        if _is_drive(path):
            raise UsageError(
                f"{path} is a drive, and --from takes no DRIVE; leave it out, or model the drive "
                f"itself with `drivelab model {path}`"
            )
    parser = CommandParser()
    add_arguments(parser)
    for action in parser._actions:
        if action.dest in (*_OWN, *_SHARED, "help", "drives"):
            continue
        if getattr(args, action.dest) != action.default:
            raise UsageError(
                f"{action.option_strings[0]} is about measuring; with --from nothing is measured, "
                "leave it out"
            )


def _is_drive(path: Path) -> bool:
    """Return whether a path is the name of a drive and not a file."""
    try:
        return path.is_block_device() or (kind_of(str(path)) != "real" and not path.exists())
    except ValueError:
        return False


def refuse_without_files(args: argparse.Namespace) -> None:
    """Refuse options for files without ``--from``, and a command with neither drive nor files."""
    if not args.drives:
        raise UsageError(
            "DRIVE is missing (see `drivelab model --help`); to use your own measurements, name "
            "their --from"
        )
    options = {"targets": "--target", "columns": "--column", "features_from": "--features-from"}
    options |= {"group": "--group", "last_share": "--test-last", "force": "--force"}
    for name, option in options.items():
        if getattr(args, name):
            raise UsageError(f"{option} is for your own measurements; name their files with --from")


def _mapping(text: str) -> tuple[str, str]:
    column, is_mapped, name = text.rpartition("=")
    if not is_mapped or not column.strip() or not name.strip():
        raise argparse.ArgumentTypeError(
            f"{text!r} is not allowed; write COLUMN=NAME, for example bs=read_size"
        )
    return column.strip(), name.strip()


def _share(text: str) -> float:
    number, is_percent, rest = text.partition("%")
    try:
        share = float(number) / 100
    except ValueError:
        share = math.nan
    if not is_percent or rest or not 0 < share < 1:
        raise UsageError(f"{text!r} is not allowed; write a percentage such as 33%")
    return share


def fit_own(args: argparse.Namespace) -> int:
    """Fit models to the files, write them with their report, and print how good they are."""
    from drivelab.cli.own_progress import OwnProgress
    from drivelab.models.own.model import Asked, fit_table
    from drivelab.models.own.reading import read_files
    from drivelab.pages.own import check_own_folder, write_own

    if args.out is None:
        raise UsageError("--out is missing: the folder for model and report")
    folder = check_own_folder(args.out, args.own_files, force=args.force)
    listed = [] if args.features_from is None else args.features_from.split(",")
    names = tuple(name.strip() for name in listed if name.strip())
    if listed and not names:
        raise UsageError("--features-from names no column; write names with commas between, or all")
    asked = Asked(tuple(args.targets or ()), names, args.group, args.seed, args.last_share)
    with closing(OwnProgress()) as progress:
        found = fit_table(read_files(args.own_files), args.columns or [], asked, watch=progress)
    with output_errors(args.out):
        paths = write_own(found, folder)
    answer: dict[str, Any] = {
        "out": str(args.out),
        **{name: str(path) for name, path in paths.items()},
        **summary(found),
    }
    if args.json:
        print(json.dumps(answer, indent=2))
    else:
        show(_text(in_lines(answer), found, args.out, progress.left_out))
    return 0


def summary(found: FittedTable) -> dict[str, Any]:
    """Return what ``--json`` prints about the models (docs/json-own.md)."""
    model = found.model
    return {
        "files": [{"file": file, "rows": rows} for file, rows in model.files],
        "seed": model.seed,
        "group": model.group,
        "features": [
            {
                "name": one.name,
                "scale": one.scale,
                "categories": list(one.categories),
                "low": None if one.categories else one.low,
                "high": None if one.categories else one.high,
            }
            for one in model.columns
        ],
        "targets": [
            {
                "name": one.name,
                "logarithm": one.logarithm,
                "rows": one.rows,
                "left_out_rows": one.left_out,
                "groups": one.groups,
                "low": one.low,
                "high": one.high,
                "best": one.best,
                "follows_from": None if one.law is None else one.law.target,
                "formula": None if one.law is None else one.law.describe(),
                "accuracy": [
                    {
                        "estimator": name,
                        **accuracy.to_json(),
                        "in_sample": one.in_sample[name].to_json(),
                    }
                    for name, accuracy in one.cross_validated.items()
                ],
                "importance": [vars(each) for each in one.importance],
                "last": found.last[one.name].to_json() if one.name in found.last else None,
            }
            for one in model.targets.values()
        ],
        "remarks": list(found.remarks),
    }


def _text(answer: dict[str, Any], found: FittedTable, out: Path, shown: Sequence[str]) -> str:
    from drivelab.models.own.exhibits import accuracy_lines_table, last_rows_table, read_words
    from drivelab.report.terminal import table_lines

    remarks = [one for one in answer["remarks"] if one not in in_lines(list(shown))]
    lines = [read_words(found), *(f"({remark})" for remark in remarks), ""]
    lines += table_lines(accuracy_lines_table(found.model), left=2)
    lines += [
        "(means over rows of groups that a fit had not seen; * marks the model that answers)",
        "",
    ]
    if found.last:
        lines += [*table_lines(last_rows_table(found), left=1), ""]
    setting = next(iter(found.table))
    words = [
        f"{column.name}={column.text(value)}"
        for column, value in zip(found.model.columns, setting, strict=True)
        if not math.isnan(value)
    ]
    lines += [
        f"report   {answer['report']}",
        f"model    {answer['model']}",
        f"ask it   {command_line('predict', [str(out), '--set', *words])}",
    ]
    return "\n".join(lines)
