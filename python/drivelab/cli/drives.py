"""List the drives that you can measure here: simulated drives, formulas, block devices.

Each line begins with the word that other commands take as DRIVE. For a block device it shows
what stands in the way of writing to it. Any file path on a mounted file system is a drive too.

`drivelab drives ACTION --help` explains an action. `list` is the default. `show` prints the values
of a preset with their sources, and its published figures next to simulated ones. `new` writes a
preset of your own to start from. `import` makes a preset from MQSim's ssdconfig.xml.
"""

from __future__ import annotations

import json
import platform
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from drivelab.cli.arguments import add_json
from drivelab.cli.outputs import add_force
from drivelab.cli.terminal import in_lines, show
from drivelab.report.terminal import aligned

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Mapping

_FACTS: Final = {
    "serial": "serial",
    "firmware": "firmware",
    "scheduler": "scheduler",
    "cache": "write_cache",
    "over": "backing",
}


def _is_simulated(*devices: str) -> Callable[[Mapping[str, Any]], bool]:
    return lambda preset: preset["kind"] == "simulated" and preset["device"] in devices


# Every drive from a preset belongs to one of these.
_GROUPS: Final[dict[str, Callable[[Mapping[str, Any]], bool]]] = {
    "Simulated solid-state drives": _is_simulated("ssd"),
    "Simulated hard disks": _is_simulated("hdd"),
    "Simulated arrays": _is_simulated("raid0", "raid"),
    "Closed forms": lambda preset: preset["kind"] == "closed_form",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the actions of `drivelab drives` and their options."""
    add_json(parser)
    parser.set_defaults(action=None)
    actions = parser.add_subparsers(dest="action", metavar="list|show|new|import")

    def action(name: str, text: str) -> argparse.ArgumentParser:
        added = actions.add_parser(name, help=text, description=text, allow_abbrev=False)
        # The parser whose options are listed if a word is not understood.
        added.set_defaults(parser=added)
        return added

    add_json(action("list", "list the drives that you can measure here (the default)"))
    added = action(
        "show", "print the values of a preset with their sources, and its published figures"
    )
    added.add_argument("drive", metavar="DRIVE", help="a preset: NAME, sim:NAME or FILE.toml")
    added.add_argument(
        "--values-only", action="store_true", help="do not simulate the published figures"
    )
    add_json(added)
    added = action("new", "write a preset of your own to start from")
    added.add_argument("file", metavar="FILE.toml", type=Path, help="where to write it")
    added.add_argument(
        "--like", metavar="DRIVE", default="x25m", help="the preset to start from [x25m]"
    )
    add_force(added)
    add_json(added)
    added = action("import", "make a preset from MQSim's ssdconfig.xml, and list what is left out")
    added.add_argument("file", metavar="FILE.xml", type=Path, help="the ssdconfig.xml to read")
    added.add_argument(
        "-o", "--output", metavar="FILE.toml", type=Path, help="output file [FILE.toml here]"
    )
    add_force(added)
    add_json(added)


def run(args: argparse.Namespace) -> int:
    """Carry out the action, by default list; print the result."""
    if args.action in {None, "list"}:
        return _list(args)
    from drivelab.cli import drive_files

    answers = {
        "show": (drive_files.shown, drive_files.shown_text),
        "new": (drive_files.made, drive_files.made_text),
        "import": (drive_files.imported, drive_files.imported_text),
    }
    answer_of, text_of = answers[args.action]
    answer = answer_of(args)
    if args.json:
        print(json.dumps(answer, indent=2))
    else:
        show(text_of(in_lines(answer)))
    return 0


def _list(args: argparse.Namespace) -> int:
    kernel = platform.release()
    found, devices = presets(), block_devices()
    if args.json:
        answer = {"presets": found, "kernel_release": kernel, "block_devices": devices}
        print(json.dumps(answer, indent=2))
    else:
        show(_text(in_lines(found), kernel, in_lines(devices)))
    return 0


def presets() -> list[dict[str, Any]]:
    """Return every drive from a preset, one entry per name (docs/json-drives.md)."""
    from drivelab.drives.naming import list_presets

    return [
        {
            "drive": entry.name,
            "kind": entry.kind,
            "device": entry.device,
            "condition": entry.condition,
            "capacity_bytes": entry.capacity_bytes,
            "summary": entry.summary,
        }
        for entry in list_presets()
    ]


def block_devices() -> list[dict[str, Any]]:
    """Return this machine's block devices (docs/json-drives.md)."""
    from drivelab.drives.real.block_devices import list_block_devices
    from drivelab.drives.real.write_refusals import write_refusals

    return [
        {
            "drive": device.path,
            "kind": "real",
            "model": device.model,
            "serial": device.serial,
            "firmware": device.firmware,
            "capacity_bytes": device.size_bytes,
            "logical_block_bytes": device.logical_block_bytes,
            "rotational": device.rotational,
            "scheduler": device.scheduler,
            "write_cache": device.write_cache,
            "backing": device.backing,
            "members": list(device.members),
            "write_refusals": write_refusals(device),
        }
        for device in list_block_devices()
    ]


def _text(presets: list[dict[str, Any]], kernel: str, devices: list[dict[str, Any]]) -> str:
    from drivelab.units import format_size

    lines: list[str] = []
    rows = [[each["drive"], format_size(each["capacity_bytes"])] for each in presets]
    starts = [f"  {line}" for line in aligned(rows, left=2)]
    for heading, belongs in _GROUPS.items():
        group = [
            f"{start}  {each['summary']}"
            for start, each in zip(starts, presets, strict=True)
            if belongs(each)
        ]
        if group:
            lines += [f"{heading}:", *group, ""]
    lines += ["`drivelab drives show NAME` prints the values of a preset and their sources."]
    lines += ["", f"Block devices of this machine, Linux {kernel} (a file path is a drive too):"]
    if not devices:
        lines.append("  none")
    for device in devices:
        kind = "rotating" if device["rotational"] else "solid state"
        model = device["model"] or "no model name"
        lines.append(
            f"  {device['drive']}  {format_size(device['capacity_bytes'])}  {kind}  {model}"
        )
        facts = [f"{name} {device[key]}" for name, key in _FACTS.items() if device[key] is not None]
        lines.append(f"      {', '.join(facts)}, blocks of {device['logical_block_bytes']} bytes")
        lines += [f"      made of: {member}" for member in device["members"]]
        lines += [f"      not written: {reason}" for reason in device["write_refusals"]]
    return "\n".join(lines)
