"""How late the channels of joints are: which is compared with what, and what cannot be."""

from pathlib import Path

import numpy as np
import pytest

from daq.config.load import load
from daq.config.sections import Config
from daq.recording.columns import Channels
from daq.replay.delays import aligned, find, of_frames
from drivers.reading import READING
from estimators.alignment.channel_delay import ChannelSeries
from estimators.quantities import Floats

T = np.arange(0.0, 12.0, 2e-3)
RATES = 2.0 * np.pi * np.array([0.3, 1.1])


def motion(t: Floats, derivative: int = 0) -> Floats:
    """Two sines, or a derivative of them."""
    turned = np.multiply.outer(t, RATES) + [0.0, 1.0] + derivative * np.pi / 2.0
    return np.asarray(np.sin(turned) @ (np.array([0.4, 0.1]) * RATES**derivative))


def channels(**roles: Floats) -> Channels:
    noise = np.random.default_rng(1)
    return {"elbow": {name: ChannelSeries(T, one + noise.normal(0.0, 1e-6, len(T))) for name, one in roles.items()}}


def test_each_kind_of_channel_is_compared_with_the_position_in_its_own_way() -> None:
    torque = 2.0 * motion(T - 0.003, 2) + 0.5 * motion(T - 0.003, 1)
    found = list(
        find(
            channels(
                position=motion(T),
                link_position=motion(T - 0.0042),
                velocity=motion(T - 0.0061, 1),
                motor_speed=motion(T + 0.002, 1),
                torque=torque,
                temperature=motion(T),
            ),
            0.1,
        )
    )
    assert [(one["channel"], one.get("relation"), one.get("against")) for one in found] == [
        ("link_position", "same", "position"),
        ("velocity", "rate", "position"),
        ("motor_speed", "rate", "position"),
        ("torque", "effort", "position"),
        ("temperature", None, None),
    ]
    late = [one["delay"] for one in found[:-1]]
    assert late == pytest.approx([0.0042, 0.0061, -0.002, 0.003], abs=2e-5)
    assert found[3]["gain"] == pytest.approx(2.0, rel=0.01)
    assert found[4] == {
        "joint": "elbow",
        "channel": "temperature",
        "why": "it is neither a position, a velocity nor a torque: motion does not show its delay",
    }


def test_a_joint_without_a_position_says_so_and_the_others_are_compared() -> None:
    both = {"wrist": channels(velocity=motion(T, 1))["elbow"]} | channels(position=motion(T), velocity=motion(T, 1))
    first, second = find(both, 0.1)
    assert first == {"joint": "wrist", "channel": "position", "why": 'the joint has no "position" to compare with'}
    assert (second["joint"], second["channel"], "delay" in second) == ("elbow", "velocity", True)


def test_a_delay_beyond_what_was_asked_for_is_said() -> None:
    late = channels(position=motion(T), link_position=motion(T - 0.05))
    [found] = find(late, 0.1)
    assert found["delay"] == pytest.approx(0.05, abs=1e-4)
    [found] = find(late, 0.01)
    assert "delay" not in found
    assert found["why"]


def test_what_bends_a_joint_is_known_where_its_torque_is_whatever_that_is_called() -> None:
    """A second encoder behind a spring: without its torque the bending is left over, with it no more than noise."""
    roles = {"position": motion(T), "link_position": motion(T - 0.004) - motion(T - 0.004, 2) / 500.0}
    [alone] = find(channels(**roles), 0.1)
    for role in ("torque", "force", "effort", "motor_current"):
        found = {one["channel"]: one for one in find(channels(**roles, **{role: motion(T, 2)}), 0.1)}["link_position"]
        assert found["delay"] == pytest.approx(0.004, abs=4.0 * found["deviation"]), role
        assert found["deviation"] < 0.1 * alone["deviation"], role


TEXT = """
[drivers.bus]
kind = "can"
interface = "socketcan"
channel = "can0"
[[drivers.bus.frames]]
name = "MOTOR"
id = 0x181
signals.position = { start = 0, bits = 32, type = "signed", scale = 1e-6, unit = "rad" }
signals.torque = { start = 32, bits = 16, type = "signed", unit = "N·m" }
[joints.elbow]
rate = 500
model = { kind = "rigid" }
channels.position = { signal = "bus.MOTOR.position" }
channels.torque = { signal = "bus.MOTOR.torque", delay = 0.02 }
"""


@pytest.fixture
def config(tmp_path: Path) -> Config:
    (tmp_path / "c.toml").write_text(TEXT)
    return load(tmp_path / "c.toml")


def test_delays_that_are_configured_are_left_out_when_delays_are_sought(config: Config) -> None:
    readings = np.zeros((len(T), 2), READING)
    readings["time"] = 10**12 + np.round(1e9 * T).astype(np.int64)[:, None]
    readings["channel"] = [0, 1]
    readings["value"] = np.column_stack([motion(T), motion(T, 1)])
    found = aligned([readings.reshape(-1)], config)
    assert {name: list(roles) for name, roles in found.items()} == {"elbow": ["position", "torque"]}
    begins = []
    for role, derivative in (("position", 0), ("torque", 1)):
        series = found["elbow"][role]
        known = np.isfinite(series.values)
        assert known.mean() > 0.9
        assert series.time[0] == 0.0
        np.testing.assert_allclose(np.diff(series.time), 2e-3, atol=1e-9)
        scale = np.abs(motion(T, derivative + 1)).max()  # of its rate: within a twentieth of a sample
        begin = np.round(series.values[known][0], 12)
        assert begin in np.round(motion(T, derivative)[:20], 12)
        offset = int(np.argmin(np.abs(motion(T, derivative)[:20] - begin)))
        expected = motion(series.time[known] - series.time[known][0] + T[offset], derivative)
        np.testing.assert_allclose(series.values[known], expected, atol=scale * 1e-4)
        begins.append(T[offset] - series.time[known][0])
    assert begins[0] == pytest.approx(begins[1], abs=1e-9), "both are of the same instants"
    assert config.joints["elbow"].channels["torque"].delay == 0.02, "the configuration itself is as it was"


def test_a_log_of_frames_is_decoded_and_aligned(config: Config, tmp_path: Path) -> None:
    lines = []
    for number, q in enumerate(np.round(1e6 * motion(T)).astype(int)):
        data = int(q).to_bytes(4, "little", signed=True) + (number % 50).to_bytes(2, "little")
        lines.append(f"({1.7e9 + T[number]:.6f}) can0 181#{data.hex()}\n")
    (tmp_path / "x.log").write_text("".join(lines))
    found = of_frames(tmp_path / "x.log", config)["elbow"]
    known = np.isfinite(found["position"].values)
    assert known.mean() > 0.9
    assert np.array_equal(found["position"].time, found["torque"].time)
    assert np.abs(found["position"].values[known]).max() == pytest.approx(np.abs(motion(T)).max(), abs=1e-5)
