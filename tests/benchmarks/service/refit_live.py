"""Updates while a re-fit runs against updates while none does: rig over slcan, service as processes, one subscriber.

    jointwatch bench refit_live [--json] [--jumps 6] [--rounds 1] [--priority 0]

The rig's drive changes its nonlinear friction again and again, and every change is followed by a re-fit and its
confirmation. A re-fit's window lasts from the event `refit_started` to `refit_accepted` or `refit_rejected`, widened to
at least WIDE around it, because an update says nothing of the instants between two of them. Latency is from the arrival
of the newest frame in an update until the core has made it (core) and until a subscriber holds it (subscriber).
The longest time between two updates says whether the stream paused. With and without alternate within a round, every
six seconds, so that what else the machine does is in both; of several rounds every figure is the median, beside the
least and the greatest quotient of the core's p99. Asked: LIMIT at most (design of the elastic joint). With --priority 1
the service has a real-time priority where that is allowed, and other programs hardly count.
"""

import argparse
import json
import signal
import sys
import time
from typing import Any

import numpy as np

import estimators.online.monitor.fast  # noqa: F401 (every kernel of the core compiled, so that it loads them and is soon there)
from daq.subscriber import Subscriber
from estimators.quantities import Floats
from estimators.refit.job import warm
from hil_rig.live import Live

FIRST, EVERY = 16.0, 6.0  # s after the rig's first sample: the first jump, and between two
WIDE = 0.5  # s of updates that a re-fit's window takes at least
PATIENCE = 60.0  # s until the first update
LIMIT = 1.5  # p99 of the core during re-fits over that without
ENDS = ("refit_accepted", "refit_rejected")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--jumps", type=int, default=6)
    parser.add_argument("--rounds", type=int, default=1, help="rigs and services, one after the other")
    parser.add_argument("--priority", type=int, default=0, help="of [processes], where it is allowed; 0: none")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # the service ends with us
    warm()
    rounds = [compared(*watch(options.jumps, options.priority)) for _ in range(options.rounds)]
    found = {key: float(np.median([one[key] for one in rounds])) for key in rounds[0]}
    quotients = [one["core p99 during / without"] for one in rounds]
    found |= {"least quotient of core p99": min(quotients), "greatest": max(quotients), "asked at most": LIMIT}
    if options.json:
        print(json.dumps(found))
        return 0
    for key, value in found.items():
        print(f"{key:44} {value:.3g}")
    return 0


def watch(jumps: int, priority: int) -> tuple[Floats, list[tuple[float, str]]]:
    """(updates, 3): when received (Unix s), latency in the core and to here (s); events: when received, kind."""
    words = []
    for number in range(jumps):
        words += ["--jump", f"{FIRST + number * EVERY}:nonlinear={1.2 if number % 2 == 0 else 1 / 1.2:.4f}"]
    updates: list[tuple[float, float, float]] = []
    more = f"[processes]\npriority = {priority}\n" if priority else ""
    events: list[tuple[float, str]] = []
    with (
        Live(["two_mass", "--set", "identify=friction", *words], more=more) as live,
        Subscriber(live.endpoint, ("estimate/", "event/"), timeout=PATIENCE) as subscriber,
    ):
        end = time.time() + PATIENCE + FIRST + jumps * EVERY
        for topic, update in subscriber:
            now = time.time()
            if topic.startswith("event/"):
                events.append((now, update["kind"]))
                if update["kind"] == "started":
                    end = now + FIRST - 10.0 + jumps * EVERY
            else:
                updates.append((now, update["latency"], now - update["arrival"]))
            if now > end:
                break
    return np.array(updates), events


def compared(updates: Floats, events: list[tuple[float, str]]) -> dict[str, Any]:
    """Latencies (ms) during re-fits and without, their quotient, and the longest pause, from the start's end on."""
    begin = next(time for time, kind in events if kind == "started") + 1.0
    spans, open_since = [], 0.0
    for at, kind in events:
        if kind == "refit_started":
            open_since = at
        elif kind in ENDS and open_since > begin:
            rest = max(0.0, WIDE - (at - open_since)) / 2.0
            spans.append((open_since - rest, at + rest))
    updates = updates[updates[:, 0] > begin]
    during = np.zeros(len(updates), np.bool_)
    for first, last in spans:
        during |= (updates[:, 0] >= first) & (updates[:, 0] <= last)
    found: dict[str, Any] = {"re-fits": len(spans), "updates during": int(during.sum()), "updates": len(updates)}
    for column, place in ((1, "core"), (2, "subscriber")):
        for share in (50, 99):
            inside, outside = (1e3 * float(np.percentile(updates[mask, column], share)) for mask in (during, ~during))
            found |= {f"{place} p{share} during, ms": inside, f"{place} p{share} without, ms": outside}
            found[f"{place} p{share} during / without"] = inside / outside
    return found | {"longest between two updates, ms": 1e3 * float(np.diff(updates[:, 0]).max())}


if __name__ == "__main__":
    sys.exit(main())
