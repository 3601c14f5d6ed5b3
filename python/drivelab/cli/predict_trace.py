"""`drivelab predict --trace`: predict a trace on a drive that it never ran on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Final

from drivelab.cli.arguments import duration
from drivelab.cli.models import AUTO
from drivelab.cli.outputs import STANDARD
from drivelab.cli.terminal import show
from drivelab.errors import UsageError

if TYPE_CHECKING:
    import argparse

    from drivelab.outputs import OutputFolder

_USUAL_SECONDS: Final = 60.0


def add_trace_arguments(parser: argparse.ArgumentParser) -> None:
    """Add ``--trace``, its options, and ``--window``."""
    from drivelab.cli.trace_options import add_trace

    group = add_trace(parser, "predict how a drive serves the requests of these files")
    group.add_argument(
        "--window",
        type=duration,
        metavar="TIME",
        help=f"predict windows of this recorded time [{_USUAL_SECONDS:g}s]",
    )
    group.add_argument(
        "--report",
        type=Path,
        metavar="FOLDER",
        help="output folder for a report of the prediction and its tables [nothing is saved]",
    )


def predict_trace(args: argparse.Namespace) -> int:
    """Predict how a drive serves a trace, write the windows and print the answer."""
    from drivelab.cli.predict_file import answers_sink
    from drivelab.cli.predict_trace_text import WRITTEN, forecast_text
    from drivelab.cli.trace_options import trace_of
    from drivelab.cli.trace_reading import ReadingProgress
    from drivelab.models.exhibits.forecast import forecast_report
    from drivelab.models.forecast_tables import forecast_answer, forecast_table
    from drivelab.models.of_run import load_model
    from drivelab.models.trace_forecast import closed_loop_error, forecast_trace, speed_of
    from drivelab.report.written import write_report
    from drivelab.traces.characterization import characterize

    _refuse_other_answers(args)
    if args.speed == (None,):
        raise UsageError(
            "a forecast needs times at which requests arrive: leave out --speed max, or measure "
            "the drive"
        )
    model = load_model(args.model)
    trace = trace_of(args)
    if trace is None or trace.files is None:
        raise AssertionError("a trace was named")
    # Checked before the trace is read.
    speed_of(trace)
    window_ns = round((_USUAL_SECONDS if args.window is None else args.window) * 1e9)
    if window_ns < 1:
        raise UsageError("--window is too short; allowed: 1ns or more, for example 60s")
    folder = _folder(args)
    with ReadingProgress() as progress:
        windows = characterize(trace.files, window_ns=window_ns, progress=progress).windows
    forecast = forecast_trace(model, trace, windows, window_ns, word=_word)
    if args.out is not None:
        with answers_sink(args) as sink:
            sink.write(forecast_table(forecast).csv().encode())
    answer = forecast_answer(forecast, trace, model.provenance, str(args.model))
    error = closed_loop_error(model)
    written = {}
    if folder is not None:
        written = write_report(forecast_report(answer, trace, forecast, error), folder)
    answer |= {name: str(written[name]) if name in written else None for name in WRITTEN}
    if args.json:
        print(json.dumps(answer, indent=2))
    elif args.out != STANDARD:
        show(forecast_text(answer, trace, forecast, error))
    return 0


def refuse_without_trace(args: argparse.Namespace) -> None:
    """Refuse options for a trace if no trace is named."""
    from drivelab.cli.trace_options import trace_of

    trace_of(args)
    for name in ("window", "report"):
        if getattr(args, name) is not None:
            raise UsageError(f"--{name} is for a trace: name its files with --trace FILE")


def _refuse_other_answers(args: argparse.Namespace) -> None:
    """Refuse options that a forecast does not use."""
    if args.file is not None:
        raise UsageError("--file and --trace are two questions; give one of them")
    if args.settings:
        raise UsageError(
            "--set is for models of your own measurements, which cannot predict a trace"
        )
    if args.level is not None:
        raise UsageError(
            "--level is for intervals, which are calibrated for workloads drawn from the "
            "model's population and not for a trace: leave --level out"
        )
    for name in ("features", "estimator"):
        if getattr(args, name) != AUTO:
            raise UsageError(
                f"--{name} has no effect on a trace, which the queueing model serves: leave it out"
            )
    if args.json and args.out == STANDARD:
        raise UsageError("--json and --out - both write to standard output; choose one")


def _word(name: str) -> str:
    return f"--{name}"


def _folder(args: argparse.Namespace) -> OutputFolder | None:
    """Return the folder of the report; refuse it before the trace is read if it cannot be one."""
    from drivelab.cli.outputs import answer_to
    from drivelab.outputs import OutputFolder
    from drivelab.report.saved import refuse_folder

    if args.report is None:
        return None
    folder = OutputFolder(args.report, answer_to(args, "report", args.report).of, force=args.force)
    refuse_folder(folder, inputs=args.trace)
    return folder
