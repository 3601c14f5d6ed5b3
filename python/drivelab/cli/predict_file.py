"""Predict a file of workloads with a model: CSV in, CSV out, whole or not at all."""

from __future__ import annotations

import contextlib
import shutil
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from drivelab.cli.models import asked_estimator, asked_features
from drivelab.cli.outputs import STANDARD
from drivelab.errors import UsageError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from drivelab.models.bulk import BulkPredictor


def predict_file(args: argparse.Namespace) -> int:
    """Answer ``--file`` into ``--out`` and print on standard error what was done."""
    from drivelab.models.bulk import bulk_predictor
    from drivelab.models.of_run import load_model
    from drivelab.workloads.characteristics import FIELDS

    asked = [name for name in FIELDS if getattr(args, name) is not None]
    if asked:
        option = f"--{asked[0].replace('_', '-')}"
        raise UsageError(f"{option} and --file: the workloads come from the file")
    if args.json:
        raise UsageError("--json is for one workload; the answers to --file are CSV")
    model = load_model(args.model)
    predictor, note = bulk_predictor(
        model,
        level=None if args.level is None else int(args.level) / 100,
        features=asked_features(args),
        estimator=asked_estimator(args),
    )
    rows, outside = _answer_all(args, predictor)
    done = f"answered {rows:,} workload{'s' if rows > 1 else ''}"
    if outside:
        done += (
            f", {outside:,} of them outside what was measured: they have no interval, and their "
            "error is unknown"
        )
    for line in [done, note]:
        if line:
            print(f"drivelab: {line}", file=sys.stderr)
    return 0


def _answer_all(args: argparse.Namespace, predictor: BulkPredictor) -> tuple[int, int]:
    from drivelab.runs.progress import Progress
    from drivelab.workloads.csv_table import BLOCK_BYTES, WorkloadCsv

    rows = outside = 0
    with _source(args.file) as file:
        source = WorkloadCsv(file, "standard input" if args.file == STANDARD else args.file)
        size = 0 if args.file == STANDARD else Path(args.file).stat().st_size
        blocks = max(1, -(-size // BLOCK_BYTES))
        with (
            answers_sink(args) as sink,
            Progress(blocks, 0, "MiB", shown=size > 0) as progress,
        ):
            sink.write(predictor.header)
            for answered in predictor.answers(source):
                sink.write(answered.text)
                rows += answered.rows
                outside += answered.outside
                progress.advance()
            if not rows:
                raise UsageError(
                    f"{args.file} contains no workload; write one per line below the column names"
                )
    return rows, outside


@contextlib.contextmanager
def _source(name: str) -> Iterator[BinaryIO]:
    from drivelab.workloads.csv_table import open_csv

    if name == STANDARD:
        yield sys.stdin.buffer
        return
    with open_csv(Path(name)) as file:
        yield file


@contextlib.contextmanager
def answers_sink(args: argparse.Namespace) -> Iterator[BinaryIO]:
    """Yield a place to write answers; nobody sees them before they are complete."""
    from drivelab.cli.outputs import answer_to, output_errors
    from drivelab.outputs import check_outputs, whole_output

    if args.out in (None, STANDARD):
        with tempfile.TemporaryFile() as draft:
            yield draft
            draft.seek(0)
            sys.stdout.flush()
            shutil.copyfileobj(draft, sys.stdout.buffer)
        return
    path = Path(args.out)
    output = answer_to(args, "answers", path)
    read = list(args.trace or ())
    if args.file == STANDARD:
        # An input that is not a file may read differently another time.
        output = replace(output, of=f"{output.of}, at {time.time_ns()}")
    elif args.file is not None:
        read.append(Path(args.file))
    inputs = [args.model, *read]
    check_outputs([output], force=args.force, inputs=inputs)
    with output_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_output(output, force=args.force) as file:
            yield file
