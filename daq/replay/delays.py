"""Measures the delay of each channel of a joint relative to its position, in a recording of any kind."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from daq.config.sections import Config, JointSection
from daq.recording.columns import Channels
from daq.replay.aligned import samples
from daq.replay.sources import Batch, readings_of
from estimators.alignment.channel_delay import ChannelSeries, Relation, SkewError, delay

REFERENCE: Final = "position"
_EFFORTS: Final = ("torque", "force", "effort", "current")
_RELATIONS: Final = {"position": Relation.SAME, "velocity": Relation.RATE, "speed": Relation.RATE} | dict.fromkeys(
    _EFFORTS, Relation.EFFORT
)

Finding = dict[str, Any]


def find(channels: Channels, longest: float) -> Iterator[Finding]:
    """The delay of every channel relative to its joint's position, or why it is not known; longest: s."""
    for joint, roles in channels.items():
        reference = roles.get(REFERENCE)
        if reference is None:
            yield {"joint": joint, "channel": REFERENCE, "why": f'the joint has no "{REFERENCE}" to compare with'}
            continue
        effort = next((roles[role] for role in roles if any(word in role for word in _EFFORTS)), None)
        for role, channel in roles.items():
            if role != REFERENCE:
                yield {"joint": joint, "channel": role} | _compare(role, reference, channel, effort, longest)


def of_frames(recording: Path, config: Config) -> Channels:
    """The channels of a recording of frames, aligned as in `aligned`. Raises RecordingError, DriverError."""
    return aligned(readings_of(recording, config, {}), config)


def aligned(parts_of_readings: Iterable[Batch], config: Config) -> Channels:
    """The channels of joints, aligned as the service would do it if no delays were configured."""
    roles = {name: list(joint.channels) for name, joint in config.joints.items()}
    undelayed = config.model_copy(update={"joints": {name: _undelayed(one) for name, one in config.joints.items()}})
    return {
        name: {
            role: ChannelSeries((ticks - ticks[:1].sum()) * 1e-9, rows[:, column])
            for column, role in enumerate(roles[name])
        }
        for name, (ticks, rows) in samples(parts_of_readings, undelayed, roles).items()
    }


def _undelayed(joint: JointSection) -> JointSection:
    channels = {role: channel.model_copy(update={"delay": 0.0}) for role, channel in joint.channels.items()}
    return joint.model_copy(update={"channels": channels})


def _compare(
    role: str, reference: ChannelSeries, channel: ChannelSeries, effort: ChannelSeries | None, longest: float
) -> Finding:
    relation = next((one for word, one in _RELATIONS.items() if word in role), None)
    if relation is None:
        return {"why": "it is neither a position, a velocity nor a torque: motion does not show its delay"}
    try:
        found = delay(reference, channel, relation, effort, longest)
    except SkewError as error:
        return {"why": str(error)}
    return {"against": REFERENCE, "relation": str(relation)} | found._asdict()
