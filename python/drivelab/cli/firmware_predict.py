"""`drivelab firmware predict`: how long workloads take on a target, from a run on the host."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from drivelab.cli.arguments import add_json, seed
from drivelab.cli.firmware_workloads import (
    WORKLOAD_HELP,
    add_length,
    named_workloads,
    request_plan,
)
from drivelab.cli.terminal import in_lines, show
from drivelab.errors import UsageError

if TYPE_CHECKING:
    import argparse

    from drivelab.firmware.profiled import Observed
    from drivelab.firmware_model.model import FirmwareModel


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `drivelab firmware predict`."""
    parser.add_argument(
        "model",
        metavar="MODEL",
        help="a file that `firmware train` wrote, or the name of a built-in model: page-map",
    )
    parser.add_argument(
        "workloads",
        metavar="WORKLOAD",
        nargs="+",
        help=f"{WORKLOAD_HELP}; or a run of `firmware profile` or `firmware predict`, whose "
        "records are predicted again",
    )
    add_length(parser)
    parser.add_argument(
        "--firmware",
        type=Path,
        metavar="FILE",
        help="the firmware that the model was trained on: its source, or a folder that "
        "`firmware build` wrote; not needed for the page map",
    )
    parser.add_argument(
        "--out",
        type=Path,
        metavar="FOLDER",
        help="run folder for the host's records; an existing run resumes [nothing is saved]",
    )
    parser.add_argument(
        "--seed", type=seed, default=1, metavar="N", help="seed of all random numbers [1]"
    )
    add_json(parser)


def carry_out(args: argparse.Namespace) -> int:
    """Run the firmware on the host, predict, and print how long requests take on the target."""
    from drivelab.firmware.prediction import predict, prediction_values
    from drivelab.firmware_model.model_file import find_firmware_model

    model = find_firmware_model(args.model)
    runs = [name for name in args.workloads if _is_run(name)]
    names = [name for name in args.workloads if name not in runs]
    if args.out is not None and not names:
        raise UsageError("a stored run needs no --out; leave it out")
    asked = named_workloads(names, args.fit)
    observed: list[Observed] = []
    cautions: list[str] = []
    for name in runs:
        found, lacking = _stored(Path(name), model)
        observed += found
        cautions += lacking
    if asked:
        observed += _observed(args, model, asked)
    prediction = predict(model, args.model, observed)
    values = {
        "model": args.model,
        "run": None if args.out is None else str(args.out),
        **prediction_values(prediction),
    }
    values["cautions"] = [*cautions, *values["cautions"]]
    print(json.dumps(values, indent=2)) if args.json else show(_text(in_lines(values)))
    return 0


def _is_run(name: str) -> bool:
    return Path(name).is_dir()


def _stored(path: Path, model: FirmwareModel) -> tuple[list[Observed], list[str]]:
    """Return the records of a run and what it lacks; refuse records of another firmware."""
    from drivelab.firmware.kind import firmware_run, incomplete, stored_records
    from drivelab.firmware.prediction import refuse_other_firmware
    from drivelab.firmware.training import trained_firmware

    with firmware_run(path) as store:
        refuse_other_firmware(model.firmware, trained_firmware(store.header), str(path))
        found = stored_records(store)
        return found, incomplete(store, found)


def _observed(
    args: argparse.Namespace, model: FirmwareModel, workloads: dict[str, Any]
) -> list[Observed]:
    """Run workloads on the host with the settings that the model's firmware ran with."""
    from drivelab.firmware.own import own_programs
    from drivelab.firmware.prediction import refuse_other_name, refuse_other_source
    from drivelab.firmware.profile import Bench, FirmwareSettings, observe_firmware
    from drivelab.firmware.programs import FOLDER, firmware_program, observer

    firmware = model.firmware
    settings = FirmwareSettings(
        firmware.geometry,
        firmware.workers,
        firmware.depth,
        args.seed,
        record_requests=firmware.record_requests,
    )
    refuse_other_name(firmware, args.firmware)
    with own_programs(args.firmware) as own:
        if own is not None:
            refuse_other_source(firmware, own)
        programs = None if own is None else own.folder
        bench = Bench(
            observer("host", own=programs),
            None,
            firmware_program(programs or FOLDER),
            settings,
            request_plan(args, settings.capacity_bytes),
            own=own,
        )
        return observe_firmware(
            workloads, bench, args.out, command=args.command, progress=not args.json
        )


def _text(values: dict[str, Any]) -> str:
    from drivelab.report.terminal import aligned

    is_measured = any(each["measured_record_ns"] is not None for each in values["workloads"])
    rows = [
        (
            each["label"],
            f"{each['records']:,}",
            f"{each['host_ns_per_request'] / 1000:.2f}",
            f"{each['request_ns'] / 1000:.2f}",
            *(_us(each[f"record_ns_{name}"]) for name in ("p50", "p99", "p99_9")),
            f"{each['busy_cores']:.1f}",
            *([_off(each["error_ratio"])] if is_measured else []),
        )
        for each in values["workloads"]
    ]
    requests = values["record_requests"]
    of = "" if requests == 1 else f" of {requests:,}"
    head = (
        *("workload", "records", "host us", "target us", f"p50{of}", "p99", "p99.9", "cores busy"),
        *(["off by"] if is_measured else []),
    )
    return "\n".join(
        [
            f"Time of a request in the firmware on {values['target']}, {values['cores']} cores at "
            f"{values['clock_mhz']:,.0f} MHz, predicted",
            "",
            *aligned([head, *rows], left=1),
            "",
            *values["cautions"],
            f"The model is off by {100 * values['error_ratio']:.1f} % on average for workloads "
            f"that it has not seen, at most {100 * values['worst_error_ratio']:.1f} %. Its target "
            "is emulated.",
            *([f"records  {values['run']}"] if values["run"] else []),
        ]
    )


def _us(time_ns: float | None) -> str:
    return "-" if time_ns is None else f"{time_ns / 1000:,.2f}"


def _off(ratio: float | None) -> str:
    return "-" if ratio is None else f"{100 * ratio:.1f} %"
