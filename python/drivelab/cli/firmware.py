"""What firmware costs on a drive's processor: profile it, and predict the time from events.

A page-mapping firmware is run twice under qemu, on a host and on an emulated target of four
in-order cores; a firmware of your own can take its place. `profile` records what happens in every
1000 requests. `train` makes a model of these records, with which `predict` needs the host alone.
`evaluate` says how well the target's time follows from the host's events, for workloads that a
model has never seen (Lee et al. 2021). `cores` simulates a drive whose firmware costs what a model
says. docs/firmware-time.md describes all of them.

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

#: Each a module with a line of help, ``add_arguments(parser)`` and ``carry_out(args)``.
_ACTIONS: Final[dict[str, tuple[ModuleType, str]]] = {
    "profile": (firmware_profile, "run workloads on host and target, and keep every record"),
    "train": (firmware_train, "make a model of a profile, for predictions and simulated drives"),
    "predict": (firmware_predict, "how long workloads take on the target, from the host alone"),
    "evaluate": (firmware_evaluate, "predict each workload by models of the others"),
    "build": (firmware_build, "build a firmware of your own as programs for both processors"),
    "cores": (firmware_cores, "how many cores, at what clock, before the flash is the limit"),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the actions of `drivelab firmware` and their options."""
    add_actions(parser, _ACTIONS)


def run(args: argparse.Namespace) -> int:
    """Do what the action says."""
    module, _ = _ACTIONS[args.action]
    return int(module.carry_out(args))
