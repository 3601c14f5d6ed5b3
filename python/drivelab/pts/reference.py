"""Results that ship with the package: presets in four tests, to compare a drive with.

Each is a `result.json` (docs/json-pts.md) without its steps, packed, of the enterprise edition with
its defaults. It contains the preset's fingerprint and the generation of the code that made it, so
that a result of another version of either is never shown. ``make reference-results`` makes them.
"""

from __future__ import annotations

import json
import lzma
from pathlib import Path
from typing import Any, Final

from drivelab.errors import UsageError

#: The tests with results.
REFERENCE_TESTS: Final = ("iops", "throughput", "latency", "wsat")
#: Generation of the code that makes results; increased when the same preset gets other figures. A
#: test
#: recomputes some of the results that ship.
GENERATION: Final = 2
_GENERATION_KEY: Final = "generation"
FOLDER: Final = Path(__file__).parent / "reference"
PREFIX: Final = "sim:"
_SUFFIX: Final = ".json.xz"


def reference_path(preset: str, test: str) -> Path:
    """Return the path of a preset's result in a test, existing or not."""
    return FOLDER / f"{preset}-{test}{_SUFFIX}"


def reference_presets(test: str) -> list[str]:
    """Return the presets that have a result in a test."""
    ending = f"-{test}{_SUFFIX}"
    return sorted(path.name.removesuffix(ending) for path in FOLDER.glob(f"*{ending}"))


def read_reference(name: str, test: str) -> dict[str, Any]:
    """Read the result of ``sim:PRESET`` in a test.

    Raises
    ------
    UsageError
        If there is no such preset; if it has no result (the error lists those that have, and how to
        make one); or if the result is damaged, or from another version of the preset or of the
        tests.
    """
    preset = name.removeprefix(PREFIX)
    # Without such a preset no result of it can be made.
    hash_now = fingerprint(preset)
    path = reference_path(preset, test)
    make = f"`drivelab pts run {test} {name}` makes one"
    if not path.is_file():
        known = ", ".join(PREFIX + each for each in reference_presets(test)) or "none"
        raise UsageError(
            f"no reference result of {name} in {test} ships with Drivelab; {make}; there are: "
            f"{known}"
        )
    try:
        result: dict[str, Any] = json.loads(lzma.decompress(path.read_bytes()))
        generation = result.pop(_GENERATION_KEY, None)
        found = result["drive"]["identity"]["config_hash"]
    except (OSError, ValueError, KeyError, TypeError, AttributeError, lzma.LZMAError) as error:
        raise UsageError(f"the reference result {path} is damaged; {make}") from error
    if found != hash_now or generation != GENERATION:
        what = "it" if found != hash_now else "the tests"
        raise UsageError(
            f"the reference result of {name} in {test} is of another version of {what}; {make}, "
            f'and `make reference-results PRESETS="{preset}"` in a checkout the one that ships'
        )
    return result


def write_reference(result: dict[str, Any]) -> Path:
    """Pack a result and save it as the reference of its preset and test.

    Its steps are left out, because no comparison reads them.
    """
    preset = str(result["drive"]["name"]).removeprefix(PREFIX)
    path = reference_path(preset, result["test"])
    FOLDER.mkdir(exist_ok=True)
    kept = {key: value for key, value in result.items() if key != "steps"}
    kept[_GENERATION_KEY] = GENERATION
    text = json.dumps(kept, sort_keys=True, separators=(",", ":"), allow_nan=False)
    path.write_bytes(lzma.compress(text.encode(), preset=9))
    return path


def fingerprint(preset: str) -> str:
    """Return the hash of everything that decides how a preset of the package behaves."""
    from drivelab.drives.presets.source import read_preset

    return read_preset(preset).resolved()[1]
