"""Decides what is worth a notification: each change of a joint once, also across restarts of the service.

The records of `change/<joint>` are the only source. A record that a person has acknowledged before it was sent is not
sent. What a channel has delivered or given up is kept in a file, so that a restart sends nothing twice; a crash between
a delivery and its note may, and the receiver can see that by the notification's id.
"""

import json
import os
import queue
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from daq.config.sections import Config
from daq.outlet.notifications.channel import DeliveryChannel
from daq.outlet.notifications.mail import Mail
from daq.outlet.notifications.notification import Notification
from daq.outlet.notifications.webhook import Webhook
from daq.processes.logs import log
from daq.state.files import BaselineError, place, replace

#: 1, argued: Keys that are remembered of each channel: 20 records of each of 56 joints are kept by the core at most.
REMEMBERED: Final = 2000
FILE: Final = "notified.json"
WEBHOOK_SECRET: Final = "JOINTWATCH_WEBHOOK_SECRET"  # environment variables
MAIL_PASSWORD: Final = "JOINTWATCH_MAIL_PASSWORD"


class Notifier:
    """All channels, and what each has sent."""

    def __init__(self, robot: str, page: str, file: Path) -> None:
        """robot: its name; page: the address that links begin with; file: what is remembered."""
        self._robot, self._page, self._file = robot, page.rstrip("/"), file
        self._channels: dict[str, DeliveryChannel] = {}
        self._unusable: dict[str, int] = {}  # channel without its secret → notifications that were dropped
        self._taken: dict[str, dict[str, None]] = {}  # channel → keys, the oldest first
        self._sent = _read(file)  # of these what is delivered or given up
        self._notes: queue.SimpleQueue[tuple[str, str]] = queue.SimpleQueue()
        threading.Thread(target=self._remember, name="notify-notes", daemon=True).start()

    def add(self, name: str, send: Callable[[Notification], None] | None, **more: Any) -> None:
        """Add a channel; send: how it delivers one, None where it cannot: what it should have sent is then counted."""
        self._taken[name] = dict.fromkeys(self._sent.get(name, ()))
        if send is None:
            self._unusable[name] = 0
        else:
            self._channels[name] = DeliveryChannel(name, send, lambda one: self._notes.put((name, one.key)), **more)

    def changed(self, joint: str, records: Sequence[Mapping[str, Any]]) -> None:
        """The records of a joint; hands those that are new to every channel. Never waits."""
        for record in records:
            if record["acknowledged"] or record.get("to") is None:
                continue
            one = Notification(self._robot, joint, dict(record), self._page)
            for name, taken in self._taken.items():
                if one.key in taken:
                    continue
                taken[one.key] = None
                while len(taken) > REMEMBERED:
                    del taken[next(iter(taken))]
                if name in self._channels:
                    self._channels[name].offer(one)
                else:
                    self._unusable[name] += 1

    def counts(self) -> dict[str, dict[str, int]]:
        """Channel → how many were sent, tried again, and dropped by cause, since the start."""
        found = {name: channel.counts() for name, channel in self._channels.items()}
        return found | {name: {"dropped_no_secret": count} for name, count in self._unusable.items()}

    def _remember(self) -> None:
        """Write what is sent to the file, in a thread of its own: a slow disk delays nothing."""
        trouble = ""
        while True:
            name, key = self._notes.get()
            self._sent[name] = [*self._sent.get(name, ()), key][-REMEMBERED:]
            try:
                replace(self._file, json.dumps(self._sent).encode(), 0o600)
                trouble = ""
            except BaselineError as error:
                if str(error) != trouble:
                    trouble = str(error)
                    log.warning("%s: after a restart the last notifications are sent again", error)


def _read(file: Path) -> dict[str, list[str]]:
    try:
        found = json.loads(file.read_bytes())
        return {str(name): [str(key) for key in keys] for name, keys in found.items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, AttributeError, TypeError) as error:
        log.warning("%s cannot be used (%s): open changes are reported again", file, error)
        return {}


def notifier(config: Config) -> Notifier | None:
    """The notifier that the configuration asks for; None where it asks for none."""
    settings = config.notify
    if settings is None:
        return None
    found = Notifier(config.robot.name, settings.link or config.publish.page, place(config, FILE))
    if settings.webhook is not None:
        secret = _secret(settings.webhook.secret, WEBHOOK_SECRET, "webhook")
        found.add("webhook", Webhook(settings.webhook.url, secret).send if secret else None)
    if settings.mail is not None:
        password = _secret(settings.mail.password, MAIL_PASSWORD, "mail") if settings.mail.user is not None else ""
        able = password or settings.mail.user is None
        found.add("mail", Mail(settings.mail, password).send if able else None)
    return found


def _secret(file: Path | None, variable: str, name: str) -> str:
    """The secret of a file, else of an environment variable; empty, and said, where there is none."""
    try:
        found = file.read_text("utf-8").strip() if file is not None else os.environ.get(variable, "").strip()
    except (OSError, ValueError) as error:
        log.warning("no notifications by %s: %s: %s", name, file, error)
        return ""
    if not found:
        log.warning("no notifications by %s: expected its secret in $%s or in a file, found neither", name, variable)
    return found
