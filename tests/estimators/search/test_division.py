"""The division of the box, against the paper's text: every point at which the search looks, in order.

Without local searches multilevel coordinate search is its initialisation, its two kinds of split and its two rules of
choice (Huyer & Neumaier, J. Global Optim. 14:331–355, 1999, §§3–4). The reference below is written from these alone, a
box as an object with a dictionary per coordinate. Lists, dimensions, bounds and functions are drawn.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pytest

from estimators.search import minimise
from estimators.search.base import SearchStatus
from estimators.search.mcs import Mcs

GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0
Function = Callable[[list[float]], float]


class Neighbour(NamedTuple):
    """A point beside the base along one coordinate, and how much larger the function is there."""

    at: float
    more: float


@dataclass
class Box:
    """Base point, opposite point, and what is known beside the base along the coordinates that were split."""

    base: list[float]
    opposite: list[float]
    value: float
    level: int
    splits: list[int]
    beside: dict[int, tuple[Neighbour, Neighbour, Neighbour]] = field(default_factory=dict)  # two, and the next one
    hopeless: bool = False


def part(left: float, right: float, at_left: float, at_right: float) -> tuple[float, int, int]:
    """The golden point between two values, and by how many levels either side goes up: the better one is larger."""
    if at_left <= at_right:
        return left + GOLDEN * (right - left), 1, 2
    return left + (1.0 - GOLDEN) * (right - left), 2, 1


def least_of_parabola(nodes: list[tuple[float, float]], low: float, high: float) -> tuple[float, float]:
    """Where the parabola through three nodes is least on [low, high], and its value there."""
    (x0, f0), (x1, f1), (x2, f2) = nodes
    slope = (f1 - f0) / (x1 - x0)
    bend = ((f2 - f1) / (x2 - x1) - slope) / (x2 - x0)

    def at(z: float) -> float:
        return f0 + (z - x0) * (slope + bend * (z - x1))

    places = [high, low]
    if bend > 0.0:
        vertex = 0.5 * (x0 + x1 - slope / bend)
        if low <= vertex <= high:
            places = [vertex]
    return min(((z, at(z)) for z in places), key=lambda one: one[1])


def drawn_in(x: float, y: float) -> float:
    """`subint` of §4."""
    if 1000.0 * abs(x) < 1.0:
        return math.copysign(1.0, y) if abs(y) > 1000.0 else y
    return 10.0 * math.copysign(1.0, y) * abs(x) if abs(y) > 1000.0 * abs(x) else y


class Published:
    """The search without its local searches; `points` is every point that it looks at."""

    def __init__(
        self, f: Function, lower: list[float], upper: list[float], lists: list[list[float]], start: list[int], top: int
    ) -> None:
        self.f, self.lower, self.upper, self.lists, self.start, self.top = f, lower, upper, lists, start, top
        self.n, self.points, self.best = len(lower), list[list[float]](), math.inf
        self.boxes: list[Box] = []

    def look(self, x: list[float]) -> float:
        self.points.append(list(x))
        value = self.f(x)
        self.best = min(self.best, value)
        return value

    def run(self, enough: int) -> None:
        """Sweep until so many points are seen, or no box is left: of each level the box of least value."""
        self.begin()
        while len(self.points) < enough and self.boxes:
            self.record: dict[int, Box] = {}
            for box in self.boxes:
                self.note(box)
            for level in range(1, self.top):
                if level in self.record:
                    self.handle(self.record[level])

    def note(self, box: Box) -> None:
        """Into the record of its level, where it is better than all before; not where it is as good."""
        if box.level not in self.record or box.value < self.record[box.level].value:
            self.record[box.level] = box

    def begin(self) -> None:
        """§3: the list, coordinate by coordinate at the best point so far; the box divided along each."""
        x = [values[first] for values, first in zip(self.lists, self.start, strict=True)]
        self.record = {}
        value, self.found = self.look(x), list[list[float]]()
        far = [v if v - one >= one - u else u for one, u, v in zip(x, self.lower, self.upper, strict=True)]
        box = Box(list(x), far, value, 1, [0] * self.n)
        for i, values in enumerate(self.lists):
            found = [
                value if j == self.start[i] else self.look([*x[:i], one, *x[i + 1 :]]) for j, one in enumerate(values)
            ]
            self.found.append(found)
            least = self.start[i] if found[self.start[i]] == min(found) else found.index(min(found))
            x[i], value = values[least], found[least]
            children = self.by_list(box, i, found)
            self.boxes = [one for one in self.boxes if one is not box]
            for child in children:
                self.add(child)
            vertex, _ = least_of_parabola(list(zip(values, found, strict=True))[-3:], values[-3], values[-1])
            both = [child for child in children if child.base[i] == x[i]]
            box = next((child for child in both if (child.opposite[i] > x[i]) == (vertex > x[i])), both[0])
        self.rank = sorted(range(self.n), key=lambda i: -self.variability(i))

    def variability(self, i: int) -> float:
        """How far the parabolas through three neighbours each reach over the whole coordinate."""
        nodes = list(zip(self.lists[i], self.found[i], strict=True))
        low, high = math.inf, -math.inf
        for a in range(len(nodes) - 2):
            left = self.lower[i] if a == 0 else nodes[a][0]
            right = self.upper[i] if a == len(nodes) - 3 else nodes[a + 2][0]
            three = nodes[a : a + 3]
            low = min(low, least_of_parabola(three, left, right)[1])
            high = max(high, -least_of_parabola([(x, -f) for x, f in three], left, right)[1])
        return high - low

    def add(self, box: Box) -> None:
        if box.level < self.top:
            self.boxes.append(box)
            self.note(box)

    def child(self, box: Box, i: int, x: float, y: float, value: float, up: int, *beside: Neighbour) -> Box:
        first, second, following = beside
        return Box(
            [*box.base[:i], x, *box.base[i + 1 :]],
            [*box.opposite[:i], y, *box.opposite[i + 1 :]],
            value,
            box.level + up,
            [count + (k == i) for k, count in enumerate(box.splits)],
            box.beside | {i: (first, second, following)},
        )

    def by_list(self, box: Box, i: int, found: list[float]) -> list[Box]:
        """§3, at all values of the list."""
        x, last, children = self.lists[i], len(found) - 1, []

        def piece(j: int, across: int, y: float, up: int) -> Box:
            near = [j - 1, j + 1] if 0 < j < last else [1, 2] if j == 0 else [last - 2, last - 1]
            beside = [Neighbour(x[k], found[k] - found[j]) for k in (*near, across)]
            return self.child(box, i, x[j], y, found[j], up, *beside)

        if x[0] > self.lower[i]:
            children.append(piece(0, 1, self.lower[i], 1))
        for j in range(last):
            z, left, right = part(x[j], x[j + 1], found[j], found[j + 1])
            children += [piece(j, j + 1, z, left), piece(j + 1, j, z, right)]
        if x[last] < self.upper[i]:
            children.append(piece(last, last - 1, self.upper[i], 1))
        return children

    def at_value(self, box: Box, i: int, z: float) -> Iterator[Box]:
        """§3, at one value z."""
        x, y, f = box.base[i], box.opposite[i], box.value
        fz = self.look([*box.base[:i], z, *box.base[i + 1 :]])
        _, _, following = box.beside[i]
        there, back = Neighbour(z, fz - f), Neighbour(x, f - fz)
        beyond = Neighbour(following.at, following.more - (fz - f))
        g, left, right = part(x, z, f, fz)
        yield self.child(box, i, x, g, f, left, there, following, there)
        yield self.child(box, i, z, g, fz, right, back, beyond, back)
        if z != y:
            yield self.child(box, i, z, y, fz, 1 if abs(y - z) > (1.0 - GOLDEN) * abs(z - x) else 2, back, beyond, back)

    def handle(self, box: Box) -> None:
        """§4: split by rank, or by expected gain, or not."""
        if box.level > 2 * self.n * (min(box.splits) + 1):
            i = min(range(self.n), key=lambda k: (box.splits[k], self.rank.index(k)))
            z = box.base[i] + 2.0 / 3.0 * (drawn_in(box.base[i], box.opposite[i]) - box.base[i])
        else:
            gains = [(math.inf, 0.0)] * self.n if box.hopeless else [self.gain(box, k) for k in range(self.n)]
            i = min(range(self.n), key=lambda k: gains[k][0])
            z = gains[i][1]
            if not box.value + gains[i][0] < self.best:
                box.hopeless = True
                box.level += 1
                if box.level < self.top:
                    self.note(box)
                self.boxes = [one for one in self.boxes if one.level < self.top]
                return
        if box.splits[i]:
            children = list(self.at_value(box, i, z))
        else:
            x = box.base
            found = [
                box.value if j == self.start[i] else self.look([*x[:i], one, *x[i + 1 :]])
                for j, one in enumerate(self.lists[i])
            ]
            children = self.by_list(box, i, found)
        self.boxes = [one for one in self.boxes if one is not box]
        for child in children:
            self.add(child)

    def gain(self, box: Box, i: int) -> tuple[float, float]:
        """What a split along i is expected to gain, and where."""
        if not box.splits[i]:
            return min(self.found[i]) - self.found[i][self.start[i]], 0.0
        first, second, _ = box.beside[i]
        far = drawn_in(box.base[i], box.opposite[i])
        near = box.base[i] + (far - box.base[i]) / 10.0
        z, gain = least_of_parabola([(box.base[i], 0.0), first, second], min(near, far), max(near, far))
        return gain, z


def problem(seed: int) -> tuple[Function, list[float], list[float], list[list[float]], list[int]]:
    """A function with many minima over a box, and a list for each coordinate."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 4))
    lower, width = rng.uniform(-4.0, 1.0, n), rng.uniform(2.0, 6.0, n)
    if seed % 4 == 0:
        lower, width = np.full(n, -0.0004), np.full(n, 3000.0)  # so wide that far ends are drawn in
    lists = [
        (
            low + wide * np.sort(rng.uniform(0.05 * (seed % 3), 1.0 - 0.05 * (seed % 2), int(rng.integers(3, 6))))
        ).tolist()
        for low, wide in zip(lower, width, strict=True)
    ]
    scale, centre, weight = rng.uniform(2.0, 9.0, n), lower + width * rng.random(n), rng.uniform(0.2, 3.0, n)

    def f(x: list[float]) -> float:
        apart = (np.array(x) - centre) / width
        return float(np.sum(weight * (4.0 * apart**2 - np.cos(scale * apart))) + np.prod(np.sin(5.0 * apart)))

    return f, lower.tolist(), (lower + width).tolist(), lists, [int(rng.integers(len(one))) for one in lists]


@pytest.mark.parametrize("seed", range(24))
def test_it_looks_where_the_paper_says(seed: int) -> None:
    f, lower, upper, lists, start = problem(seed)
    n, enough = len(lower), 300
    wanted = Published(f, lower, upper, lists, start, 5 * n + 10)
    wanted.run(enough)
    points: list[list[float]] = []

    def heard(x: np.ndarray) -> float:
        points.append(x.tolist())
        return f(points[-1])

    search = Mcs(
        published=True, local_steps=0, stall=10_000, initial=tuple(map(tuple, lists)), initial_start=tuple(start)
    )
    found = minimise(search, heard, lower, upper, budget=enough)
    assert len(points) == min(enough, len(wanted.points))
    assert (found.status is SearchStatus.COMPLETE) == (len(wanted.points) < enough)
    np.testing.assert_allclose(points, wanted.points[:enough], rtol=1e-9, atol=1e-9)
