"""The typed client: its types are the schema's, it is light, it installs alone, and it reads a real stream."""

import os
import shutil
import subprocess
import sys
import typing
from pathlib import Path
from typing import Any

import msgpack
import pytest
import zmq

import jointwatch_client
from daq.__main__ import main
from daq.stream.schema import TOPICS, schema
from jointwatch_client import ESTIMATE, ROBOT, ROBOT_PARAMETERS, Family, Subscriber

ROOT = Path(__file__).parents[2]
FAMILIES = {one.topic: one for one in vars(jointwatch_client).values() if isinstance(one, Family)}
HINTS = {
    "ESTIMATE": "EstimateMessage",
    "RESIDUAL": "ResidualMessage",
    "EVENT": "EventMessage",
    "DRIFT": "DriftMessage",
    "CHANGE": "ChangeMessage",
    "WEAR": "WearMessage",
    "LOST_MOTION": "LostMotionMessage",
    "SUMMARY": "SummaryMessage",
    "CLEARANCE": "ClearanceMessage",
    "ROBOT": "RobotMessage",
    "ROBOT_PARAMETERS": "RobotParametersMessage",
    "MECHANISM": "MechanismMessage",
    "PROCESS": "ProcessMessage",
    "META": "MetaMessage",
}
PLAIN = {"number": float, "integer": int, "string": str, "boolean": bool}
FITTING = """
import type { Estimate, Topics } from "./jointwatch";
const one = (estimate: Estimate): number => estimate.parameters["inertia"] / estimate.deviations["inertia"];
const status: "valid" extends Estimate["health"]["status"] ? true : false = true;
const topic: Topics["estimate/elbow"] extends Estimate ? true : false = true;
const whole: Topics["robot"]["payload"]["carried"] = true;
export { one, status, topic, whole };
"""
WRONG = """
import type { Estimate } from "./jointwatch";
export const one = (estimate: Estimate): string => estimate.joint + estimate.inertia;
"""


@pytest.mark.parametrize(
    ("form", "file"), [("python", "jointwatch_client/messages.py"), ("typescript", "deploy/examples/jointwatch.d.ts")]
)
def test_the_types_are_those_of_the_schema_of_today(form: str, file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema", "--as", form]) == 0
    assert capsys.readouterr().out == (ROOT / file).read_text("utf-8"), f"jointwatch schema --as {form} > {file}"


def fits(kind: Any, one: dict[str, Any]) -> bool:
    """Whether a Python type is what a JSON Schema describes: written from the two specifications, not the generator."""
    kind = typing.get_args(kind)[0] if typing.get_origin(kind) is typing.NotRequired else kind
    if "const" in one:
        return typing.get_args(kind) == (one["const"],)
    if "enum" in one:
        return typing.get_args(kind) == tuple(one["enum"])
    if one["type"] == "array":
        return typing.get_origin(kind) is list and fits(typing.get_args(kind)[0], one["items"])
    if one["type"] != "object":
        return kind is PLAIN[one["type"]]
    if isinstance(one.get("additionalProperties"), dict):
        key, value = typing.get_args(kind)
        return typing.get_origin(kind) is dict and key is str and fits(value, one["additionalProperties"])
    hints = typing.get_type_hints(kind)
    return (
        hints.keys() == one["properties"].keys()
        and kind.__required_keys__ == set(one["required"])
        and all(fits(hints[key], inner) for key, inner in one["properties"].items())
    )


@pytest.mark.parametrize(("constant", "name"), HINTS.items())
def test_a_type_has_the_fields_of_its_schema(constant: str, name: str) -> None:
    family = getattr(jointwatch_client, constant)
    assert fits(getattr(jointwatch_client, name), schema(family.topic))


def test_every_family_has_a_type() -> None:
    assert FAMILIES.keys() == TOPICS.keys()
    assert len(HINTS) == len(TOPICS)


def test_a_family_has_its_own_topics_only() -> None:
    assert ESTIMATE.has("estimate/elbow")
    assert not ESTIMATE.has("estimated")
    assert ROBOT.has("robot")
    assert not ROBOT.has("robot/parameters")
    assert ROBOT_PARAMETERS.has("robot/parameters")
    assert ESTIMATE.message("residual/elbow", {}) is None


def test_only_the_messages_of_the_family_come() -> None:
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    with context.socket(zmq.XPUB) as publisher:
        publisher.setsockopt(zmq.LINGER, 0)
        publisher.bind("tcp://127.0.0.1:0")
        with Subscriber(publisher.getsockopt_string(zmq.LAST_ENDPOINT), timeout=60) as updates:
            assert publisher.recv() == b"\x01"
            for seq, topic in enumerate((b"residual/elbow", b"estimate/elbow", b"robot", b"estimate/base")):
                publisher.send_multipart((topic, msgpack.packb({"seq": seq, "boot": 1, "joint": topic.decode()})))
            estimates = updates.of(ESTIMATE)
            assert [next(estimates)["joint"] for _ in range(2)] == ["estimate/elbow", "estimate/base"]
    context.term()


def test_its_wheel_needs_zeromq_and_messagepack_only(tmp_path: Path) -> None:
    source = tmp_path / "source"
    shutil.copytree(ROOT / "jointwatch_client", source, ignore=shutil.ignore_patterns("__pycache__", "build", "*.egg*"))
    build = "import setuptools.build_meta as meta; print(meta.build_wheel('.'))"
    done = subprocess.run([sys.executable, "-c", build], cwd=source, capture_output=True, text=True, check=True)
    wheel = source / done.stdout.split()[-1]
    look = (
        f"import sys; sys.path.insert(0, {str(wheel)!r}); import jointwatch_client as client; "
        "print(client.__file__); print(*sys.modules)"
    )
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, "-c", look], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    file, modules = done.stdout.splitlines()
    assert file.startswith(str(wheel))
    packages = {name.partition(".")[0] for name in modules.split()}
    assert {"zmq", "msgpack"} <= packages
    assert not packages & {"asyncio", "daq", "drivers", "estimators", "numba", "numpy", "pydantic", "scipy"}


def test_typescript_takes_the_types_and_refuses_what_is_not_in_them(tmp_path: Path) -> None:
    compiler = shutil.which("tsc")
    if compiler is None:
        pytest.skip("the types in TypeScript are compiled by: apt-get install node-typescript")
    shutil.copy(ROOT / "deploy" / "examples" / "jointwatch.d.ts", tmp_path)
    (tmp_path / "fitting.ts").write_text(FITTING)
    (tmp_path / "wrong.ts").write_text(WRONG)
    words = [compiler, "--strict", "--noEmit", "--target", "es2020", "fitting.ts", "wrong.ts"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert "Property 'inertia' does not exist on type 'Estimate'" in done.stdout
    assert len(done.stdout.strip().splitlines()) == 1, "and nothing else"
