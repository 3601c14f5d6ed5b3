"""Inputs that once failed pass, and a fixed number of changed seeds breaks no promise."""

from __future__ import annotations

from pathlib import Path

import pytest
from fuzz.mutation import Mutator
from fuzz.reader import load_reader
from fuzz.readers import NAMES

FUZZ = Path(__file__).parents[3] / "fuzz"
SEED = 1
# So many that all readers together take some seconds.
INPUTS = {"model": 40, "own_model": 100, "pts_result": 30, "run_database": 250}
USUAL_INPUTS = 400


@pytest.mark.parametrize("name", NAMES)
def test_seeds_regressions_and_changed_seeds(name: str) -> None:
    reader = load_reader(name)
    seeds = reader.seeds()
    # Behind a refusal of the first nothing would be met.
    reader.check(seeds[0])
    for data in seeds[1:]:
        reader.try_input(data)
    for path in sorted((FUZZ / "regressions" / name).glob("*")):
        reader.try_input(path.read_bytes())
    mutator = Mutator(SEED)
    for _ in range(INPUTS.get(name, USUAL_INPUTS)):
        data = mutator.input(seeds)
        try:
            reader.try_input(data)
        except BaseException:
            path = FUZZ / "artifacts" / name
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(data)
            raise
