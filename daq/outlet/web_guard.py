"""Protects the page: refuses foreign hosts and origins, and forbids browsers to load anything from elsewhere.

A page of another site in the same browser could otherwise read the robot's data: through a WebSocket (which the
same-origin rule does not cover) or by letting its own name point to this address (DNS rebinding). An IP address cannot
be redirected like that, so addresses are always allowed; names must be this machine's. A scraper of /metrics is no
exception: what it reads, a page of another site could read as well.
"""

import ipaddress
import socket
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

    def __init__(self, application: ASGIApp) -> None:
        self._application = application
        own = socket.gethostname().lower()
        self._names = frozenset({"localhost", own, f"{own}.local", socket.getfqdn().lower()})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if not self._is_own(host):
            refusal = f"Unknown host name {host!r}: use the machine's IP address or its own name.\n"
            await PlainTextResponse(refusal, 421, HEADERS)(scope, receive, send)
            return
        origin = headers.get("origin")
        if origin is not None and urlsplit(origin).netloc.lower() != host.lower():
            await PlainTextResponse("Pages of another origin are refused.\n", 403, HEADERS)(scope, receive, send)
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
