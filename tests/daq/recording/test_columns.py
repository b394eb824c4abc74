"""Channels of joints from columns: a robot in one table, several recordings, our own; every mistake at once."""

from pathlib import Path

import numpy as np
import pytest

from daq.config.load import load
from daq.config.routes import routes
from daq.config.sections import Config
from daq.config.words import ConfigError
from daq.recording.columns import SLOWEST, Channels, ChannelSeries, check_times, is_configuration, load_columns, read
from daq.recording.process import NextBlock, Recorder
from daq.recording.reader import RecordingError
from daq.stream.transcript import Batch, TurnBlock
from drivers.reading import READING

TABLE = """
time = "rec.t"
time_unit = "ms"
[joints.a]
position = { column = "rec.q[0]", unit = "deg" }
torque = { column = "rec.u[0]", scale = 100.0, offset = 1.0 }
[joints.b]
torque = { column = "rec.u[1]", scale = -50.0 }
position = { column = "rec.q[1]", unit = "deg" }
"""
T = np.arange(60.0)
Q = np.column_stack([np.sin(T / 9), np.cos(T / 9)])
U = np.column_stack([T, -T]) / 7


def robot(folder: Path, name: str = "run.npz", **changed: np.ndarray) -> Path:
    columns = {"t": T, "q": Q, "u": U} | changed
    np.savez(folder / name, **{f"rec.{key}": one for key, one in columns.items()})
    return folder / name


def table(folder: Path, text: str = TABLE) -> Path:
    (folder / "columns.toml").write_text(text)
    return folder / "columns.toml"


def test_a_robot_is_one_table(tmp_path: Path) -> None:
    found = read(robot(tmp_path), load_columns(table(tmp_path)))
    assert {name: set(roles) for name, roles in found.items()} == {name: {"position", "torque"} for name in "ab"}
    for at, (name, scale, offset) in enumerate((("a", 100.0, 1.0), ("b", -50.0, 0.0))):
        np.testing.assert_allclose(found[name]["position"].values, np.deg2rad(Q[:, at]))
        np.testing.assert_allclose(found[name]["torque"].values, scale * U[:, at] + offset)
        np.testing.assert_allclose(found[name]["torque"].time, T * 1e-3)


@pytest.mark.parametrize("delay", [0.02, -0.015, 1.0, -1.0])
def test_a_channel_that_is_late_is_put_back_by_its_delay(tmp_path: Path, delay: float) -> None:
    text = TABLE.replace("offset = 1.0 }", f"offset = 1.0, delay = {delay} }}")
    found = read(robot(tmp_path), load_columns(table(tmp_path, text)))
    np.testing.assert_allclose(found["a"]["torque"].time, T * 1e-3 - delay)
    np.testing.assert_allclose(found["a"]["position"].time, T * 1e-3)
    np.testing.assert_allclose(found["b"]["torque"].time, T * 1e-3)


@pytest.mark.parametrize("delay", [1.01, -1.01])
def test_a_delay_of_more_than_a_second_is_refused(tmp_path: Path, delay: float) -> None:
    with pytest.raises(ConfigError, match="delay"):
        load_columns(table(tmp_path, TABLE.replace("offset = 1.0 }", f"delay = {delay} }}")))


def test_a_temperature_is_put_on_the_zero_of_degrees_celsius_before_it_is_scaled(tmp_path: Path) -> None:
    text = TABLE.replace(
        "[joints.b]", 'temperature = { column = "rec.w", unit = "K", scale = 2.0, offset = 5.0 }\n[joints.b]'
    )
    found = read(robot(tmp_path, w=300.0 + T), load_columns(table(tmp_path, text)))
    np.testing.assert_allclose(found["a"]["temperature"].values, 2.0 * (26.85 + T) + 5.0)


def test_every_mistake_is_said_at_once(tmp_path: Path) -> None:
    text = TABLE.replace("rec.q[0]", "rec.p").replace("rec.q[1]", "rec.q[2]")
    with pytest.raises(RecordingError) as caught:
        read(robot(tmp_path, u=U[:-1]), load_columns(table(tmp_path, text)))
    words = str(caught.value).splitlines()
    assert len(words) == 4
    parts = ('no column "rec.p"', "rec.u[0] has 59 rows", "rec.u[1] has 59 rows", "has 2 columns, found [2]")
    for line, part in zip(words, parts, strict=True):
        assert line.startswith(f"{tmp_path}/run.npz: ")
        assert part in line


def test_without_its_times_the_other_mistakes_are_said_too(tmp_path: Path) -> None:
    text = TABLE.replace('"rec.t"', '"rec.clock"').replace("rec.q[1]", "rec.x")
    with pytest.raises(RecordingError, match=r'no column "rec.clock".*\n.*no column "rec.x"'):
        read(robot(tmp_path), load_columns(table(tmp_path, text)))


@pytest.mark.parametrize(("rate", "refused"), [(1.1, False), (0.9, True)])
def test_rows_that_are_too_far_apart_for_a_joint_are_of_another_unit_of_time(rate: float, refused: bool) -> None:
    """The usual step of the first rows decides, so a late gap or a channel that has sent nothing is no mistake."""
    time = np.cumsum(np.full(50, 1.0 / (rate * SLOWEST)))
    time[20:] += 1e6
    nothing = ChannelSeries(np.zeros(0), np.zeros(0))
    channels: Channels = {"a": {"torque": nothing, "position": ChannelSeries(time, np.zeros(50))}}
    if not refused:
        check_times(Path("r.csv"), channels)
        return
    with pytest.raises(
        RecordingError, match=rf"a row every .* would be {rate * SLOWEST:.3g} Hz.*are its\s+times in ms"
    ):
        check_times(Path("r.csv"), channels)


def test_a_run_behind_another_one_is_told_and_rows_that_are_late_are_not() -> None:
    time = np.arange(100) / 100.0
    late, again = time.copy(), np.concatenate([time[:50], time[:50]])
    late[[40, 41]] = late[[41, 40]]
    series = {name: {"a": {"position": ChannelSeries(one, one)}} for name, one in (("late", late), ("again", again))}
    check_times(Path("r.csv"), series["late"])
    with pytest.raises(RecordingError, match=r"^r.csv: time runs backwards once, from 0.49 s to 0 s: several runs"):
        check_times(Path("r.csv"), series["again"])


def test_a_table_without_joints_says_how_one_is_written(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"found no joint: add \[joints.NAME\] with position = "):
        load_columns(table(tmp_path, 'time = "t"\n'))


def configured(folder: Path, wrap: str = "") -> Config:
    """The template's joint, whose position starts again after wrap."""
    text = (Path(__file__).parents[3] / "daq" / "jointwatch.toml").read_text()
    text = text.replace("[publish]", '[recorder]\nfolder = "."\n[publish]')
    (folder / "c.toml").write_text(text.replace('"bus.STATE.position" }', f'"bus.STATE.position"{wrap} }}'))
    return load(folder / "c.toml")


def ours(folder: Path, config: Config, *parts: np.ndarray) -> Path:
    """A recording of these readings, a block each."""
    expected = NextBlock(folder / "next")
    recorder = Recorder(config, expected)
    for number, readings in enumerate(parts):
        watched = int(readings["time"].max(initial=0))
        recorder.take(TurnBlock(7, number, [Batch(len(readings), 0, watched, (), (), None)], readings))
    recorder.close()
    expected.close()
    [file] = folder.glob("*.mcap")
    return file


def of_channel(channel: int, seconds: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Readings of one channel; seconds: since 1000 s."""
    readings = np.zeros(len(seconds), READING)
    readings["time"] = 10**12 + np.round(1e9 * seconds).astype(np.int64)
    readings["channel"], readings["value"] = channel, values
    return readings


def test_our_own_recording_gives_its_channels_and_not_its_counter(tmp_path: Path) -> None:
    config = configured(tmp_path)
    asked = routes(config)
    times = np.arange(30) * 1e-3
    values = [number + np.sin(times + number) for number in range(len(asked))]
    parts = [
        np.concatenate([of_channel(number, times[rows], one[rows]) for number, one in enumerate(values)])
        for rows in (slice(0, 10), slice(10, 20), slice(20, 30))
    ]
    file = ours(tmp_path, config, *parts)
    found = read(file, None)
    assert {name: list(roles) for name, roles in found.items()} == {"elbow": ["position", "torque"]}
    for number, route in enumerate(asked[:2]):
        assert np.array_equal(found["elbow"][route.role].values, values[number])
        np.testing.assert_allclose(found["elbow"][route.role].time, times, atol=1e-9)
    with pytest.raises(RecordingError, match="expected no table of columns"):
        read(file, load_columns(table(tmp_path)))


def test_how_much_later_one_channel_came_than_another_survives(tmp_path: Path) -> None:
    """The torque came 4 ms after the position, first and last."""
    config = configured(tmp_path)
    times = np.arange(50) * 1e-3
    readings = np.concatenate([of_channel(0, times, np.sin(times)), of_channel(1, times + 0.004, np.cos(times))])
    found = read(ours(tmp_path, config, readings[np.argsort(readings["time"], kind="stable")]), None)["elbow"]
    np.testing.assert_allclose(found["position"].time, times, atol=1e-9)
    np.testing.assert_allclose(found["torque"].time - found["position"].time, 0.004, atol=1e-9)


def test_an_encoder_that_starts_again_goes_on_in_our_own_recording(tmp_path: Path) -> None:
    """Where its channel says after how much; what is no number stays none and breaks nothing."""
    times = np.arange(200) * 1e-3
    angle = 30.0 * times
    seen = np.where(np.arange(200) == 77, np.nan, np.mod(angle, 2.0))
    file = ours(tmp_path, configured(tmp_path, ", wrap = 2.0"), of_channel(0, times, seen), of_channel(1, times, seen))
    found = read(file, None)["elbow"]
    np.testing.assert_allclose(found["position"].values, np.where(np.isnan(seen), np.nan, angle), atol=1e-12)
    assert np.array_equal(found["torque"].values, seen, equal_nan=True), "it is not declared that it starts again"


def test_a_recording_without_readings_has_empty_channels(tmp_path: Path) -> None:
    found = read(ours(tmp_path, configured(tmp_path), np.zeros(0, READING)), None)
    assert [len(one.time) for one in found["elbow"].values()] == [0, 0]


def test_a_recording_without_times_has_a_rate(tmp_path: Path) -> None:
    text = TABLE.replace('time = "rec.t"\ntime_unit = "ms"', "rate = 250.0")
    found = read(robot(tmp_path), load_columns(table(tmp_path, text)))
    np.testing.assert_allclose(found["b"]["torque"].time, T / 250.0)
    np.testing.assert_allclose(found["b"]["torque"].values, -50.0 * U[:, 1])


@pytest.mark.parametrize(("more", "found"), [("rate = 250.0\n", "both"), ("", "none")])
def test_a_table_has_either_times_or_a_rate(tmp_path: Path, more: str, found: str) -> None:
    text = more + (TABLE if more else TABLE.replace('time = "rec.t"\n', ""))
    with pytest.raises(ConfigError, match=f"expected either time or rate, found {found}"):
        load_columns(table(tmp_path, text))


@pytest.mark.parametrize(
    ("was", "wrong"),
    [
        ("offset = 1.0", "offset = inf"),
        ("scale = 100.0", "scale = 0.0"),
        ("scale = 100.0", "wrap = 0.0"),
        ('time = "rec.t"\ntime_unit = "ms"', "rate = 0.0"),
        ('time_unit = "ms"', 'time_unit = "h"'),
    ],
)
def test_numbers_that_cannot_be_are_refused(tmp_path: Path, was: str, wrong: str) -> None:
    with pytest.raises(ConfigError):
        load_columns(table(tmp_path, TABLE.replace(was, wrong)))
    assert load_columns(table(tmp_path, TABLE.replace('time = "rec.t"\ntime_unit = "ms"', "rate = 0.5"))).rate == 0.5


def test_a_table_is_distinguished_from_a_configuration(tmp_path: Path) -> None:
    configured(tmp_path)
    assert is_configuration(tmp_path / "c.toml")
    assert not is_configuration(table(tmp_path))


def test_a_matrix_may_lie_either_way_and_one_column_needs_no_number(tmp_path: Path) -> None:
    columns = load_columns(table(tmp_path))
    as_rows = read(robot(tmp_path, q=Q.T.copy(), u=U.T.copy()), columns)
    for joint, roles in read(robot(tmp_path), columns).items():
        for role, one in roles.items():
            assert np.array_equal(as_rows[joint][role].values, one.values), (joint, role)
    single = load_columns(table(tmp_path, 'time = "rec.t"\n[joints.a]\nposition = { column = "rec.q" }\n'))
    for one in (Q[:, 0], Q[:, :1], Q[:, :1].T):
        assert np.array_equal(read(robot(tmp_path, q=one), single)["a"]["position"].values, Q[:, 0])


def test_a_recording_may_have_fewer_rows_than_columns(tmp_path: Path) -> None:
    few = np.arange(15.0).reshape(3, 5)
    text = 'time = "rec.t"\n[joints.a]\nposition = { column = "rec.q[4]" }\ntorque = { column = "rec.u[1]" }\n'
    found = read(robot(tmp_path, t=T[:3], q=few, u=few.T.copy()), load_columns(table(tmp_path, text)))["a"]
    assert found["position"].values.tolist() == [4.0, 9.0, 14.0]
    assert found["torque"].values.tolist() == [1.0, 6.0, 11.0]


@pytest.mark.parametrize(
    ("column", "q", "said"),
    [
        ("rec.q", Q, r"rec.q has the shape \[60, 2\], expected one column: rec.q\[0\]"),
        ("rec.q[1]", Q[:, 0], r"rec.q has one column, found \[1\]"),
        ("rec.q[2]", Q.T.copy(), r"rec.q has 2 columns, found \[2\]"),
    ],
)
def test_which_column_of_a_matrix_is_said_where_it_is_not_clear(
    tmp_path: Path, column: str, q: np.ndarray, said: str
) -> None:
    text = f'time = "rec.t"\n[joints.a]\nposition = {{ column = "{column}" }}\n'
    with pytest.raises(RecordingError, match=said):
        read(robot(tmp_path, q=q), load_columns(table(tmp_path, text)))


def test_without_a_table_the_columns_names_say_joint_and_role(tmp_path: Path) -> None:
    named = {"time": T * 1e-3, "a.position": Q[:, 0], "a.torque": U[:, 0], "b-2.position": Q[:, 1], "rec.q.x": T}
    np.savez(tmp_path / "r.npz", **named)
    found = read(tmp_path / "r.npz", None)
    assert {name: list(roles) for name, roles in found.items()} == {"a": ["position", "torque"], "b-2": ["position"]}
    for joint, role in (("a", "position"), ("a", "torque"), ("b-2", "position")):
        assert np.array_equal(found[joint][role].values, named[f"{joint}.{role}"])
        assert np.array_equal(found[joint][role].time, T * 1e-3)


def test_what_a_file_has_is_listed_where_its_names_say_nothing(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match=r"found rec.t \[60\], rec.q \[60, 2\], rec.u \[60, 2\]"):
        read(robot(tmp_path), None)
    np.savez(tmp_path / "none.npz", clock=T, **{"a.position": T})
    with pytest.raises(RecordingError, match="expected the columns time and"):
        read(tmp_path / "none.npz", None)
