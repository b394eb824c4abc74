"""The signature that causes of a change are judged by outlives a restart, and begins anew where a person says so."""

import msgpack
import numpy as np

from daq.config.sections import DriftSettings
from daq.core.changes.drift import Comparison
from daq.state.baselines import Baseline
from daq.stream.update import Publication
from estimators.base import Estimate, Phase, Status
from estimators.causes.healthy_joint import Fit, HealthyJoint, Scales
from estimators.causes.watch import CauseWatch


def comparison() -> Comparison:
    """Comparison of a joint with its own start."""
    one = Comparison("rigid", DriftSettings(), Publication("arm", "elbow", 1, "N·m"), {"coulomb": "N·m"})
    estimate = Estimate(
        10**9,
        Phase.NORMAL,
        Status.VALID,
        (),
        ("coulomb",),
        np.array([1.5]),
        np.array([0.02]),
        0.01,
        1.0,
        0.0,
        0.0,
        100.0,
    )
    one.compare(estimate, dict, 1.0)
    return one


def with_causes(*, known: bool) -> tuple[Comparison, CauseWatch]:
    """A comparison with a watch of the causes that has a reference, or is still without one."""
    one = comparison()
    one.causes = watch = CauseWatch(0.01, (0, 1, None))
    if known:
        fit = Fit(np.array([2.0, 0.5]), np.diag([0.25, 4.0]), 0.01, 3.0, 1.5, 0.02)
        watch.healthy = HealthyJoint(Scales(-1.0, 1.0, 2.0, 1.5), fit)
    return one, watch


def test_the_reference_of_the_causes_outlives_a_restart_and_a_joint_without_a_watch_needs_none() -> None:
    one, watch = with_causes(known=True)
    kept = msgpack.unpackb(msgpack.packb(one.keep()))
    again, other = with_causes(known=False)
    again.resume(kept)
    assert other.keep() == watch.keep() is not None
    comparison().resume(kept)
    unknown, _ = with_causes(known=False)
    again.resume(msgpack.unpackb(msgpack.packb(unknown.keep())))
    assert other.keep() == watch.keep(), "nothing was kept, so nothing is taken"


def test_the_causes_begin_another_reference_where_a_person_says_that_all_is_well() -> None:
    """A known reference stays after an alarm and under a new baseline: what changes is measured against it."""
    one, watch = with_causes(known=True)
    healthy = watch.healthy
    one.note_alarm(10.0)
    one.set_baseline(Baseline(since=5.0, model="rigid", values={"coulomb": 2.0}, deviations={"coulomb": 0.1}))
    assert watch.healthy is healthy
    one.acknowledge(20.0)
    assert watch.healthy is None
