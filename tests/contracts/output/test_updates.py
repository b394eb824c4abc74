"""Every map on the public stream keeps the promises that a subscriber who imports nothing of ours relies on."""

import math
from pathlib import Path

import msgpack
import numpy as np
import pytest
from jsonschema import Draft202012Validator

from daq.core.changes.change_records import ChangeRecords
from daq.core.followers.joint_summary import JointSummary
from daq.core.followers.joint_use import EVERY, JointUse, absorb_use
from daq.core.gear_pipeline import clearance_body, lost_motion_body
from daq.core.mechanisms.mechanism_pipeline import mechanism_body
from daq.core.robot_pipeline import parameters_body, robot_body, robot_head
from daq.state.history.wear import JointWear
from daq.stream.schema import TOPICS, schema
from daq.stream.update import INTERNAL, PUBLIC, VERSION, Introduction, Liveliness, Publication
from estimators.base import UNKNOWN, Estimate, Phase, Spectrum, Status
from estimators.models.joints.lost_motion import LostMotionSettings
from estimators.models.mechanisms.mechanism import load
from estimators.online.clearance.watch import ClearanceWatch
from estimators.online.gear.lost_motion import LostMotion
from estimators.online.mechanism.estimator import MechanismEstimator
from estimators.online.robot.estimate import Friction, RobotEstimate
from estimators.online.robot.findings.carried import NO_PAYLOAD
from estimators.online.robot.findings.record import RobotFinding
from estimators.reasons import Reason
from estimators.wear.time_to_limit import Remaining

HEAD = {"timestamp": float, "v": int, "robot": str, "seq": int, "boot": int}
PARAMETER = {"unit": "kg·m²", "low": 0.0, "high": 10.0, "equation": "(1)"}
DRIFT = {
    "since": 1.0, "drifted": ["coulomb"], "cause": "", "baseline": {"coulomb": 2.0}, "change": {"coulomb": 1.0},
    "percent": {"coulomb": 50.0}, "z": {"coulomb": 20.0}, "reference": "start",
}  # fmt: skip


WORDS = {"unit": "N·m", "needs": "slow motion"}
WHY = Reason("uncertain", "coulomb", {"value": 2.0, "deviation": 0.3}, WORDS)
SPECTRUM = Spectrum((1.5, 0.5, 0.05), "coulomb against inertia")


def estimate(error: float = 0.01, spectrum: Spectrum = SPECTRUM) -> Estimate:
    return Estimate(
        time=5, phase=Phase.TRANSIENT, status=Status.HELD, reasons=(WHY,), names=("inertia", "coulomb"),
        values=np.array([0.5, 2.0]), deviations=np.array([0.01, math.inf]), error=error, forgetting=0.99,
        measured=3.5, predicted=3.25, progress=40.0, spectrum=spectrum,
    )  # fmt: skip


GEAR = LostMotionSettings(inertia_motor=0.5, inertia_link=2.0, band=8.0)
ROBOT = RobotEstimate(
    5,
    Phase.NORMAL,
    Status.VALID,
    (),
    np.ones(1),
    np.ones(1),
    np.ones(1),
    np.ones(1),
    (False,),
    NO_PAYLOAD,
    100.0,
    np.ones(1),
    (RobotFinding(1, 2, 3, "friction", ("elbow",), "the friction of elbow has changed", ("offset",), False),),
)


def whole(publication: Publication, topic: str, body: dict[str, object]) -> tuple[bytes, bytes]:
    return topic.encode(), msgpack.packb(robot_head(publication, topic, 12.5) | body)


def looped() -> dict[str, object]:
    description = load(Path(__file__).parents[3] / "docs" / "four_bar.toml").description
    return mechanism_body(MechanismEstimator(description, 1e-3).estimate(), description)


WEAR = JointWear(
    *(0.0, 86_400.0, 61, 0.09, 0.02, 4.0, True, 43_200.0, 0.0, False, 0.3),
    Remaining(30.0, 41.0, 55.0, 0.1, 1.0),
    {"coulomb": (1.9, 2.1)},
).plain()


def changed(publication: Publication) -> tuple[bytes, bytes]:
    records = ChangeRecords(publication, {"coulomb": "N·m"})
    ((topic, body),) = records.update(DRIFT, ["coulomb"], [], estimate(), {"coulomb": 0.1}, 12.5)
    return topic, body


def summary(publication: Publication) -> tuple[bytes, bytes]:
    records = ChangeRecords(publication, {"coulomb": "N·m"})
    records.update(DRIFT, ["coulomb"], [], estimate(), {"coulomb": 0.1}, 12.5)
    use = JointUse(("position", "torque", "temperature"), "N·m")
    absorb_use(np.array([-2, -1]), np.array([[0.0, 0.0, 31.5], [0.1, 0.0, 31.5]]), 0.0, use.state)
    made = JointSummary("rigid", "N·m", {"coulomb": "N·m"}, publication, use, records)
    [message] = made.messages(estimate(), 5, 12.5)
    assert made.messages(estimate(), EVERY - 1, 13.5) == [], "once a second"
    return message


def every(publication: Publication) -> dict[str, tuple[bytes, bytes]]:
    return {
        "estimate/": publication.estimate(estimate(), 12.5, 12.4, 1e-4),
        "residual/": publication.residual(estimate(), 12.5),
        "event/": publication.event("alarm", "the residual left its band", 12.5, (10.25, 12.0)),
        "drift/": publication.drift(DRIFT, 12.5),
        "change/": changed(publication),
        "wear/": publication.wear(WEAR, 12.5),
        "lost_motion/": publication.lost_motion(lost_motion_body(LostMotion(GEAR, 1e-3)), 12.5),
        "summary/": summary(publication),
        "clearance/": publication.clearance(clearance_body(ClearanceWatch(1e-3)), 12.5),
        "robot": whole(publication, "robot", robot_body(ROBOT, ("elbow",), ("N·m",))),
        "robot/parameters": whole(
            publication,
            "robot/parameters",
            parameters_body(("b1",), np.ones(1), np.ones(1), ("elbow",), Friction(*np.ones((3, 1, 2))))
            | {"learnt": 3, "compensation": {"elbow": {"on": True, "ratio": 0.9}}},
        ),
        "mechanism": whole(publication, "mechanism", looped()),
        "process/": Liveliness("r", 7).process("elbow", 12.5, False, 2, 41, "killed by SIGKILL", 0.1, 10.0),
        "meta": introduction().message(12.5),
    }


def introduction() -> Introduction:
    joint = {"model": "rigid", "unit": "N·m", "rate": 1000.0, "parameters": {"inertia": PARAMETER}}
    return Introduction("r", 7, "0123456789abcdef", {"elbow": joint})


def test_every_public_family_is_published() -> None:
    assert tuple(every(Publication("r", "elbow", 7, "N·m"))) == PUBLIC
    assert not set(PUBLIC) & set(INTERNAL)


@pytest.mark.parametrize("family", PUBLIC)
def test_topic_and_head(family: str) -> None:
    topic, payload = every(Publication("r", "elbow", 7, "N·m"))[family]
    update = msgpack.unpackb(payload)
    assert topic == (f"{family}elbow" if family.endswith("/") else family).encode()
    assert {key: type(update[key]) for key in HEAD} == HEAD
    assert (update["v"], update["robot"], update["boot"]) == (VERSION, "r", 7)
    assert update.get("joint") == (
        None if family in ("robot", "robot/parameters", "mechanism", "process/", "meta") else "elbow"
    )
    assert update["timestamp"] == 12.5


def test_every_topic_counts_for_itself_without_a_gap() -> None:
    publication = Publication("r", "elbow", 7, "N·m")
    runs = [every(publication) for _ in range(3)]
    first = introduction()
    assert [msgpack.unpackb(first.message(1.0)[1])["seq"] for _ in range(3)] == [0, 1, 2]
    lives = Liveliness("r", 7)
    for name in ("core", "outlet"):
        told = [lives.process(name, 1.0, True, 0, 1, "", 0.0, 10.0)[1] for _ in range(3)]
        assert [msgpack.unpackb(one)["seq"] for one in told] == [0, 1, 2]
    for family in (family for family in PUBLIC[:-2] if family != "change/"):  # says only what is new
        assert [msgpack.unpackb(run[family][1])["seq"] for run in runs] == [0, 1, 2]


@pytest.mark.parametrize("family", PUBLIC)
def test_every_message_keeps_to_its_schema_and_the_schema_to_the_message(family: str) -> None:
    assert tuple(TOPICS) == PUBLIC
    update = msgpack.unpackb(every(Publication("r", "elbow", 7, "N·m"))[family][1])
    strict = schema(family) | {"additionalProperties": False}
    Draft202012Validator.check_schema(strict)
    assert list(Draft202012Validator(strict).iter_errors(update)) == []
    for name in set(update) - set(strict["required"]):
        without = {key: value for key, value in update.items() if key != name}
        assert list(Draft202012Validator(strict).iter_errors(without)) == [], name
    for name in strict["required"]:
        without = {key: value for key, value in update.items() if key != name}
        assert list(Draft202012Validator(strict).iter_errors(without)), name


def test_an_estimate_says_it_all() -> None:
    update = msgpack.unpackb(every(Publication("r", "elbow", 7, "N·m"))["estimate/"][1])
    assert update["phase"] == "transient"
    assert update["parameters"] == {"inertia": 0.5, "coulomb": 2.0}
    assert update["deviations"] == {"inertia": 0.01, "coulomb": math.inf}
    assert update["health"]["status"] == "held"
    assert update["health"]["reasons"] == [
        {
            "code": "uncertain",
            "parameter": "coulomb",
            "numbers": {"value": 2.0, "deviation": 0.3},
            "words": WORDS,
            "text": "coulomb is not certain enough yet: 2 ± 0.3 N·m; it needs slow motion",
        }
    ]
    assert (update["error"], update["forgetting"], update["latency"]) == (0.01, 0.99, 1e-4)


def test_what_the_motion_tells_apart_is_said_where_it_is_known() -> None:
    publication = Publication("r", "elbow", 7, "N·m")
    update = msgpack.unpackb(publication.estimate(estimate(), 1.0, 1.0, 0.0)[1])
    assert update["singular_values"] == [1.5, 0.5, 0.05]
    assert update["condition"] == pytest.approx(30.0)
    assert update["weakest"] == "coulomb against inertia"
    update = msgpack.unpackb(publication.estimate(estimate(spectrum=UNKNOWN), 1.0, 1.0, 0.0)[1])
    assert not {"condition", "singular_values", "weakest"} & set(update)
    update = msgpack.unpackb(publication.estimate(estimate(spectrum=Spectrum((1.0, 0.0), "a")), 1.0, 1.0, 0.0)[1])
    assert update["condition"] == math.inf


def test_a_summary_says_what_a_fleet_compares() -> None:
    update = msgpack.unpackb(every(Publication("r", "elbow", 7, "N·m"))["summary/"][1])
    assert (update["model"], update["unit"], update["status"]) == ("rigid", "N·m", "held")
    assert update["parameters"] == {"inertia": 0.5, "coulomb": 2.0}
    assert update["units"] == {"inertia": "", "coulomb": "N·m"}
    assert update["changed"] == {"coulomb": 2.0}
    assert (update["use"]["unit"], update["use"]["temperature"]) == ("rad", 31.5)


def test_an_event_says_of_which_rows_it_speaks_where_there_are_any() -> None:
    publication = Publication("r", "elbow", 7, "N·m")
    update = msgpack.unpackb(publication.event("refit", "x", 12.5, (10.25, 12.0))[1])
    assert (update["from"], update["to"]) == (10.25, 12.0)
    assert not {"from", "to"} & set(msgpack.unpackb(publication.event("held", "x", 12.5)[1]))


def test_an_error_that_is_not_known_yet_is_nan_not_missing() -> None:
    publication = Publication("r", "elbow", 7, "N·m")
    update = msgpack.unpackb(publication.estimate(estimate(error=math.nan), 1.0, 1.0, 0.0)[1])
    assert math.isnan(update["error"])


def test_a_residual_is_measured_minus_predicted_with_its_unit() -> None:
    update = msgpack.unpackb(every(Publication("r", "elbow", 7, "N"))["residual/"][1])
    assert update["residual"] == update["measured"] - update["predicted"] == 0.25
    assert update["unit"] == "N"
