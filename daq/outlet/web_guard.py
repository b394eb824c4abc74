"""Who may look: refuses foreign hosts and origins, and tells browsers to load nothing from anywhere else.

A page of another site that is open on the same machine could otherwise read the robot's data: through a WebSocket
(which the same-origin rule does not cover) or by pointing its own name at this address (DNS rebinding). An IP address
typed by a person cannot be pointed elsewhere, so addresses are always welcome; names must be this machine's.
"""

import ipaddress
import socket
from collections.abc import Sequence
from typing import Final
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class WebGuard:
    """Wraps the application."""

    def __init__(self, application: ASGIApp, open_paths: Sequence[str]) -> None:
        """open_paths: served under any name (a scraper knows this machine by whatever name its network gives it)."""
        self._application = application
        self._open_paths = frozenset(open_paths)
        own = socket.gethostname().lower()
        self._names = frozenset({"localhost", own, f"{own}.local", socket.getfqdn().lower()})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if scope["path"] not in self._open_paths and not self._is_own(host):
            refusal = f"This name is not known here: {host!r}. Open the page by address or by the machine's own name.\n"
            await PlainTextResponse(refusal, 421, HEADERS)(scope, receive, send)
            return
        origin = headers.get("origin")
        if origin is not None and urlsplit(origin).netloc.lower() != host.lower():
            await PlainTextResponse("A page from elsewhere may not look in here.\n", 403, HEADERS)(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        await self._application(scope, receive, send_guarded)

    def _is_own(self, host: str) -> bool:
        try:
            name = urlsplit(f"//{host}").hostname or ""
        except ValueError:
            return False
        if name in self._names:
            return True
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return True
