"""Lines through candidates, for a known result."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from drivelab.preset_fit.descent import descend
from drivelab.preset_fit.surface import lines_around


@dataclass
class Rough:
    """A drive whose logarithms are straight lines of the parameters, and scatter."""

    steep: np.ndarray
    at_base: np.ndarray
    deviation: float
    pull: float = 0.0
    random: np.random.Generator = field(default_factory=lambda: np.random.default_rng(3))

    @property
    def active(self) -> list[int]:
        return list(range(self.steep.shape[1]))

    def left(self, logarithms: np.ndarray) -> np.ndarray:
        scatter = self.random.normal(0, self.deviation, len(self.at_base))
        return np.asarray(self.at_base + self.steep @ logarithms + scatter)

    def slopes(self, _here: np.ndarray, _left: np.ndarray, _look: float) -> np.ndarray:
        return self.steep


def test_slopes_that_are_scatter_alone_are_none() -> None:
    random = np.random.default_rng(1)
    steep = np.column_stack([random.normal(0, 1, 80), np.zeros(80)])
    bench = Rough(steep, np.zeros(80), 0.05)
    lines = lines_around(bench, np.zeros(2), np.full(2, 0.1), 20, 1)  # type: ignore[arg-type]
    assert lines is not None
    true = float(steep[:, 0] @ steep[:, 0])
    assert abs(lines.normal[0, 0] / true - 1) < 0.1
    # The slopes themselves say that the second matters: 80 lines of about 0.2.
    assert float(lines.slopes[:, 1] @ lines.slopes[:, 1]) > 1.0
    assert lines.normal[1, 1] < 0.8
    assert np.median(lines.scatter) > 0.03


def test_a_latency_that_varies_much_hides_the_others_until_it_weighs_less() -> None:
    random = np.random.default_rng(1)
    bench = Rough(random.normal(0, 1, (80, 2)), np.zeros(80), 0.001)
    lines = lines_around(bench, np.zeros(2), np.full(2, 0.03), 20, 1)  # type: ignore[arg-type]
    assert lines is not None
    assert np.allclose(lines.steadier.normal, lines.normal, rtol=0.02)
    # A single one by half: 20 candidates within 0.03 cannot tell what it depends on.
    scatter = lines.scatter.copy()
    scatter[0] = 0.5
    doubt = lines.doubt * float(scatter @ scatter) / float(lines.scatter @ lines.scatter)
    chaotic = replace(lines, scatter=scatter, doubt=doubt)
    assert np.linalg.det(chaotic.normal) < 0.01 * np.linalg.det(lines.normal)
    assert np.linalg.det(chaotic.steadier.normal) > 0.9 * np.linalg.det(lines.normal)


def test_the_place_is_what_all_candidates_say_it_is() -> None:
    random = np.random.default_rng(1)
    bench = Rough(random.normal(0, 1, (80, 3)), random.normal(0, 0.2, 80), 0.05)
    lines = lines_around(bench, np.zeros(3), np.full(3, 0.1), 60, 1)  # type: ignore[arg-type]
    assert lines is not None
    one = bench.left(np.zeros(3)) - bench.at_base
    assert np.std(lines.left - bench.at_base) < np.std(one) / 4


def test_steps_by_slopes_end_at_the_lowest_place() -> None:
    random = np.random.default_rng(1)
    steep, away = random.normal(0, 1, (40, 3)), np.array([0.5, -0.8, 1.4])
    bench = Rough(steep, -steep @ away, 0.0)
    found = descend(bench, np.zeros(3))  # type: ignore[arg-type]
    assert np.allclose(found, away, atol=0.01)
