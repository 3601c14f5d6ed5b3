"""How a record's time on the target is predicted from what was seen on the host.

::

    linear     least squares of the time in all inputs (Lee et al. 2021, section 3)
    network    layers of sigmoid neurons, of the shapes of table 2
    boosted    trees, one after the other, on what is left
    kriging    a Gaussian process; where there are many records, of some drawn at random

Times that are predicted are never below a tenth of the least that was seen, because no firmware is
free, nor above ten times the most.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np

from drivelab.firmware.record_models import Kriged, Line, Scale
from drivelab.firmware.sigmoid_layers import SigmoidLayers
from drivelab.one_thread import one_thread

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Array = NDArray[np.float64]

# Of Gaussian processes: their time grows with the cube of the records.
_MOST_KRIGED: Final = 400
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
        Number of neurons in each layer.
    learning_rate
        Step size of Adam at the beginning.
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
# After 3000 steps errors of unseen workloads grow again. Of 8,400 records these are 11 passes, and
# table 2 has at most 20.
_STEPS: Final = 3000


class Linear:
    """Least squares in all inputs."""

    def fit(self, inputs: Array, times: Array, seed: int) -> Line:
        """See `Learner`."""
        del seed
        from sklearn.linear_model import LinearRegression

        scale = Scale.of(inputs, times, is_logarithm=False)
        with one_thread():
            found = LinearRegression().fit(scale.inputs(inputs), scale.wanted(times))
        return Line(scale, float(found.intercept_), np.asarray(found.coef_, dtype=np.float64))


@dataclass(frozen=True)
class Network:
    """A network of one shape.

    Layers of sigmoids answer alike far from what they have learned, so they learn logarithms of
    times from logarithms of inputs: a workload with larger requests than all others is then less
    far away.

    Attributes
    ----------
    shape
        Its layers.
    steps
        Of the descent.
    """

    shape: NetworkShape
    steps: int = _STEPS

    def fit(self, inputs: Array, times: Array, seed: int) -> Callable[[Array], Array]:
        """See `Learner`; the loss is the squared error (table 2)."""
        scale = Scale.of(inputs, times, is_logarithm=True)
        rows = scale.inputs(inputs).astype(np.float32)
        widths = (rows.shape[1], *(self.shape.neurons,) * self.shape.layers)
        network = SigmoidLayers(widths, seed)
        batch = min(_BATCH, len(times))
        with one_thread():
            wanted = scale.wanted(times).astype(np.float32)
            network.fit(rows, wanted, self.shape.learning_rate, batch, self.steps)

        def predict(asked: Array) -> Array:
            with one_thread():
                answer = network.predict(scale.inputs(asked).astype(np.float32))
            return scale.times(answer.astype(np.float64))

        return predict


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
        return _fitted(trees, inputs, times, is_logarithm=True)


class Kriging:
    """A Gaussian process with a straight line in every input."""

    def fit(self, inputs: Array, times: Array, seed: int) -> Kriged:
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
        scale = Scale.of(inputs, times, is_logarithm=True)
        with warnings.catch_warnings(), one_thread():
            # A parameter at the end of its range is an answer.
            warnings.simplefilter("ignore")
            process.fit(scale.inputs(inputs), scale.wanted(times))
        found = process.kernel_.get_params()
        return Kriged(
            scale,
            np.asarray(process.X_train_, dtype=np.float64),
            np.asarray(process.alpha_, dtype=np.float64).ravel(),
            smooth=float(found["k1__k1__k1__constant_value"]),
            length=float(found["k1__k1__k2__length_scale"]),
            straight=float(found["k1__k2__k1__constant_value"]),
            offset=float(found["k1__k2__k2__sigma_0"]),
        )


#: Learners by name, but the network, whose shape is searched.
LEARNERS: Final[dict[str, Callable[[], Learner]]] = {
    "linear": Linear,
    "boosted": Boosted,
    "kriging": Kriging,
}


def _fitted(
    regressor: Any,
    inputs: Array,
    times: Array,
    *,
    is_logarithm: bool = False,
) -> Callable[[Array], Array]:
    """Fit to scaled inputs and times; return what predicts, in ns."""
    scale = Scale.of(inputs, times, is_logarithm=is_logarithm)
    with one_thread():
        regressor.fit(scale.inputs(inputs), scale.wanted(times))

    def predict(asked: Array) -> Array:
        with one_thread():
            answer = regressor.predict(scale.inputs(asked))
        answer = np.asarray(answer, dtype=np.float64)
        return scale.times(answer)

    return predict
