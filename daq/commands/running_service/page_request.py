"""Requests of commands to the dashboard of a running service; requests that change something contain its token."""

import json
import ssl
import urllib.error
import urllib.request
from collections.abc import Sequence
from typing import Any, Final

from daq.config.sections import Config
from daq.state.files import BaselineError, token_of

TIMEOUT: Final = 10.0  # s


def send(config: Config, page: str, path: str, joints: Sequence[str]) -> None:
    """Post a request for each of these joints, or one for all joints if none is named.

    page: its URL; path: api/baseline or api/changes. Raises BaselineError with the service's words.
    """
    headers = {"Authorization": f"Bearer {token_of(config)[0]}", "Content-Type": "application/json"}
    for asked in [{"joint": joint} for joint in joints] or [{}]:
        body = json.dumps(asked).encode()
        _opened(config, page, urllib.request.Request(f"{page.rstrip('/')}/{path}", body, headers, method="POST"))


def state(config: Config, page: str) -> dict[str, Any]:
    """The present state of the service, as /api/state has it. Raises BaselineError."""
    found: dict[str, Any] = json.loads(_opened(config, page, urllib.request.Request(f"{page.rstrip('/')}/api/state")))
    return found


def _opened(config: Config, page: str, request: urllib.request.Request) -> bytes:
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT, context=_trusted(config)) as answer:
            body: bytes = answer.read()
            return body
    except urllib.error.HTTPError as error:
        raise BaselineError(error.read().decode(errors="replace").strip() or str(error)) from error
    except OSError as error:
        raise BaselineError(f"{page} does not answer: {error}; is jointwatch running there?") from error


def _trusted(config: Config) -> ssl.SSLContext | None:
    """A context that trusts our own certificate, self-signed or not; None without one."""
    lock = config.publish.tls
    return None if lock is None else ssl.create_default_context(cafile=lock.certificate)
