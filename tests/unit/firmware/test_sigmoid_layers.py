"""Networks compared with scikit-learn's: the same descent, step by step."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPRegressor

from drivelab.firmware.sigmoid_layers import SigmoidLayers


def records(count: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    inputs = rng.normal(size=(count, 4)).astype(np.float32)
    wanted = np.tanh(inputs[:, 0]) + inputs[:, 1] ** 2 + 0.1 * rng.normal(size=count)
    return inputs, wanted.astype(np.float32)


@pytest.mark.parametrize(("layers", "neurons"), [(1, 8), (3, 17), (2, 200)])
def test_a_descent_is_that_of_scikit_learn(layers: int, neurons: int) -> None:
    # The last batch of each pass is a short one; the widest network takes several pieces.
    inputs, wanted = records(70)
    passes, batch, rate = 6, 16, 0.003
    theirs = MLPRegressor(
        hidden_layer_sizes=(neurons,) * layers,
        activation="logistic",
        batch_size=batch,
        learning_rate_init=rate,
        max_iter=passes,
        n_iter_no_change=passes,
        random_state=3,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        theirs.fit(inputs, wanted)
    ours = SigmoidLayers((4, *(neurons,) * layers), 3)
    ours.fit(inputs, wanted, rate, batch, passes * -(-len(inputs) // batch))
    # Sums of single precision are not made in the same order.
    np.testing.assert_allclose(ours.predict(inputs), theirs.predict(inputs), rtol=0, atol=2e-5)


def test_it_ends_after_so_many_steps() -> None:
    inputs, wanted = records(40)
    found = []
    for steps in (0, 1, 2, 5):
        network = SigmoidLayers((4, 8), 1)
        network.fit(inputs, wanted, 0.01, 16, steps)
        found.append(network.predict(inputs))
    assert len({answer.tobytes() for answer in found}) == 4
    # Before the first step everything but the beginning is missing.
    assert np.array_equal(found[0], SigmoidLayers((4, 8), 1).predict(inputs))


def test_it_learns() -> None:
    inputs, wanted = records(400)
    network = SigmoidLayers((4, 32), 1)
    network.fit(inputs, wanted, 0.02, 32, 2000)
    off = network.predict(inputs) - wanted
    # The noise is a tenth.
    assert float(np.sqrt(np.mean(off**2))) < 0.15


def test_what_lies_far_away_is_answered_without_a_word() -> None:
    inputs, wanted = records(40)
    network = SigmoidLayers((4, 8), 1)
    network.fit(inputs, wanted, 0.01, 16, 20)
    # Warnings are errors here.
    assert np.isfinite(network.predict(1e6 * inputs)).all()
