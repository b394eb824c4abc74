"""A program that publishes what a core and a supervisor would of seven joints: for the page and its screenshots.

One joint of every kind: normal, starting, in a transient, held, faulted, prismatic. Runs until killed:

    python tests/support/processes/fake_core.py ipc:///tmp/u ipc:///tmp/s [--past 60] [--rate 50] [--joints 7]
"""

import argparse
import math
import os
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgpack
import numpy as np
import zmq

from daq.core.changes.change_records import ChangeRecord
from daq.core.gear_pipeline import clearance_body, lost_motion_body
from daq.core.mechanisms.mechanism_pipeline import mechanism_body
from daq.core.robot_pipeline import parameters_body, robot_body, robot_head
from daq.stream.curve_points import pack
from daq.stream.sockets import open_publisher
from daq.stream.update import MECHANISM, ROBOT, Liveliness, Publication
from estimators.base import Estimate, Phase, Spectrum, Status
from estimators.models.curves import Curves
from estimators.models.friction.tanh_stribeck import TanhStribeckSettings
from estimators.models.friction.viscous_coulomb import ViscousCoulombSettings
from estimators.models.joints import JointModelSettings
from estimators.models.joints.lost_motion import LostMotionSettings
from estimators.models.joints.rigid import RigidSettings
from estimators.models.joints.two_mass import TwoMassSettings
from estimators.models.mechanisms.mechanism import load
from estimators.online.clearance.bearing import ClearanceReport
from estimators.online.clearance.watch import ClearanceWatch
from estimators.online.gear.lost_motion import LostMotion
from estimators.online.mechanism.estimate import FrictionRatio, MechanismEstimate
from estimators.online.reporting.inspection import Inspection
from estimators.online.robot.estimate import Friction, RobotEstimate
from estimators.online.robot.findings.carried import Payload
from estimators.online.robot.findings.contact_force import ContactForce
from estimators.online.robot.findings.record import RobotFinding
from estimators.quantities import Axis
from estimators.reasons import Reason

TOUCH = ContactForce(  # the joints do not tell the force along z
    1, 0.93, np.array([0.31, -0.02, 0.55]), np.array([12.0, -31.0, 4.0]), np.array([1.5, 2.0, 900.0])
)  # fmt: skip
GEAR = {
    "stiffness": 14_820.0,
    "stiffness_cubic": 2.91e6,
    "motor_coulomb": 19.4,
    "motor_stribeck": 212.0,
    "motor_viscous": 41.7,
    "link_viscous": 6.31,
    "link_coulomb": 4.12,
    "motor_offset": 0.82,
    "link_offset": -0.214,
    "omega_tanh": 0.052,
    "omega_stribeck": 0.141,
}
ARM = {
    "inertia": 0.4127,
    "viscous": 1.284,
    "coulomb": 2.071,
    "offset": 0.0312,
    "gravity_sin": 7.924,
    "gravity_cos": 0.311,
}
WRIST = {"inertia": 0.00731, "viscous": 0.0412, "coulomb": 0.1873, "offset": -0.0021}
LIFT = {"mass": 95.109, "viscous": 203.5, "coulomb": 20.39, "offset": -3.165}

HANGING = RigidSettings(gravity_sin=True, gravity_cos=True)
ELASTIC = TwoMassSettings(motor_friction=TanhStribeckSettings(), link_friction=ViscousCoulombSettings())


@dataclass
class Joint:
    """A joint whose estimate converges as 1/√t, and its torque along a smooth trajectory."""

    name: str
    kind: str
    truth: dict[str, float]
    unit: str
    period: float
    model: JointModelSettings = field(default_factory=RigidSettings)
    speed: float = 1.6  # rad/s, the largest
    rate: float = 50.0  # Hz, of estimates
    random: np.random.Generator = field(default_factory=lambda: np.random.default_rng(7))

    def __post_init__(self) -> None:
        self.values = np.array(list(self.truth.values()))
        self.wander = np.zeros(len(self.values))
        self.curves = Curves(self.model.build())
        assert self.curves.names == tuple(self.truth)
        self.scale = np.abs(self.values) * 0.004
        if self.curves.has_spring:
            self.scale *= 2.0
        else:
            self.scale += 0.0004 * np.max(np.abs(self.values))

    def torque(self, age: float) -> float:
        angle, speed = math.sin(2 * math.pi * age / self.period), math.cos(2 * math.pi * age / self.period)
        if self.curves.has_spring:
            friction = float(self.curves.friction(self.values, np.array([self.speed * speed]))[0])
            return -90.0 * angle + friction + self.truth["motor_offset"]
        torque = -self.values[0] * angle * 4 + self.values[1] * speed + self.values[2] * math.tanh(speed / 0.02)
        return torque + self.truth["offset"] + (self.values[4] * math.sin(angle) if len(self.values) > 4 else 0.0)

    def estimate(self, age: float) -> tuple[Estimate, str | None]:
        """What the estimator would say at this age (s), and an event's text when one is due."""
        phase, status, reasons, progress, event = Phase.NORMAL, Status.VALID, (), 100.0, None
        truth, settled, noise = self.values, age, 0.01
        measured, predicted = self.torque(age), self.torque(age)
        if self.kind == "starting":
            progress = min(100.0, (age % 40) / 40 * 100)
            phase, status = Phase.STARTING, Status.LEARNING
            reasons = (Reason("not_identifiable", "inertia", {}, {"needs": "stronger accelerations"}),)
            settled, predicted = 0.4 + (age % 40) * 0.2, predicted * (1 - math.exp(-(age % 40) / 8))
        elif self.kind == "transient":
            since = age % 30
            truth = self.values * np.array([1, *[1.3 if age % 60 > 30 else 1.0] * 2, *[1] * (len(self.values) - 3)])
            if since < 6:
                phase, status = Phase.TRANSIENT, Status.HELD
                reasons = (Reason("alarm_stands"),)
                noise, settled = 0.16, 0.3 + since
                measured *= 1.22
            if since < 0.99 / self.rate:
                event = "residual left its start-up band (CUSUM 48 > 40)"
        elif self.kind == "held":
            phase, status, reasons = Phase.HELD, Status.HELD, (Reason("at_standstill"),)
            measured = predicted = self.truth.get("offset", 0.0) + self.truth.get("coulomb", 5.0) * 0.4
            noise = 0.002
        elif self.kind == "faulted":
            phase, status = Phase.FAULTED, Status.FAULTED
            reasons = (Reason("no_data", None, {"seconds": 12.4}),)
        scale = 60.0 if self.curves.has_spring else float(np.max(np.abs(self.values[:3])))
        measured += self.random.normal(0, noise * scale * 0.4)
        deviations = self.scale * (0.15 + 1.6 / math.sqrt(1 + settled))
        self.wander += -0.01 * self.wander + self.random.normal(0, 0.1, len(truth)) * (self.kind not in ("held",))
        values = truth + self.wander * deviations
        error = noise * (1.05 + 0.2 * math.sin(age / 3)) + (
            0.5 * math.exp(-settled / 3) if self.kind == "starting" else 0
        )
        forgetting = 1.0 - (0.018 if phase == Phase.TRANSIENT else 0.00005 * (1 + math.sin(age)))
        return Estimate(
            int(age * 1e9), phase, status, reasons, tuple(self.truth), values, deviations,
            error, forgetting, measured, predicted, progress, self.spectrum(progress),
        ), event  # fmt: skip

    def spectrum(self, progress: float) -> Spectrum:
        """The motion tells the more apart the longer it was watched."""
        names = [name for name in self.truth if name not in ("omega_tanh", "omega_stribeck")]
        values = np.geomspace(1.6, 1.6 / (38.0 + 4.0 * (100.0 - progress)), len(self.truth))
        return Spectrum(tuple(values.tolist()), f"{names[-1]} against {names[-2]}")

    def drift(self, since: float, estimate: Estimate) -> dict[str, object]:
        """As daq.drift tells it: the shoulder's friction has grown since its commissioning."""
        worn = np.array(
            [0.86 if self.name == "shoulder" and name in ("coulomb", "viscous") else 1.0 for name in self.truth]
        )
        baseline = self.values * worn
        change = estimate.values - baseline
        z = change / (1.4 * estimate.deviations)
        percent = 100 * change / np.abs(baseline)
        named = {"baseline": baseline, "change": change, "percent": percent, "z": z}
        return {
            "since": since,
            "cause": "",
            "drifted": [
                name
                for name, share, sigmas in zip(self.truth, percent, z, strict=True)
                if abs(share) > 10 and abs(sigmas) > 5
            ],
            **{key: dict(zip(self.truth, values.tolist(), strict=True)) for key, values in named.items()},
        }

    def inspect(self, age: float, epoch: float) -> Inspection:
        """Ten points of the last 0.2 s."""
        times = age - 0.2 + 0.02 * np.arange(1, 11)
        phase = 2 * np.pi * times / self.period
        velocity = self.speed * np.cos(phase) * (1 + 0.15 * np.sin(0.31 * times)) * (self.kind != "held")
        points = np.full((10, 4), np.nan)
        points[:, 0] = velocity
        truth = self.values * (1.3 if self.kind == "transient" and age % 60 > 30 else 1.0)
        friction = self.curves.friction(truth, velocity)
        points[:, 1] = friction + self.random.normal(
            0, 0.03 * np.max(np.abs(friction)) + 0.02 * self.truth.get("coulomb", 9), 10
        )
        if self.curves.has_spring:
            points[:, 2] = 5e-3 * np.sin(phase) + self.random.normal(0, 6e-5, 10)
            points[:, 3] = self.curves.spring(self.values, points[:, 2]) + self.random.normal(0, 1.2, 10)
            points[np.abs(velocity) < 0.02, 2:] = np.nan
        share = np.linspace(0.92, 0.31, len(self.values) - 2 * self.curves.has_spring) * (0.9 + 0.1 * math.sin(age / 2))
        alarm = 0.08 * abs(math.sin(age / 2)) ** 6 + 0.03 * self.random.exponential()
        if self.kind == "transient" and age % 30 > 29.7:
            alarm = 0.85
        begun = self.kind != "starting"
        noise = 0.01 * (60.0 if self.curves.has_spring else float(np.max(np.abs(self.values[:3])))) * 0.4
        return Inspection(
            ((times + epoch) * 1e9).astype(np.int64), points, share * (self.kind != "held"),
            alarm if begun else math.nan, noise if begun else math.nan,
        )  # fmt: skip


JOINTS = (
    Joint("base", "normal", GEAR, "N·m", 8.0, ELASTIC, 0.9),
    Joint("shoulder", "normal", ARM, "N·m", 6.0, HANGING),
    Joint("elbow", "starting", ARM, "N·m", 5.0, HANGING),
    Joint("forearm", "transient", WRIST, "N·m", 4.0),
    Joint("wrist_pitch", "faulted", WRIST, "N·m", 3.0),
    Joint("wrist_roll", "held", WRIST, "N·m", 3.0),
    Joint("lift", "normal", LIFT, "N", 7.0, RigidSettings(axis=Axis.PRISMATIC), 0.12),
)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("updates")
    parser.add_argument("status")
    parser.add_argument("--rate", type=float, default=50.0)
    parser.add_argument("--past", type=float, default=0.0, help="s of the past to publish at once")
    parser.add_argument("--joints", type=int, default=7)
    parser.add_argument("--kind", help="of every joint, for example normal or starting; left out: one of each")
    parser.add_argument(
        "--whole", action="store_true", help="the whole robot's model, too: 2 kg carried, one touched; the base's gear"
    )
    parser.add_argument("--changed", nargs="*", default=[], help="joints with an open change; the first wears, too")
    options = parser.parse_args()
    context = zmq.Context()
    updates, status = open_publisher(context, options.updates), open_publisher(context, options.status)
    boot = int.from_bytes(os.urandom(6), "little")
    many = [replace(joint, name=f"{joint.name}{copy or ''}") for copy in range(8) for joint in JOINTS]
    joints = tuple(
        replace(joint, kind=options.kind or joint.kind, rate=options.rate) for joint in many[: options.joints]
    )
    publications = [Publication("demo-arm", joint.name, boot, joint.unit) for joint in joints]
    lives = Liveliness("demo-arm", boot + 1)
    time.sleep(0.3)  # a publisher throws away what it says before the outlet has subscribed; later parts come anyway
    start = time.time() - options.past
    samples = 0
    end = {joint.name: -1.0 for joint in joints}
    sequence: dict[str, int] = {}
    step = 0
    while True:
        age = step / options.rate
        now = start + age
        if (ahead := now - time.time()) > 0:
            time.sleep(ahead)
        elif step % 10 == 0:
            time.sleep(0.01)  # the past comes in a hurry, yet not faster than queues take it
        for joint, publication in zip(joints, publications, strict=True):
            estimate, event = joint.estimate(age)
            if joint.kind == "faulted" and age > options.past - 12 and end[joint.name] < 0:
                end[joint.name] = now
                updates.send_multipart(publication.event("fault", "no data for 1.0 s", now))
            stamp = now if end[joint.name] < 0 else end[joint.name]
            if step == 0:
                text = "from 13.0 s of motion, condition 38"
                updates.send_multipart(publication.event("started", text, stamp, (stamp - 13.2, stamp)))
            if joint.name == "base" and step == int((options.past + 6) * options.rate):
                text = "12.0 s of motion since the change: omega_tanh 0.049 → 0.052, omega_stribeck 0.138 → 0.141"
                updates.send_multipart(publication.event("refit", text, stamp, (stamp - 12.4, stamp - 0.1)))
            if joint.name == "shoulder" and step == int(2 * options.rate):
                text = "coulomb has drifted: +16.2 %, 57.0 standard deviations"
                updates.send_multipart(publication.event("drift", text, stamp))
            if event and age > 1:
                updates.send_multipart(publication.event("alarm", event, stamp))
            updates.send_multipart(publication.estimate(estimate, stamp, stamp, abs(joint.random.normal(2e-4, 5e-5))))
            updates.send_multipart(publication.residual(estimate, stamp))
            if step % int(options.rate) == 0 and joint.kind != "starting":
                updates.send_multipart(publication.drift(joint.drift(start - 9e6, estimate), stamp))
            if step % max(1, int(options.rate / 5)) == 0 and end[joint.name] < 0:
                status.send_multipart(pack(joint.name, joint.inspect(age, start), 0))
        if options.whole:
            for message in whole(Publication("demo-arm", ROBOT, boot, "", sequence), joints, age, now):
                updates.send_multipart(message)
            for message in looped(Publication("demo-arm", MECHANISM, boot, "", sequence), age, now):
                updates.send_multipart(message)
            if step % int(options.rate) == 0:
                updates.send_multipart(publications[0].lost_motion(gear(age), now))
                updates.send_multipart(publications[1].clearance(bearing(), now))
        if step % int(options.rate) == 0:
            for publication in publications:
                if publication.joint in options.changed:
                    updates.send_multipart(changed(publication, now, start))
                if options.changed and publication.joint == options.changed[0]:
                    updates.send_multipart(worn(publication, now))
        samples += 20
        if step % int(options.rate) == 0:
            _report(status, joints, boot, samples, step, now)
            for name in ("core", "outlet", "recorder", "can0", "can1"):
                told = lives.process(name, now, True, 2 * (name == "can1"), 4711, "", 0.05, 10.0)
                updates.send_multipart(told)
        step += 1


def changed(publication: Publication, now: float, since: float) -> tuple[bytes, bytes]:
    """What is told of a joint whose viscous friction has grown by half and that nobody has acknowledged."""
    record = ChangeRecord(
        "viscous", "N·m·s/rad", 0.8, 0.002, 1.2, 0.003, 50.0, 90.0, since, since + 1.0, "alarm", "baseline",
        diagnosis="likely the lubricant",
    )  # fmt: skip
    body = publication.head("change", now) | {"records": [record.plain()]}
    return f"change/{publication.joint}".encode(), msgpack.packb(body)


def worn(publication: Publication, now: float) -> tuple[bytes, bytes]:
    """What the history tells of a joint whose dry friction has grown for forty days."""
    text = "dry friction has grown by 24 ± 2 %, corrected for heat and load; limit of 50 % in 30 to 60 days of use"
    wear = {"since": now - 9e6, "judged": now, "days": 100, "wear": 0.24, "deviation": 0.02, "z": 12.0, "told": True}
    more = {"onset": now - 40 * 86_400, "new": 0.0, "limit": 0.5, "left": [30.0, 42.0, 60.0], "text": text}
    return publication.wear(wear | more, now)


def gear(age: float) -> dict[str, object]:
    """What the gear of the base tells: 150 µrad that grow."""
    silent = lost_motion_body(LostMotion(LostMotionSettings(inertia_motor=0.5, inertia_link=2.0, band=1.0), 1e-3))
    numbers = {"gear_stiffness": 2e4, "lost_motion": 150e-6 + 1e-8 * age, "gear_friction": 6.0, "link_friction": 1.0}
    known = {"known": True, "reasons": [], "reversals": 40, "rarer": 0.4, "imitated": 0.86, "progress": 100.0}
    spread = {name: 0.01 * value for name, value in numbers.items()}
    named = {"parameters": silent["parameters"] | numbers, "deviations": silent["deviations"] | spread}
    return silent | named | known | {"first": 150e-6}


def looped(publication: Publication, age: float, now: float) -> list[tuple[bytes, bytes]]:
    """What a mechanism publishes: its drive explained within a threshold of 1 N·m, friction half as much again."""
    leg = load(Path(__file__).parents[3] / "docs" / "leg.toml").description
    joints = len(leg.links) + len(leg.cuts)
    loads = np.tile([12.0, 3.0, 0.4, 0.9, 0.05], (joints, 1)) * (1.0 + np.arange(joints))[:, None]
    found = MechanismEstimate(
        int(age * 1e9), Phase.NORMAL, Status.LEARNING, (Reason("mechanism_friction", "crank", {"percent": 150.0}),),
        np.array([5.0 + 0.3 * np.sin(3.0 * age)]), np.array([5.0]), np.array([0.6]), np.array([0.2]), np.array([1.0]),
        (False,), (FrictionRatio(1.5, 0.02, 100.0),), np.full(len(leg.links), 0.25), loads, 100.0,
    )  # fmt: skip
    head = robot_head(publication, "mechanism", now)
    return [(b"mechanism", msgpack.packb(head | mechanism_body(found, leg)))]


def bearing() -> dict[str, Any]:
    """What is published of a bearing whose clearance has grown by half."""
    watch = ClearanceWatch(1e-3)
    watch.first, watch.first_deviation, watch.since = 5e-5, 5e-7, 1
    watch.report = ClearanceReport(7.5e-5, 8e-7, (), 100.0, 3.5, 0.97)
    return clearance_body(watch)


def whole(publication: Publication, joints: tuple[Joint, ...], age: float, now: float) -> list[tuple[bytes, bytes]]:
    """What the robot publishes: the second joint is touched for two of every ten seconds, two kilograms are carried."""
    n, names = len(joints), [joint.name for joint in joints]
    touched = np.array([j == 1 and age % 10.0 < 2.0 for j in range(n)])
    residual = 0.3 * np.sin(np.arange(n) + 3.0 * age) + 2.0 * touched
    begun = int(age // 10.0 * 10.0 * 1e9)  # ns
    finding = RobotFinding(1, begun, int(age * 1e9), "contact", (names[1],), "touched", (), not touched.any())
    found = RobotEstimate(
        int(age * 1e9), Phase.TRANSIENT if touched.any() else Phase.NORMAL, Status.VALID, (), 5.0 + residual,
        np.full(n, 5.0), np.full(n, 0.2), np.full(n, 1.0), tuple(touched.tolist()),
        Payload(2.01, 0.03, np.array([0.01, 0.0, 0.08]), np.full(3, 0.004), True), 100.0,
        np.where(np.arange(n) == 0, 0.4, np.nan),
        touch=TOUCH if touched.any() else None, findings=(finding,),
    )  # fmt: skip
    head = robot_head(publication, "robot", now)
    told = [(b"robot", msgpack.packb(head | robot_body(found, names, [joint.unit for joint in joints])))]
    speeds = np.tile((0.1, 0.8), (n, 1))
    friction = Friction(speeds, 2.0 + speeds, np.full((n, 2), 0.04))
    body = parameters_body(("mass.base",), np.array([3.0]), np.array([0.1]), names, friction)
    head = robot_head(publication, "robot/parameters", now)
    more = {"learnt": int(age), "compensation": {names[0]: {"on": True, "ratio": 0.8}}}
    return [*told, (b"robot/parameters", msgpack.packb(head | body | more))]


def _report(status: zmq.Socket, joints: tuple[Joint, ...], boot: int, samples: int, updates: int, now: float) -> None:
    lost = {"lost": 0, "late": 2, "invalid": 0}
    status.send_multipart((b"status/core", msgpack.packb({
        "timestamp": now, "boot": boot, "malformed": 0,
        "joints": {joint.name: {"samples": samples, "updates": updates, "lost": lost, "skew": {"torque": 0.0031}}
                   for joint in joints},
        "drivers": {
            "can0": {"up": True, "cause": "", "readings": samples * 8, "lost": 0, "restarts": 0,
                     "counters": {"frames": samples * 4, "unmatched": 3, "busy_us": samples * 432}},
            "can1": {"up": False, "cause": "interface can1 is down", "readings": samples, "lost": 12, "restarts": 2,
                     "counters": {"frames": samples, "bad_crc": 1}},
        },
    })))  # fmt: skip
    status.send_multipart((b"recorder/status", msgpack.packb({
        "timestamp": time.time(), "start": 1.0, "up": True, "cause": "", "file": "demo-arm.mcap", "written": now,
        "bytes": 3000 * updates, "blocks": updates // 5, "lost": 0,
    })))  # fmt: skip


if __name__ == "__main__":
    main()
