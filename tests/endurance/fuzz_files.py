"""Files of every kind that the service reads, damaged: recordings, logs of buses, DBC, robots, state."""

import json
import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import can
import msgpack
import numpy as np

from daq.commands.identify.command import load_robot
from daq.config.load import load
from daq.config.robots.robot_model import load_model
from daq.config.sections import Config, Record
from daq.core.pipeline import Pipeline
from daq.recording.folder import recordings
from daq.recording.process import NextBlock, Recorder
from daq.recording.reader import blocks, break_of, configuration, said
from daq.replay.repeat import Repetition
from daq.replay.replay import Played, play
from daq.replay.sources import Counts, readings_of
from daq.state import baselines, checkpoint_file
from daq.stream.checksum import seal
from daq.stream.transcript import Batch, TurnBlock
from drivers.reading import READING

DEEP: Final = 0.1  # of the files go through the pipeline, too; the others are read to their end
ROBOT: Final = """[robot]
name = "arm"
model = "x.model"
"""
URDF: Final = """<?xml version="1.0"?>
<robot name="arm">
  <link name="base"/>
  <link name="upper">
    <inertial>
      <origin xyz="0.1 0 0.2" rpy="0 0 0"/>
      <mass value="3.5"/>
      <inertia ixx="0.02" ixy="0.001" ixz="0" iyy="0.03" iyz="0" izz="0.01"/>
    </inertial>
  </link>
  <joint name="elbow" type="revolute">
    <parent link="base"/>
    <child link="upper"/>
    <origin xyz="0 0 0.3" rpy="0 1.57 0"/>
    <axis xyz="0 0 1"/>
    <limit lower="-2" upper="2" effort="50" velocity="3"/>
  </joint>
</robot>
"""
DH: Final = """name = "arm"
convention = "standard"
angles = "rad"
[joints.elbow]
d = 0.3
a = 0.2
alpha = -1.57
mass = 4.0
inertia = [0.1, 0.1, 0.1, 0.0, 0.0, 0.0]
lower = -2.0
upper = 2.0
"""
MODEL: Final = """format = "jointwatch whole robot"
version = 1

[robot]
name = "arm"
gravity = [0.0, 0.0, -9.81]
guessed = false
couplings = []

[learnt_from]
rows = 1

[joints.elbow]
axis = "rotary"
parent = -1
placement = [
  [1.0, 0.0, 0.0, 0.0],
  [0.0, 1.0, 0.0, 0.0],
  [0.0, 0.0, 1.0, 0.0],
  [0.0, 0.0, 0.0, 1.0],
]
direction = [0.0, 1.0, 0.0]
rotor = 0.0
described = [3.0, 0.6, 0.0, 0.3, 0.05, 0.0, 0.18, -0.06, 0.0, 0.15]
likeliest = [3.0, 0.6, 0.0, 0.3, 0.05, 0.0, 0.18, -0.06, 0.0, 0.15]
physical = [3.0, 0.6, 0.0, 0.3, 0.05, 0.0, 0.18, -0.06, 0.0, 0.15]
loading = [3.0, 0.6, 0.0, 0.3, 0.05, 0.0, 0.18, -0.06, 0.0, 0.15]
variance = 1.0
correlation = 1.0
speed_seen = 3.0
position_seen = [-1.0, 1.0]

[joints.elbow.limits]

[joints.elbow.friction]
kind = "viscous_coulomb"
viscous = true
coulomb = true
transition = 0.001

[frames]

[theta]
names = ["b1", "b2", "b3", "viscous.elbow", "coulomb.elbow", "offset.elbow"]
meanings = ["Iyy.elbow", "mx.elbow", "mz.elbow", "viscous.elbow", "coulomb.elbow", "offset.elbow"]
values = [1.0, 1.0, 1.0, 1.0, 1.0, 1.0]
deviations = [1.0, 1.0, 1.0, 1.0, 1.0, 1.0]
covariance = [
  [1.0, 0.0, 0.0, 0.0, 0.0, 0.0],
  [0.0, 1.0, 0.0, 0.0, 0.0, 0.0],
  [0.0, 0.0, 1.0, 0.0, 0.0, 0.0],
  [0.0, 0.0, 0.0, 1.0, 0.0, 0.0],
  [0.0, 0.0, 0.0, 0.0, 1.0, 0.0],
  [0.0, 0.0, 0.0, 0.0, 0.0, 1.0],
]
prior = [1.0, 1.0, 1.0, 1.0, 1.0, 1.0]
prior_covariance = [
  [1.0, 0.0, 0.0, 0.0, 0.0, 0.0],
  [0.0, 1.0, 0.0, 0.0, 0.0, 0.0],
  [0.0, 0.0, 1.0, 0.0, 0.0, 0.0],
  [0.0, 0.0, 0.0, 1.0, 0.0, 0.0],
  [0.0, 0.0, 0.0, 0.0, 1.0, 0.0],
  [0.0, 0.0, 0.0, 0.0, 0.0, 1.0],
]
"""
DBC: Final = """VERSION ""
BU_: A
BO_ 385 STATE: 8 A
 SG_ q : 0|32@1- (0.0001,0) [0|0] "rad" A
 SG_ tau : 32|32@1- (0.001,0) [0|0] "Nm" A
"""


def mutated(data: bytes, dice: random.Random) -> bytearray:
    """Bits flipped, bytes set to extremes, parts cut out, doubled or taken from elsewhere, and the end cut off."""
    changed = bytearray(data)
    for _ in range(dice.choice((1, 1, 2, 8, 50))):
        if not changed:
            break
        at = dice.randrange(len(changed))
        length = min(dice.choice((1, 2, 8, 64, 500)), len(changed) - at)
        kind = dice.randrange(6)
        if kind == 0:
            changed[at] ^= 1 << dice.randrange(8)
        elif kind == 1:
            changed[at : at + length] = bytes([dice.choice((0, 255, 127, 128))]) * length
        elif kind == 2:
            del changed[at : at + length]
        elif kind == 3:
            changed[at:at] = changed[at : at + length]
        elif kind == 4:
            other = dice.randrange(len(changed))
            changed[at : at + length] = changed[other : other + length]
        else:
            del changed[at:]
    return changed


class Files:
    """Each call reads another damaged one; raises our own errors where it is refused."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        (folder / "arm.dbc").write_text(DBC)
        self._config = _configured(folder)
        self.seeds = list(self._written())

    def __call__(self, number: int) -> str:
        """One of them."""
        dice = random.Random(number)
        suffix, data = self.seeds[number % len(self.seeds)]
        return self.read(suffix, bytes(mutated(data, dice)), dice.random() < DEEP)

    def read(self, suffix: str, data: bytes, deep: bool) -> str:
        """A file of that kind, to its end; deep: through the pipeline, too."""
        file = self._folder / f"x{suffix}"
        file.unlink(missing_ok=True)
        # with a checksum that fits: past it only a writer's own mistake gets
        file.write_bytes(seal(data) if suffix == ".checkpoint" else data)
        file.chmod(0o600)
        os.utime(file, (1e9, 1e9))  # it is not being written: no reader waits for its end
        if suffix == ".mcap":
            return self._recording(file, deep)
        if suffix == ".dbc":
            load(self._folder / "dbc.toml")
        elif suffix == ".checkpoint":
            checkpoint_file.read(file)
        elif suffix == ".json":
            baselines.read(file)
        elif suffix == ".model":
            self._robot(file, deep)
        elif suffix in (".urdf", ".toml"):
            load_robot(file)[0].tree()
        else:
            self._log(file, deep)
        return "read"

    def _recording(self, file: Path, deep: bool) -> str:
        words = break_of(file)
        list(said(file))
        list(blocks(file))
        configuration(file)
        for turn in Repetition([file], self._config).turns() if deep else ():
            if len(turn.messages) > 10**6:
                raise OverflowError("more messages than a recording this small can have")
        return "read, and the break is said" if words else "read"

    def _robot(self, file: Path, deep: bool) -> None:
        load_model(file)
        config = load(self._folder / "robot.toml")
        if deep:
            pipeline = Pipeline(config, 1)
            for _ in play(pipeline, readings_of(self._folder / "seed.log", config, {}), Played()):
                pass

    def _log(self, file: Path, deep: bool) -> None:
        counts: Counts = {}
        if not deep:
            for _ in readings_of(file, self._config, counts):
                pass
            return
        pipeline = Pipeline(self._config, 1)
        for _ in play(pipeline, readings_of(file, self._config, counts), Played()):
            pass

    def _written(self) -> Iterator[tuple[str, bytes]]:
        frames = [
            can.Message(1.7e9 + 1e-3 * n, 385, False, data=np.array([n, -n], "<i4").tobytes(), channel=0)
            for n in range(60)
        ]
        for suffix in (".log", ".asc", ".trc", ".blf", ".csv"):
            file = self._folder / f"seed{suffix}"
            with can.Logger(file) as logger:
                for frame in frames:
                    logger(frame)
            yield suffix, file.read_bytes()
        recorded = _recorded(self._folder, self._config)
        yield from ((".mcap", recorded),) * 4
        yield ".dbc", DBC.encode()
        (self._folder / "dbc.toml").write_text(_toml("x.dbc", ""))
        (self._folder / "robot.toml").write_text(_toml("arm.dbc", "").replace('[robot]\nname = "arm"\n', ROBOT))
        yield ".model", MODEL.encode()
        yield ".urdf", URDF.encode()
        yield ".toml", DH.encode()
        yield ".checkpoint", msgpack.packb({"elbow": ["key", 1.0, {"x": [1.0, 2.0]}]})
        one = {"since": 1.0, "model": "rigid", "values": {"inertia": 1.0}, "deviations": {"inertia": 0.1}}
        yield ".json", json.dumps({"version": 1, "joints": {"elbow": [one]}}).encode()


def _toml(dbc: str, more: str) -> str:
    return f"""
[robot]
name = "arm"
[drivers.bus]
kind = "can"
interface = "virtual"
channel = "x"
dbc = "{dbc}"
[joints.elbow]
rate = 1000
model = {{ kind = "rigid" }}
[joints.elbow.channels]
position = {{ signal = "bus.STATE.q" }}
torque = {{ signal = "bus.STATE.tau" }}
{more}"""


def _configured(folder: Path) -> Config:
    file = folder / "arm.toml"
    file.write_text(_toml("arm.dbc", ""))
    return load(file)


def _recorded(folder: Path, config: Config) -> bytes:
    """A recording of two seconds, by the recorder itself."""
    shelf = folder / "records"
    settings = config.model_copy(update={"recorder": Record(folder=shelf, reserve=0.0)})
    expected = NextBlock(folder / "recorder.next")
    recorder = Recorder(settings, expected)
    pipeline = Pipeline(config, 7)
    for number in range(6):
        rows = np.zeros(60, READING)
        ticks = 10**9 + 10**6 * (30 * number + np.arange(30))
        rows["time"], rows["channel"] = np.repeat(ticks, 2), np.tile([0, 1], 30)
        rows["value"] = np.sin(rows["time"] / 1e9)
        messages = pipeline.absorb(rows, 10**18, lambda: 0) + [pipeline.introduce(10**18)]
        batch = Batch(len(rows), 10**18, int(ticks[-1]), [0] * 30, [], None)
        recorder.take(TurnBlock(7, number, [batch], rows, messages))
    recorder.close()
    expected.close()
    return recordings(shelf, "arm")[0].read_bytes()
