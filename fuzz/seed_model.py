"""Write the small model that fuzzing of model files begins with: `python -m fuzz.seed_model`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Final

_ROOT: Final = Path(__file__).parents[1]
#: Where it is kept: fitting it anew takes longer than most that is done with it.
MODEL: Final = Path(__file__).parent / "seeds" / "model.json"


def main() -> None:
    """Fit a few workloads of a formula, and keep one tree of each kind."""
    sys.path.insert(0, str(_ROOT / "tests"))
    from synthetic_drive import (  # type: ignore[import-not-found]
        grid_workloads,
        measurements,
    )

    from drivelab.models.model import PerformanceModel
    from drivelab.sealed_json import SUM, seal
    from drivelab.workloads.parts import Parts

    measured = measurements(grid_workloads(22, 0))
    PerformanceModel.fit(measured, parts=Parts(12, 5, 5)).save(MODEL)
    content = json.loads(MODEL.read_text())
    for one in content["surfaces"]:
        if one["estimator"] == "boosted":
            _shorten(one["predictor"]["arrays"])
    for metric, effects in content["effects"].items():
        content["effects"][metric] = effects[:2]
    del content[SUM]
    MODEL.write_bytes(seal(json.dumps(content, separators=(",", ":")).encode()))


def _shorten(arrays: dict[str, list[float]]) -> None:
    """Keep only the first two trees."""
    nodes = int(arrays["roots"][2])
    terms = int(sum(arrays["terms"][:nodes]))
    arrays["roots"] = arrays["roots"][:2]
    for name, values in arrays.items():
        if isinstance(values, list) and name != "roots":
            arrays[name] = values[: terms if name.startswith("term_") else nodes]


if __name__ == "__main__":
    main()
