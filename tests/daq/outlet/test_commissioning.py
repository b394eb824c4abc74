"""Baselines that are set while the service runs: who may be one, who hears of it, and what stays of a broken file."""

import asyncio
import json
import time
from pathlib import Path

import msgpack
import pytest
import zmq

from daq.core.baseline_inbox import WATCHING, BaselineInbox
from daq.outlet.commissioning import SEEN, Commissioning
from daq.outlet.history import History, JointLabel
from daq.state.baselines import TOPIC, Baseline, Baselines, parse, read, write
from daq.stream.sockets import open_publisher


def baseline(since: float = 1.0, inertia: float = 2.0) -> Baseline:
    return Baseline(since=since, model="rigid", values={"inertia": inertia}, deviations={"inertia": 0.1})


def update(status: str, reasons: tuple[dict[str, object], ...] = (), deviation: float = 0.1) -> dict[str, object]:
    return {
        "timestamp": 50.0, "phase": "normal", "parameters": {"inertia": 2.0}, "deviations": {"inertia": deviation},
        "error": 0.01, "forgetting": 1.0, "progress": 100.0, "health": {"status": status, "reasons": list(reasons)},
        "latency": 0.0, "boot": 1,
    }  # fmt: skip


def test_the_core_hears_that_somebody_looks_and_that_nobody_does_any_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    inbox = BaselineInbox(context, f"ipc://{tmp_path}/baselines", tmp_path / "b.json")
    socket = open_publisher(context, f"ipc://{tmp_path}/baselines")
    commissioning = Commissioning(tmp_path / "b.json", {}, socket)
    try:
        assert not inbox.watched
        deadline = time.monotonic() + 60
        while not inbox.watched:
            assert time.monotonic() < deadline
            commissioning.watched({"wrist", "elbow"})
            assert inbox.changed() is None
            time.sleep(0.05)  # between two words
        assert inbox.wanted == ("elbow", "wrist")
        now, looks = time.monotonic(), 0
        while inbox.watched:  # what was said before is still on its way, perhaps
            looks += 1
            assert looks < 100
            monkeypatch.setattr(time, "monotonic", lambda at=now + looks * 2 * WATCHING: at)
            assert inbox.changed() is None
        assert inbox.wanted == ()
    finally:
        inbox.close()
        socket.close()
        context.term()


def test_a_baseline_is_set_and_the_core_hears_of_it(tmp_path: Path) -> None:
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    file, address = tmp_path / "b.json", f"ipc://{tmp_path}/baselines"
    inbox = BaselineInbox(context, address, file)
    socket = open_publisher(context, address)
    history = History("arm", [JointLabel(name, "N·m", {"inertia": "kg·m²"}) for name in ("elbow", "base")])
    commissioning = Commissioning(file, {"elbow": "rigid", "base": "rigid"}, socket)

    async def heard() -> dict[str, object]:
        sharing = asyncio.create_task(commissioning.share())
        try:
            async with asyncio.timeout(60):
                while (fresh := inbox.changed()) is None:
                    await asyncio.sleep(0.05)  # between two looks
            return fresh
        finally:
            sharing.cancel()

    try:
        assert inbox.changed() is None
        history.absorb("estimate/elbow", update("valid"), 50.0)
        asyncio.run(commissioning.set(history, "elbow"))
        assert asyncio.run(heard()) == {"elbow": baseline(50.0).model_dump()}
        write(file, read(file).with_new({"base": baseline(60.0)}))  # by whomever
        assert asyncio.run(heard()).keys() == {"elbow", "base"}
        history.absorb("estimate/base", update("held"), 50.0)
        asyncio.run(commissioning.set(history, None))
        assert asyncio.run(heard()) == {name: baseline(50.0).model_dump() for name in ("elbow", "base")}
        assert [one.since for one in read(file).joints["base"]] == [50.0, 60.0], "the one before stays after it"
        again = BaselineInbox(context, f"{address}2", file)  # the core starts anew
        assert again.changed() == {name: one.model_dump() for name, one in read(file).newest().items()}
        again.close()
    finally:
        inbox.close()
        socket.close()
        context.term()


@pytest.mark.parametrize(
    ("status", "reasons", "deviation", "words"),
    [
        (
            "learning",
            ({"code": "uncertain", "words": {"needs": "motion"}, "text": "viscous is not certain"},),
            0.1,
            "viscous is not certain",
        ),
        ("faulted", ({"code": "no_data", "text": "no data for 2 s"},), 0.1, "no data for 2 s"),
        ("starting", (), 0.1, "it is starting$"),
        ("valid", (), float("inf"), "none of them is known"),
    ],
)
def test_values_that_cannot_be_trusted_are_no_baseline(
    tmp_path: Path, status: str, reasons: tuple[dict[str, object], ...], deviation: float, words: str
) -> None:
    history = History("arm", [JointLabel("elbow", "N·m", {"inertia": "kg·m²"})])
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    socket = open_publisher(context, f"ipc://{tmp_path}/nobody")
    commissioning = Commissioning(tmp_path / "b.json", {"elbow": "rigid"}, socket)
    try:
        with pytest.raises(ValueError, match="nothing comes"):
            asyncio.run(commissioning.set(history, None))
        history.absorb("estimate/elbow", update(status, reasons, deviation), 50.0)
        with pytest.raises(ValueError, match=words):
            asyncio.run(commissioning.set(history, None))
        assert not (tmp_path / "b.json").exists()
    finally:
        socket.close(0)
        context.term()


def test_a_baseline_says_which_of_its_values_were_known(tmp_path: Path) -> None:
    history = History("arm", [JointLabel("elbow", "N·m", {"inertia": "kg·m²", "offset": "N·m"})])
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    socket = open_publisher(context, f"ipc://{tmp_path}/nobody")
    commissioning = Commissioning(tmp_path / "b.json", {"elbow": "rigid"}, socket)
    both = update("valid") | {
        "parameters": {"inertia": 2.0, "offset": 0.3},
        "deviations": {"inertia": 0.1, "offset": float("inf")},
        "states": {"inertia": {"state": "known"}, "offset": {"state": "not_identifiable", "from": ["coulomb"]}},
    }
    try:
        history.absorb("estimate/elbow", both, 50.0)
        asyncio.run(commissioning.set(history, None))
    finally:
        socket.close(0)
        context.term()
    found = read(tmp_path / "b.json").joints["elbow"][0]
    assert found.known == ("inertia",)
    assert found.values == {"inertia": 2.0, "offset": 0.3}
    assert found.deviations["inertia"] == 0.1


def test_the_outlet_keeps_what_it_read_last(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file, address = tmp_path / "b.json", f"ipc://{tmp_path}/core"
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    core = context.socket(zmq.SUB)
    core.subscribe(TOPIC)
    core.bind(address)
    socket = open_publisher(context, address)
    commissioning = Commissioning(file, {"elbow": "rigid"}, socket)

    async def look_until_heard() -> Baselines:
        for _ in range(400):
            await commissioning._look()
            if core.poll(50):  # between two looks: a publisher's first words may be lost
                return parse(core.recv_multipart()[1], file)
        raise AssertionError("nothing was told")

    try:
        write(file, Baselines(joints={"elbow": [baseline(2.0), baseline(1.0)]}))
        first = asyncio.run(look_until_heard())
        assert [one.since for one in first.joints["elbow"]] == [2.0], "the newest only"
        file.write_text(json.dumps({"joints": 7}))
        for _ in range(3):
            assert asyncio.run(look_until_heard()) == first
        assert caplog.text.count("the file of baselines cannot be used, the last ones stay in use") == 1
        history = History("arm", [JointLabel("elbow", "N·m", {"inertia": "kg·m²"})])
        history.absorb("estimate/elbow", update("valid"), 50.0)
        with pytest.raises(ValueError, match="not a file of baselines: joints"):
            asyncio.run(commissioning.set(history, "elbow"))
        assert json.loads(file.read_text()) == {"joints": 7}, "no file is deleted"
    finally:
        core.close(0)
        socket.close(0)
        context.term()


class Heard:
    """A socket that keeps what is sent through it."""

    def __init__(self) -> None:
        self.sent: list[bytes] = []

    def send_multipart(self, parts: tuple[bytes, bytes]) -> None:
        self.sent.append(parts[0])


def test_a_new_baseline_is_shared_at_once(tmp_path: Path) -> None:
    heard, history = Heard(), History("arm", [JointLabel("elbow", "N·m", {"inertia": "kg·m²"})])
    commissioning = Commissioning(tmp_path / "b.json", {"elbow": "rigid"}, heard)  # type: ignore[arg-type]
    history.absorb("estimate/elbow", update("valid"), 50.0)
    asyncio.run(commissioning.set(history, "elbow"))
    assert heard.sent == [TOPIC]


def test_baselines_are_shared_once_in_a_while_and_the_time_between_is_left_to_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("daq.outlet.commissioning.EVERY", 0.1)
    write(tmp_path / "b.json", Baselines(joints={"elbow": [baseline()]}))
    heard = Heard()
    commissioning = Commissioning(tmp_path / "b.json", {"elbow": "rigid"}, heard)  # type: ignore[arg-type]

    async def three_times() -> float:
        began, sharing = time.monotonic(), asyncio.create_task(commissioning.share())
        async with asyncio.timeout(60):
            while len(heard.sent) < 3:
                await asyncio.sleep(0.01)  # between two looks
        sharing.cancel()
        return time.monotonic() - began

    assert asyncio.run(three_times()) >= 0.2


def test_what_has_changed_is_acknowledged_of_one_joint_or_of_all_and_the_core_hears_which(tmp_path: Path) -> None:
    history = History("arm", [JointLabel(name, "N·m", {"inertia": "kg·m²"}) for name in ("elbow", "base", "wrist")])
    for name, seen in (("elbow", False), ("base", False), ("wrist", True)):
        history.absorb(f"change/{name}", {"records": [{"parameter": "inertia", "acknowledged": seen}]}, 50.0)
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    with context.socket(zmq.PAIR) as core, context.socket(zmq.PAIR) as here:
        here.bind("inproc://core")
        core.connect("inproc://core")
        commissioning = Commissioning(tmp_path / "b.json", {}, here)
        for joint, heard in (("base", ["base"]), (None, ["elbow", "base"])):
            asyncio.run(commissioning.acknowledge(history, joint))
            topic, names = core.recv_multipart()
            assert (topic, msgpack.unpackb(names)) == (SEEN, heard)
        for joint, words in (("wrist", "nothing has changed of wrist that is not acknowledged"), ("hip", "of hip")):
            with pytest.raises(ValueError, match=words):
                asyncio.run(commissioning.acknowledge(history, joint))
        history.absorb("change/elbow", {"records": []}, 50.0)
        history.absorb("change/base", {"records": []}, 50.0)
        with pytest.raises(ValueError, match="nothing has changed of any joint"):
            asyncio.run(commissioning.acknowledge(history, None))
        assert core.poll(0) == 0
    context.term()
