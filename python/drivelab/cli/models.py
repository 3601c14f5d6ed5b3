"""Which of a run's models is asked for, and how good it is, for several commands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from drivelab.report.terminal import table_lines

if TYPE_CHECKING:
    import argparse

    from drivelab.models.model import PerformanceModel

#: Default percentage of workloads that an interval contains.
DEFAULT_LEVEL: Final = "90"
# Columns are as narrow as their numbers.
_HEAD_WIDTH: Final = 11
#: The choice of features and estimator that cross-validation found best.
AUTO: Final = "auto"


def asked_features(args: argparse.Namespace) -> str | None:
    """Return the features that were asked for; None is the best."""
    return None if args.features == AUTO else str(args.features)


def asked_estimator(args: argparse.Namespace) -> str | None:
    """Return the estimator that was asked for; None is the best."""
    return None if args.estimator == AUTO else str(args.estimator)


def accuracy_text(model: PerformanceModel) -> str:
    """Return the mean relative errors as a table, what was chosen, and what limits the drive."""
    from drivelab.models.exhibits.accuracy_words import (
        accuracy_meaning,
        chosen_words,
        relative_errors,
    )
    from drivelab.models.exhibits.limits import limits_sentence
    from drivelab.models.limits import limits_of

    lines = table_lines(relative_errors(model.evaluation), head_width=_HEAD_WIDTH)
    sentences = [chosen_words(model), limits_sentence(limits_of(model))]
    return "\n".join([*lines, *accuracy_meaning(model.evaluation), "", *sentences])
