"""One reader in Python under atheris: `python -m fuzz.guided NAME [libFuzzer option...] FOLDER...`.

What reads is rewritten on import so that it counts its edges, so nothing of Drivelab is imported
before. A process fuzzes one reader; `python -m fuzz` starts them all.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path


def main() -> None:
    """Fuzz the reader that the first argument names."""
    import atheris

    name, *options = sys.argv[1:]
    # Which modules those are, the reader itself says; it is asked in a process of its own.
    modules = os.environ["FUZZ_MODULES"].split()
    with atheris.instrument_imports(include=modules):
        for module in modules:
            __import__(module)
    from fuzz.reader import load_reader

    reader = load_reader(name)
    if "FUZZ_SEEDS" in os.environ:
        for number, seed in enumerate(reader.seeds()):
            (Path(os.environ["FUZZ_SEEDS"]) / f"seed-{number}").write_bytes(seed)
    atheris.Setup([sys.argv[0], *options], reader.try_input)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
