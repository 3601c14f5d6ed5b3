"""Ordinary least squares: the plainest formula."""

from __future__ import annotations

from typing import Any, ClassVar, Final, Self

import numpy as np

from drivelab.checked_json import Node
from drivelab.models.features import FeatureSet, FloatArray
from drivelab.models.predictor import Estimator, Predictor


class LinearFunction:
    """``intercept + sum(coefficient * linear input)``.

    Parameters
    ----------
    features
        Whose linear inputs these are.
    intercept
        Value where all inputs are 0.
    coefficients
        One an input.
    """

    kind: ClassVar[str] = "linear"

    def __init__(self, features: FeatureSet, intercept: float, coefficients: FloatArray) -> None:
        self.features = features
        self.intercept = intercept
        self.coefficients = coefficients

    def predict(self, table: FloatArray) -> FloatArray:
        """Return one value a row."""
        inputs = self.features.project_linear(table)
        # Column by column: a matrix product may round differently for other batches.
        result = np.full(len(table), self.intercept)
        for column, coefficient in enumerate(self.coefficients):
            result += coefficient * inputs[:, column]
        return result

    def to_json(self) -> dict[str, Any]:
        """Return intercept and coefficients."""
        return {
            "kind": self.kind,
            "intercept": self.intercept,
            "coefficients": self.coefficients.tolist(),
        }

    @classmethod
    def from_json(cls, node: Node, features: FeatureSet) -> Self:
        """Read intercept and coefficients."""
        return cls(
            features,
            intercept=node.of("intercept").number(),
            coefficients=node.of("coefficients").numbers(len(features.linear_inputs)),
        )


def fit_least_squares(
    features: FeatureSet, table: FloatArray, targets: FloatArray, noise: FloatArray, seed: int
) -> Predictor:
    """Fit ordinary least squares."""
    from sklearn.linear_model import LinearRegression

    del noise, seed  # rows count alike, and nothing is drawn
    fitted = LinearRegression().fit(features.project_linear(table), targets)
    return LinearFunction(features, float(fitted.intercept_), fitted.coef_)


OLS: Final = Estimator("least squares", fit_least_squares, LinearFunction)
