"""What looking costs: core and outlet without and with five pages, a scrape a second and a stalled subscriber.

    jointwatch bench page [--json] [--seconds 8] [--rounds 3]

Seven joints at 1 kHz come over udp_multicast, updates go out at 50 Hz each. Latency is from the arrival of the newest
frame in an update to a subscriber that holds it; both cases take turns, and the medians of the rounds are compared.
The clients are in a process of their own, and read all that the outlet sends them. The browser is a headless Chromium
that draws without a graphics card: all of its processes together, on the overview and on a joint's page.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from urllib.parse import urlsplit

import numpy as np
from parts.processes import cpu, descendants, of_service
from playwright.sync_api import sync_playwright

from daq.subscriber import Subscriber
from hil_rig.live import Live

RIG = ["rigid", "--joints", "7", "--wire", "udp"]
CLIENTS = 5
WARM_UP = 6.0  # s left out
# every page, every scrape and a subscriber that does not read, as a program: prints the bytes a page got each second
LOOK = """
import sys, threading, time, urllib.request
import zmq
from websockets.sync.client import connect
host, clients, seconds, endpoint = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), sys.argv[4]
stalled = zmq.Context().socket(zmq.SUB)
stalled.rcvhwm, stalled.rcvbuf, stalled.linger = 1, 4096, 0
stalled.subscribe("")
stalled.connect(endpoint)
end, got = time.monotonic() + seconds, []
def look():
    with connect(f"ws://{host}/live", compression=None, max_size=None) as line:
        line.recv()
        start, size = time.monotonic(), 0
        while time.monotonic() < end:
            size += len(line.recv())
        got.append(size / (time.monotonic() - start))
threads = [threading.Thread(target=look) for _ in range(clients)]
[thread.start() for thread in threads]
while time.monotonic() < end:
    urllib.request.urlopen(f"http://{host}/metrics").read()
    time.sleep(max(0.0, min(1.0, end - time.monotonic())))
[thread.join() for thread in threads]
print(max(got))
stalled.close()
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--seconds", type=float, default=8.0)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with Live(RIG) as live:
        time.sleep(WARM_UP)
        rounds = [
            (measure(live, options.seconds, 0), measure(live, options.seconds, CLIENTS)) for _ in range(options.rounds)
        ]
        browser = {view: look_with_chromium(live, options.seconds, path) for view, path in VIEWS.items()}
    alone, watched = ({key: statistics.median(one[i][key] for one in rounds) for key in rounds[0][1]} for i in (0, 1))
    found = {
        "core p99 alone, ms": 1e3 * alone["p99"],
        "core p99 watched, ms": 1e3 * watched["p99"],
        "core p50 alone, ms": 1e3 * alone["p50"],
        "core p50 watched, ms": 1e3 * watched["p50"],
        "core CPU alone": alone["core"],
        "core CPU watched": watched["core"],
        "outlet CPU alone": alone["outlet"],
        "outlet CPU per page, a fifth of the scrape in it": (watched["outlet"] - alone["outlet"]) / CLIENTS,
        "kB/s to a page": watched["bytes"] / 1e3,
        **{f"browser CPU, {view}": share for view, share in browser.items()},
    }
    if options.json:
        print(json.dumps(found))
        return 0
    for name, value in found.items():
        print(f"{name:52} {f'{value:.1%}' if 'CPU' in name else f'{value:.2f}'}")
    return 0


VIEWS = {"overview": "/", "one joint": "/#/joint/joint1"}


def measure(live: Live, seconds: float, clients: int) -> dict[str, float]:
    """Latency (s), CPU (shares of a core) and bytes/s with so many pages open."""
    looking = None
    if clients:
        host = urlsplit(live.page).netloc
        looking = subprocess.Popen(
            [sys.executable, "-c", LOOK, host, str(clients), str(seconds + 2.0), live.endpoint],
            stdout=subprocess.PIPE,
            text=True,
        )
        time.sleep(1.5)
    assert live.service is not None
    processes = {name: pid for name, pid in of_service(live.service.pid).items() if name in ("core", "outlet")}
    before, start = {name: cpu(pid) for name, pid in processes.items()}, time.monotonic()
    latencies = []
    with Subscriber(live.endpoint, ("estimate/",), timeout=20.0) as subscriber:
        for _, update in subscriber:
            latencies.append(time.time() - update["arrival"])
            if time.monotonic() - start >= seconds:
                break
    elapsed = time.monotonic() - start
    shares = {name: (cpu(pid) - before[name]) / elapsed for name, pid in processes.items()}
    size = float(looking.communicate()[0]) if looking else 0.0
    late = latencies[len(latencies) // 10 :]
    return {
        "p50": float(np.percentile(late, 50)),
        "p99": float(np.percentile(late, 99)),
        "core": shares["core"],
        "outlet": shares["outlet"],
        "bytes": size,
    }


def look_with_chromium(live: Live, seconds: float, path: str) -> float:
    """Share of a core that a browser takes."""
    flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync", "--no-first-run"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=flags)
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.goto(live.page + path)
        page.wait_for_timeout(3000)
        before, start = of_chromium(), time.monotonic()
        page.wait_for_timeout(1000 * seconds)
        share = (of_chromium() - before) / (time.monotonic() - start)
        browser.close()
    return share


def of_chromium() -> float:
    """Processor seconds of every process that descends from this one and is a browser's."""
    return sum(cpu(pid) for pid, name in descendants(os.getpid()).items() if name.startswith("chrom"))


if __name__ == "__main__":
    sys.exit(main())
