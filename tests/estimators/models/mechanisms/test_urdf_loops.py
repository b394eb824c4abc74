"""The leg once more, as a URDF with turned frames and a list of loops: the same torque."""

from pathlib import Path

import numpy as np
import pytest

from estimators.models.mechanisms.mechanism import Mechanism, MechanismError, load
from estimators.models.mechanisms.urdf_loops import load_urdf

pytestmark = pytest.mark.interpreted
LEG = Path(__file__).parents[4] / "docs" / "leg.toml"


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


def test_a_joint_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(MechanismError, match="there is no joint wheel; there are thigh"):
        load_urdf(written(tmp_path, load(LEG), '["wheel"]'))
