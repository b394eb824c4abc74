"""Each change is told once, to real receivers: signed, with the remedy and a link; what is not told is counted."""

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Callable
from email import message_from_bytes, policy
from pathlib import Path
from typing import Any

import pytest

from daq.config.notify import MailSection
from daq.outlet.notifications.channel import WAITING
from daq.outlet.notifications.mail import Mail
from daq.outlet.notifications.notifier import Notifier
from daq.outlet.notifications.webhook import SIGNATURE, Webhook
from tests.support.receivers import HttpReceiver, SmtpReceiver, dripping_receiver, silent_receiver

SECRET = "a secret of sufficient length"
PAUSES = (0.01, 0.02)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


def record(parameter: str = "viscous", told: float = 1_700_000_010.0, **more: Any) -> dict[str, Any]:
    """One record of change/<joint>."""
    return {
        "parameter": parameter, "unit": "N·m·s/rad", "from": 1.0, "from_deviation": 0.01, "to": 1.25,
        "to_deviation": 0.02, "percent": 25.0, "z": 11.2, "since": told - 10, "told": told, "evidence": "gradual",
        "reference": "baseline", "cause": "", "over": 0.0, "acknowledged": 0.0,
        "text": f"{parameter} changed gradually from 1 ± 0.01 to 1.25 ± 0.02 N·m·s/rad (+25.0 %)",
    } | more  # fmt: skip


def told_by(folder: Path, page: str = "https://arm.example:8080/") -> Notifier:
    return Notifier("arm", page, folder / "arm.notified.json")


def mail_settings(port: int, **more: Any) -> MailSection:
    given = {"server": "127.0.0.1", "port": port, "security": "none", "sender": "arm@example.org"}
    return MailSection.model_validate(given | {"to": ["one@example.org", "two@example.org"]} | more)


def test_a_webhook_is_signed_json_with_remedy_and_link(folder: Path, wait: Callable[..., None]) -> None:
    with HttpReceiver() as receiver:
        notifier = told_by(folder)
        notifier.add("webhook", Webhook(receiver.url, SECRET).send)
        notifier.changed("elbow", [record(percent=float("nan"))])
        wait(lambda: notifier.counts()["webhook"].get("sent") == 1)
        [(path, headers, body)] = receiver.requests
    assert path == "/hook?robot=arm"
    assert headers["Content-Type"] == "application/json"
    expected = hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
    assert headers[SIGNATURE] == f"sha256={expected}"
    told = json.loads(body)
    assert (told["robot"], told["joint"], told["parameter"], told["to"], told["percent"]) == (
        *("arm", "elbow", "viscous", 1.25, None),
    )
    assert told["todo"] == "Colder or warmer than at its baseline? Else look at lubrication and bearings."
    assert told["link"] == "https://arm.example:8080/#/joint/elbow"
    assert abs(told["sent"] - time.time()) < 60
    assert "acknowledged" not in told


def test_a_change_is_told_once_also_after_a_restart(folder: Path, wait: Callable[..., None]) -> None:
    with HttpReceiver() as receiver:
        for restart in range(2):
            notifier = told_by(folder)
            notifier.add("webhook", Webhook(receiver.url, SECRET).send)
            for step in range(5):  # its numbers follow the estimate, every ten seconds
                notifier.changed("elbow", [record(to=1.25 + 0.01 * step)])
            notifier.changed("elbow", [record(over=1_700_000_900.0)])
            notifier.changed("elbow", [record(), record(told=1_700_001_000.0 + restart)])  # and it came back
            notifier.changed("base", [record("coulomb", acknowledged=1.0)])
            wait(lambda told=restart: len(receiver.requests) == 2 + told)
            wait(lambda told=restart: len(json.loads((folder / "arm.notified.json").read_text())["webhook"]) == 2 + told
                 if (folder / "arm.notified.json").exists() else False)  # fmt: skip
        ids = [json.loads(body)["id"] for _, _, body in receiver.requests]
    assert ids == [f"arm/elbow/viscous/{told}.000" for told in (1_700_000_010, 1_700_001_000, 1_700_001_001)]


def test_a_mail_says_what_to_do_and_where_to_look(folder: Path, wait: Callable[..., None]) -> None:
    with SmtpReceiver() as receiver:
        notifier = told_by(folder)
        notifier.add("mail", Mail(mail_settings(receiver.port, user="arm"), "word of passage").send)
        notifier.changed("wrist pitch", [record("stiffness")])
        wait(lambda: notifier.counts()["mail"].get("sent") == 1)
        [letter] = receiver.letters
    assert (letter.sender, letter.to) == ("arm@example.org", ["one@example.org", "two@example.org"])
    assert base64.b64decode(letter.user) == b"\0arm\0word of passage"
    message = message_from_bytes(letter.data, policy=policy.default)
    assert message["Subject"] == "[jointwatch] wrist pitch of arm: stiffness +25.0 %"
    body = message.get_content().replace("\r\n", "\n")
    assert "stiffness changed gradually from 1 ± 0.01 to 1.25 ± 0.02" in body
    assert "What to do: Look at coupling and gear: loose, worn or cracked?" in body
    assert "https://arm.example:8080/#/joint/wrist%20pitch" in body


def test_what_fails_is_tried_again_and_what_is_refused_is_not(folder: Path, wait: Callable[..., None]) -> None:
    answers = [503, 429, 200, 400, 500, 500, 500]
    with HttpReceiver(lambda number: answers[number]) as receiver:
        notifier = told_by(folder)
        notifier.add("webhook", Webhook(receiver.url, SECRET).send, pauses=PAUSES)
        for parameter, result, count in (
            *(("viscous", "sent", 3), ("coulomb", "dropped_refused", 4), ("offset", "dropped_gave_up", 7)),
        ):
            notifier.changed("elbow", [record(parameter)])
            wait(lambda result=result: notifier.counts()["webhook"].get(result) == 1)
            assert len(receiver.requests) == count
        assert notifier.counts()["webhook"]["retried"] == 4
        bodies = [json.loads(body) for _, _, body in receiver.requests]
    assert len({body["id"] for body in bodies[:3]}) == 1, "a receiver can see that it is the same"


@pytest.mark.parametrize(
    ("refusal", "result"),
    [("550 nobody here", "dropped_refused"), ("451 come again", "dropped_gave_up"), ("", "sent")],
)
def test_a_mail_that_is_refused_for_good_is_not_tried_again(
    folder: Path, wait: Callable[..., None], refusal: str, result: str
) -> None:
    asked: list[str] = []

    def refuse(line: str) -> str:
        asked.append(line)
        return refusal if line.startswith("RCPT") or line.startswith("rcpt") else ""

    with SmtpReceiver(refuse) as receiver:
        notifier = told_by(folder)
        notifier.add("mail", Mail(mail_settings(receiver.port), "").send, pauses=PAUSES)
        notifier.changed("elbow", [record()])
        wait(lambda: notifier.counts()["mail"].get(result) == 1)
    attempts = sum(line.upper().startswith("MAIL") for line in asked)
    assert attempts == (3 if result == "dropped_gave_up" else 1)


@pytest.mark.parametrize("receiver", [silent_receiver, dripping_receiver])
def test_a_receiver_that_stalls_moves_nothing_and_is_given_up(
    folder: Path, wait: Callable[..., None], receiver: Callable[..., Any]
) -> None:
    with receiver() as port:
        notifier = told_by(folder)
        notifier.add("webhook", Webhook(f"http://127.0.0.1:{port}", SECRET, longest=0.5).send, pauses=())
        slowest = 0.0
        for number in range(2 * WAITING):
            start = time.perf_counter()
            notifier.changed("elbow", [record(told=1e9 + number)])
            slowest = max(slowest, time.perf_counter() - start)
        assert slowest < 0.2, "much less than one attempt takes"
        counts = notifier.counts()["webhook"]
        assert counts["dropped_queue_full"] == pytest.approx(WAITING, abs=3)
        wait(lambda: notifier.counts()["webhook"].get("dropped_gave_up", 0) >= 2)
        assert "sent" not in notifier.counts()["webhook"]


def test_nobody_at_the_other_end_is_counted(folder: Path, wait: Callable[..., None]) -> None:
    with silent_receiver() as port:
        pass
    notifier = told_by(folder)
    notifier.add("webhook", Webhook(f"http://127.0.0.1:{port}", SECRET).send, pauses=PAUSES)
    notifier.add("mail", Mail(mail_settings(port), "").send, pauses=PAUSES)
    notifier.changed("elbow", [record()])
    for name in ("webhook", "mail"):
        wait(lambda name=name: notifier.counts()[name] == {"retried": 2, "dropped_gave_up": 1})


def test_a_channel_without_its_secret_counts_what_it_should_have_told(folder: Path) -> None:
    notifier = told_by(folder)
    notifier.add("webhook", None)
    notifier.changed("elbow", [record(), record("coulomb")])
    assert notifier.counts() == {"webhook": {"dropped_no_secret": 2}}


def test_a_file_that_cannot_be_read_tells_again_and_says_so(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    (folder / "arm.notified.json").write_text("[1, 2", "utf-8")
    told_by(folder)
    assert "changes that stand are told again" in caplog.text
