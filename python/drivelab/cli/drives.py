"""List what can be measured here: the simulated drives, the formulas, the block devices.

Each line begins with the string that the other commands take as DRIVE. Block devices are
shown with what stands against writing to them; any file path on a mounted file system is a
drive too.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from drivelab.cli.arguments import add_json

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `drivelab drives`."""
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """List and print."""
    drives = {"presets": presets(), "block_devices": block_devices()}
    if args.json:
        print(json.dumps(drives, indent=2))
    else:
        print(_text(drives["presets"], drives["block_devices"]))
    return 0


def presets() -> list[dict[str, Any]]:
    """Give every drive that a preset stands for, one entry a string (docs/json.md)."""
    from drivelab.drives.registry import list_presets

    return [
        {
            "drive": entry.name,
            "kind": entry.kind,
            "condition": entry.condition,
            "capacity_bytes": entry.capacity_bytes,
            "summary": entry.summary,
        }
        for entry in list_presets()
    ]


def block_devices() -> list[dict[str, Any]]:
    """Give this machine's block devices (docs/json.md)."""
    from drivelab.drives.block_devices import list_block_devices, write_refusals

    return [
        {
            "drive": device.path,
            "kind": "real",
            "model": device.model,
            "capacity_bytes": device.size_bytes,
            "logical_block_bytes": device.logical_block_bytes,
            "rotational": device.rotational,
            "write_refusals": write_refusals(device),
        }
        for device in list_block_devices()
    ]


def _text(presets: list[dict[str, Any]], devices: list[dict[str, Any]]) -> str:
    from drivelab.units import format_size

    lines = ["Drives from presets:"]
    heads = _columns(
        [
            [each["drive"], format_size(each["capacity_bytes"]), each["condition"]]
            for each in presets
        ]
    )
    for head, each in zip(heads, presets, strict=True):
        lines += [head, f"      {each['summary']}"]
    lines += ["", "Block devices of this machine (only read; a file path is a drive too):"]
    if not devices:
        lines.append("  none")
    for device in devices:
        kind = "rotating" if device["rotational"] else "solid state"
        model = device["model"] or "no model name"
        lines.append(
            f"  {device['drive']}  {format_size(device['capacity_bytes'])}  {kind}  {model}"
        )
        lines += [f"      not written: {reason}" for reason in device["write_refusals"]]
    return "\n".join(lines)


def _columns(rows: list[list[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  "
        + "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
