"""What is said of a robot, a mechanism and in a joint's summary: every number under its own name, with its sign."""

import math

import msgpack
import numpy as np

from daq.core.changes.change_records import ChangeRecord, ChangeRecords
from daq.core.followers.joint_summary import JointSummary
from daq.core.followers.joint_use import JointUse, absorb_use
from daq.core.mechanisms.mechanism_pipeline import mechanism_body
from daq.core.robot_pipeline import parameters_body, robot_body
from daq.stream.update import Map, Publication
from estimators.base import Estimate, Phase, Status
from estimators.models.mechanisms.description import Cut, Description, MechanismLink
from estimators.online.mechanism.estimate import FrictionRatio, MechanismEstimate
from estimators.online.robot.estimate import Friction, RobotEstimate
from estimators.online.robot.findings.carried import Payload
from estimators.online.robot.findings.contact_force import ContactForce
from estimators.online.robot.findings.record import RobotFinding
from estimators.online.robot.findings.tool import ToolDifference
from estimators.reasons import Reason

SECOND = 1_000_000_000
SILENT = Reason("no_data", None, {"seconds": 3.0})


def test_a_mechanisms_drives_have_residuals_and_all_its_joints_the_loads_that_they_carry() -> None:
    """A crank with a drive, a coupler without, a slide with one; the cut carries the last loads, and has no place."""
    links = (
        MechanismLink(name="crank"),
        MechanismLink(name="coupler", parent="crank", drive=False),
        MechanismLink(name="slide", parent="coupler", kind="prismatic"),
    )
    cut = Cut(name="tip", link="slide", point=(0.0, 0.0, 0.0), other="", other_point=(0.0, 0.0, 0.0))
    loads = np.arange(20.0).reshape(4, 5) + 100.0
    found = MechanismEstimate(
        5 * SECOND, Phase.NORMAL, Status.HELD, (SILENT,), np.array([7.0, 30.0]), np.array([9.0, 20.0]),
        np.array([1.0, 2.0]), np.array([0.1, 0.2]), np.array([0.5, 0.6]), (False, True),
        (FrictionRatio(1.1, 0.01, 50.0), FrictionRatio(0.9, 0.02, 70.0)), np.array([0.3, 0.4, 0.05]), loads, 60.0,
    )  # fmt: skip
    told = mechanism_body(found, Description(links=links, cuts=(cut,)))
    names = ("measured", "predicted", "residual", "friction", "deviation", "threshold", "contact", "friction_ratio",
             "friction_ratio_deviation", "unit")  # fmt: skip
    assert told["drives"] == {
        "crank": dict(zip(names, (7.0, 9.0, -2.0, 1.0, 0.1, 0.5, False, 1.1, 0.01, "N·m"), strict=True)),
        "slide": dict(zip(names, (30.0, 20.0, 10.0, 2.0, 0.2, 0.6, True, 0.9, 0.02, "N"), strict=True)),
    }
    carried = [{"radial": at, "axial": at + 1, "bending": at + 2, "friction": at + 4} for at in (100, 105, 110, 115)]
    assert told["joints"] == {
        "crank": carried[0] | {"position": 0.3, "unit": "N·m"},
        "coupler": carried[1] | {"position": 0.4, "unit": "N·m"},
        "slide": carried[2] | {"position": 0.05, "unit": "N"},
        "tip": carried[3] | {"unit": "N·m"},
    }
    assert (told["phase"], told["health"]["status"], told["progress"]) == ("normal", "held", 60.0)
    assert [one["code"] for one in told["health"]["reasons"]] == ["no_data"]


def robot(**more: object) -> RobotEstimate:
    """An estimate of a robot with two joints."""
    payload = Payload(
        2.0,
        0.1,
        np.array([0.01, 0.02, 0.03]),
        np.array([0.001, 0.002, 0.003]),
        True,
        np.arange(6.0),
        np.arange(6.0) + 10,
    )
    finding = RobotFinding(3, 40 * SECOND, 41 * SECOND, "friction", ("base",), "friction of base", ("load",), True)
    return RobotEstimate(
        50 * SECOND, Phase.NORMAL, Status.VALID, (), np.array([7.0, -3.0]), np.array([5.0, -4.5]),
        np.array([0.1, 0.2]), np.array([0.5, 0.6]), (True, False), payload, 80.0, np.array([0.7, math.inf]),
        (finding,), **more,
    )  # type: ignore[arg-type]  # fmt: skip


def test_a_robots_joints_payload_and_findings() -> None:
    told = robot_body(robot(), ("base", "slide"), ("N·m", "N"))
    names = ("measured", "predicted", "residual", "deviation", "threshold", "contact", "compensation", "unit")
    assert told["joints"] == {
        "base": dict(zip(names, (7.0, 5.0, 2.0, 0.1, 0.5, True, 0.7, "N·m"), strict=True)),
        "slide": dict(zip(names, (-3.0, -4.5, 1.5, 0.2, 0.6, False, math.inf, "N"), strict=True)),
    }
    assert told["payload"] == {
        "carried": True, "mass": 2.0, "mass_deviation": 0.1, "centre": [0.01, 0.02, 0.03],
        "centre_deviation": [0.001, 0.002, 0.003], "inertia": [0.0, 1.0, 2.0, 3.0, 4.0, 5.0],
        "inertia_deviation": [10.0, 11.0, 12.0, 13.0, 14.0, 15.0],
    }  # fmt: skip
    assert told["findings"] == [{
        "number": 3, "seconds": 10.0, "cause": "friction", "joints": ["base"], "text": "friction of base",
        "others": ["load"], "over": True,
    }]  # fmt: skip
    assert (told["phase"], told["health"], told["progress"]) == ("normal", {"status": "valid", "reasons": []}, 80.0)
    assert "tool" not in told
    assert "contact" not in told


def test_a_robots_tool_and_the_force_on_its_link() -> None:
    place, force, about = np.array([1.0, 2.0, 3.0]), np.array([-4.0, 5.0, 6.0]), np.array([0.4, 0.5, 0.6])
    touch = ContactForce(1, 0.9, place, force, about)
    tool = ToolDifference(-0.5, 0.05, force, about, True, "lighter than told")
    told = robot_body(robot(touch=touch, tool=tool), ("base", "slide"), ("N·m", "N"))
    assert told["contact"] == {
        "link": "slide", "probability": 0.9, "point": [1.0, 2.0, 3.0], "force": [-4.0, 5.0, 6.0],
        "force_deviation": [0.4, 0.5, 0.6],
    }  # fmt: skip
    assert told["tool"] == {
        "differs": True, "text": "lighter than told", "mass": -0.5, "mass_deviation": 0.05, "centre": [-4.0, 5.0, 6.0],
        "centre_deviation": [0.4, 0.5, 0.6],
    }  # fmt: skip


def test_a_robots_parameters_and_its_friction_at_two_speeds() -> None:
    friction = Friction(np.array([[0.1, 1.0], [0.2, 2.0]]), np.array([[3.0, 4.0], [5.0, 6.0]]), np.full((2, 2), 0.5))
    told = parameters_body(("m", "c"), np.array([1.0, -2.0]), np.array([0.1, 0.2]), ("base", "slide"), friction)
    assert told == {
        "parameters": {"m": 1.0, "c": -2.0},
        "deviations": {"m": 0.1, "c": 0.2},
        "friction": {
            "base": {"speeds": [0.1, 1.0], "torques": [3.0, 4.0], "deviations": [0.5, 0.5]},
            "slide": {"speeds": [0.2, 2.0], "torques": [5.0, 6.0], "deviations": [0.5, 0.5]},
        },
    }


def test_a_summary_comes_once_a_second_and_at_once_where_the_status_is_another() -> None:
    publication, use = Publication("arm", "elbow", 4, "N·m"), JointUse(("position", "torque"), "N·m")
    records = ChangeRecords(publication, {})
    for name, over in (("coulomb", 0.0), ("inertia", 9.0)):
        numbers = (5.0, 0.1, 6.0, 0.1, 20.0, 9.0, 1.0, 2.0)
        records.records.append(ChangeRecord(name, "N·m", *numbers, "gradual", "start", over=over))
    units = {"coulomb": "N·m"}
    summary = JointSummary("rigid", "N·m", units, publication, use, records)
    times = SECOND * 10 + np.arange(1000) * (SECOND // 1000)
    absorb_use(times, np.column_stack([np.arange(1000.0), np.zeros(1000)]), 0.0, use.state)

    def told(tick: int, status: Status = Status.VALID) -> list[Map]:
        estimate = Estimate(
            tick, Phase.NORMAL, status, (), ("coulomb", "other"), np.array([6.0, 7.0]), np.array([0.1, 0.2]), 0.03,
            1.0, 0.0, 0.0, 100.0,
        )  # fmt: skip
        said = summary.messages(estimate, tick, 1e9 + tick / SECOND)
        assert {topic for topic, _ in said} <= {b"summary/elbow"}
        return [msgpack.unpackb(body) for _, body in said]

    [first] = told(10 * SECOND)
    assert first == {
        "timestamp": 1e9 + 10.0, "v": first["v"], "robot": "arm", "joint": "elbow", "seq": 0, "boot": 4,
        "model": "rigid", "unit": "N·m", "phase": "normal", "status": "valid",
        "parameters": {"coulomb": 6.0, "other": 7.0}, "deviations": {"coulomb": 0.1, "other": 0.2},
        "units": {"coulomb": "N·m", "other": ""}, "error": 0.03, "changed": {"coulomb": 5.0},
        "use": {"unit": "rad", "seconds": 0.0, "travel": 0.0, "reversals": 0, "starts": 0},
    }  # fmt: skip
    assert (summary.due(11 * SECOND - 1), summary.due(11 * SECOND)) == (False, True)
    assert told(11 * SECOND - 1) == []
    [held] = told(11 * SECOND - 1, Status.HELD)
    assert held["status"] == "held"
    assert told(11 * SECOND - 1, Status.HELD) == []
    [later] = told(11 * SECOND, Status.HELD)
    assert (later["seq"], later["use"]) == (2, use.totals())
    assert later["use"]["travel"] > 900.0
    bare = JointSummary("rigid", "N·m", units, publication, use, None)
    [(_, body)] = bare.messages(Estimate(
        0, Phase.NORMAL, Status.VALID, (), (), np.zeros(0), np.zeros(0), 0.0, 1.0, 0.0, 0.0, 0.0
    ), 0, 0.0)  # fmt: skip
    assert msgpack.unpackb(body)["changed"] == {}
