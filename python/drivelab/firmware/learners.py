"""How a record's time on the target is predicted from what was seen on the host.

::

    linear     least squares of the time in all inputs (Lee et al. 2021, section 3)
    network    layers of sigmoid neurons, of the shapes of table 2
    boosted    trees, one after the other, on what is left
    kriging    a Gaussian process; where there are many records, of some drawn at random

Times that are predicted are never below a tenth of the least that was seen: no firmware is free.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np

from drivelab.one_thread import one_thread

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Array = NDArray[np.float64]

# Of Gaussian processes: their time grows with the cube of the records.
_MOST_KRIGED: Final = 400
_FLOOR: Final = 0.1
_TREES: Final = 200
_TREE_RATE: Final = 0.08
_TREE_DEPTH: Final = 4
_LEAST_LEAF: Final = 5


class Learner(Protocol):
    """Learns times of records from their inputs."""

    def fit(self, inputs: Array, times: Array, seed: int) -> Callable[[Array], Array]:
        """Learn, and return what predicts.

        Parameters
        ----------
        inputs
            Shape (n, inputs).
        times
            Shape (n,), ns.
        seed
            Key of all random numbers.
        """
        ...


@dataclass(frozen=True)
class NetworkShape:
    """A point of the space of Lee et al. 2021, table 2.

    Attributes
    ----------
    layers
        Hidden layers.
    neurons
        Of each layer.
    learning_rate
        Of Adam, at the beginning.
    """

    layers: int
    neurons: int
    learning_rate: float

    def describe(self) -> str:
        """Return it in a few words."""
        return f"{self.layers} layers of {self.neurons}, learning rate {self.learning_rate:g}"


#: Table 2: every shape that is searched.
NETWORK_SHAPES: Final = tuple(
    NetworkShape(layers, neurons, rate)
    for layers in (4, 5, 6, 7)
    for neurons in (128, 256, 512)
    for rate in (0.0001, 0.0002, 0.001, 0.002)
)
#: Table 2.
_BATCH: Final = 32
_ITERATIONS: Final = 20


class Linear:
    """Least squares in all inputs."""

    def fit(self, inputs: Array, times: Array, seed: int) -> Callable[[Array], Array]:
        """See `Learner`."""
        del seed
        from sklearn.linear_model import LinearRegression

        return _fitted(LinearRegression(), inputs, times)


@dataclass(frozen=True)
class Network:
    """A network of one shape."""

    shape: NetworkShape

    def fit(self, inputs: Array, times: Array, seed: int) -> Callable[[Array], Array]:
        """See `Learner`; the loss is the squared error (table 2)."""
        from sklearn.neural_network import MLPRegressor

        network = MLPRegressor(
            hidden_layer_sizes=(self.shape.neurons,) * self.shape.layers,
            activation="logistic",
            solver="adam",
            batch_size=min(_BATCH, len(times)),
            learning_rate_init=self.shape.learning_rate,
            max_iter=_ITERATIONS,
            random_state=seed,
        )
        with warnings.catch_warnings():
            # Table 2 ends after so many iterations, whether it has converged or not.
            warnings.simplefilter("ignore")
            return _fitted(network, inputs, times)


class Boosted:
    """Trees, each fitted to what those before it leave."""

    def fit(self, inputs: Array, times: Array, seed: int) -> Callable[[Array], Array]:
        """See `Learner`; the logarithm of the time is learned."""
        from sklearn.ensemble import GradientBoostingRegressor

        trees = GradientBoostingRegressor(
            n_estimators=_TREES,
            learning_rate=_TREE_RATE,
            max_depth=_TREE_DEPTH,
            min_samples_leaf=_LEAST_LEAF,
            random_state=seed,
        )
        return _fitted(trees, inputs, times, as_logarithm=True)


class Kriging:
    """A Gaussian process with a straight line in every input."""

    def fit(self, inputs: Array, times: Array, seed: int) -> Callable[[Array], Array]:
        """See `Learner`; of many records some are drawn."""
        from sklearn.gaussian_process import GaussianProcessRegressor
        from sklearn.gaussian_process.kernels import (
            ConstantKernel,
            DotProduct,
            Matern,
            WhiteKernel,
        )

        if len(times) > _MOST_KRIGED:
            drawn = np.random.default_rng(seed).choice(len(times), _MOST_KRIGED, replace=False)
            drawn.sort()
            inputs, times = inputs[drawn], times[drawn]
        smooth = ConstantKernel(1.0, (1e-4, 1e4)) * Matern(10.0, (0.1, 1e4), nu=2.5)
        straight = ConstantKernel(1.0, (1e-4, 1e4)) * DotProduct(1.0, (1e-3, 1e3))
        process = GaussianProcessRegressor(
            smooth + straight + WhiteKernel(1e-3, (1e-8, 1.0)), random_state=seed
        )
        with warnings.catch_warnings():
            # A parameter at the end of its range is an answer.
            warnings.simplefilter("ignore")
            return _fitted(process, inputs, times, as_logarithm=True)


#: Learners by name, but the network, whose shape is searched.
LEARNERS: Final[dict[str, Callable[[], Learner]]] = {
    "linear": Linear,
    "boosted": Boosted,
    "kriging": Kriging,
}


def _fitted(
    regressor: Any, inputs: Array, times: Array, *, as_logarithm: bool = False
) -> Callable[[Array], Array]:
    """Fit to standardised inputs and times over their mean; return what predicts, in ns."""
    amounts = np.log1p(inputs) if as_logarithm else inputs
    centre, spread = amounts.mean(axis=0), amounts.std(axis=0)
    spread = np.where(spread > 0, spread, 1.0)
    mean = float(times.mean())
    wanted = np.log(times / mean) if as_logarithm else times / mean
    with one_thread():
        regressor.fit((amounts - centre) / spread, wanted)
    least = _FLOOR * float(times.min())

    def predict(asked: Array) -> Array:
        amounts = np.log1p(asked) if as_logarithm else asked
        with one_thread():
            answer = np.asarray(regressor.predict((amounts - centre) / spread), dtype=np.float64)
        found: Array = np.maximum(mean * (np.exp(answer) if as_logarithm else answer), least)
        return found

    return predict
