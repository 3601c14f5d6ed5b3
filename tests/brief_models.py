"""Fits in a fraction of the time, for tests of what does not depend on how good models are."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from drivelab.models import adaptive, bottleneck, effects, estimators, evaluate, kriging, queueing

if TYPE_CHECKING:
    import pytest

# The layout of the queueing model is searched among few, and few requests are replayed.
_OF_THE_LOOP: Final[dict[str, Any]] = {
    "_BEGINNINGS": queueing._BEGINNINGS[:2],
    "_BEGUN_ROWS": 40,
    "_REQUESTS": 96,
    "_SETTLING": 64,
    "_CHANGED": 48,
    "_FOLLOWED": 1,
    "_FINISHED": 1,
    "_PASSES": 1,
}
_STEPS: Final = 4
_TREES: Final = 20
_FOLDS: Final = 4


def be_brief(patch: pytest.MonkeyPatch) -> None:
    """Have every model fitted with few steps, to few folds; each is there as before."""
    for name, value in _OF_THE_LOOP.items():
        patch.setattr(queueing, name, value)
    patch.setattr(effects, "_SHUFFLES", 2)
    patch.setattr(effects, "_EFFECT_ROWS", 10)
    patch.setattr(bottleneck, "_STEPS", 4 * _STEPS)
    patch.setattr(kriging, "likeliest", _likely_enough(kriging.likeliest))
    trees = partial(estimators.BoostedLinearTrees, n_estimators=_TREES)
    patch.setattr(estimators, "BoostedLinearTrees", trees)
    for module in (adaptive, evaluate):
        patch.setattr(module, "fold_numbers", partial(evaluate.fold_numbers, most=_FOLDS))


def _likely_enough(likeliest: Any) -> Any:
    def found(*given: Any, steps: int, **named: Any) -> Any:
        return likeliest(*given, steps=min(steps, _STEPS), **named)

    return found
