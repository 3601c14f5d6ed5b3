"""Make the reference results that ship with the package: ``make reference-results``.

Presets up to 128 GB, or those that are named. Results of an unchanged preset are kept, so
that it may be stopped and started again.
"""

from __future__ import annotations

import json
import multiprocessing
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any, Final

from drivelab._core import available_cores, preset_names
from drivelab.drives.presets.source import read_preset
from drivelab.drives.sessions import open_session
from drivelab.errors import UsageError
from drivelab.pts.every_test import test_named
from drivelab.pts.reference import REFERENCE_TESTS, read_reference, reference_path, write_reference
from drivelab.pts.run import run_test
from drivelab.pts.settings import Settings

_MOST_BYTES: Final = 128 * 10**9


def main(asked: list[str]) -> int:
    """Run the missing tests, one drive per core at a time."""
    presets = asked or [name for name in preset_names() if _capacity(name) <= _MOST_BYTES]
    missing = [
        (preset, test)
        for test in REFERENCE_TESTS
        for preset in presets
        if not _is_there(preset, test)
    ]
    stale = sum(reference_path(*each).is_file() for each in missing)
    sys.stdout.write(f"{len(missing)} to make, {stale} of them of another version or damaged\n")
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(available_cores(), mp_context=context) as pool:
        waiting = {pool.submit(make, *each): each for each in missing}
        for number, done in enumerate(as_completed(waiting), 1):
            preset, test = waiting[done]
            result, seconds = done.result()
            write_reference(result)
            line = (
                f"{number} of {len(missing)}: {preset} {test} {result['verdict']} {seconds:.0f} s\n"
            )
            sys.stdout.write(line)
            sys.stdout.flush()
    return 0


def make(preset: str, test: str) -> tuple[dict[str, Any], float]:
    """Run one test on one preset; give its result, and the seconds that it took."""
    begun = time.monotonic()
    settings = Settings.of_edition("enterprise")
    with (
        tempfile.TemporaryDirectory() as folder,
        open_session(f"sim:{preset}", seed=settings.seed) as session,
    ):
        outcome = run_test(
            test_named(test), session, settings, Path(folder) / "run", origin={}, shown=False
        )
        if outcome.problem is not None:
            raise outcome.problem
        return json.loads(json.dumps(outcome.result)), time.monotonic() - begun


def _is_there(preset: str, test: str) -> bool:
    try:
        read_reference(f"sim:{preset}", test)
    except UsageError:
        return False
    return True


def _capacity(name: str) -> int:
    return int(read_preset(name).resolved()[0]["geometry"]["user_capacity_bytes"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
