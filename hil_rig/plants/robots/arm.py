"""One simulation of a whole arm, and its axes, each of which is sampled like any other joint."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

import numpy as np

from hil_rig.messages import Message
from hil_rig.plants.base import Floats, Jump, Parameters, Plant, PlantSettings, RigError, Role
from hil_rig.plants.robots.dynamics import body

PAYLOAD: Final = {"mass": 0.0, "x": 0.0, "y": 0.0, "z": 0.0, "gyration": 0.06}  # kg, m in the last link's frame
BASE: Final = {"tilt": 0.0, "about": 0.0}  # rad, and rad, direction of the tilt axis in the base's xy plane


class ArmAxis:
    """A joint of an arm, which takes its part of the whole simulation."""

    def __init__(self, arm: "Arm", node: int, messages: tuple[Message, ...], roles: Mapping[str, Role]) -> None:
        self.rate = arm.rate
        self.messages = messages
        self.roles = roles
        self.model: Mapping[str, Any] = {"kind": "rigid", "gravity_sin": True, "gravity_cos": True}
        self._arm, self._node, self._taken = arm, node, 0

    def rows(self, count: int) -> Floats:
        """Return the next samples, (count, fields) in SI."""
        found = self._arm.samples(self._taken, count, self._node)
        self._taken += count
        return found

    def times(self) -> Floats | None:
        """None: a simulation has no end."""
        return None

    def truth(self) -> Mapping[str, float]:
        """Return nothing: the joints are coupled, so a single rigid joint has no true parameters."""
        return {}

    def parameters(self) -> Mapping[str, float]:
        """Return the present parameters of this joint; the last joint also has those of the payload."""
        own = f"joint{self._node}."
        now = self._arm.parameters.as_dict()
        mine = {name.removeprefix(own): value for name, value in now.items() if name.startswith(own)}
        last = self._node == self._arm.joints
        return mine | ({name: value for name, value in now.items() if name.startswith("payload.")} if last else {})


class Arm:
    """Parameters, their jumps, the payload, and samples that not all axes have taken yet."""

    def __init__(
        self,
        rate: float,
        joints: Sequence[Mapping[str, float]],
        links: Floats,
        jumps: Sequence[Jump],
        groups: Mapping[str, Sequence[str]],
    ) -> None:
        """Make the arm.

        joints: parameters of each joint; groups: names for several parameters of one joint. Raises RigError.
        """
        self.rate, self.joints = rate, len(joints)
        names = [f"joint{node}" for node in range(1, self.joints + 1)]
        values = {f"{name}.{key}": value for name, own in zip(names, joints, strict=True) for key, value in own.items()}
        values |= {f"payload.{key}": value for key, value in PAYLOAD.items()}
        values |= {f"base.{key}": value for key, value in BASE.items()}
        every = {key: [f"{name}.{key}" for name in names] for key in joints[0]}
        one = {f"{name}.{group}": [f"{name}.{key}" for key in keys] for name in names for group, keys in groups.items()}
        whole = {group: [f"{name}.{key}" for name in names for key in keys] for group, keys in groups.items()}
        self.parameters = Parameters(values, rate, jumps, every | one | whole)
        self._links, self._size = links, len(values) - len(PAYLOAD) - len(BASE)
        self._rows: Floats = np.empty((0, self.joints, 0))
        self._first = 0  # number of the first sample that is kept
        self._asked = [0] * self.joints

    def link_parameters(self) -> Floats:
        """Parameters of all links, (joints, LINK); the last link includes the payload."""
        mass, x, y, z, gyration = self.parameters.values[self._size : -len(BASE)]
        carried = body(mass, np.array([x, y, z]), mass * gyration**2 * np.eye(3))
        links = self._links.copy()
        links[-1] += carried
        return links

    def base(self) -> tuple[float, float]:
        """Tilt of the base, rad, and direction of the tilt axis in its xy plane, rad."""
        tilt, about = self.parameters.values[-len(BASE) :]
        return float(tilt), float(about)

    def samples(self, first: int, count: int, node: int) -> Floats:
        """Return rows of one axis from sample `first` on, (count, fields)."""
        missing = first + count - self._first - len(self._rows)
        if missing > 0:
            parts = [self._rows] if self._rows.size else []
            self._rows = np.concatenate([*parts, self.measured(self.exact(missing))])
        self._asked[node - 1] = first + count
        found: Floats = self._rows[first - self._first : first - self._first + count, node - 1].copy()
        done = min(self._asked) - self._first
        if done > 0:
            self._rows, self._first = self._rows[done:], self._first + done
        return found

    def exact(self, count: int) -> Floats:
        """Return the next samples of all axes without sensors, (count, joints, quantities), for use without a wire."""
        parts = []
        while count > 0:
            stretch = self.parameters.next_stretch(count)
            values = self.parameters.values[: self._size].reshape(self.joints, -1)
            parts.append(self.simulate(values, self.link_parameters(), stretch))
            count -= stretch
        return np.concatenate(parts)

    def simulate(self, values: Floats, links: Floats, count: int) -> Floats:
        """Simulate (count, joints, quantities) with constant parameters (joints, parameters), links (joints, LINK)."""
        raise NotImplementedError

    def measured(self, exact: Floats) -> Floats:
        """Return the measured values, (count, joints, fields of all messages of an axis) in SI."""
        raise NotImplementedError

    def axis(self, node: int) -> ArmAxis:
        """Return one axis with the messages of its sensors."""
        raise NotImplementedError


class ArmSettings(PlantSettings):
    """Settings of a robot whose joints are the axes of one simulation."""

    axes: ClassVar[int]

    def arm(self, seed: int, jumps: Sequence[Jump]) -> Arm:
        """The whole simulation. Raises RigError."""
        raise NotImplementedError

    def build(self, node: int, seed: int, jumps: Sequence[Jump]) -> Plant:
        """Build one axis of the whole robot."""
        return self.robot(self.axes, seed, jumps)[f"joint{node}"]

    def robot(self, joints: int, seed: int, jumps: Sequence[Jump]) -> dict[str, Plant]:
        """Build all axes of one simulation. Raises RigError."""
        if joints != self.axes:
            raise RigError(f"expected --joints {self.axes}, since this robot has {self.axes} axes, found {joints}")
        arm = self.arm(seed, jumps)
        return {f"joint{node}": arm.axis(node) for node in range(1, self.axes + 1)}
