"""Measure what firmware costs on a drive's processor, and predict its time from events.

A page-mapping firmware runs twice under qemu: on a host, and on an emulated target with four
in-order cores. You can replace it with your own firmware. `profile` records what happens in every
1000 requests. `train` makes a model from these records; with it, `predict` needs only the host.
`evaluate` shows how well the host's events predict the target's time for workloads that a model
has never seen (Lee et al. 2021). `cores` simulates a drive whose firmware costs what a model
predicts. docs/firmware-time.md describes all of them.

Every action takes --json; `drivelab firmware ACTION --help` explains one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from drivelab.cli import (
    firmware_build,
    firmware_cores,
    firmware_evaluate,
    firmware_predict,
    firmware_profile,
    firmware_train,
)
from drivelab.cli.arguments import add_actions

if TYPE_CHECKING:
    import argparse
    from types import ModuleType

#: Each action is a module with a line of help, ``add_arguments(parser)`` and ``carry_out(args)``.
_ACTIONS: Final[dict[str, tuple[ModuleType, str]]] = {
    "profile": (firmware_profile, "run workloads on host and target, and save every record"),
    "train": (firmware_train, "train a model on a profile, for predictions and simulated drives"),
    "predict": (
        firmware_predict,
        "predict how long workloads take on the target, from a run on the host alone",
    ),
    "evaluate": (
        firmware_evaluate,
        "predict each workload with models of the others, and show the errors",
    ),
    "build": (firmware_build, "build your own firmware as programs for both processors"),
    "cores": (firmware_cores, "find how many cores at which clock are enough for the flash"),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the actions of `drivelab firmware` and their options."""
    add_actions(parser, _ACTIONS)


def run(args: argparse.Namespace) -> int:
    """Carry out the action."""
    module, _ = _ACTIONS[args.action]
    return int(module.carry_out(args))
