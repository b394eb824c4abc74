"""The leg once more, as a URDF with turned frames and a list of loops: the same torque."""

import tomllib
from pathlib import Path

import numpy as np
import pytest

from estimators.models.mechanisms.mechanism import Mechanism, MechanismMotion, load
from estimators.models.mechanisms.urdf_loops import UrdfLoops, describe
from estimators.models.robots.files.urdf import read_urdf
from estimators.models.robots.newton_euler import newton_euler

pytestmark = pytest.mark.interpreted
LEG = Path(__file__).parents[4] / "docs" / "leg.toml"


def load_urdf(file: Path) -> Mechanism:
    """The mechanism of a list of loops and the URDF that it names."""
    loops = UrdfLoops.model_validate(tomllib.loads(file.read_text()))
    return Mechanism(describe(loops, read_urdf(file.parent / loops.urdf).robot))


def written(folder: Path, leg: Mechanism, drives: str = '["crank"]') -> Path:
    """Every link's frame turned by half a turn about z: (x, y) → (−x, −y)."""
    text = ['<robot name="leg"><link name="base"/>']
    for link in leg.description.links:
        at_base = not link.parent
        x, y, _ = link.origin if at_base else [-one for one in link.origin]
        turn = np.pi if at_base else 0.0
        inertia = " ".join(
            f'i{k}="{v}"' for k, v in zip(("xx", "yy", "zz", "xy", "xz", "yz"), link.inertia, strict=True)
        )
        text.append(f'<link name="{link.name}_link"><inertial><origin xyz="{-link.centre[0]} {-link.centre[1]} 0"/>')
        text.append(f'<mass value="{link.mass}"/><inertia {inertia}/></inertial></link>')
        parent = f"{link.parent}_link" if link.parent else "base"
        text.append(
            f'<joint name="{link.name}" type="continuous"><parent link="{parent}"/><child link="{link.name}_link"/>'
        )
        text.append(f'<origin xyz="{x} {y} 0" rpy="0 0 {turn}"/><axis xyz="0 0 1"/></joint>')
    (folder / "leg.urdf").write_text("".join(text) + "</robot>")
    lines = ['urdf = "leg.urdf"', f"drives = {drives}"]
    for cut in leg.description.cuts:
        ends = [f"[{-p[0]}, {-p[1]}, 0.0]" for p in (cut.point, cut.other_point)]
        lines += ["[[cuts]]", f'name = "{cut.name}"', f'link = "{cut.link}_link"', f"point = {ends[0]}"]
        lines += [f'other = "{cut.other}_link"', f"other_point = {ends[1]}"]
    file = folder / "leg.toml"
    file.write_text("\n".join(lines))
    return file


def test_the_same_mechanism_from_a_urdf_and_its_loops(tmp_path: Path) -> None:
    ours = load(LEG)
    theirs = load_urdf(written(tmp_path, ours))
    q, dq = np.zeros((2, 5, 7))
    q[:, 6], dq[:, 6] = np.linspace(-0.4, 0.4, 5), 0.3
    expected = ours.ideal(ours.fit(q, dq)).tau[:, 6]
    theirs.tree.gravity[:] = ours.tree.gravity  # a URDF's is −9.81 z: there the leg would lie flat
    assert theirs.ideal(theirs.fit(q, dq)).tau[:, 6] == pytest.approx(expected, abs=1e-9)


def skew(folder: Path) -> Path:
    """A tree of four, one of them a slide, in frames that are turned against each other, with a welded plate."""
    inertia = '<inertia ixx="0.05" iyy="0.04" izz="0.03" ixy="0.002" ixz="-0.001" iyz="0.003"/>'
    body = f'<inertial><origin xyz="0.1 0.02 -0.1" rpy="0.3 -0.2 0.5"/><mass value="2"/>{inertia}</inertial>'
    text = ['<robot name="skew"><link name="base"/>']
    text += [f'<link name="{name}">{body}</link>' for name in ("a", "b", "plate", "c", "d")]
    ends = {"a": "base", "b": "a", "plate": "b", "c": "plate", "d": "a"}
    kinds = {"a": "continuous", "b": "prismatic", "plate": "fixed", "c": "continuous", "d": "continuous"}
    for i, (child, parent) in enumerate(ends.items()):
        text.append(
            f'<joint name="{child}{child}" type="{kinds[child]}"><parent link="{parent}"/><child link="{child}"/>'
        )
        text.append(f'<origin xyz="0.1 {0.2 * i} 0.3" rpy="0.4 {0.3 * i} -0.6"/><axis xyz="1 2 {i - 1}"/></joint>')
    (folder / "skew.urdf").write_text("".join(text) + "</robot>")
    return folder / "skew.urdf"


def test_a_tree_in_turned_frames_needs_the_torque_that_the_same_robot_needs(tmp_path: Path) -> None:
    robot = read_urdf(skew(tmp_path)).robot
    file = tmp_path / "skew.toml"
    file.write_text('urdf = "skew.urdf"\n[bearings.bb]\ncoulomb = 0.1\n')
    mechanism = load_urdf(file)
    assert mechanism.names == robot.names == ("aa", "bb", "cc", "dd")
    assert [link.drive for link in mechanism.description.links] == [True] * 4
    assert [link.bearing.coulomb for link in mechanism.description.links] == [0.0, 0.1, 0.0, 0.0]
    moved = MechanismMotion(*np.random.default_rng(2).uniform(-1.0, 1.0, (3, 6, 4)))
    tau = np.empty((6, 4))
    newton_euler(*robot.tree(), *moved, robot.parameters, np.zeros((0, 4, 6)), tau, np.empty((6, 4, 6)))
    assert mechanism.ideal(moved).tau == pytest.approx(tau, abs=1e-11 * np.abs(tau).max())
