"""What servos' registers mean, by examples of the makers' control tables."""

import math

import pytest

from drivers.serial.servo_registers import MODELS


@pytest.mark.parametrize(
    ("model", "register", "data", "value"),
    [
        ("xl330", "position", (2048).to_bytes(4, "little"), 0.0),  # the middle of a turn of 4096
        ("xl330", "position", (3072).to_bytes(4, "little"), math.pi / 2),
        ("xl330", "position", (-1024).to_bytes(4, "little", signed=True), -1.5 * math.pi),
        ("xm430", "velocity", (100).to_bytes(4, "little"), 22.9 * 2 * math.pi / 60),  # 0.229 rev/min each
        ("xm430", "velocity", (-100).to_bytes(4, "little", signed=True), -22.9 * 2 * math.pi / 60),
        ("xm430", "current", (1000).to_bytes(2, "little"), 2.69),
        ("xl330", "current", (-250).to_bytes(2, "little", signed=True), -0.25),
        ("xl430", "load", (500).to_bytes(2, "little"), 0.5),  # 0.1 % each
        ("xl430", "voltage", (111).to_bytes(2, "little"), 11.1),
        ("xl430", "temperature", bytes([200]), 200.0),
        ("mx", "position", (1024).to_bytes(2, "little"), -math.pi / 2),
        ("mx", "current", (2148).to_bytes(2, "little"), 0.45),  # 4.5 mA each from 2048 on
        ("mx", "current", (1948).to_bytes(2, "little"), -0.45),
        ("sts", "position", (3072).to_bytes(2, "little"), math.pi / 2),
        ("sts", "velocity", (4096 | 1 << 15).to_bytes(2, "little"), -2 * math.pi),  # bit 15 is the sign
        ("sts", "load", (250 | 1 << 10).to_bytes(2, "little"), -0.25),  # bit 10 is the sign
        ("sts", "current", (100).to_bytes(2, "little"), 0.65),
        ("sts", "voltage", bytes([74]), 7.4),
    ],
)
def test_a_register_in_si_units(model: str, register: str, data: bytes, value: float) -> None:
    found = MODELS[model][register]
    assert len(data) == found.size
    assert found.value(data) == pytest.approx(value, abs=1e-12)
