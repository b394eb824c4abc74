"""Which searches of a friction's nonlinear parameters are accepted, at each limit; the usual residual is 0.2 N·m.

Rows count by four; 20 s of motion are 1000 rows.
"""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from estimators.models.robots.whole_robot import WholeRobot
from estimators.online.robot.friction_refit import FrictionRefits
from tests.support.signals.crane import arm

ETA = np.array([0.05, 0.15])
USUAL = 0.04  # (N·m)²


def joint(before: float, room: int = 1000) -> Any:
    """before: (N·m)², what the law in force leaves of the window."""
    refused = list[tuple[str, bool]]()
    return SimpleNamespace(
        joint=0, usual=USUAL, known=np.array([0.02, 0.02]), law=SimpleNamespace(start=ETA), room=room,
        residual=lambda _eta, _rows: before, refused=refused, refuse=lambda *told: refused.append(told),
    )  # fmt: skip


def search(residual: float = 0.2, factor: float = 1.2, rows: int = 1000, **changes: Any) -> Any:
    """What was found: its rms residual, N·m, and η times a factor."""
    whole = {"theta": np.ones(3), "names": ("coulomb", "viscous", "offset", "omega_tanh", "omega_stribeck")}
    whole |= {"edge": (), "ambiguous": None, "eta": ETA * (1.0, factor)}
    return SimpleNamespace(residual=residual, rows=rows, **whole | changes)


def refits() -> FrictionRefits:
    return FrictionRefits(WholeRobot(arm()), np.full(2, 4.0), np.full(2, 3.0))


CERTAIN = np.array([0.01, 0.01])


@pytest.mark.parametrize(
    ("before", "found", "etas", "cause", "doubt"),
    [
        (0.2, search(), CERTAIN, "", None),
        (0.2, search(0.2399), CERTAIN, "", None),  # 1.2 times the usual one
        (0.2, search(0.2401), CERTAIN, "the residual is 1.20 times the usual one", False),
        (0.05, search(np.sqrt(0.0419)), CERTAIN, "", None),  # 0.8 of the 0.01 that the law leaves beyond the usual
        (
            0.05,
            search(np.sqrt(0.0421)),
            CERTAIN,
            "most of what the law leaves beyond the usual stays unexplained",
            False,
        ),
        (0.0432, search(rows=1010), CERTAIN, "", None),  # χ² of 0.0032 · 1010 / (4 · 0.04) = 20.2
        (0.0432, search(rows=990), CERTAIN, "in force explain the motion nearly as well", False),
        (0.2, search(), np.array([0.01, 0.0799]), "", None),
        (0.2, search(), np.array([0.01, 0.0801]), "omega_stribeck is uncertain", True),
        (0.2, search(), np.array([np.nan, 0.01]), "omega_tanh is uncertain", True),
        (0.2, search(edge=("omega_tanh",)), CERTAIN, "omega_tanh at an end of the range", True),
        (0.2, search(ambiguous="another minimum"), CERTAIN, "another minimum", True),
        (0.2, search(factor=1.99), CERTAIN, "", None),
        (
            0.2,
            search(factor=2.01),
            CERTAIN,
            "a change by more than a factor of 2, which a longer window must show",
            True,
        ),
        (
            0.2,
            search(factor=0.49),
            CERTAIN,
            "a change by more than a factor of 2, which a longer window must show",
            True,
        ),
        (0.2, search(0.3, edge=("omega_tanh",)), CERTAIN, "omega_tanh at an end of the range", False),
    ],
)
def test_a_search_is_accepted_where_it_explains_much_better_and_is_certain_and_clear(
    before: float, found: Any, etas: np.ndarray, cause: str, doubt: bool | None
) -> None:
    one = joint(before)
    said = refits()._against(one, found, etas)
    assert (said == "") is (cause == "")
    assert cause in said
    assert one.refused == ([] if doubt is None else [(said, doubt)]), "a doubt may be settled by a longer window"


def test_a_large_change_is_believed_of_a_window_that_is_longer_than_usual() -> None:
    assert refits()._against(joint(0.2, room=1001), search(factor=3.0), CERTAIN) == ""


@pytest.mark.parametrize(
    ("before", "found", "etas", "cause"),
    [
        (0.04, search(factor=1.0), CERTAIN, ""),
        (0.04, search(0.2399, factor=1.0), CERTAIN, ""),
        (0.04, search(0.2401, factor=1.0), CERTAIN, "is explained by no η"),
        (0.04, search(factor=1.0, edge=("omega_tanh",)), CERTAIN, "no more certain"),
        (0.04, search(factor=1.0, ambiguous="another minimum"), CERTAIN, "no more certain"),
        (0.04, search(factor=1.0), np.array([0.01, 0.02]), ""),
        (0.04, search(factor=1.0), np.array([0.01, 0.0201]), "no more certain"),
        (0.04, search(factor=np.exp(0.0894)), CERTAIN, ""),  # four times √(0.01² + 0.02²)
        (0.04, search(factor=np.exp(0.0896)), CERTAIN, "not much better"),
        (0.04, search(factor=np.exp(-0.0896)), CERTAIN, "not much better"),
        (0.0433, search(factor=np.exp(0.0896)), CERTAIN, ""),  # χ² 20.6
    ],
)
def test_a_longer_window_sharpens_where_eta_has_not_moved_or_is_much_better(
    before: float, found: Any, etas: np.ndarray, cause: str
) -> None:
    said = refits()._against_sharpening(joint(before), found, etas)
    assert (said == "") is (cause == "")
    assert cause in said
