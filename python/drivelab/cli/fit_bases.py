"""Which presets `drivelab fit` starts from, and what a run's probes say about the drive."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from drivelab.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from drivelab.preset_fit.candidate import Base
    from drivelab.preset_fit.observed import Run

# Closed forms and drives in other states are presets too; a fit starts from the drive itself.
_LEFT_OUT: Final = ("x25m-fob", "x25m-yoo2014", "x25m-yoo2014-planes", "lee2021-conventional")


def named_bases(names: Sequence[str]) -> list[Base]:
    """Read the named presets.

    Raises
    ------
    UsageError
        If a name is not a preset, or is an array.
    """
    from drivelab.drives.presets.source import read_preset
    from drivelab.drives.simulated.drive import PREFIX
    from drivelab.preset_fit.fitting import base_of

    return [base_of(read_preset(name.removeprefix(PREFIX))) for name in names]


def usual_bases(run: Run) -> list[Base]:
    """Read all presets of the kind of drive that a run measured.

    Raises
    ------
    UsageError
        If the run does not say which kind that is.
    """
    from drivelab._core import preset_names

    kind = run.kind or {True: "hdd", False: "ssd", None: None}[run.has_arm]
    if kind is None:
        raise UsageError(
            f"{run.path} does not say whether it measured an SSD or a disk: name presets with "
            "--base, as --base enterprise-tlc-pcie4"
        )
    found = []
    for name in preset_names():
        try:
            found += [] if name in _LEFT_OUT else named_bases([name])
        except UsageError:
            # An array cannot be fitted.
            continue
    return [base for base in found if base.kind == kind]


def probed_run(path: Path) -> Run:
    """Read a run, and what its probes found about how the drive is built."""
    from drivelab.campaign.header import stored_header
    from drivelab.campaign.stored import stored_measurements
    from drivelab.models.probed import probes_of
    from drivelab.preset_fit.observed import read_run
    from drivelab.store import RunStore
    from drivelab.workloads.parts import Parts

    run = read_run(path)
    with RunStore.open(path) as store:
        header = stored_header(store)
        parts = Parts.from_json(header["design"]["parts"])
        capacity_bytes = header["drive"].get("capacity_bytes")
        found = probes_of(stored_measurements(store), parts, capacity_bytes)
    if found is None:
        return run
    return replace(
        run, page_bytes=found.page_bytes, units=found.parallel_units, has_arm=found.has_arm
    )
