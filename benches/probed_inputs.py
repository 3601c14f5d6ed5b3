"""Do models err less if they see the page size that probes find?

The work of a workload, which kriging sees, is counted in pages of 4 KiB on every drive. Here it is
also counted in the drive's own pages, instead of these or beside them. The drive is simulated, and
writes are bursts. Models of 100 and of 300 workloads of a space-filling design predict 400 others;
errors are mean relative errors of the mean latency.

    .venv/bin/python benches/probed_inputs.py [--drive NAME] [--page-bytes N]

It takes twenty minutes on a core.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

import numpy as np
from few_measurements import answered, chosen, spread

from drivelab.drives.naming import open_drive
from drivelab.models import kriging_inputs, work
from drivelab.models.answers import surface_targets
from drivelab.models.measured import Rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Table = NDArray[np.float64]

SIZES = (100, 300)
SHOWN = ("kriging", "bottleneck_kriging", "queueing_kriging", "combined")


def main() -> None:
    """Print the errors of each kind of inputs."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--drive", default="sim:enterprise-tlc-pcie4")
    options.add_argument("--page-bytes", type=int, default=16_384, help="the drive's")
    asked = options.parse_args()
    usual = kriging_inputs.work_inputs

    def of_drive(table: Table) -> Table:
        return counted_in(asked.page_bytes, table)

    kinds = {
        "pages of 4 KiB": usual,
        "the drive's pages": of_drive,
        "both": lambda table: np.column_stack([usual(table), of_drive(table)]),
    }
    with open_drive(asked.drive) as drive:
        check = Rows.of(spread(drive))
        measured = chosen(drive, "sobol", max(SIZES))
    truth = surface_targets(check.table, check.observed)
    for size in SIZES:
        rows = Rows.of(measured[:size])
        for name, inputs in kinds.items():
            kriging_inputs.work_inputs = inputs
            found = answered(rows, check, "sobol")
            errors = {each: np.abs(np.expm1(found[each] - truth)).mean() for each in SHOWN}
            print(f"{size} measurements, {name}:", end=" ")
            print(", ".join(f"{each} {error:.2%}" for each, error in errors.items()), flush=True)


def counted_in(page_bytes: int, table: Table) -> Table:
    """Return the work of workloads, counted in pages of this size."""

    def alignment(byte_counts: Table) -> Table:
        steps = np.fmod(np.nan_to_num(byte_counts), page_bytes).astype(np.int64)
        return np.where(steps > 0, steps & -steps, page_bytes).astype(np.float64)

    before = work.PAGE_BYTES, work.alignment
    work.PAGE_BYTES, work.alignment = page_bytes, alignment
    try:
        return work.work_inputs(table)
    finally:
        work.PAGE_BYTES, work.alignment = before


if __name__ == "__main__":
    main()
