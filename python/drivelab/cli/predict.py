"""Predict the performance of a workload from the models of a run.

Each metric is answered by the model that cross-validation found best, with its mean relative
error. A question outside what was measured is answered with a warning.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from drivelab.cli.arguments import add_characteristics, add_json
from drivelab.cli.drive_options import characteristics_json, characteristics_of
from drivelab.cli.models import load_model

if TYPE_CHECKING:
    import argparse

    from drivelab.blackbox.model import PerformanceModel
    from drivelab.workloads.characteristics import Characteristics


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `drivelab predict`."""
    parser.add_argument(
        "model", metavar="MODEL", type=Path, help="a run's folder, or its model.json"
    )
    add_characteristics(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Predict and print."""
    workload = characteristics_of(args)
    workload.validate()
    model = load_model(args.model)
    answer = predict(model, workload)
    if args.json:
        print(json.dumps({"model": str(args.model)} | answer, indent=2))
    else:
        print(_text(answer, workload))
    return 0


def predict(model: PerformanceModel, workload: Characteristics) -> dict[str, Any]:
    """Give what ``--json`` prints (docs/json.md)."""
    from drivelab.blackbox.measured import METRICS
    from drivelab.report.quantities import PROVENANCE

    # Whoever wrote the file may have written anything here.
    drive = model.provenance.get("drive")
    name, kind = (drive.get("name"), drive.get("kind")) if isinstance(drive, dict) else (None, None)
    answers = {metric: float(model.predict([workload], metric=metric)[0]) for metric in METRICS}
    return {
        "drive": name if isinstance(name, str) else None,
        "kind": kind if isinstance(kind, str) and kind in PROVENANCE else None,
        "workload": characteristics_json(workload),
        **answers,
        "used": {
            metric: {
                "features": key.features,
                "estimator": key.estimator,
                "mre_ratio": model.evaluation.cross_validated[key].mre,
            }
            for metric, key in model.best.items()
        },
        "outside_training": model.outside_training(workload),
    }


def _text(answer: dict[str, Any], workload: Characteristics) -> str:
    from drivelab.report.quantities import (
        ESTIMATOR_LABELS,
        METRICS,
        PROVENANCE,
        share_text,
        workload_text,
    )

    drive = answer["drive"] or "a drive without a name"
    kind = answer["kind"]
    origin = f"what was {PROVENANCE[kind].adjective}" if kind else "numbers of unknown origin"
    lines = [f"predicted     {drive}, from {origin}"]
    lines.append(f"workload      {workload_text(workload)}")
    outside = answer["outside_training"]
    for metric, value in _both_units(answer).items():
        used = answer["used"][metric]
        error = "error unknown" if outside else f"off by {share_text(used['mre_ratio'])} on average"
        lines.append(
            f"{METRICS[metric].label.lower():<12}  {value:<28}  {error} "
            f"({used['features']} model, {ESTIMATOR_LABELS[used['estimator']]})"
        )
    lines += [f"careful       outside what was measured: {message}" for message in outside]
    return "\n".join(lines)


def _both_units(answer: dict[str, Any]) -> dict[str, str]:
    from drivelab.units import format_iops

    latency_ns = answer["latency_ns_mean"]
    rate = answer["bandwidth_bytes_per_second"]
    return {
        "latency_ns_mean": f"{latency_ns / 1e3:,.1f} us = {latency_ns / 1e6:,.3g} ms",
        "bandwidth_bytes_per_second": f"{rate / 1e6:,.2f} MB/s = {rate / 2**20:,.2f} MiB/s",
        "iops": format_iops(answer["iops"]),
    }
