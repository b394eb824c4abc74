"""The nine test functions on which global searches are compared, and the published counts of evaluations.

Jones, Perttunen & Stuckman, J. Optim. Theory Appl. 79:157–181 (1993); counts from Huyer & Neumaier, J. Global Optim.
14:331–355 (1999), Table II. The criterion is a relative error of 1e-4 in the value.
"""

from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np

from estimators.numerics.jit import kernel
from estimators.quantities import Floats
from estimators.search.base import OBJECTIVE, Compiled

ACCURACY: Final = 1e-4


class Function(NamedTuple):
    """A test function."""

    name: str
    f: Compiled
    lower: Floats
    upper: Floats
    minimum: float
    minimisers: Floats  # (minimisers, dimensions)
    conformance: int  # evaluations of MCS v2.0 with its inverse ranking
    first: int  # the first of these evaluations that meets the criterion
    mcs: int  # published count of MCS
    direct: int  # published count of DIRECT

    @property
    def target(self) -> float:
        """The value that meets the criterion."""
        return self.minimum + ACCURACY * abs(self.minimum)


SHEKEL_A: Final = np.array(
    [[4, 4, 4, 4], [1, 1, 1, 1], [8, 8, 8, 8], [6, 6, 6, 6], [3, 7, 3, 7]]
    + [[2, 9, 2, 9], [5, 5, 3, 3], [8, 1, 8, 1], [6, 2, 6, 2], [7, 3.6, 7, 3.6]],
    dtype=float,
)
SHEKEL_C: Final = np.array([0.1, 0.2, 0.2, 0.4, 0.4, 0.6, 0.3, 0.7, 0.5, 0.5])

HARTMAN_C: Final = np.array([1.0, 1.2, 3.0, 3.2])
HARTMAN3_A: Final = np.array([[3, 10, 30], [0.1, 10, 35], [3, 10, 30], [0.1, 10, 35]], dtype=float)
HARTMAN3_P: Final = np.array(
    [[0.3689, 0.1170, 0.2673], [0.4699, 0.4387, 0.7470], [0.1091, 0.8732, 0.5547], [0.03815, 0.5743, 0.8828]]
)
HARTMAN6_A: Final = np.array(
    [[10, 3, 17, 3.5, 1.7, 8], [0.05, 10, 17, 0.1, 8, 14], [3, 3.5, 1.7, 10, 17, 8], [17, 8, 0.05, 10, 0.1, 14]]
)
HARTMAN6_P: Final = np.array(
    [
        [0.1312, 0.1696, 0.5569, 0.0124, 0.8283, 0.5886],
        [0.2329, 0.4135, 0.8307, 0.3736, 0.1004, 0.9991],
        [0.2348, 0.1451, 0.3522, 0.2883, 0.3047, 0.6650],
        [0.4047, 0.8828, 0.8732, 0.5743, 0.1091, 0.0381],
    ]
)


@kernel(OBJECTIVE)
def shekel(x: Floats, data: Floats) -> float:
    """Shekel's function −Σ 1/(|x − a_i|² + c_i); data[0]: how many terms."""
    total = 0.0
    for i in range(int(data[0])):
        q = SHEKEL_C[i]
        for j in range(4):
            q += (x[j] - SHEKEL_A[i, j]) ** 2
        total -= 1.0 / q
    return total


@kernel(OBJECTIVE)
def hartman3(x: Floats, _data: Floats) -> float:
    """Hartman's function −Σ c_i exp(−Σ a_ij (x_j − p_ij)²) of three dimensions."""
    total = 0.0
    for i in range(4):
        q = 0.0
        for j in range(3):
            q += HARTMAN3_A[i, j] * (x[j] - HARTMAN3_P[i, j]) ** 2
        total -= HARTMAN_C[i] * np.exp(-q)
    return total


@kernel(OBJECTIVE)
def hartman6(x: Floats, _data: Floats) -> float:
    """Hartman's function −Σ c_i exp(−Σ a_ij (x_j − p_ij)²) of six dimensions."""
    total = 0.0
    for i in range(4):
        q = 0.0
        for j in range(6):
            q += HARTMAN6_A[i, j] * (x[j] - HARTMAN6_P[i, j]) ** 2
        total -= HARTMAN_C[i] * np.exp(-q)
    return total


@kernel(OBJECTIVE)
def goldstein_price(x: Floats, _data: Floats) -> float:
    """Goldstein & Price's polynomial of degree eight."""
    a, b = x[0], x[1]
    left = 1.0 + (a + b + 1.0) ** 2 * (19.0 - 14.0 * a + 3.0 * a * a - 14.0 * b + 6.0 * a * b + 3.0 * b * b)
    right = (2.0 * a - 3.0 * b) ** 2 * (18.0 - 32.0 * a + 12.0 * a * a + 48.0 * b - 36.0 * a * b + 27.0 * b * b)
    return float(left * (30.0 + right))


@kernel(OBJECTIVE)
def branin(x: Floats, _data: Floats) -> float:
    """Branin's function, which has three minimisers of equal value."""
    a, b = x[0], x[1]
    bend = b - 5.1 / (4.0 * np.pi**2) * a * a + 5.0 / np.pi * a - 6.0
    return float(bend**2 + 10.0 * (1.0 - 1.0 / (8.0 * np.pi)) * np.cos(a) + 10.0)


@kernel(OBJECTIVE)
def camel(x: Floats, _data: Floats) -> float:
    """The six-hump camel back function, which has two minimisers of equal value."""
    a, b = x[0], x[1]
    return float((4.0 - 2.1 * a * a + a**4 / 3.0) * a * a + a * b + (-4.0 + 4.0 * b * b) * b * b)


@kernel(OBJECTIVE)
def shubert(x: Floats, _data: Floats) -> float:
    """Shubert's product of two sums of five cosines, which has 760 local minima, eighteen of them global."""
    left = right = 0.0
    for k in range(1, 6):
        left += k * np.cos((k + 1) * x[0] + k)
        right += k * np.cos((k + 1) * x[1] + k)
    return left * right


def _shubert_minimisers() -> Floats:
    a, b = (-7.083506408, -0.8003211009, 5.482864206), (-7.708313735, -1.425128429, 4.858056878)
    return np.array([[p, q] for p in a for q in b] + [[q, p] for p in a for q in b])


def _function(
    name: str,
    f: Callable[[Floats, Floats], float],
    lower: list[float],
    upper: list[float],
    minimum: float,
    minimisers: list[list[float]] | Floats,
    counts: tuple[int, int, int, int],
    terms: int = 0,
) -> Function:
    low, high = np.array(lower, dtype=float), np.array(upper, dtype=float)
    points = np.array(minimisers, dtype=float)
    return Function(name, Compiled(f, np.array([float(terms)])), low, high, minimum, points, *counts)


_H6: Final = [[0.2016895, 0.1500107, 0.4768740, 0.2753324, 0.3116516, 0.6573005]]
FUNCTIONS: Final = (
    _function("Shekel 5", shekel, [0] * 4, [10] * 4, -10.15319968, [[4.0] * 4], (83, 83, 83, 155), 5),
    _function("Shekel 7", shekel, [0] * 4, [10] * 4, -10.40294057, [[4.0] * 4], (106, 105, 129, 145), 7),
    _function("Shekel 10", shekel, [0] * 4, [10] * 4, -10.53640982, [[4.0] * 4], (103, 103, 103, 145), 10),
    _function("Hartman 3", hartman3, [0] * 3, [1] * 3, -3.862782148, [[0.1146, 0.5556, 0.8525]], (90, 86, 79, 199)),
    _function("Hartman 6", hartman6, [0] * 6, [1] * 6, -3.322368011, _H6, (111, 107, 111, 571)),
    _function("Goldstein–Price", goldstein_price, [-2, -2], [2, 2], 3.0, [[0.0, -1.0]], (40, 40, 81, 191)),
    _function(
        "Branin",
        branin,
        [-5, 0],
        [10, 15],
        0.3978873577,
        [[-np.pi, 12.275], [np.pi, 2.275], [3.0 * np.pi, 2.475]],
        (41, 36, 41, 195),
    ),
    _function(
        "Six-hump camel",
        camel,
        [-3, -2],
        [3, 2],
        -1.031628453,
        [[0.0898420, -0.7126564], [-0.0898420, 0.7126564]],
        (42, 38, 42, 285),
    ),
    _function("Shubert", shubert, [-10] * 2, [10] * 2, -186.7309088, _shubert_minimisers(), (69, 64, 69, 2967)),
)


def shifted_boxes(function: Function, count: int, seed: int = 0) -> list[tuple[Floats, Floats]]:
    """Shift a function's box at random, so that no grid point meets a minimiser by luck: `count` pairs (lower, upper).

    Each coordinate is shifted by at most a quarter of its width. A shift that leaves no global minimiser inside is
    drawn again.
    """
    rng = np.random.default_rng(seed)
    boxes: list[tuple[Floats, Floats]] = []
    while len(boxes) < count:
        shift = rng.uniform(-0.25, 0.25, function.lower.size) * (function.upper - function.lower)
        lower, upper = function.lower + shift, function.upper + shift
        if ((function.minimisers >= lower) & (function.minimisers <= upper)).all(axis=1).any():
            boxes.append((lower, upper))
    return boxes
