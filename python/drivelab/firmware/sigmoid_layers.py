"""A network of sigmoid layers, trained by Adam on the squared error (Lee et al. 2021, table 2).

::

    inputs ─> W1, b1 ─> sigmoid ─> ... ─> Wn, bn ─> one number
                 └──────── all of them views of one vector ────────┘

It is scikit-learn's `MLPRegressor`, to the last step: the same beginning, the same order of
records, the same small weight decay (a test compares them). Here a descent ends after so many steps
instead of so many passes, and costs half as much: of a wide network most time goes into Adam's
sums, which are done in pieces that stay in the processor's cache.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Array = NDArray[np.float32]

_DECAY: Final = np.float32(1e-4)
_FIRST_DECAY: Final = 0.9
_SECOND_DECAY: Final = 0.999
_LEAST: Final = np.float32(1e-8)
#: Numbers of a piece.
_PIECE: Final = 1 << 14


@dataclass(frozen=True)
class _Layer:
    """Weights and offsets, or what they are to change by."""

    weights: Array
    offsets: Array


class SigmoidLayers:
    """A network.

    Parameters
    ----------
    widths
        Number of inputs, and of neurons in each hidden layer.
    seed
        Key of its beginning and of the order of records.
    """

    def __init__(self, widths: tuple[int, ...], seed: int) -> None:
        self._random = np.random.RandomState(seed)
        pairs = list(zip(widths, (*widths[1:], 1), strict=True))
        size = sum((before + 1) * after for before, after in pairs)
        self._values: Array = np.zeros(size, dtype=np.float32)
        self._changes: Array = np.zeros(size, dtype=np.float32)
        self._layers = _views(self._values, pairs)
        self._layer_changes = _views(self._changes, pairs)
        for layer, (before, after) in zip(self._layers, pairs, strict=True):
            bound = np.sqrt(2.0 / (before + after))
            layer.weights[...] = self._random.uniform(-bound, bound, (before, after))
            layer.offsets[...] = self._random.uniform(-bound, bound, after)

    def fit(self, inputs: Array, wanted: Array, rate: float, batch: int, steps: int) -> None:
        """Descend this many steps, with a batch of records each.

        Parameters
        ----------
        inputs
            Shape (n, inputs).
        wanted
            Shape (n,).
        rate
            Adam's, at the beginning.
        batch
            Records of a step; the last of a pass has what is left.
        steps
            How many.
        """
        adam = _Adam(self._values, self._changes, rate)
        for at in self._batches(len(inputs), batch, steps):
            self._find_changes(inputs[at], wanted[at, None])
            adam.step()

    def predict(self, inputs: Array) -> Array:
        """Return what it answers, shape (n,)."""
        return self._answers(inputs)[-1].ravel()

    def _batches(self, count: int, batch: int, steps: int) -> Iterator[NDArray[np.int64]]:
        order = np.arange(count)
        done = 0
        while done < steps:
            drawn = np.arange(count)
            self._random.shuffle(drawn)
            order = order[drawn]
            for start in range(0, count, batch)[: steps - done]:
                yield order[start : start + batch]
                done += 1

    def _answers(self, inputs: Array) -> list[Array]:
        """Return what each layer is given, and what the last one answers."""
        given = [inputs]
        for layer in self._layers[:-1]:
            sums = given[-1] @ layer.weights
            sums += layer.offsets
            np.negative(sums, out=sums)
            # Far from what was learned a layer answers 0, by way of infinity.
            with np.errstate(over="ignore"):
                np.exp(sums, out=sums)
            sums += 1
            np.reciprocal(sums, out=sums)
            given.append(sums)
        last = self._layers[-1]
        given.append(given[-1] @ last.weights + last.offsets)
        return given

    def _find_changes(self, inputs: Array, wanted: Array) -> None:
        """Set the slope of the squared error, halved, mean over records."""
        given = self._answers(inputs)
        count = np.float32(len(inputs))
        error = (given[-1] - wanted) / count
        for place in reversed(range(len(self._layers))):
            layer, change = self._layers[place], self._layer_changes[place]
            slopes = np.matmul(given[place].T, error, out=change.weights)
            slopes += layer.weights * (_DECAY / count)
            np.sum(error, axis=0, out=change.offsets)
            if place:
                error = error @ layer.weights.T
                error *= given[place]
                error *= 1 - given[place]


class _Adam:
    """Kingma and Ba 2015, algorithm 1, with the factors of its section 2 for the first steps."""

    def __init__(self, values: Array, changes: Array, rate: float) -> None:
        self._values, self._changes, self._rate = values, changes, rate
        self._means = np.zeros_like(values)
        self._squares = np.zeros_like(values)
        self._steps = 0
        self._piece = np.empty(_PIECE, dtype=np.float32)

    def step(self) -> None:
        self._steps += 1
        rate = self._rate * np.sqrt(1 - _SECOND_DECAY**self._steps)
        rate = np.float32(rate / (1 - _FIRST_DECAY**self._steps))
        keep, add = np.float32(_FIRST_DECAY), np.float32(1 - _FIRST_DECAY)
        keep_square, add_square = np.float32(_SECOND_DECAY), np.float32(1 - _SECOND_DECAY)
        for start in range(0, len(self._values), _PIECE):
            part = slice(start, start + _PIECE)
            change, mean, square = self._changes[part], self._means[part], self._squares[part]
            piece = self._piece[: len(change)]
            mean *= keep
            np.multiply(change, add, out=piece)
            mean += piece
            square *= keep_square
            np.multiply(change, change, out=piece)
            piece *= add_square
            square += piece
            np.sqrt(square, out=piece)
            piece += _LEAST
            np.divide(mean, piece, out=piece)
            piece *= rate
            self._values[part] -= piece


def _views(vector: Array, pairs: list[tuple[int, int]]) -> list[_Layer]:
    """Cut a vector into layers."""
    found, start = [], 0
    for before, after in pairs:
        middle, end = start + before * after, start + (before + 1) * after
        weights = vector[start:middle].reshape(before, after)
        found.append(_Layer(weights, vector[middle:end]))
        start = end
    return found
