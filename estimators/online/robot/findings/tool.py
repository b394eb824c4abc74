"""Compares the tool that the robot carries with the one that its controller is configured for.

    m − m_c,  c − c_c        each against its deviation, and against the smallest difference that is reported

Where a payload was found, that is compared. Otherwise the last link's ten parameters are estimated from the last
seconds of motion, so a tool that the controller expects and that is missing is noticed as well.
"""

from typing import Final, NamedTuple

import numpy as np

from estimators.models.robots.tree import PARAMETERS
from estimators.online.robot.findings.carried import Payload, as_payload, tool_prior
from estimators.online.robot.findings.causes.base import LOOKS
from estimators.online.robot.findings.causes.payload import CERTAIN, MASS
from estimators.online.robot.findings.looks import FADE
from estimators.quantities import Floats

#: m, argued: Difference of the centre below which nothing is reported: less than a gripper's fingers are wide.
CENTRE: Final = 0.02


class ConfiguredTool(NamedTuple):
    """The tool that the controller is configured for, beyond what the robot carried when its model was identified."""

    mass: float  # kg
    centre: Floats  # (3,) m, in the last link's frame


class ToolDifference(NamedTuple):
    """Declares the difference of the carried body and the tool that the controller is configured for."""

    mass: float  # kg
    mass_deviation: float
    centre: Floats  # (3,) m; NaN where either has no mass that is certain
    centre_deviation: Floats  # (3,)
    differs: bool  # whether LOOKS looks in a row have found a difference
    text: str  # in words; "" unless it differs


def unknown() -> ToolDifference:
    """The difference before any motion, when nothing is known."""
    return ToolDifference(np.nan, np.inf, np.full(3, np.nan), np.full(3, np.inf), False, "")


class ToolCheck:
    """Compares the carried body with the configured tool, each half second of motion."""

    def __init__(self, configured: ConfiguredTool, parameters: int, scale: float) -> None:
        """parameters: of θ with the lags; scale: relative deviation of the torque."""
        self.configured, self._scale = configured, scale
        self.difference = unknown()
        self._size = parameters
        self._looks = 0  # looks in a row that contradict `differs`
        self.forget()

    def forget(self) -> None:
        """Forget the motion so far, since the payload or the model has changed."""
        k = self._size + PARAMETERS
        self._information, self._moments = np.zeros((k, k)), np.zeros(k)

    def absorb(self, X: Floats, Y: Floats, torque: Floats, weights: Floats) -> None:
        """Take a look: (rows, n, q), (rows, n, 10), and torque and weights (rows, n); weight 0: not used."""
        root = np.sqrt(weights)[:, :, None]
        columns = (np.concatenate([X, Y], axis=2) * root).reshape(-1, len(self._moments))
        self._information = FADE * self._information + columns.T @ columns
        self._moments = FADE * self._moments + columns.T @ (torque[:, :, None] * root).ravel()

    def compare(self, payload: Payload, theta: Floats, root: Floats) -> bool | None:
        """Compare; returns whether the tool differs from now on, or None where that has not changed.

        payload: the one that is found, if any; theta: (q,); root: (q, q) L of its covariance L Lᵀ.
        """
        body = payload if payload.carried else as_payload(*self._body(theta, root), self._scale)
        mass, configured = body.mass - self.configured.mass, self.configured
        centre, around = np.full(3, np.nan), np.full(3, np.inf)
        if configured.mass > 0.0 and body.mass > 0.0 and np.isfinite(body.centre).all():
            centre, around = body.centre - configured.centre, body.centre_deviation
        away = float(np.linalg.norm(centre))
        along = float(np.linalg.norm(centre * around)) / away if away > 0.0 else np.nan  # deviation along it
        heavy = abs(mass) > max(CERTAIN * body.mass_deviation, MASS)
        aside = away > max(CERTAIN * along, CENTRE)
        before = self.difference.differs
        self._looks = self._looks + 1 if (heavy or aside) != before else 0
        changes = self._looks >= LOOKS
        differs = before != changes
        words = [f"{abs(mass):.2g} kg"] * heavy + [f"{1e3 * away:.0f} mm"] * aside
        text = f"the tool configured in the controller differs by {', '.join(words)}: {body.mass:.3g} ± " + (
            f"{body.mass_deviation:.1g} kg are carried, {configured.mass:.3g} kg are configured"
        )
        text = text if differs and words else self.difference.text * differs
        self.difference = ToolDifference(mass, body.mass_deviation, centre, around, differs, text)
        self._looks *= not changes
        return differs if changes else None

    def _body(self, theta: Floats, root: Floats) -> tuple[Floats, Floats]:
        """Ten parameters (10,) of the body carried beyond the model, and covariance (10, 10), with θ uncertain."""
        q, S, b = self._size, self._information, self._moments
        b = b - S[:, :q] @ theta
        inverse = root @ np.linalg.solve(np.eye(q) + root.T @ S[:q, :q] @ root, root.T)
        gain = S[q:, :q] @ inverse
        own, pull = S[q:, q:] - gain @ S[:q, q:], b[q:] - gain @ b[:q]
        covariance = np.linalg.inv(own + np.linalg.inv(tool_prior()))
        covariance = 0.5 * (covariance + covariance.T)
        return covariance @ pull, covariance
