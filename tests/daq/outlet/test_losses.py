"""Losses say whether they still happen: when, by which cause, how fast."""

from daq.outlet.losses import Losses


def test_what_was_lost_before_anybody_watched_has_no_time() -> None:
    losses = Losses()
    losses.absorb({"late": 2000, "lost": 0}, 1, 100.0)
    losses.absorb({"late": 2000, "lost": 0}, 1, 101.0)
    assert losses.recent() == {}


def test_a_loss_has_its_time_and_its_rate_and_the_rate_falls_to_none_when_it_is_over() -> None:
    losses = Losses()
    for second in range(11):
        losses.absorb({"late": 5 * second, "lost": 3}, 1, 100.0 + second)
    assert losses.recent() == {"late": {"last": 110.0, "rate": 5.0}}
    for second in range(11, 16):
        losses.absorb({"late": 50, "lost": 3}, 1, 100.0 + second)
    assert losses.recent() == {"late": {"last": 110.0, "rate": 2.5}}, "over the last ten seconds"
    for second in range(16, 30):
        losses.absorb({"late": 50, "lost": 3}, 1, 100.0 + second)
    assert losses.recent() == {"late": {"last": 110.0, "rate": 0.0}}


def test_a_restart_of_the_core_loses_nothing_by_itself() -> None:
    losses = Losses()
    losses.absorb({"late": 5}, 1, 100.0)
    losses.absorb({"late": 7}, 2, 101.0)
    assert losses.recent() == {}
    losses.absorb({"late": 8}, 2, 102.0)
    assert losses.recent() == {"late": {"last": 102.0, "rate": 1.0}}
