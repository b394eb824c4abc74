"""What gateways cost: processor and memory of each, all at once, with seven joints at 1 kHz and a client of each.

    jointwatch bench gateways [--json] [--seconds 10]

The rig plays over udp_multicast; updates go out at 50 Hz a joint, gateways but Foxglove's send at 10 Hz. Clients are in
processes of their own: one of everything by Foxglove's protocol, one of a joint by OPC UA, a reader of ROS 2.
By Sparkplug there is one where mosquitto is installed. A gateway whose package is not installed is left out, and named.
Processor is the processes' own time as a share of one core, memory what each has for itself (Private_Dirty).
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
import urllib.request
from importlib.util import find_spec
from pathlib import Path

from parts.processes import cpu, of_service

from hil_rig.live import Live
from hil_rig.ports import free_port

RIG = ["rigid", "--joints", "7", "--wire", "udp"]
WARM_UP = 5.0  # s left out, after every gateway has its client
PATIENCE = 60.0  # s for that
NEEDS = {"foxglove": "websockets", "opcua": "asyncua", "ros2": "cyclonedds", "sparkplug": "paho"}
MOSQUITTO = shutil.which("mosquitto", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
FOXGLOVE = """
import json, sys
from websockets.sync.client import connect
with connect(sys.argv[1], subprotocols=["foxglove.sdk.v1"], max_size=None) as line:
    for text in line:
        if isinstance(text, str) and (told := json.loads(text))["op"] == "advertise":
            wanted = [{"id": one["id"], "channelId": one["id"]} for one in told["channels"]]
            line.send(json.dumps({"op": "subscribe", "subscriptions": wanted}))
"""
OPCUA = """
import asyncio, sys
from asyncua import Client
class Told:
    def datachange_notification(self, node, value, data): pass
async def main():
    async with Client(sys.argv[1], timeout=60) as client:
        joint = await client.nodes.objects.get_child(["2:rigid", "2:joint1"])
        subscription = await client.create_subscription(100, Told())
        await subscription.subscribe_data_change(await joint.get_variables())
        await asyncio.sleep(600)
asyncio.run(main())
"""
ROS2 = """
import sys, time
from drivers.network.dds import DdsTopic
kind = "control_msgs/DynamicJointState"
with DdsTopic(int(sys.argv[1]), "lo", ["127.0.0.1"], "/jointwatch/joint_health", kind) as topic:
    while True:
        topic.messages(1.0)
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--seconds", type=float, default=10.0)
    options = parser.parse_args()
    found = measure(options.seconds)
    if options.json:
        print(json.dumps(found))
        return 0
    print(f"{'':12} {'processor':>10} {'memory':>10} {'sent/s':>8} {'dropped':>8} {'missed':>7} {'clients':>8}")
    for name, one in found["gateways"].items():
        told = f"{one['sent']:8.0f} {one['dropped']:8.0f} {one['missed']:7.0f} {one['clients']:8.0f}"
        print(f"{name:12} {one['cpu']:>10.1%} {one['memory']:>7.0f} MB {told}")
    for name, share in found["service"].items():
        print(f"{name:12} {share:>10.1%}")
    for name in found["missing"]:
        print(f"{name:12} left out: its package (of Sparkplug: mosquitto) is not installed")
    return 0


def measure(seconds: float) -> dict[str, dict[str, object]]:
    """Run all gateways at once."""
    ports = {name: free_port() for name in ("foxglove", "opcua", "sparkplug")}
    domain = 1 + os.getpid() % 200
    places = {
        "foxglove": [f'address = "ws://127.0.0.1:{ports["foxglove"]}"'],
        "opcua": [f'endpoint = "opc.tcp://127.0.0.1:{ports["opcua"]}"', "rate = 10"],
        "ros2": ['interface = "lo"', 'peers = ["127.0.0.1"]', f"domain = {domain}", "rate = 10"],
        "sparkplug": [f'broker = "mqtt://127.0.0.1:{ports["sparkplug"]}"', 'group = "bench"', "rate = 10"],
    }
    there = [name for name in places if find_spec(NEEDS[name])]
    if MOSQUITTO is None:
        there = [name for name in there if name != "sparkplug"]
    more = "".join(f'[gateways.{name}]\nkind = "{name}"\n' + "\n".join(places[name]) + "\n" for name in there)
    broker = None if MOSQUITTO is None else subprocess.Popen([MOSQUITTO, "-p", str(ports["sparkplug"])], stderr=-3)
    clients = [broker] if broker is not None else []
    try:
        with Live(RIG, more=more) as live:
            wait(live.page, [name for name in there if name != "foxglove"], "sent_total")
            programs = {
                "foxglove": (FOXGLOVE, f"ws://127.0.0.1:{ports['foxglove']}"),
                "opcua": (OPCUA, f"opc.tcp://127.0.0.1:{ports['opcua']}"),
                "ros2": (ROS2, str(domain)),
            }
            words = [[sys.executable, "-c", *programs[name]] for name in there if name in programs]
            clients += [subprocess.Popen(one, stderr=subprocess.DEVNULL) for one in words]  # they complain at the end
            wait(live.page, there, "clients")
            time.sleep(WARM_UP)
            assert live.service is not None
            processes = of_service(live.service.pid)
            before, sent = {name: cpu(pid) for name, pid in processes.items()}, metrics(live.page)
            time.sleep(seconds)
            after, later = {name: cpu(pid) for name, pid in processes.items()}, metrics(live.page)
            shares = {name: (after[name] - before[name]) / seconds for name in processes}
            gateways = {
                name: {
                    "cpu": shares[name],
                    "memory": private(processes[name]),
                    "sent": (later[name, "sent_total"] - sent.get((name, "sent_total"), 0.0)) / seconds,
                    "dropped": later.get((name, "dropped_total"), 0.0),
                    "missed": later.get((name, "missed_total"), 0.0),
                    "clients": later.get((name, "clients"), 0.0),
                }
                for name in there
            }
            service = {name: share for name, share in shares.items() if name not in there}
    finally:
        for client in clients:
            client.kill()
            client.wait()
    return {"gateways": gateways, "service": service, "missing": {name: True for name in places if name not in there}}


def wait(page: str, gateways: list[str], metric: str) -> None:
    """Wait until a metric of each of these gateways is above 0."""
    end = time.monotonic() + PATIENCE
    while any(not metrics(page).get((name, metric)) for name in gateways):
        if time.monotonic() > end:
            print(f"after {PATIENCE:.0f} s not every gateway has {metric}", file=sys.stderr)
            return
        time.sleep(0.2)


def metrics(page: str) -> dict[tuple[str, str], float]:
    """Values by gateway and metric."""
    found = {}
    for line in urllib.request.urlopen(f"{page}/metrics").read().decode().splitlines():
        if line.startswith("jointwatch_gateway_"):
            name, _, rest = line.removeprefix("jointwatch_gateway_").partition('{gateway="')
            gateway, _, value = rest.partition('"} ')
            found[gateway, name] = float(value)
    return found


def private(pid: int) -> float:
    """Private memory of a process, MB."""
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Private_Dirty:"):
            return int(line.split()[1]) / 1024
    return float("nan")


if __name__ == "__main__":
    sys.exit(main())
