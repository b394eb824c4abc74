"""Wear from the history file: two years of a worn joint are written as the service does, then judged."""

import math
from pathlib import Path

import msgpack
import numpy as np
import pytest

from daq.config.sections import DriftSettings
from daq.core.changes.drift import Comparison
from daq.outlet.history import JointLabel
from daq.outlet.long_term.keeper import Keeper, WearSettings
from daq.outlet.long_term.minutes import Minutes
from daq.state.history.file import HistoryFile
from daq.state.history.friction import MIDDLES, band_name, band_of, friction_hours, quantity
from daq.state.history.interval import Figures, Interval, Quantity, SeenUse
from daq.state.history.reading import reading
from daq.state.history.tables import DAY
from daq.state.history.wear import RANGE, JointWear, _left, in_words, judge
from daq.stream.curve_points import pack
from daq.stream.update import Publication
from estimators.online.reporting.inspection import Inspection
from estimators.wear.dry_wear import COMMISSIONING, follow, wear_of
from estimators.wear.friction_hours import FrictionHours
from estimators.wear.time_to_limit import FEWEST, Remaining
from estimators.wear.use_counts import UseCounts
from hil_rig.plants.ageing.years import JointYear, joint_year, ramp

START = 1_760_000_000 // DAY.seconds * DAY.seconds
DAYS, BEGIN = 200, 95
LEFT = Remaining(29.6, 41.0, 55.2, 0.1, 1.0)
UNWORN = JointWear(0.0, 86_400.0, 70, 0.01, 0.02, 0.4, False, 0.0, 0.0, False, 0.3, None, {})


def write(path: Path, year: JointYear) -> None:
    """The file that the service would have written of this year; bands are those of the file, five in a row."""
    file = HistoryFile(path, 3660.0)
    file._opened.execute("PRAGMA synchronous=OFF")  # 2,000 transactions; no power will be cut
    travel = seconds = 0.0
    for hour in np.flatnonzero(year.moving > 0.0):
        interval = Interval(START + 3600 * int(hour))
        for band, value in enumerate(year.friction[hour]):
            if math.isfinite(value):
                figures = interval.figures[quantity("elbow", MIDDLES[3 + band], "N·m")] = Figures()
                figures.repeat(float(value), 2000)
        mean = float(np.nanmean(year.friction[hour]))
        interval.add(Quantity("elbow", "torque", "N·m"), *[math.hypot(mean, float(year.load[hour]))] * 2)
        interval.add(Quantity("elbow", "temperature", "°C"), *[float(year.thermometer[hour])] * 2)
        interval.add(Quantity("elbow", "coulomb", "N·m"), float(year.friction[hour, 0]), 0.001)
        travel, seconds = travel + 100.0, seconds + 3000.0
        interval.see([SeenUse(1, "elbow", "rad", UseCounts(seconds, travel, 0, 0))])
        file.write(interval)
    file.close()


def worn_year() -> JointYear:
    return joint_year(np.random.default_rng(5), ramp(DAYS, BEGIN, 150, 0.3))


@pytest.fixture(scope="module")
def worn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("worn") / "r.history.sqlite"
    write(path, worn_year())
    return path


def judged(path: Path, day: int, since: float = 0.0) -> JointWear | None:
    now = START + day * DAY.seconds + 5.0
    with reading(path, now) as history:
        return judge(history, "elbow", since, now, 0.3, ("coulomb",))


@pytest.mark.compiled
def test_wear_is_reported_and_every_figure_is_that_of_the_hours_from_which_the_file_was_written(worn: Path) -> None:
    year, found = worn_year(), judged(worn, DAYS)
    assert found is not None
    power = np.nanmean(np.where(np.isfinite(year.friction), year.friction * MIDDLES[3:8], np.nan)[year.moving > 0.0], 1)
    losses = np.zeros(len(year.load))
    losses[year.moving > 0.0] = np.abs(power) * 3000.0 / 3600.0
    thermometer = np.where(year.moving > 0.0, year.thermometer, np.nan)
    hours = FrictionHours(np.array(MIDDLES[3:8]), year.friction, year.load, losses, thermometer)
    wanted = wear_of(hours)
    assert wanted is not None
    assert wanted.onset is not None
    newest, (_, track, sigma) = wanted.days[-1], follow(hours, wanted.onset)
    assert found[:2] == (START, START + (newest.day + 1) * DAY.seconds)
    assert found.days == sum(year.moving[24 * day : 24 * day + 24].any() for day in range(DAYS)) > COMMISSIONING
    assert found.wear == pytest.approx(track[-1], rel=1e-6)
    assert found.deviation == pytest.approx(math.hypot(sigma[-1], newest.deviation), rel=1e-6)
    assert (found.z, found.new) == pytest.approx((newest.z, newest.new), rel=1e-6)
    assert (found.onset, found.limit) == (START + wanted.onset * DAY.seconds, 0.3)
    before = year.friction[: wanted.onset * 24, 0][year.moving[: wanted.onset * 24] > 0.0]
    assert found.told
    assert found.thermometer
    assert found.wear == pytest.approx(year.growth[-1], rel=0.35), "and that is what was true"
    assert START + (BEGIN - 10) * DAY.seconds < found.onset < START + (BEGIN + 70) * DAY.seconds
    assert found.left is not None
    assert (
        f"{100 * found.wear:.0f} ± {100 * found.deviation:.0f} %, corrected for heat and load; limit of 30 %"
        in found.text
    )
    assert "days at this use" in found.text
    assert found.usual == {"coulomb": pytest.approx(tuple(np.quantile(before[np.isfinite(before)], RANGE)))}


def test_days_that_are_left_are_the_way_that_is_left_at_the_pace_of_the_last_thirty_days_in_use(tmp_path: Path) -> None:
    """From day 5 on 0.12 in 6,450 mrad leave 0.18, which are 9,675 mrad: at 200 mrad a day 48.4 days."""
    ways, path = 1e-3 * np.repeat([1000.0, 50.0, 490.0, 190.0], [5, 9, 1, 29]), tmp_path / "r.history.sqlite"
    days = np.delete(np.arange(5.0, len(ways)), 3)  # no friction is known of the ninth day
    file, travel = HistoryFile(path, 3660.0), np.cumsum(ways)
    for day, made in enumerate(travel):
        interval = Interval(START + DAY.seconds * day)
        interval.see([SeenUse(1, "elbow", "rad", UseCounts(1.0, float(made), 0, 0))])
        file.write(interval)
    file.close()
    use = (travel - travel[4])[days.astype(int)]
    drift, now = 0.12 * use / use[-1], START + len(ways) * DAY.seconds
    with reading(path, now) as history:
        left = _left(history, "elbow", START, now, days, drift, 0.3)
        few, none = (
            _left(history, name, START, now, days[:count], drift[:count], 0.3)
            for name, count in (("elbow", FEWEST - 1), ("knee", len(days)))
        )
    assert left is not None
    assert left.middle == pytest.approx(0.18 / (0.12 / use[-1]) / 0.2, rel=0.01)
    assert left.low < left.middle < left.high
    assert left.high == pytest.approx(left.middle, rel=0.2)
    assert (few, none) == (None, None), "too few days, and a joint that is not in use"


@pytest.mark.compiled
def test_before_the_onset_there_is_a_size_and_no_time(worn: Path) -> None:
    found = judged(worn, 92)
    assert found is not None
    assert not found.told
    assert (found.left, found.onset) == (None, 0.0)
    assert abs(found.wear) < 0.08
    before = worn_year().friction[: 92 * 24, 0]
    assert found.usual == {"coulomb": pytest.approx(tuple(np.quantile(before[np.isfinite(before)], RANGE)))}
    size = f"{100 * found.wear:.0f} ± {100 * found.deviation:.0f} %"
    assert found.text.startswith(
        f"no wear is reported: dry friction has changed by {size}, corrected for heat and load"
    )


@pytest.mark.compiled
def test_a_new_baseline_after_a_repair_begins_anew(worn: Path) -> None:
    found = judged(worn, DAYS, START + 150 * DAY.seconds)
    assert found is not None
    assert math.isnan(found.wear)
    assert (found.told, found.judged, found.thermometer, found.left, found.usual) == (False, 0.0, False, None, {})
    moved = sum(worn_year().moving[24 * day : 24 * day + 24].any() for day in range(150, DAYS))
    assert found.text == f"wear is not known yet: {moved} of {COMMISSIONING} days in motion are learnt"


def test_hours_of_friction_are_those_of_the_file(worn: Path) -> None:
    with reading(worn, START + 100 * DAY.seconds) as history:
        hours = friction_hours(history, "elbow", START, START + 100 * DAY.seconds)
        assert friction_hours(history, "knee", START, START + 100 * DAY.seconds) is None
    assert hours is not None
    year = joint_year(np.random.default_rng(5), ramp(DAYS, BEGIN, 150, 0.3))
    assert hours.speeds == pytest.approx(MIDDLES[3:8])
    np.testing.assert_allclose(hours.friction[: 99 * 24], year.friction[: 99 * 24], equal_nan=True)
    np.testing.assert_allclose(hours.temperature[~np.isnan(hours.load)][:9], year.thermometer[year.moving > 0][:9])
    assert (hours.losses[np.isnan(hours.load)] == 0.0).all()
    assert len(hours.friction) == len(hours.losses) == 100 * 24 + 1
    places = np.flatnonzero(year.moving[: 99 * 24] > 0.0)
    power = np.abs(np.nanmean(year.friction[places] * MIDDLES[3:8], axis=1))
    np.testing.assert_allclose(hours.losses[places], power * 3000.0 / 3600.0, rtol=1e-9)  # 50 minutes of each


def test_bands_are_two_and_a_half_times_apart() -> None:
    assert band_of(np.array([0.01, -0.01, 0.014, 0.017, 0.0, 1e9])).tolist() == [0, 0, 0, 1, -1, -1]
    assert band_name(MIDDLES[4]) == "friction@0.39"


def test_a_minute_has_half_the_difference_between_both_directions() -> None:
    finished: list[Interval] = []
    minutes = Minutes([JointLabel("elbow", "N·m", {})], finished.append)
    now = float(START)
    valid = {"timestamp": now, "parameters": {}, "deviations": {}, "health": {"status": "valid", "reasons": []}}
    velocity = np.array([0.4, 0.4, -0.4, 0.4, -6.0, math.nan])
    friction = np.array([3.0, 3.2, -2.0, 3.1, -9.0, 1.0])
    nothing = np.full(6, math.nan)
    points = np.column_stack([velocity, friction, nothing, nothing])
    topic, body = pack("elbow", Inspection(np.arange(6), points, np.zeros(0), 0.0, 0.0), START * 10**9)
    minutes.absorb(topic.decode(), msgpack.unpackb(body), now)
    minutes.finish()
    assert finished == [], "not valid"
    minutes.absorb("estimate/elbow", valid, now)
    minutes.absorb(topic.decode(), msgpack.unpackb(body), now)
    minutes.finish()
    (figures,) = finished[0].figures.items()
    assert figures[0] == Quantity("elbow", "friction@0.39", "N·m")
    assert figures[1].row()[:2] == (2, pytest.approx((3.1 + 2.0) / 2.0)), "the fast one has one direction only"


@pytest.mark.compiled
def test_the_keeper_judges_once_a_day_and_the_core_gets_what_the_stream_says(worn: Path) -> None:
    keeper = Keeper(worn, 14.0, [], {"elbow": WearSettings(0.3, ("coulomb",))})
    keeper._judge()
    told = msgpack.unpackb(keeper.worn)
    assert set(told) == {"elbow"}
    assert told["elbow"]["told"]
    keeper.worn = b""
    keeper._judge()
    assert keeper.worn == b"", "not twice a day"
    comparison = Comparison("rigid", DriftSettings(), Publication("r", "elbow", 1, "N·m"), {"coulomb": "N·m"})
    (topic, body), (other, record) = comparison.set_wear(told["elbow"])
    assert (topic, other) == (b"wear/elbow", b"change/elbow")
    assert msgpack.unpackb(body)["wear"] == told["elbow"]["wear"]
    (one,) = msgpack.unpackb(record)["records"]
    assert (one["parameter"], one["unit"], one["acknowledged"]) == ("dry_wear", "%", 0.0)
    assert one["to"] == pytest.approx(100 * told["elbow"]["wear"])
    assert "days at this use" in one["text"]
    repaired = told["elbow"] | {"told": False, "timestamp": told["elbow"]["timestamp"] + 1}
    assert msgpack.unpackb(comparison.set_wear(repaired)[1][1])["records"][0]["over"] == repaired["timestamp"]


def test_the_time_that_is_left_is_said_as_people_say_it() -> None:
    assert in_words(LEFT) == "in 30–55 days at this use"
    assert in_words(None) == "not known yet"
    assert in_words(LEFT._replace(high=math.inf)) == "in 30 or more days at this use"
    assert in_words(LEFT._replace(low=math.inf, high=math.inf)) == "beyond what can be foreseen at this use"
    assert in_words(LEFT._replace(low=0.0, high=0.0)) == "is reached"
    assert "not known at today's temperature" in UNWORN._replace(new=0.9).text
    assert UNWORN.plain()["left"] == []
