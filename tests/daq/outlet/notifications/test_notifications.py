"""Each change is told once, to real receivers: signed, with the remedy and a link; what is not told is counted."""

import base64
import hashlib
import hmac
import json
import ssl
import subprocess
import time
from collections.abc import Callable
from email import message_from_bytes, policy
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import msgpack
import pytest

from daq.config.load import load
from daq.config.notify import MailSection
from daq.outlet.notifications.channel import WAITING
from daq.outlet.notifications.mail import Mail
from daq.outlet.notifications.notifier import Notifier, notifier
from daq.outlet.notifications.webhook import SIGNATURE, Webhook
from tests.support.processes.receivers import HttpReceiver, SmtpReceiver, dripping_receiver, silent_receiver

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
        telling = told_by(folder)
        telling.add("webhook", Webhook(receiver.url, SECRET).send)
        telling.changed("elbow", [record(percent=float("nan"))])
        wait(lambda: telling.counts()["webhook"].get("sent") == 1)
        [(path, headers, body)] = receiver.requests
    assert path == "/hook?robot=arm"
    assert headers["Content-Type"] == "application/json"
    expected = hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
    assert headers[SIGNATURE] == f"sha256={expected}"
    told = json.loads(body)
    assert (told["robot"], told["joint"], told["parameter"], told["to"], told["percent"]) == (
        *("arm", "elbow", "viscous", 1.25, None),
    )
    assert told["todo"] == "Is it colder or warmer than at its baseline? If not, check lubrication and bearings."
    assert told["link"] == "https://arm.example:8080/#/joint/elbow"
    assert abs(told["sent"] - time.time()) < 60
    assert "acknowledged" not in told


def test_a_change_is_reported_once_also_after_a_restart(folder: Path, wait: Callable[..., None]) -> None:
    with HttpReceiver() as receiver:
        for restart in range(2):
            telling = told_by(folder)
            telling.add("webhook", Webhook(receiver.url, SECRET).send)
            for step in range(5):  # its numbers follow the estimate, every ten seconds
                telling.changed("elbow", [record(to=1.25 + 0.01 * step)])
            telling.changed("elbow", [record(over=1_700_000_900.0)])
            telling.changed("elbow", [record(), record(told=1_700_001_000.0 + restart)])  # and it came back
            telling.changed("base", [record("coulomb", acknowledged=1.0)])
            wait(lambda told=restart: len(receiver.requests) == 2 + told)
            wait(lambda told=restart: len(json.loads((folder / "arm.notified.json").read_text())["webhook"]) == 2 + told
                 if (folder / "arm.notified.json").exists() else False)  # fmt: skip
        ids = [json.loads(body)["id"] for _, _, body in receiver.requests]
    assert ids == [f"arm/elbow/viscous/{told}.000" for told in (1_700_000_010, 1_700_001_000, 1_700_001_001)]


def test_a_mail_says_what_to_do_and_where_to_look(folder: Path, wait: Callable[..., None]) -> None:
    with SmtpReceiver() as receiver:
        telling = told_by(folder)
        telling.add("mail", Mail(mail_settings(receiver.port, user="arm"), "word of passage").send)
        telling.changed("wrist pitch", [record("stiffness")])
        wait(lambda: telling.counts()["mail"].get("sent") == 1)
        [letter] = receiver.letters
    assert (letter.sender, letter.to) == ("arm@example.org", ["one@example.org", "two@example.org"])
    assert base64.b64decode(letter.user) == b"\0arm\0word of passage"
    message = message_from_bytes(letter.data, policy=policy.default)
    assert message["Subject"] == "[jointwatch] wrist pitch of arm: stiffness +25.0 %"
    body = message.get_content().replace("\r\n", "\n")
    assert "stiffness changed gradually from 1 ± 0.01 to 1.25 ± 0.02" in body
    assert "What to do: Check coupling and gear: are they loose, worn or cracked?" in body
    assert "https://arm.example:8080/#/joint/wrist%20pitch" in body


def test_what_fails_is_tried_again_and_what_is_refused_is_not(folder: Path, wait: Callable[..., None]) -> None:
    answers = [503, 429, 200, 400, 500, 500, 500]
    with HttpReceiver(lambda number: answers[number]) as receiver:
        telling = told_by(folder)
        telling.add("webhook", Webhook(receiver.url, SECRET).send, pauses=PAUSES)
        for parameter, result, count in (
            *(("viscous", "sent", 3), ("coulomb", "dropped_refused", 4), ("offset", "dropped_gave_up", 7)),
        ):
            telling.changed("elbow", [record(parameter)])
            wait(lambda result=result: telling.counts()["webhook"].get(result) == 1)
            assert len(receiver.requests) == count
        assert telling.counts()["webhook"]["retried"] == 4
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
        telling = told_by(folder)
        telling.add("mail", Mail(mail_settings(receiver.port), "").send, pauses=PAUSES)
        telling.changed("elbow", [record()])
        wait(lambda: telling.counts()["mail"].get(result) == 1)
    attempts = sum(line.upper().startswith("MAIL") for line in asked)
    assert attempts == (3 if result == "dropped_gave_up" else 1)


@pytest.mark.parametrize("receiver", [silent_receiver, dripping_receiver])
def test_a_receiver_that_stalls_moves_nothing_and_is_given_up(
    folder: Path, wait: Callable[..., None], receiver: Callable[..., Any]
) -> None:
    with receiver() as port:
        telling = told_by(folder)
        telling.add("webhook", Webhook(f"http://127.0.0.1:{port}", SECRET, longest=0.5).send, pauses=())
        for number in range(2 * WAITING):
            telling.changed("elbow", [record(told=1e9 + number)])
        counts = telling.counts()["webhook"]
        attempts = counts.get("dropped_gave_up", 0) + 1
        assert attempts < WAITING, "whoever hands over does not wait for attempts"
        assert WAITING - attempts <= counts["dropped_queue_full"] <= WAITING
        wait(lambda: telling.counts()["webhook"].get("dropped_gave_up", 0) >= 2)
    wait(lambda: sum(telling.counts()["webhook"].values()) == 2 * WAITING)  # the receiver is gone: soon over
    left = telling.counts()["webhook"].keys() - {"sent"}  # the end of a receiver may end an answer that had begun well
    assert left == {"dropped_queue_full", "dropped_gave_up"}


def test_nobody_at_the_other_end_is_counted(folder: Path, wait: Callable[..., None]) -> None:
    with silent_receiver() as port:
        pass
    telling = told_by(folder)
    telling.add("webhook", Webhook(f"http://127.0.0.1:{port}", SECRET).send, pauses=PAUSES)
    telling.add("mail", Mail(mail_settings(port), "").send, pauses=PAUSES)
    telling.changed("elbow", [record()])
    for name in ("webhook", "mail"):
        wait(lambda name=name: telling.counts()[name] == {"retried": 2, "dropped_gave_up": 1})


def test_a_channel_without_its_secret_counts_what_it_should_have_told(folder: Path) -> None:
    telling = told_by(folder)
    telling.add("webhook", None)
    telling.changed("elbow", [record(), record("coulomb")])
    assert telling.counts() == {"webhook": {"dropped_no_secret": 2}}


def test_a_file_that_cannot_be_read_tells_again_and_says_so(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    (folder / "arm.notified.json").write_text("[1, 2", "utf-8")
    told_by(folder)
    assert "open changes are reported again" in caplog.text


def test_a_running_outlet_tells_and_counts_and_shows_its_page_while_a_receiver_stalls(
    tmp_path: Path, restart: Callable[..., Any], make_core: Callable[..., Any], wait: Callable[..., None]
) -> None:
    def scraped(name: str) -> bool:
        with urlopen(f"{outlet.page}/metrics") as answer:
            return f'jointwatch_{name}{{channel="webhook"}} 1.0' in answer.read().decode()

    with HttpReceiver() as receiver:
        outlet = restart(tmp_path, more=["--webhook", receiver.url, str(tmp_path / "told")])
        core = make_core(tmp_path)
        try:
            deadline = time.monotonic() + 60
            while not receiver.requests:
                assert time.monotonic() < deadline
                body = core.publications["elbow"].head("change", time.time()) | {"records": [record()]}
                core.updates.send_multipart((b"change/elbow", msgpack.packb(body)))
                time.sleep(0.1)  # until the outlet has subscribed
            wait(lambda: scraped("notifications_sent_total"))
        finally:
            core.close()
        assert json.loads(receiver.requests[0][2])["joint"] == "elbow"
    outlet.stop()
    with silent_receiver() as port:
        outlet = restart(tmp_path, more=["--webhook", f"http://127.0.0.1:{port}", str(tmp_path / "other")])
        core = make_core(tmp_path)
        try:
            took, deadline = list[float](), time.monotonic() + 180.0
            while len(took) < 60 or sorted(took)[len(took) // 2] >= 10.0:  # an attempt takes twenty seconds
                assert time.monotonic() < deadline, took
                body = core.publications["elbow"].head("change", time.time()) | {"records": [record()]}
                core.updates.send_multipart((b"change/elbow", msgpack.packb(body)))
                start = time.monotonic()
                assert not scraped("notifications_sent_total")
                took.append(time.monotonic() - start)
                time.sleep(0.05)  # between two messages
        finally:
            core.close()


def test_the_configuration_makes_the_channels(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    template = (Path(__file__).parents[4] / "daq" / "jointwatch.toml").read_text("utf-8")
    file = folder / "jointwatch.toml"
    mail = 'mail = { server = "localhost", sender = "arm@example.org", to = ["one@example.org"] }'
    for notify in ("", f'[notify]\nwebhook = {{ url = "http://127.0.0.1:9" }}\n{mail}'):
        file.write_text(f"{template}\n{notify}\n", "utf-8")
        found = notifier(load(file))
        assert (found is None) == (not notify)
    assert found is not None
    assert found.counts() == {"webhook": {"dropped_no_secret": 0}, "mail": {}}
    monkeypatch.setenv("JOINTWATCH_WEBHOOK_SECRET", SECRET)
    again = notifier(load(file))
    assert again is not None
    assert again.counts() == {"webhook": {}, "mail": {}}


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A certificate of localhost, and its key."""
    folder = tmp_path_factory.mktemp("certificate")
    files = folder / "certificate.pem", folder / "key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
         "-keyout", files[1], "-out", files[0], "-days", "2", "-subj", "/CN=localhost",
         "-addext", "subjectAltName=DNS:localhost"],
        check=True, capture_output=True,
    )  # fmt: skip
    return files


@pytest.mark.parametrize("security", ["starttls", "tls"])
@pytest.mark.parametrize("trusted", [True, False])
def test_a_password_goes_only_to_a_server_whose_certificate_is_trusted(
    folder: Path, wait: Callable[..., None], certificate: tuple[Path, Path], security: str, trusted: bool,
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    if trusted:
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate[0]))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    with SmtpReceiver(context=context, at_once=security == "tls") as receiver:
        settings = mail_settings(receiver.port, server="localhost", security=security, user="arm")
        telling = told_by(folder)
        telling.add("mail", Mail(settings, "word of passage").send, pauses=())
        telling.changed("elbow", [record()])
        wait(lambda: telling.counts()["mail"].get("sent" if trusted else "dropped_gave_up") == 1)
        assert [base64.b64decode(one.user) for one in receiver.letters] == [b"\0arm\0word of passage"] * trusted
    assert trusted or "certificate verify failed" in caplog.text
