"""Quick fits, for tests that do not depend on how good models are."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from drivelab.models import (
    bottleneck,
    effects,
    estimators,
    evaluate,
    kriging,
    queueing,
    queueing_search,
)

if TYPE_CHECKING:
    from collections.abc import Callable

#: The command line as a program of its own, whose models are in outline.
PROGRAM: Final = f"""
import sys
from drivelab.cli.main import main
if sys.argv[1:2] == ["model"]:
    sys.path.append({str(Path(__file__).parent)!r})
    from brief_models import in_outline
    in_outline(setattr)
sys.exit(main())
"""
# The layout of the queueing model is searched among few, and few requests are replayed.
_OF_THE_LOOP: Final[dict[str, Any]] = {
    "_BEGINNINGS": queueing_search._BEGINNINGS[:4],
    "_CHANGED": 48,
    "_FOLLOWED": 1,
    "_FINISHED": 1,
    "_PASSES": 1,
}
_STEPS: Final = 4
_TREES: Final = 20
_FOLDS: Final = 4


def in_brief(change: Callable[[Any, str, Any], None]) -> None:
    """Spend little on what takes longest; `change` sets a name of a module."""
    for name, value in _OF_THE_LOOP.items():
        change(queueing_search, name, value)
    for module in (queueing, queueing_search):
        change(module, "FEW_REQUESTS", 96)
    change(queueing, "_DOUBLINGS", 0)
    change(effects, "_SHUFFLES", 2)
    change(effects, "_EFFECT_ROWS", 10)


def in_outline(change: Callable[[Any, str, Any], None]) -> None:
    """Fit every model in few steps and to few folds besides: each is there, and none is good."""
    in_brief(change)
    change(queueing_search, "_BEGINNINGS", queueing_search._BEGINNINGS[:2])
    change(queueing_search, "_BEGUN_ROWS", 40)
    change(bottleneck, "_STEPS", 4 * _STEPS)
    change(kriging, "likeliest", _likely_enough(kriging.likeliest))
    trees = partial(estimators.BoostedLinearTrees, n_estimators=_TREES)
    change(estimators, "BoostedLinearTrees", trees)
    # Of the function: a module that is imported only now would keep another one for good.
    change(evaluate.fold_numbers, "__defaults__", (_FOLDS,))


def _likely_enough(likeliest: Any) -> Any:
    def found(*given: Any, steps: int, **named: Any) -> Any:
        return likeliest(*given, steps=min(steps, _STEPS), **named)

    return found
