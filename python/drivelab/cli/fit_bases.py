"""Which presets `drivelab fit` starts from, and what a run's probes say about the drive."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from drivelab.errors import UsageError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence
    from pathlib import Path

    from drivelab.preset_fit.candidate import Base
    from drivelab.preset_fit.observed import Accepts, Run

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


def closed_form_base(names: Sequence[str]) -> Base | None:
    """Read the preset whose closed form is to be fitted, if one is named.

    Raises
    ------
    UsageError
        If it is not a preset of an SSD, or not the only one.
    """
    from drivelab.drives.closed_form.drive import PREFIX
    from drivelab.drives.presets.source import read_preset
    from drivelab.preset_fit.fitting import base_of

    named = [name for name in names if name.startswith(PREFIX)]
    if not named:
        return None
    if len(names) > 1:
        raise UsageError(f"a closed form is fitted alone: name only {named[0]} with --base")
    base = base_of(read_preset(named[0].removeprefix(PREFIX)))
    if base.kind != "ssd":
        raise UsageError(f"{named[0]} is a disk, and the closed form is that of SSDs")
    return base


def measured_by(args: argparse.Namespace, formula: Base | None) -> Run:
    """Read a run, or a CSV file of measurements.

    Parameters
    ----------
    args
        ``--writes`` says how the workloads of a file found the drive; a run knows.
    formula
        The preset whose closed form is fitted; only what it answers is read.

    Raises
    ------
    UsageError
        If there is no such run or file, or too little is in it.
    """
    from drivelab.drives.write_pattern import BURST
    from drivelab.preset_fit.closed_form import answers
    from drivelab.preset_fit.measured_table import read_table

    accepts = None if formula is None else answers(formula)
    path: Path = args.run
    if path.is_file() or (path.suffix.lower() == ".csv" and not path.is_dir()):
        return read_table(path, writes=args.writes or BURST, seed=args.seed, accepts=accepts)
    if args.writes is not None:
        raise UsageError(
            f"--writes is for a CSV file, and {path} is a run, which says how it wrote: leave it "
            "out"
        )
    return _probed_run(path, accepts)


def _probed_run(path: Path, accepts: Accepts | None) -> Run:
    """Read a run, and what its probes found about how the drive is built."""
    from drivelab.campaign.header import stored_header
    from drivelab.campaign.stored import stored_measurements
    from drivelab.models.probed import probes_of
    from drivelab.preset_fit.observed import read_run
    from drivelab.store import RunStore
    from drivelab.workloads.parts import Parts

    run = read_run(path, accepts)
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
