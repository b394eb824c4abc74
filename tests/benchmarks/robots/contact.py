"""Contacts of whole robots, and by a momentum observer: delay, missed, false, link and force; rigs and recordings.

    jointwatch bench contact [--json] [--seeds 4] [--first 901] [--pushes 8] [--quiet 30] [--hours 0.25] [--unseen 7101]

Pushes on random links of drawn arms (hil_rig/truth/robots/contact_trial.py), seen by the live estimator and by a
generalised momentum observer with the same model, bandwidth (10 Hz) and rule for its thresholds. Time without a push
counts for false ones. The recordings of the LWR4, each under the model of the other, have no push; nor have hours of
random motion of ROBOTS more arms (hil_rig/truth/robots/quiet_hours.py), of seeds from --unseen on.
"""

import argparse
import json
import os
import sys
from collections.abc import Sequence
from typing import Any, Final

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from robot_recorded import FOLDER, RATE, even, runs, taught

from estimators.online.robot.estimator import RobotEstimator
from hil_rig.truth.robots.contact_trial import AFTER, LASTING, MARGIN, ContactOutcome, ContactPush, DetectedPush, run
from hil_rig.truth.robots.momentum_observer import observed
from hil_rig.truth.robots.quiet_hours import QuietHours, undisturbed

FIRST: Final = 901
UNSEEN: Final = 7101  # seed of the first arm without a push
ROBOTS: Final = 2
TELLABLE: Final = 0.5  # times the Coulomb friction of the link's own joint, below which it is one with the link before
SWING: Final = 0.5  # s at the end of the LWR4's recordings, in which they contradict themselves (decision 027)
STARTED: Final = 13.0  # s of a recording, by which the start is over
ASKED: Final = {"delay_95": 0.1, "false_per_hour": 1.0, "false_recorded": 0}


def figures(told: Sequence[tuple[ContactPush, DetectedPush]], false: int, quiet: float) -> dict[str, float]:
    """Figures of one detector."""
    delays = np.array([one.delay for _, one in told])
    seen = delays[np.isfinite(delays)]
    named = [(push, one) for push, one in told if np.isfinite(one.delay) and not push.outer]
    tellable = [(push, one) for push, one in named if push.own >= TELLABLE]
    errors = np.array([[one.error, one.error / one.size] for _, one in told if np.isfinite(one.error)])
    z = np.array([one.z for _, one in told if np.isfinite(one.z).all()]).ravel()
    return {
        "pushes": len(told),
        "missed": int((~np.isfinite(delays)).sum()),
        "delay_median": float(np.median(seen)) if len(seen) else np.nan,
        "delay_95": float(np.quantile(seen, 0.95)) if len(seen) else np.nan,
        "link_right": float(np.mean([one.link == push.link for push, one in named])) if named else np.nan,
        "link_right_tellable": float(np.mean([one.link == push.link for push, one in tellable]))
        if tellable
        else np.nan,
        "tellable": len(tellable),
        "forces": len(errors),
        "force_error_median": float(np.median(errors[:, 0])) if len(errors) else np.nan,
        "force_error_relative": float(np.median(errors[:, 1])) if len(errors) else np.nan,
        "force_beyond_3_sigma": float(np.mean(np.abs(z) > 3.0)) if len(z) else np.nan,
        "false": false,
        "false_per_hour": 3600.0 * false / quiet,
    }


def recorded() -> dict[str, dict[str, int]]:
    """Number of contacts on the LWR4's recordings, without contact, and of those in their last SWING s."""
    if not FOLDER.exists():
        print(f"left out: no recordings in {FOLDER}", file=sys.stderr)
        return {}
    found, (second, third) = {}, runs()
    for name, taught_by, watched in (("LWR4 2 > 3", second, third), ("LWR4 3 > 2", third, second)):
        model, run_ = taught(taught_by), even(watched)
        last, end = len(run_.ticks), run_.ticks[-1] - round(SWING * 1e9)
        estimator = RobotEstimator(model, 1.0 / RATE)
        estimator.absorb(run_.ticks[:last], run_.q[:last], run_.tau[:last])
        times = [one.time for one in estimator.events() if one.kind == "contact"]
        r = np.abs(observed(model, run_.q[:last], run_.tau[:last], 1.0 / RATE))
        started, rows = round(STARTED * RATE), round(LASTING * RATE)
        over = r[started:] > MARGIN * r[round(RATE) : started].max(axis=0)
        counts = np.cumsum(np.concatenate([np.zeros((1, over.shape[1])), over]), axis=0)
        beside = run_.ticks[started + np.flatnonzero((counts[rows:] - counts[:-rows] == rows).any(axis=1))]
        beside = beside[np.diff(beside, prepend=-(10**12)) > AFTER * 1e9]
        found[name] = {
            "ours": sum(at < end for at in times),
            "observer": int((beside < end).sum()),
            "ours_at_the_end": sum(at >= end for at in times),
            "observer_at_the_end": int((beside >= end).sum()),
        }
    return found


def main() -> int:
    """Exit 0 when it ran; what was missed is marked."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--seeds", type=int, default=4, help="arms")
    parser.add_argument("--first", type=int, default=FIRST, help="the first seed")
    parser.add_argument("--pushes", type=int, default=8, help="on each arm")
    parser.add_argument("--quiet", type=int, default=30, help="s after them without any")
    parser.add_argument("--hours", type=float, default=0.25, help="of random motion of each arm without a push")
    parser.add_argument("--unseen", type=int, default=UNSEEN, help="seed of the first of them")
    options = parser.parse_args()
    trials = [run(options.first + k, options.pushes, options.quiet) for k in range(options.seeds)]
    quiet = sum(one.quiet for one in trials)
    both: dict[str, Any] = {
        "ours": figures([pair for one in trials for pair in one.ours], sum(one.false[0] for one in trials), quiet),
        "observer": figures([pair for one in trials for pair in one.observer], sum(_beside(trials)), quiet),
    }
    found = both | {"quiet_seconds": quiet, "recorded": recorded(), "asked": ASKED}
    found["undisturbed"] = [
        told(options.unseen + k, undisturbed(options.unseen + k, options.hours)) for k in range(ROBOTS)
    ]
    print(json.dumps(found)) if options.json else show(found, options)
    return 0


def told(seed: int, found: QuietHours) -> dict[str, Any]:
    """Figures of an arm without a push."""
    plain = found._asdict() | {"seed": seed, "ours": len(found.ours), "observer": len(found.observer)}
    return plain | {"ours_at": found.ours, "observer_at": found.observer}


def _beside(trials: Sequence[ContactOutcome]) -> list[int]:
    return [one.false[1] for one in trials]


def show(found: dict[str, Any], options: argparse.Namespace) -> None:
    """Print a table for people."""
    last = options.first + options.seeds - 1
    print(f"arms of seeds {options.first} to {last}, {options.pushes} pushes each; "
          f"{found['quiet_seconds']:.0f} s without a push")  # fmt: skip
    print(f"  {'':36} {'ours':>9} {'observer':>9}   asked")
    rows = (
        ("pushes", "pushes", "{:.0f}", 1.0, ""),
        ("missed", "missed", "{:.0f}", 1.0, "0"),
        ("delay, median", "delay_median", "{:.0f} ms", 1e3, ""),
        ("delay, 95 %", "delay_95", "{:.0f} ms", 1e3, "<= 100 ms"),
        ("link right, pushed at its middle", "link_right", "{:.0f} %", 1e2, ""),
        ("  of those whose own joint is loaded", "link_right_tellable", "{:.0f} %", 1e2, ""),
        ("forces judged", "forces", "{:.0f}", 1.0, ""),
        ("force error, median", "force_error_median", "{:.1f} N", 1.0, ""),
        ("force error over force, median", "force_error_relative", "{:.0f} %", 1e2, ""),
        ("force beyond 3 of its deviations", "force_beyond_3_sigma", "{:.0f} %", 1e2, ""),
        ("false", "false", "{:.0f}", 1.0, ""),
        ("false an hour", "false_per_hour", "{:.1f}", 1.0, "<= 1"),
    )
    for label, key, form, scale, asked in rows:
        ours, beside = (form.format(scale * found[one][key]) for one in ("ours", "observer"))
        print(f"  {label:36} {ours:>9} {beside:>9}   {asked}")
    for name, false in found["recorded"].items():
        print(f"  false on {name:27} {false['ours']:9} {false['observer']:9}   0")
        print(f"    in its last half second          {false['ours_at_the_end']:9} {false['observer_at_the_end']:9}")
    for one in found["undisturbed"]:
        label = f"false in {one['hours']:.2f} h, seed {one['seed']}, {one['axes']} axes"
        print(f"  {label:36} {one['ours']:9} {one['observer']:9}   <= 1 an hour; valid {one['valid']:.0%}")
    hours = sum(one["hours"] for one in found["undisturbed"])
    rates = (sum(one[key] for one in found["undisturbed"]) / hours for key in ("ours", "observer"))
    print(f"  {'false an hour, of all of them':36} {next(rates):9.2f} {next(rates):9.2f}   <= 1")


if __name__ == "__main__":
    sys.exit(main())
