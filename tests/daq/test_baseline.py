"""The file of baselines: replaced as a whole, never half, and told to the core."""

import asyncio
import json
import os
import stat
from pathlib import Path

import pytest
import zmq

from daq.config.load import load
from daq.core.baseline_inbox import Rebasing
from daq.outlet.commissioning import Commissioning
from daq.outlet.history import History, JointLabel
from daq.state.baselines import KEPT, TOPIC, Baseline, Baselines, parse, read, write
from daq.state.files import BaselineError, make_token, place, token
from daq.stream.sockets import open_publisher

TEMPLATE = Path(__file__).parents[2] / "daq" / "jointwatch.toml"


def baseline(since: float = 1.0, inertia: float = 2.0) -> Baseline:
    return Baseline(since=since, model="rigid", values={"inertia": inertia}, deviations={"inertia": 0.1})


def test_what_is_written_is_read_and_the_old_one_stays(tmp_path: Path) -> None:
    file = tmp_path / "arm.baseline.json"
    assert read(file) == Baselines()
    book = read(file).with_new({"elbow": baseline(1.0), "base": baseline(2.0)}).with_new({"elbow": baseline(3.0, 2.5)})
    write(file, book)
    assert read(file) == book
    assert [one.since for one in read(file).joints["elbow"]] == [3.0, 1.0]
    assert read(file).newest() == {"elbow": baseline(3.0, 2.5), "base": baseline(2.0)}
    for since in range(2 * KEPT):
        book = book.with_new({"elbow": baseline(since)})
    assert len(book.joints["elbow"]) == KEPT


def test_whoever_reads_sees_a_whole_file_whenever_the_writer_dies(tmp_path: Path) -> None:
    file = tmp_path / "arm.baseline.json"
    write(file, Baselines(joints={"elbow": [baseline()]}))
    child = os.fork()
    if child == 0:
        while True:
            write(file, Baselines(joints={f"joint{i}": [baseline()] * KEPT for i in range(20)}))
            write(file, Baselines(joints={"elbow": [baseline()]}))
    try:
        sizes = {len(read(file).joints) for _ in range(300)}
    finally:
        os.kill(child, 9)
        os.waitpid(child, 0)
    assert sizes <= {1, 20}
    assert len(read(file).joints) in (1, 20)
    write(file, Baselines())
    assert read(file) == Baselines(), "what the dead one left behind is in nobody's way"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no baselines"),
        ("[]", "no baselines"),
        ('{"version": 2}', "version"),
        ('{"joints": {"elbow": [{"since": 1}]}}', "joints.elbow.0"),
        ('{"joints": {"elbow": [{"since": 1, "model": "m", "values": {"inertia": NaN}, "deviations": {}}]}}', "finite"),
        ('{"joints": {"elbow": [{"since": 1, "model": "m", "values": {}, "deviations": {"inertia": -1}}]}}', "greater"),
        ('{"joints": {}, "more": 1}', "more"),
    ],
)  # fmt: skip
def test_a_file_that_is_none_is_one_clear_line(tmp_path: Path, text: str, words: str) -> None:
    file = tmp_path / "b.json"
    file.write_text(text)
    with pytest.raises(BaselineError, match=words) as caught:
        read(file)
    assert str(caught.value).startswith(f"{file}: ")
    assert "\n" not in str(caught.value)


def test_a_place_that_cannot_be_written_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(BaselineError, match="cannot be written: no such file or directory"):
        write(tmp_path / "missing" / "b.json", Baselines())
    with pytest.raises(BaselineError, match="cannot be read: is a directory"):
        read(tmp_path)


def test_the_token_is_its_owners_alone_and_stays(tmp_path: Path) -> None:
    file = tmp_path / "arm.token"
    with pytest.raises(BaselineError, match="cannot be read"):
        token(file)
    made = make_token(file)
    assert len(made) >= 20
    assert make_token(file) == token(file) == made
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_where_it_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "jointwatch.toml"
    file.write_text(TEMPLATE.read_text())
    monkeypatch.delenv("STATE_DIRECTORY", raising=False)
    assert place(load(file), "token") == tmp_path / "arm.token"
    monkeypatch.setenv("STATE_DIRECTORY", "/var/lib/jointwatch")
    assert place(load(file), "token") == Path("/var/lib/jointwatch/arm.token")
    file.write_text(TEMPLATE.read_text().replace("[robot]", '[robot]\nstate = "kept"'))
    assert place(load(file), "token") == tmp_path / "kept" / "arm.token"


def update(status: str, reasons: tuple[str, ...] = (), deviation: float = 0.1) -> dict[str, object]:
    return {
        "timestamp": 50.0, "phase": "normal", "parameters": {"inertia": 2.0}, "deviations": {"inertia": deviation},
        "error": 0.01, "forgetting": 1.0, "progress": 100.0, "health": {"status": status, "reasons": list(reasons)},
        "latency": 0.0, "boot": 1,
    }  # fmt: skip


def test_a_baseline_is_set_and_the_core_hears_of_it(tmp_path: Path) -> None:
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    file, address = tmp_path / "b.json", f"ipc://{tmp_path}/baselines"
    rebasing = Rebasing(context, address, file)
    socket = open_publisher(context, address)
    history = History("arm", [JointLabel(name, "N·m", {"inertia": "kg·m²"}) for name in ("elbow", "base")])
    commissioning = Commissioning(file, {"elbow": "rigid", "base": "rigid"}, socket)

    async def heard() -> dict[str, object]:
        sharing = asyncio.create_task(commissioning.share())
        try:
            async with asyncio.timeout(20):
                while (fresh := rebasing.fresh()) is None:
                    await asyncio.sleep(0.05)
            return fresh
        finally:
            sharing.cancel()

    try:
        assert rebasing.fresh() is None
        history.absorb("estimate/elbow", update("valid"), 50.0)
        asyncio.run(commissioning.set(history, "elbow"))
        assert asyncio.run(heard()) == {"elbow": baseline(50.0).model_dump()}
        write(file, read(file).with_new({"base": baseline(60.0)}))  # by whomever
        assert asyncio.run(heard()).keys() == {"elbow", "base"}
        again = Rebasing(context, f"{address}2", file)  # the core starts anew
        assert again.fresh() == {name: one.model_dump() for name, one in read(file).newest().items()}
        again.close()
    finally:
        rebasing.close()
        socket.close()
        context.term()


@pytest.mark.parametrize(
    ("status", "reasons", "deviation", "words"),
    [
        ("learning", ("viscous is not certain",), 0.1, "viscous is not certain"),
        ("faulted", ("no data for 2 s",), 0.1, "no data for 2 s"),
        ("valid", (), float("inf"), "not all of them are known"),
    ],
)
def test_values_that_cannot_be_trusted_are_no_baseline(
    tmp_path: Path, status: str, reasons: tuple[str, ...], deviation: float, words: str
) -> None:
    history = History("arm", [JointLabel("elbow", "N·m", {"inertia": "kg·m²"})])
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    socket = open_publisher(context, f"ipc://{tmp_path}/nobody")
    commissioning = Commissioning(tmp_path / "b.json", {"elbow": "rigid"}, socket)
    try:
        with pytest.raises(ValueError, match="nothing has come"):
            asyncio.run(commissioning.set(history, None))
        history.absorb("estimate/elbow", update(status, reasons, deviation), 50.0)
        with pytest.raises(ValueError, match=words):
            asyncio.run(commissioning.set(history, None))
        assert not (tmp_path / "b.json").exists()
    finally:
        socket.close(0)
        context.term()


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
            if core.poll(50):
                return parse(core.recv_multipart()[1], file)
        raise AssertionError("nothing was told")

    try:
        write(file, Baselines(joints={"elbow": [baseline(2.0), baseline(1.0)]}))
        first = asyncio.run(look_until_heard())
        assert [one.since for one in first.joints["elbow"]] == [2.0], "the newest only"
        file.write_text(json.dumps({"joints": 7}))
        for _ in range(3):
            assert asyncio.run(look_until_heard()) == first
        assert caplog.text.count("the baselines that were read last stand") == 1
    finally:
        core.close(0)
        socket.close(0)
        context.term()
