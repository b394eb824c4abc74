"""The four-bar rig against MuJoCo's equality constraint, and against the estimators' mechanism with its friction."""

from pathlib import Path

import numpy as np
import pytest

from estimators.models.mechanisms.dynamics import ALL
from estimators.models.mechanisms.joint_load import RADIAL
from estimators.models.mechanisms.mechanism import load
from hil_rig.plants.base import RigError
from hil_rig.plants.mechanisms.four_bar import EPSILON, FourBar, FourBarSettings

pytestmark = pytest.mark.compiled
FILE = Path(__file__).parents[3] / "docs" / "four_bar.toml"
PINS = {"crank": 3, "coupler": 5, "tip": 7, "rocker": 9}


def test_torque_and_all_pin_forces_are_those_of_the_mechanism_file_with_friction() -> None:
    played = FourBar(FourBarSettings(), []).exact(3000)
    mechanism = load(FILE)
    q, dq, ddq = np.zeros((3, len(played), 3))
    q[:, 0], dq[:, 0], ddq[:, 0] = played[:, 0], played[:, 2], np.gradient(played[:, 2], 1e-3)
    found = mechanism.inverse(mechanism.fit(q, dq, ddq), ALL, EPSILON)
    inner = slice(5, -5)
    assert found.tau[inner, 0] == pytest.approx(played[inner, 1], abs=0.003 * np.abs(played[:, 1]).max())
    for joint, name in enumerate(mechanism.joints):
        force = np.hypot(played[:, PINS[name]], played[:, PINS[name] + 1])
        assert found.loads[inner, joint, RADIAL] == pytest.approx(force[inner], abs=0.002 * force.max()), name


def test_without_friction_acceleration_and_the_tips_force_are_mujocos() -> None:
    """The plant's torque, put into MuJoCo's linkage, whose loop is closed by a connect constraint."""
    import mujoco

    played = FourBar(FourBarSettings(mu=0.0, viscous=0.0), []).exact(2000)
    mechanism = load(FILE)
    crank, coupler, rocker = mechanism.description.links
    (tip,) = mechanism.description.cuts

    def body(link: object, inside: str = "") -> str:
        place, centre = (" ".join(map(str, getattr(link, one))) for one in ("origin", "centre"))
        inertia = f'diaginertia="0.01 0.01 {link.inertia[2]}"'  # type: ignore[attr-defined]
        own = f'<inertial pos="{centre}" mass="{link.mass}" {inertia}/>'  # type: ignore[attr-defined]
        return f'<body name="{link.name}" pos="{place}"><joint type="hinge" axis="0 0 1"/>{own}{inside}</body>'  # type: ignore[attr-defined]

    hard = 'solref="-100 -20" solimp="0.9999 0.9999 0.001"'
    anchor = " ".join(map(str, tip.point))
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><option gravity="0 -9.81 0"/><worldbody>{body(crank, body(coupler))}{body(rocker)}</worldbody>'
        f'<equality><connect body1="coupler" body2="rocker" anchor="{anchor}" {hard}/></equality></mujoco>'
    )
    model.eq_data[0, 3:6] = tip.other_point
    data = mujoco.MjData(model)
    rows = np.arange(100, 1900, 150)
    q, dq = np.zeros((2, len(rows), 3))
    q[:, 0], dq[:, 0] = played[rows, 0], played[rows, 2]
    moved = mechanism.fit(q, dq)
    acceleration = np.gradient(played[:, 2], 1e-3)
    for k, row in enumerate(rows):
        data.qpos[:], data.qvel[:] = moved.q[k], moved.dq[k]
        data.qfrc_applied[:] = (played[row, 1], 0.0, 0.0)
        mujoco.mj_forward(model, data)
        assert data.qacc[0] == pytest.approx(acceleration[row], abs=0.02 * np.abs(acceleration).max())
        force = np.hypot(*played[row, 7:9])
        assert np.hypot(*data.efc_force[:2]) == pytest.approx(force, abs=0.01 * np.hypot(*played[:, 7:9].T).max())


def test_it_has_one_drive() -> None:
    with pytest.raises(RigError, match="since this mechanism has one drive"):
        FourBarSettings().robot(2, 1, [])
