"""Lost, repeated and surplus samples: rows are formed across short losses, and where none is formed that is said."""

from pathlib import Path

import numpy as np
import pytest

from daq.config.load import load
from daq.config.sections import Config
from daq.core.pipeline import Pipeline
from drivers.reading import READING
from tests.daq.core.test_pipeline import START, TRUTH, maps, motion, torque

BURSTS = 0.05 / 3.0  # bursts of three a sample, which are 5 % of the samples
STALE = 1.0  # s, the default


@pytest.fixture(scope="module")
def config() -> Config:
    return load(Path(__file__).parents[4] / "daq" / "jointwatch.toml")


def frames(seconds: float, rate: float = 1000.0, bits: int = 0, noise: float = 0.0, begin: float = 0.0) -> np.ndarray:
    """Frames of position, torque and counter at a rate (Hz): (frames, 3); bits: of the encoder; noise: N·m."""
    t = begin + np.arange(round(seconds * rate)) / rate
    table = np.zeros((len(t), 3), READING)
    place = motion(t)[0]
    if bits:
        step = 2.0 * np.pi / 2**bits
        place = step * np.round(place / step)
    measured = torque(t) + noise * np.random.default_rng(1).standard_normal(len(t))
    table["time"] = START + np.round(t * 1e9).astype(np.int64)[:, None]
    table["channel"] = [0, 1, 2]
    table["value"] = np.column_stack([place, measured, np.round(t * rate) % 65536])
    return table


def bursts(count: int) -> np.ndarray:
    """Which frames are lost: 5 % of them, three in a row each time."""
    first = np.flatnonzero(np.random.default_rng(7).random(count - 10) < BURSTS) + 5
    lost = np.zeros(count, bool)
    for k in range(3):
        lost[first + k] = True
    return lost


def joint(config: Config, **changed: object) -> Config:
    return config.model_copy(update={"joints": {"elbow": config.joints["elbow"].model_copy(update=changed)}})


def played(config: Config, table: np.ndarray) -> tuple[Pipeline, list[dict]]:
    """Updates of a pipeline that gets these frames, 20 ms at a time; without a counter where none is configured."""
    pipeline, said = Pipeline(config, boot=1), []
    readings = table.reshape(-1)
    if config.joints["elbow"].counter is None:
        readings = readings[readings["channel"] < 2]
    cuts = np.flatnonzero(np.diff(readings["time"] // 20_000_000)) + 1
    for batch in np.split(readings, cuts):
        now = int(batch["time"][-1])
        messages = pipeline.absorb(batch, 0, lambda now=now: now) + pipeline.check_silence(now, 0)
        said += [one | {"said": (now - START) / 1e9} for one in maps(messages, b"estimate/elbow")]
    return pipeline, said


@pytest.mark.compiled
@pytest.mark.parametrize("counted", [True, False])
def test_rows_are_formed_across_three_lost_of_every_sixty(config: Config, counted: bool) -> None:
    table = frames(20.0)
    lost = (np.arange(len(table)) % 60 < 3) & (np.arange(len(table)) > 15_000)
    pipeline, said = played(config if counted else joint(config, counter=None), table[~lost])
    assert pipeline.joints[0].estimator.counters()["dropped"] < 10
    late = [one for one in said if one["said"] > 17.0]
    assert {one["health"]["status"] for one in late} == {"valid"}
    assert max(one["said"] + 1.0 - one["timestamp"] for one in late) < 0.15, "seconds since the last row"


@pytest.mark.compiled
@pytest.mark.parametrize("bits", [19, 12])
def test_five_per_cent_lost_in_bursts_leave_the_truth(config: Config, bits: int) -> None:
    table = frames(25.0, bits=bits, noise=0.3)
    pipeline, said = played(config, table[~bursts(len(table))])
    last = said[-1]
    off = {name: (last["parameters"][name] - value) / last["deviations"][name] for name, value in TRUTH.items()}
    assert last["health"]["status"] == "valid"
    assert max(map(abs, off.values())) < 4.0, off
    assert last["parameters"]["inertia"] == pytest.approx(TRUTH["inertia"], rel=0.005)
    assert last["parameters"]["coulomb"] == pytest.approx(TRUTH["coulomb"], rel=0.02)
    assert pipeline.joints[0].aligner.interpolated() > 0.04 * len(table)


@pytest.mark.compiled
def test_interpolated_readings_tell_nothing_of_an_encoders_steps(config: Config) -> None:
    """A reading between two steps would look like a finer encoder, whose kernel is too narrow for the real one."""
    table = frames(6.0, bits=12)
    step = 2.0 * np.pi / 2**12
    widths = []
    for part in (table, table[~bursts(len(table))]):
        pipeline, _ = played(config, part)
        estimator = pipeline.joints[0].estimator
        (found,) = estimator._steps.values()
        assert found.step == pytest.approx(step, rel=1e-6)
        widths.append(estimator.conditioner.half_width)
    assert widths[0] == pytest.approx(widths[1])


def without_rows(name: str, config: Config) -> tuple[Config, np.ndarray]:
    """14 s in order, then 4 s of which no row can be formed."""
    good, bad = frames(14.0), frames(4.0, begin=14.0)
    if name == "losses":
        config, bad = joint(config, bridge=0), bad[np.arange(len(bad)) % 60 >= 3]
    elif name == "double rate":
        bad = frames(4.0, rate=2000.0, begin=14.0)
    elif name == "every frame twice, no counter":
        config, bad = joint(config, counter=None), np.repeat(bad, 2, axis=0)
    elif name == "counter stuck":
        bad["value"][:, 2] = bad["value"][0, 2]
    return config, np.concatenate([good, bad])


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("losses", "no_rows"),
        ("double rate", "wrong_rate"),
        ("every frame twice, no counter", "frames_repeated"),
        ("counter stuck", "counter_stuck"),
    ],
)
def test_a_joint_without_rows_is_faulted_within_its_limit_and_says_so(config: Config, name: str, code: str) -> None:
    own, table = without_rows(name, config)
    _, said = played(own, table)
    assert any(one["health"]["status"] == "valid" for one in said if one["said"] < 14.0)
    late = [one for one in said if one["said"] > 14.0 + STALE + 0.2]  # after the samples of one row, and a batch
    assert late, "it goes on saying what is so"
    assert {one["health"]["status"] for one in late} == {"faulted"}
    assert {one["health"]["reasons"][0]["code"] for one in late} == {code}


@pytest.mark.compiled
def test_a_joint_that_has_rows_again_is_no_longer_faulted(config: Config) -> None:
    own, table = without_rows("losses", config)
    _, said = played(own, np.concatenate([table, frames(4.0, begin=18.0)]))
    assert said[-1]["health"]["reasons"] == []
    assert said[-1]["health"]["status"] == "valid"


@pytest.mark.compiled
@pytest.mark.parametrize("counted", [True, False])
def test_a_joint_that_moves_and_has_few_rows_waits_for_no_motion(config: Config, counted: bool) -> None:
    """80 samples between two gaps, of which a row needs 79: one row of ten is formed, and used."""
    table = frames(14.0)
    kept = table[np.arange(len(table)) % 100 >= 20]
    pipeline, said = played(config if counted else joint(config, counter=None), kept)
    late = [one for one in said if one["said"] > 2.0]
    assert {one["health"]["reasons"][0]["code"] for one in late} == {"few_rows"}
    text = late[-1]["health"]["reasons"][0]["text"]
    assert text == "gaps leave 10 % of the rows: a row needs 79 samples without a gap"
    assert {one["phase"] for one in late} == {"waiting", "starting"}
    assert pipeline.joints[0].estimator.counters()["rows"] == pytest.approx(140, abs=3)
    standing = kept[:4000].copy()
    standing["value"][:, 0] = standing["value"][0, 0]
    _, said = played(config, standing)
    assert [one["code"] for one in said[-1]["health"]["reasons"]][-2:] == ["few_rows", "waiting_for_motion"]
