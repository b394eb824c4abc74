"""Readings in, updates out: the truth comes out, at the configured rate, however the readings are cut into batches."""

import re
from itertools import pairwise
from pathlib import Path

import msgpack
import numpy as np
import pytest

from daq.config.load import load
from daq.config.sections import Config
from daq.core.pipeline import GROUP_SIZE, Pipeline
from daq.core.reading_buffer import ReadingBuffer
from daq.stream.curve_points import channel_rows, points
from daq.stream.update import EVENTS, Message
from drivers.reading import READING
from estimators.base import Phase
from estimators.conditioning.stop import REVIEW
from estimators.online.joint import JointEstimator
from estimators.plausibility.signals.watch import Look, SignalWatch

TRUTH = {"inertia": 2.0, "viscous": 3.0, "coulomb": 1.5, "offset": 0.4, "gravity_sin": 5.0, "gravity_cos": -1.0}
START = 1_000_000_000  # ns
EPOCH = 10**18  # ns from the readings' clock to Unix time
WORKED = 1_500_000  # ns from the last reading of a batch to the updates that it makes due


@pytest.fixture(scope="module")
def config() -> Config:
    return load(Path(__file__).parents[3] / "daq" / "jointwatch.toml")


def motion(t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Position, speed and acceleration at these seconds."""
    amplitude, omega = np.array([[0.5], [0.3]]), 2 * np.pi * np.array([[0.5], [1.3]])
    q = np.sum(amplitude * np.sin(omega * t), axis=0)
    v = np.sum(amplitude * omega * np.cos(omega * t), axis=0)
    return q, v, np.sum(-amplitude * omega**2 * np.sin(omega * t), axis=0)


def torque(t: np.ndarray | float) -> np.ndarray:
    """What moves the joint so."""
    q, v, a = motion(np.atleast_1d(t))
    inner = TRUTH["inertia"] * a + TRUTH["viscous"] * v + TRUTH["coulomb"] * np.sign(v) + TRUTH["offset"]
    return inner + TRUTH["gravity_sin"] * np.sin(q) + TRUTH["gravity_cos"] * np.cos(q)


def readings(seconds: float, begin: float = 0.0) -> np.ndarray:
    """The template's joint, sampled at 1 kHz: position, torque and counter in one frame, in analytic motion."""
    t = begin + np.arange(round(seconds * 1000)) * 1e-3
    table = np.zeros((len(t), 3), READING)
    table["time"] = START + np.round(t * 1e9).astype(np.int64)[:, None]
    table["channel"] = [0, 1, 2]
    table["value"] = np.column_stack([motion(t)[0], torque(t), np.round(t * 1000) % 65536])
    return table.reshape(-1)


def play(config: Config, batches: list[np.ndarray]) -> list[Message]:
    pipeline = Pipeline(config, boot=1)
    return [message for batch in batches for message in pipeline.absorb(batch, 0, lambda: 0)]


def maps(messages: list[Message], topic: bytes) -> list[dict]:
    return [msgpack.unpackb(body) for name, body in messages if name == topic]


def test_a_joint_is_starting_until_it_is_identified(config: Config) -> None:
    pipeline = Pipeline(config, boot=1)
    assert pipeline.starting == 1
    for batch in readings(20.0).reshape(-1, 30):
        pipeline.absorb(batch, 0, lambda: 0)
    assert pipeline.joints[0].estimator.phases.phase == "normal"
    assert pipeline.starting == 0


def test_the_truth_comes_out_at_the_configured_rate(config: Config) -> None:
    messages = play(config, list(readings(20.0).reshape(-1, 30)))
    estimates = maps(messages, b"estimate/elbow")
    assert len(estimates) == pytest.approx(20 * 50, abs=3)
    assert [update["seq"] for update in estimates] == list(range(len(estimates)))
    assert np.diff([update["timestamp"] for update in estimates[200:]]) == pytest.approx(0.02, abs=0.0101)
    last = estimates[-1]
    assert last["phase"] == "normal"
    assert last["health"] == {"status": "valid", "reasons": []}
    for name, value in TRUTH.items():
        assert last["parameters"][name] == pytest.approx(value, abs=0.02 * abs(value) + 0.01), name
    residuals = maps(messages, b"residual/elbow")[-200:]
    at = np.array([one["timestamp"] for one in residuals]) - START / 1e9
    sample = np.median(np.abs(torque(at + 1e-3) - torque(at)))
    for one in ("measured", "predicted"):  # of that instant, to half a sample
        assert np.median(np.abs([told[one] for told in residuals] - torque(at))) < 0.5 * sample
    for told in residuals:
        assert told["residual"] == pytest.approx(told["measured"] - told["predicted"])
        assert abs(told["residual"]) < 0.3
    (started,) = maps(messages, b"event/elbow")
    assert started["kind"] == "started"
    assert started["from"] == pytest.approx(1.0, abs=0.2)
    assert 10.0 < started["to"] - started["from"] <= started["timestamp"] - 1.0
    assert last["condition"] == pytest.approx(last["singular_values"][0] / last["singular_values"][-1])
    assert f"least identifiable: {last['weakest']}" in started["text"]
    assert len(last["singular_values"]) == len(TRUTH)
    first = next(update for update in estimates if "condition" in update)
    assert first["phase"] == "starting"
    assert first["timestamp"] < 2.5


def said(pipeline: Pipeline, batch: np.ndarray) -> list[dict]:
    """What a batch makes due, without what depends on it: when the joint's last reading came, how long ago that was."""
    end, found = int(batch["time"][-1]) + WORKED, []
    for topic, body in pipeline.absorb(batch, 0, lambda: end):
        one = msgpack.unpackb(body) | {"topic": topic}
        if topic.startswith(b"estimate/"):
            own = batch["time"][(batch["channel"] >= 3) == (one["joint"] == "wrist")]
            assert one.pop("arrival") == own[-1] / 1e9
            assert one.pop("latency") == (end - own[-1]) / 1e9
        found.append(one)
    return found


@pytest.mark.parametrize("size", [3, 21, 999])
def test_updates_do_not_depend_on_how_readings_are_batched(config: Config, size: int) -> None:
    table = readings(15.0)
    whole = said(Pipeline(config, boot=1), table)
    pipeline = Pipeline(config, boot=1)
    cut = [one for i in range(0, len(table), size) for one in said(pipeline, table[i : i + size])]
    assert repr(cut) == repr(whole)
    assert {one.get("phase") for one in whole} >= {"starting", "normal"}
    assert pipeline.joints[0].updates == sum(one["topic"] == b"estimate/elbow" for one in cut)


def test_raw_channels_are_the_samples_that_came_and_looking_at_them_changes_nothing(config: Config) -> None:
    table = readings(6.0)
    looked_at, untouched, sent = Pipeline(config, boot=1), Pipeline(config, boot=1), []
    for i in range(0, len(table), 600):
        batch = table[i : i + 600]
        assert repr(said(looked_at, batch)) == repr(said(untouched, batch))
        sent += looked_at.report_channels(["elbow"] if i < 12_000 else [], EPOCH)
        assert not untouched.report_channels(["another"], 0)
    found = [msgpack.unpackb(body) for topic, body in sent if topic == b"channels/elbow"]
    rows = np.concatenate([channel_rows(one) for one in found])
    assert found[0]["channels"] == ["position", "torque"]
    assert found[-1]["timestamp"] == rows[-1, 0]
    seconds = rows[:, 0] - (START + EPOCH) / 1e9
    assert np.diff(seconds) == pytest.approx(0.005, abs=1e-4), "200 of 1000 a second"
    assert seconds[-1] == pytest.approx(4.0, abs=0.25), "until they were not wanted any more"
    np.testing.assert_allclose(rows[:, 1], motion(seconds)[0], atol=2e-3)


def two_joints(config: Config) -> Config:
    """The template's joint twice, on the same bus."""
    elbow = config.joints["elbow"]
    return config.model_copy(update={"joints": {"elbow": elbow, "wrist": elbow.model_copy()}})


def of_two(seconds: float) -> np.ndarray:
    """Readings of both, a frame of each every millisecond: (ms, 6)."""
    one = readings(seconds).reshape(-1, 3)
    other = one.copy()
    other["channel"] += 3
    other["time"] += 50_000
    return np.concatenate([one, other], axis=1)


def test_what_waits_until_its_update_is_due_says_the_same(config: Config) -> None:
    both, table = two_joints(config), of_two(12.0)
    straight = said(Pipeline(both, boot=1), table.reshape(-1))
    pipeline, room = Pipeline(both, boot=1), ReadingBuffer([0] * 3 + [1] * 3, ["bus"] * 6)
    waited, turns = [], 0
    for frame in table:
        room.add(frame)
        released = room.take(pipeline.due, int(frame["time"][-1]))
        if len(released):
            waited += said(pipeline, released)
            room.set_next_due(pipeline.due, int(frame["time"][-1]))
            turns += 1
    waited += said(pipeline, room.take_all())
    for topic in (b"estimate/elbow", b"estimate/wrist", b"residual/wrist", b"event/wrist"):
        expected, found = ([one for one in every if one["topic"] == topic] for every in (straight, waited))
        assert repr(found) == repr(expected)
    assert turns < 0.22 * len(
        table
    )  # two joints × 50 updates/s and what is taken before them, of a thousand frames each


@pytest.mark.parametrize(("joints", "rows"), [(2, 3), (GROUP_SIZE + 1, 20)])
def test_where_joints_are_few_most_readings_are_taken_before_the_update_that_they_belong_to(
    config: Config, joints: int, rows: int
) -> None:
    """rows: of the joint, a ms each, that are left for an update; one comes every 20 ms."""
    elbow, table = config.joints["elbow"], readings(1.0).reshape(-1, 3)
    many = config.model_copy(update={"joints": {f"joint{n}": elbow.model_copy() for n in range(joints)}})
    pipeline, room = (
        Pipeline(many, boot=1),
        ReadingBuffer([n for n in range(joints) for _ in range(3)], ["bus"] * 3 * joints),
    )
    left = []
    for frame in table:
        room.add(frame)
        released = room.take(pipeline.due, int(frame["time"][-1]))
        if len(released):
            told = [topic for topic, _ in pipeline.absorb(released, 0, lambda: 0)]
            room.set_next_due(pipeline.due, int(frame["time"][-1]))
            left += [len(released) // 3] * (b"estimate/joint0" in told)
    assert len(left) > 40
    assert np.median(left) == pytest.approx(rows, abs=1)


@pytest.mark.parametrize(("stale", "longest"), [(0.1, 8.0), (1.0, 18.0), (0.03, 3.0)])
def test_readings_wait_for_the_row_before_the_one_that_ends_an_interval_and_no_longer_than_they_may(
    config: Config, stale: float, longest: float
) -> None:
    """longest: ms, 20 or a tenth of the silence that makes a joint stale, less the 2 ms before an update in which most
    readings are taken. A row a ms, fifty updates a second."""
    elbow = config.joints["elbow"].model_copy(update={"stale": stale})
    pipeline = Pipeline(config.model_copy(update={"joints": {"elbow": elbow}}), boot=1)
    waits = []
    for row in readings(0.4).reshape(-1, 3):
        pipeline.absorb(row, 0, lambda: 0)
        waits.append((int(pipeline.due[0]) - int(row["time"][-1])) / 1e6)
    told = np.array(waits[300:400])
    assert (told >= 0.0).all()
    assert told.max() == pytest.approx(longest, abs=0.8 if longest == 18.0 else 1e-6)
    jumps = np.flatnonzero(np.diff(told) > 1.0)
    assert len(jumps) in (4, 5)
    for ends in jumps:  # the row that ends an interval is the next one: nothing to wait for
        assert told[ends] == 0.0
        assert told[ends - 1] == 1.25, "the row after this, and a quarter of a period for its jitter"


def test_no_update_is_held_up_by_what_waits(config: Config) -> None:
    """It is made of the very frame that makes it due, as if every frame went its way at once."""
    table = readings(15.0).reshape(-1, 3)
    prompt = maps(play(config, list(table)), b"estimate/elbow")
    pipeline, room = Pipeline(config, boot=1), ReadingBuffer([0] * 3, ["bus"] * 3)
    waited: list[Message] = []
    for frame in table:
        room.add(frame)
        released = room.take(pipeline.due, int(frame["time"][-1]))
        if len(released):
            waited += pipeline.absorb(released, 0, lambda: 0)
            room.set_next_due(pipeline.due, int(frame["time"][-1]))
    found = maps(waited, b"estimate/elbow")
    assert [one["timestamp"] for one in found] == [one["timestamp"] for one in prompt]
    late = np.array([one["arrival"] for one in found]) - [one["arrival"] for one in prompt]
    assert np.count_nonzero(late) <= 2, "before it knows when the intervals begin"


def test_updates_of_the_joints_are_due_together_or_one_group_after_the_other(config: Config) -> None:
    messages = play(two_joints(config), [of_two(4.0).reshape(-1)])
    first, second = (maps(messages, topic) for topic in (b"estimate/elbow", b"estimate/wrist"))
    assert abs(len(first) - len(second)) <= 1
    for rate, interval, wanted in ((50.0, 20, 0), (25.0, 40, 20)):  # those within 20 ms are due together
        given = config.model_copy(update={"publish": config.publish.model_copy(update={"rate": rate})})
        messages = play(two_joints(given), list(of_two(4.0)))
        due = [round(update["arrival"] * 1000) % interval for update in maps(messages, b"estimate/wrist")]
        assert set(due[50:]) == {wanted}


def test_a_core_that_is_late_gives_up_updates_and_no_sample(config: Config) -> None:
    pipeline, table = Pipeline(config, boot=1), readings(6.0).reshape(-1, 1000, 3)
    for part in table[:4]:
        pipeline.absorb(part.reshape(-1), 0, lambda: 0)
    assert len(maps(pipeline.absorb(table[4].reshape(-1), 0, lambda: 0, late=True), b"estimate/elbow")) == 1
    assert len(maps(pipeline.absorb(table[5].reshape(-1), 0, lambda: 0), b"estimate/elbow")) == 50
    assert pipeline.joints[0].followers.samples == 6000


def test_not_a_number_never_reaches_the_parameters(config: Config) -> None:
    table = readings(20.0)
    rng = np.random.default_rng(1)
    bad = rng.choice(len(table), 60, replace=False)
    bad = bad[table["channel"][bad] < 2]
    table["value"][bad] = rng.choice([np.nan, np.inf, -np.inf], len(bad))
    last = maps(play(config, [table]), b"estimate/elbow")[-1]
    for name, value in TRUTH.items():
        assert last["parameters"][name] == pytest.approx(value, abs=0.03 * abs(value) + 0.02), name


@pytest.mark.parametrize("push", [2.0, -2.0])
def test_a_torque_that_nobody_knows_is_the_residual_with_its_sign(config: Config, push: float) -> None:
    table = readings(18.0)
    pushed = (table["channel"] == 1) & (table["time"] >= START + 17_500_000_000)
    table["value"][pushed] += push
    told = maps(play(config, list(table.reshape(-1, 30))), b"residual/elbow")
    before = [one["residual"] for one in told if 17.0 < one["timestamp"] - START / 1e9 < 17.4]
    after = [one for one in told if 17.6 < one["timestamp"] - START / 1e9 < 17.8]
    assert len(after) == pytest.approx(10, abs=1)
    assert np.abs(before).max() < 0.3
    assert [one["residual"] for one in after] == pytest.approx([push] * len(after), abs=0.5)
    assert [one["measured"] - one["predicted"] for one in after] == pytest.approx([one["residual"] for one in after])


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("fault", "at"),
    [
        pytest.param(fault, at, marks=[] if number % 2 == late else [pytest.mark.slow])
        for number, fault in enumerate(
            ("torque doubled", "sign of the torque", "5 N·m more", "0.2 rad of slip", "1 rad of slip")
        )
        for late, at in enumerate((30.137, 30.052))
    ],
)
def test_of_the_rows_behind_a_sudden_fault_one_update_at_most_is_valid(config: Config, fault: str, at: float) -> None:
    table = readings(32.0).reshape(-1, 3)
    table["value"][:, 1] += 0.02 * np.random.default_rng(3).standard_normal(len(table))
    after = table["value"][round(at * 1000) :]
    if fault.endswith("slip"):
        after[:, 0] += float(fault.split()[0])
    else:
        after[:, 1] = {"torque doubled": 2.0, "sign of the torque": -1.0}.get(fault, 1.0) * after[:, 1]
        after[:, 1] += 5.0 * (fault == "5 N·m more")
    pipeline = Pipeline(config, boot=1)
    parts = np.array_split(table.reshape(-1), 1000)
    told = maps([one for part in parts for one in pipeline.absorb(part, 0, lambda: 0)], b"estimate/elbow")
    conditioner = pipeline.joints[0].estimator.conditioner
    onset, half = START / 1e9 + at, 0.5 * conditioner.support * conditioner.period
    assert {one["health"]["status"] for one in told if onset - 2.0 < one["timestamp"] < onset - half} == {"valid"}
    reached = [one["health"] for one in told if one["timestamp"] > onset]  # the fault is in half of what a row sees
    whole = [one["health"] for one in told if one["timestamp"] > onset + half]
    assert not {"valid", "held"} & {one["status"] for one in (*reached[1:], *whole)}
    words = {one["reasons"][0]["code"] for one in reached[1:]}
    assert words <= {"unexplained_lately", "alarm_stands", "encoder_leaps", "waiting_for_motion"}
    assert reached[1]["reasons"][0]["code"] in ("unexplained_lately", "encoder_leaps")
    assert ("encoder_leaps" in words) == fault.endswith("slip")


def test_silence_is_said_and_so_is_its_end(config: Config) -> None:
    pipeline = Pipeline(config, boot=1)
    table = readings(3.0)
    pipeline.absorb(table, EPOCH, lambda: 0)
    end = int(table["time"][-1])
    assert pipeline.check_silence(end + 900_000_000, EPOCH) == []
    said = pipeline.check_silence(end + 1_100_000_000, EPOCH)
    (fault,) = maps(said, b"event/elbow")
    assert (fault["kind"], fault["timestamp"]) == ("fault", (end + 1_100_000_000 + EPOCH) / 1e9)
    faulted = maps(said, b"estimate/elbow")[0]
    assert faulted["health"]["status"] == "faulted"
    assert (faulted["arrival"], faulted["latency"]) == ((end + EPOCH) / 1e9, 1.1), "of the last readings that came"
    assert 0.0 <= (end + EPOCH) / 1e9 - faulted["timestamp"] < 0.1, "of the last row"
    [reason] = faulted["health"]["reasons"]
    assert (reason["code"], reason["text"]) == ("no_data", "no data for 1.1 s")
    assert pipeline.check_silence(end + 1_200_000_000, EPOCH) == []
    assert len(maps(pipeline.check_silence(end + 1_700_000_000, EPOCH), b"estimate/elbow")) == 1
    again = readings(1.0, begin=6.0)
    recovered = maps(pipeline.absorb(again, EPOCH, lambda: 0), b"event/elbow")[0]
    assert (recovered["kind"], recovered["timestamp"]) == ("recovered", (int(again["time"][-1]) + EPOCH) / 1e9)


def test_each_joint_is_missed_after_its_own_time(config: Config) -> None:
    elbow, table = config.joints["elbow"], of_two(2.0).reshape(-1)
    joints = {"elbow": elbow, "wrist": elbow.model_copy(update={"stale": 0.25 * elbow.stale})}
    for order in (("elbow", "wrist"), ("wrist", "elbow")):
        pipeline = Pipeline(config.model_copy(update={"joints": {name: joints[name] for name in order}}), boot=1)
        pipeline.absorb(table, 0, lambda: 0)
        end, said = int(table["time"].max()), dict[str, int]()
        for at in range(0, 1_500_000_000, 10_000_000):
            for topic, _ in pipeline.check_silence(end + at, 0):
                said.setdefault(topic.decode(), at)
        wanted = {f"estimate/{name}": joints[name].stale * 1e9 for name in order}
        assert {name: said[name] for name in wanted} == pytest.approx(wanted, abs=2e7)


def test_lost_samples_are_counted(config: Config) -> None:
    table = readings(5.0)
    keep = np.ones(len(table), bool)
    keep[3 * 2000 : 3 * 2007] = False
    pipeline = Pipeline(config, boot=1)
    pipeline.absorb(table[keep], 0, lambda: 0)
    assert pipeline.joints[0].aligner.lost()["lost"] == 7
    assert pipeline.joints[0].followers.samples == 5000


def test_every_update_says_in_unix_time_when_its_reading_came(config: Config) -> None:
    """The arrival is right in first updates, which are made whole, and in later ones, whose form is only filled."""
    epoch, pipeline, table = 10**18, Pipeline(config, boot=1), readings(18.0)
    for batch in np.split(table, len(table) // 60):
        newest = int(batch["time"][-1])
        for update in maps(pipeline.absorb(batch, epoch, lambda at=newest: at + 5_000_000), b"estimate/elbow"):
            assert newest - 20_000_000 <= (update["arrival"] - 1e9) * 1e9 <= newest + 1000
            assert update["latency"] == pytest.approx((newest + 5e6) / 1e9 - (update["arrival"] - 1e9), abs=1e-6)
            assert -0.5 < update["timestamp"] - update["arrival"] <= 0.0


def test_a_channel_that_never_comes_is_named_although_the_others_come(config: Config) -> None:
    table = readings(3.0)
    table = table[table["channel"] != 1]
    pipeline = Pipeline(config, boot=1)
    said: list[Message] = []
    for batch in np.split(table, 100):
        said += pipeline.absorb(batch, 0, lambda: 0)
        said += pipeline.check_silence(int(batch["time"][-1]), 0)
    events = maps(said, b"event/elbow")
    assert [(event["kind"], event["text"]) for event in events] == [
        ("fault", "no torque (bus.STATE.current) for 1.0 s")
    ]
    estimates = maps(said, b"estimate/elbow")
    assert len(estimates) > 120
    for update in estimates[-80:]:
        assert update["health"]["status"] == "faulted"
        assert update["health"]["reasons"][0]["code"] == "channel_silent"
        assert update["health"]["reasons"][0]["text"].startswith("no torque (bus.STATE.current) for ")
    whole = readings(1.0, begin=3.0)
    assert maps(pipeline.absorb(whole, 0, lambda: 0), b"event/elbow")[0]["kind"] == "recovered"
    assert pipeline.check_silence(int(whole["time"][-1]), 0) == []


@pytest.mark.parametrize("step", [100, -100])
def test_a_step_of_the_hosts_clock_moves_time_stamps_and_nothing_else(config: Config, step: int) -> None:
    batches = np.split(readings(18.0), 600)
    epoch = 1_700_000_000 * 10**9
    runs = []
    for jump in (0, step):
        pipeline = Pipeline(config, boot=1)
        messages: list[Message] = []
        for at, batch in enumerate(batches):
            now = int(batch["time"][-1])
            messages += pipeline.absorb(batch, epoch + (jump * 10**9 if at >= 450 else 0), lambda now=now: now)
            messages += pipeline.check_silence(now, epoch)
        runs.append([(topic, msgpack.unpackb(body)) for topic, body in messages])
    moved = 0
    for (topic, plain), (other_topic, stepped) in zip(*runs, strict=True):
        assert topic == other_topic
        times = {key: plain[key] for key in ("timestamp", "arrival", "since") if key in plain}
        assert repr(stepped | times) == repr(plain | times)
        moved += stepped["timestamp"] == pytest.approx(plain["timestamp"] + step, abs=1e-3)
    assert moved > 200


def test_the_devices_own_time_serves_as_its_counter(tmp_path: Path) -> None:
    text = (Path(__file__).parents[3] / "daq" / "jointwatch.toml").read_text()
    text = text.replace(
        'counter = { signal = "bus.STATE.counter", modulo = 65536 }',
        'device_time = { signal = "bus.STATE.counter", scale = 1e-3, wrap = 65.536 }',
    )
    (tmp_path / "c.toml").write_text(text)
    table = readings(5.0)
    ms = table["channel"] == 2
    table["value"][ms] *= 1e-3
    keep = np.ones(len(table), bool)
    keep[3 * 2000 : 3 * 2007] = False
    jitter = np.repeat(np.random.default_rng(1).integers(0, 3_000_000, len(table) // 3), 3)
    table["time"] = np.maximum.accumulate(table["time"] + jitter)
    pipeline = Pipeline(load(tmp_path / "c.toml"), boot=1)
    pipeline.absorb(table[keep], 0, lambda: 0)
    lost = pipeline.joints[0].aligner.lost()
    assert {cause: count for cause, count in lost.items() if count} == {"lost": 7}


def baseline(**changed: float) -> dict[str, object]:
    """What the joint was once, as a map."""
    values = TRUTH | changed
    return {"since": 86400.0, "model": "rigid", "values": values, "deviations": dict.fromkeys(values, 1e-3)}


def test_a_joint_is_compared_with_its_baseline_once_a_second(config: Config) -> None:
    table = readings(24.0).reshape(-1, 30)
    pipeline = Pipeline(config, boot=1)
    pipeline.set_baselines({"elbow": baseline(viscous=2.4), "shoulder": baseline()})
    said = [message for batch in table for message in pipeline.absorb(batch, 0, lambda: 0)]
    drifts = maps(said, b"drift/elbow")
    assert len(drifts) == pytest.approx(11, abs=2), "from the end of the start on"
    assert [one["seq"] for one in drifts] == list(range(len(drifts)))
    first, *others = np.diff([one["timestamp"] for one in drifts])
    assert others == pytest.approx([1.0] * len(others), abs=0.021)
    assert 0.0 < first < 1.021, "the first comes when the start ends, within a second of the clock"
    assert drifts[0]["drifted"] == []
    assert drifts[-1]["drifted"] == ["viscous"]
    assert drifts[-1]["percent"]["viscous"] == pytest.approx(25, abs=3)
    assert drifts[-1]["baseline"] == baseline(viscous=2.4)["values"]
    events = [(one["kind"], one["text"]) for one in maps(said, b"event/elbow")]
    assert events[:2] == [
        ("started", events[0][1]),
        ("baseline", "drift is measured against the baseline of 1970-01-02 00:00:00 UTC"),
    ]
    assert [kind for kind, _ in events[2:]] == ["drift"]
    assert events[2][1].startswith("viscous has drifted: +2")


def test_a_new_baseline_counts_at_once_and_one_of_another_model_is_reported(config: Config) -> None:
    table = readings(20.0).reshape(-1, 30)
    pipeline = Pipeline(config, boot=1)

    def absorb(batches: np.ndarray) -> tuple[list[dict], list[str]]:
        said = [message for batch in batches for message in pipeline.absorb(batch, 0, lambda: 0)]
        drifts = [one for one in maps(said, b"drift/elbow") if one["reference"] == "baseline"]
        return drifts, [one["kind"] for one in maps(said, b"event/elbow")]

    assert absorb(table[:1600]) == ([], ["started"])
    pipeline.set_baselines({"elbow": baseline()})
    pipeline.set_baselines({"elbow": baseline()})
    drifts, kinds = absorb(table[1600:1800])
    assert (len(drifts), kinds) == (2, ["baseline"]) or (len(drifts), kinds) == (3, ["baseline"])
    pipeline.set_baselines({"elbow": baseline() | {"model": "two_mass"}})
    drifts, kinds = absorb(table[1800:])
    assert (drifts, kinds) == ([], ["baseline"])


@pytest.mark.parametrize("acknowledges", [False, True])
def test_where_nobody_listens_an_acknowledgement_is_followed_by_an_update_at_once(
    config: Config, acknowledges: bool
) -> None:
    """From then on the present values are the reference; otherwise nothing is due until the next comparison."""
    table = readings(16.0).reshape(-1, 30)
    pipeline = Pipeline(config, boot=1, listened=False)
    said = [message for batch in table[:1530] for message in pipeline.absorb(batch, 0, lambda: 0)]
    drifts = [one["timestamp"] for one in maps(said, b"drift/elbow")]
    assert np.diff(drifts[1:]) == pytest.approx(1.0, abs=0.021)
    assert drifts[-1] < 1e-9 * START + 15.2, "the premise: the next comparison is not due within a tenth of a second"
    if acknowledges:
        pipeline.joints[0].acknowledge(0.0)
    soon = [one for batch in table[1530:1540] for one in pipeline.absorb(batch, 0, lambda: 0)]
    assert bool(maps(soon, b"drift/elbow")) is acknowledges


def test_a_baseline_of_another_friction_law_is_not_compared_with(config: Config) -> None:
    """Under another friction law parameters of the same names mean something else, so a new baseline is asked for."""
    table = readings(20.0).reshape(-1, 30)
    pipeline = Pipeline(config, boot=1)
    law = pipeline.joints[0].estimator.friction()
    assert law["kind"] == "viscous_coulomb"
    for friction, fits in ((law, True), (law | {"kind": "arctangent"}, False)):
        pipeline.set_baselines({"elbow": baseline() | {"friction": friction}})
        half = table[:1700] if fits else table[1700:]
        said = [message for batch in half for message in pipeline.absorb(batch, 0, lambda: 0)]
        assert bool(maps(said, b"drift/elbow")) is fits
        (told,) = [one["text"] for one in maps(said, b"event/elbow") if one["kind"] == "baseline"]
        assert ("another model or friction law: set a new one" in told) is not fits


def test_every_kind_of_event_stands_in_the_table() -> None:
    root = Path(__file__).parents[3]
    sources = [*(root / "estimators").rglob("*.py"), *(root / "daq").rglob("*.py")]
    said = {
        kind for file in sources for kind in re.findall(r'(?:\.add_event|\.event|Change)\(\s*"(\w+)"', file.read_text())
    }
    assert said >= {"started", "alarm", "fault", "recovered", "drift", "baseline"}
    assert said <= set(EVENTS), "what is said is documented"


def test_joints_share_a_waking(config: Config) -> None:
    elbow = config.joints["elbow"]
    many = config.model_copy(update={"joints": {f"joint{n}": elbow.model_copy() for n in range(7)}})
    interval = round(1e9 / config.publish.rate)

    def offsets() -> list[int]:
        return [line.offset for line in Pipeline(many, 1).joints]

    assert offsets() == [0] * 7
    for rate, groups in ((25.0, [0] * 4 + [interval] * 3), (2.5, [n * 400_000_000 // 7 for n in range(7)])):
        many = many.model_copy(update={"publish": config.publish.model_copy(update={"rate": rate})})
        assert offsets() == groups, "no two groups nearer than 20 ms, and no more groups than joints"


@pytest.mark.parametrize(("joints", "groups", "largest"), [(28, 2, 14), (29, 3, 10), (141, 10, 15)])
def test_many_joints_wake_in_more_groups(config: Config, joints: int, groups: int, largest: int) -> None:
    """What comes once a second comes for all joints of a group at once; and groups leave each other 2 ms."""
    many = config.model_copy(update={"joints": {f"joint{k}": config.joints["elbow"] for k in range(joints)}})
    offsets = np.array([joint.offset for joint in Pipeline(many, 1).joints])
    found, sizes = np.unique(offsets, return_counts=True)
    assert (len(found), max(sizes)) == (groups, largest)
    assert np.diff(found).min() >= 2_000_000


def test_a_review_is_over_before_the_update_of_its_joint_is_due_and_each_has_its_own_time(
    config: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    both, reviewed = two_joints(config), list[JointEstimator]()
    answer = JointEstimator.answer

    def noted(joint: JointEstimator, before: int) -> None:
        if joint.state.stop == REVIEW and joint.phases.phase is Phase.NORMAL:
            reviewed.append(joint)
        answer(joint, before)

    monkeypatch.setattr(JointEstimator, "answer", noted)
    pipeline, room = Pipeline(both, boot=1), ReadingBuffer([0] * 3 + [1] * 3, ["bus"] * 6)
    for joint in pipeline.joints:  # as where joints come to be reviewed at once, though they do not begin so
        parts = joint.estimator.phases.parts
        parts.fit.earlier = parts.loop.state.filled = 0
    turns: list[tuple[int, bool]] = []  # ms at which something was reviewed, and whether an update came with it
    table = of_two(16.0)
    table["time"] += 14_000_000  # reviews follow the first reading, updates the clock: now 6 and 16 ms lie between them
    for frame in table:
        room.add(frame)
        now = int(frame["time"][-1])
        if len(released := room.take(pipeline.due, now)):
            reviewed.clear()
            messages = pipeline.absorb(released, 0, lambda: 0)
            room.set_next_due(pipeline.due, now)
            if reviewed:
                assert len(reviewed) == 1, "each in a turn of its own"
                turns.append((now // 1_000_000, any(topic.startswith(b"estimate/") for topic, _ in messages)))
    assert len(turns) >= 4
    assert not any(late for _, late in turns)
    assert (np.diff([at for at, _ in turns]) >= 2).all(), "none has to wait for the one before it"


def test_joints_that_begin_together_are_not_reviewed_together(config: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    """Five joints on one motion; reviews of normal mode, of which each has one a second, for three seconds."""
    elbow, answer = config.joints["elbow"], JointEstimator.answer
    reviewed, at = list[JointEstimator](), dict[JointEstimator, list[int]]()

    def noted(joint: JointEstimator, before: int) -> None:
        if joint.state.stop == REVIEW and joint.phases.phase is Phase.NORMAL:
            reviewed.append(joint)
        answer(joint, before)

    monkeypatch.setattr(JointEstimator, "answer", noted)
    pipeline = Pipeline(config.model_copy(update={"joints": {f"j{n}": elbow.model_copy() for n in range(5)}}), boot=1)
    table = np.tile(readings(15.0).reshape(-1, 3), 5)
    table["channel"] = np.arange(15)
    for number, batch in enumerate(np.split(table, len(table) // 10)):
        pipeline.absorb(batch.reshape(-1), 0, lambda: 0)
        assert len(reviewed) <= 1 or number < 1200, "10 ms have one review at most"
        for joint in reviewed:
            at.setdefault(joint, []).append(number)
        reviewed.clear()
    assert len(at) == 5
    assert all(len(one) >= 2 for one in at.values())
    assert {tuple(np.diff(one[-2:])) for one in at.values()} == {(100,)}, "and each joint's come once a second"
    places = sorted(one[-1] % 100 for one in at.values())
    assert min(np.diff([*places, places[0] + 100])) >= 15, "with no other joint's near it"


def test_frames_of_joints_that_begin_together_are_looked_at_in_turns_also_behind_a_pause(
    config: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[SignalWatch] = []
    look = SignalWatch.look

    def noted(watch: SignalWatch) -> Look:
        looks.append(watch)
        return look(watch)

    monkeypatch.setattr(SignalWatch, "look", noted)
    pipeline, table = Pipeline(two_joints(config), boot=1), of_two(4.0)
    at = []
    for number, frame in enumerate(table):
        if not 1500 <= number < 2500:
            pipeline.absorb(frame, 0, lambda: 0)
            at += [(number, watch) for watch in looks]
            looks.clear()
    together = [number for (number, _), (other, _) in pairwise(at) if number == other]
    assert together == [2500], "a pause ends the blocks of both"
    for first, last in ((0, 1500), (2501, 4000)):
        one, other = ([n for n, of in at if of is watch and first <= n < last] for watch in {of for _, of in at})
        assert len(one) >= 6
        assert len(other) >= 6
        assert min(abs(a - b) for a in one for b in other) >= 80, "half a block, of 200 frames, lies between them"


def test_what_a_joint_says_need_not_wait_for_the_next_one(config: Config) -> None:
    both = two_joints(config)
    pipeline, table = Pipeline(both, boot=1), of_two(2.0).reshape(-1)
    said = [{topic.partition(b"/")[2] for topic, _ in one} for one in pipeline.absorb_each_joint(table, 0, lambda: 0)]
    assert said == [{b"elbow"}, {b"wrist"}]


def test_the_page_gets_the_curve_points_of_one_joint_after_the_other(config: Config) -> None:
    elbow = config.joints["elbow"]
    three = config.model_copy(update={"joints": {name: elbow.model_copy() for name in ("base", "elbow", "wrist")}})
    pipeline = Pipeline(three, boot=1)
    one = readings(3.0).reshape(-1, 3)
    table = np.concatenate([one, one, one], axis=1)
    table["channel"] = np.arange(9)
    pipeline.absorb(table[:2000].reshape(-1), 0, lambda: 0)
    assert [topic for _ in range(2) for topic, _ in pipeline.inspect_next_joint(0)] == [
        b"samples/base",
        b"samples/elbow",
    ]
    pipeline.absorb(table[2000:].reshape(-1), 0, lambda: 0)
    told = pipeline.inspect(EPOCH)
    assert [topic for topic, _ in told] == [b"samples/wrist", b"samples/base", b"samples/elbow"]
    for one in (msgpack.unpackb(body) for _, body in told):
        assert one["timestamp"] == points(one)[-1, 0] == pytest.approx((START + EPOCH) / 1e9 + 3.0, abs=0.2)
    assert pipeline.inspect(0) == [], "nothing has come since"
