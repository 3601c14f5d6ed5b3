"""`drivelab firmware train`: make a model from a profile, for predictions and simulated drives."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from drivelab.cli.arguments import add_json, seed
from drivelab.cli.outputs import add_force, answer_to, check_files, write_file
from drivelab.cli.terminal import in_lines, show

if TYPE_CHECKING:
    import argparse

    from drivelab.firmware.profiled import Profiled
    from drivelab.firmware_model.model import FirmwareModel, TrainedFirmware

_KIND: Final = "model of firmware"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `drivelab firmware train`."""
    parser.add_argument("profile", metavar="RUN", type=Path, help="a run of `firmware profile`")
    parser.add_argument(
        "--out", type=Path, metavar="MODEL.json", required=True, help="output file for the model"
    )
    parser.add_argument(
        "--seed", type=seed, default=0, metavar="N", help="seed of all random numbers [0]"
    )
    add_force(parser)
    add_json(parser)


def carry_out(args: argparse.Namespace) -> int:
    """Train, write the model, and print how good it is for workloads that it has not seen."""
    from drivelab.firmware.training import train
    from drivelab.firmware_model.model_file import model_bytes

    output = answer_to(args, _KIND, args.out)
    check_files([((".json",), output)], force=args.force)
    profiles, firmware, cautions = _profiles(args.profile)
    model = train(profiles, firmware, seed=args.seed)
    write_file(output, model_bytes(model), force=args.force)
    values = {
        "run": str(args.profile),
        "model": str(args.out),
        "cautions": cautions,
        **_values(model),
    }
    print(json.dumps(values, indent=2)) if args.json else show(_text(in_lines(values)))
    return 0


def _profiles(path: Path) -> tuple[list[Profiled], TrainedFirmware, list[str]]:
    """Return the workloads of a profile, their firmware, and what the profile lacks."""
    from drivelab.firmware.kind import firmware_run, incomplete, stored_profile
    from drivelab.firmware.training import trained_firmware

    with firmware_run(path) as store:
        found = stored_profile(store)
        return found, trained_firmware(store.header), incomplete(store, found)


def _values(model: FirmwareModel) -> dict[str, Any]:
    """Return what ``--json`` prints for a model (docs/json-firmware.md)."""
    from drivelab.firmware_model.costs import COUNTS

    return {
        "target": model.target.name,
        "clock_mhz": model.target.clock_mhz,
        "cores": model.target.cores,
        "workloads": list(model.workloads),
        "records": model.records,
        "record_model": str(model.record_model["kind"]),
        "accuracy": [
            {
                "of": name,
                "error_ratio": each.error_ratio,
                "worst": each.worst,
                "worst_error_ratio": each.worst_error_ratio,
                "p99_error_ratio": each.p99_error_ratio,
            }
            for name, each in model.accuracy.items()
        ],
        "costs": [
            {
                "count": name,
                "meaning": meaning,
                "cycles": model.learned.of[name].cycles,
                "memory_ns": model.learned.of[name].memory_ns,
                "static_cycles": model.static.of[name].cycles,
                "static_memory_ns": model.static.of[name].memory_ns,
            }
            for name, meaning in COUNTS.items()
        ],
    }


_SAID: Final = {
    "learned": "work of cores, by these costs",
    "static": "work of cores, instructions counted alone",
    "records": "time of records, from the host's events",
}


def _text(values: dict[str, Any]) -> str:
    from drivelab.report.terminal import aligned

    costs = [
        (
            each["count"],
            f"{each['cycles']:,.0f}",
            f"{each['memory_ns']:,.0f}",
            f"{each['static_cycles']:,.0f}",
            f"{each['static_memory_ns']:,.0f}",
        )
        for each in values["costs"]
    ]
    accuracy = [
        (
            _SAID[each["of"]],
            f"{100 * each['error_ratio']:.1f} %",
            f"{100 * each['worst_error_ratio']:.1f} % ({each['worst']})",
        )
        for each in values["accuracy"]
    ]
    return "\n".join(
        [
            f"What one of each count costs a core of {values['target']}, in cycles and in waiting "
            "for memory",
            "",
            *aligned(
                [("count", "cycles", "memory ns", "static cycles", "static ns"), *costs], left=1
            ),
            "",
            "Mean errors for workloads that were left out of training",
            "",
            *aligned([("what", "mean", "at most"), *accuracy], left=1),
            "",
            *values["cautions"],
            f"trained on {len(values['workloads'])} workloads, {values['records']:,} records of an "
            "emulated target; no board was measured",
            f"wrote {values['model']}",
        ]
    )
