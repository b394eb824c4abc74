"""Sends a notification as an HTTP request: POST, JSON, signed with HMAC-SHA256 (RFC 2104).

The header X-Jointwatch-Signature is "sha256=" and the hexadecimal HMAC of the whole body. The body says when it was
sent and which change it is about, so that a receiver can refuse what is old and what it has had.
"""

import hashlib
import hmac
import http.client
import time
from http import HTTPStatus
from typing import Final
from urllib.parse import urlsplit

from daq.outlet.notifications.channel import LONGEST, DeliveryRefusedError, deadline
from daq.outlet.notifications.notification import Notification

SIGNATURE: Final = "X-Jointwatch-Signature"
AGAIN: Final = (HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_EARLY, HTTPStatus.TOO_MANY_REQUESTS)  # refused for now


def sign(secret: str, body: bytes) -> str:
    """The signature of a body."""
    return f"sha256={hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()}"


class Webhook:
    """Sends to one address."""

    def __init__(self, url: str, secret: str, longest: float = LONGEST) -> None:
        """longest: s that one request may take."""
        self._parts, self._secret, self._longest = urlsplit(url), secret, longest

    def send(self, one: Notification) -> None:
        """Send it. Raises DeliveryRefusedError where the receiver will never take it, OSError otherwise.

        A redirection is not followed: the address in the configuration has to be the receiver's own.
        """
        parts = self._parts
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        connection = kind(str(parts.hostname), parts.port, timeout=self._longest)
        body = one.body(time.time())
        headers = {
            "Content-Type": "application/json",
            "User-Agent": "jointwatch",
            SIGNATURE: sign(self._secret, body),
        }
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        try:
            with deadline(lambda: connection.sock, self._longest):
                connection.request("POST", path, body, headers)
                answer = connection.getresponse()
        except http.client.HTTPException as error:
            raise OSError(f"{parts.hostname} does not speak HTTP: {error!r}") from error
        finally:
            connection.close()
        if HTTPStatus.OK <= answer.status < HTTPStatus.MULTIPLE_CHOICES:
            return
        answered = f"{parts.hostname} answered {answer.status} {answer.reason}"
        if answer.status >= HTTPStatus.INTERNAL_SERVER_ERROR or answer.status in AGAIN:
            raise OSError(answered)
        raise DeliveryRefusedError(answered)
