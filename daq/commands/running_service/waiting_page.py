"""A page that shows the progress while kernels are compiled, until the service's dashboard replaces it.

Another process serves it, since the one that compiles forks, which a process with threads should not do.
"""

import contextlib
import html
import os
import re
import signal
import socket
from collections.abc import Callable
from threading import Thread
from typing import Final, Self
from urllib.parse import urlsplit

from daq.processes.child import Child

RETRY: Final = 2  # s after which a program may ask again
LONGEST: Final = 4096  # bytes of a line that are shown: as many as a pipe takes at once
FAR: Final = re.compile(r"\s*(\d+) of +(\d+) ")
HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; "
        "form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Retry-After": str(RETRY),
}
STYLE: Final = "/waiting.css"
RULES: Final = """\
:root { color-scheme: light dark; font: 16px/1.6 system-ui, sans-serif; }
main { max-width: 36rem; margin: 20vh auto; padding: 0 1rem; }
progress { display: block; width: 100%; margin-bottom: 0.5rem; }
"""
SCRIPT: Final = "/waiting.js"
# the page asks again each second, also while there is no answer, and reloads itself when the service answers
CODE: Final = """\
setInterval(async () => {
  try {
    const answer = await fetch("/", { cache: "no-store" });
    if (answer.ok) { location.reload(); return; }
    const found = new DOMParser().parseFromString(await answer.text(), "text/html");
    document.querySelector("main").replaceWith(found.querySelector("main"));
  } catch { /* between this page and the service's */ }
}, 1000);
"""
PAGE: Final = """\
<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>jointwatch: {title}</title><script src="{script}"></script>
<link rel="stylesheet" href="{style}">
<main><h1>jointwatch</h1><p>A first start compiles the kernels that it needs, once. Then this page shows the joints.</p>
<p><progress value="{done}" max="{count}"></progress> {title}</p><p>{line}</p></main></html>
"""


class WaitingPage:
    """Serves the page from the first line about the progress on.

    If its address cannot be served, nothing happens; the service will report the error.
    """

    def __init__(self, address: str, say: Callable[[str], None], shown: Callable[[], None] = lambda: None) -> None:
        """Prepare the page.

        address: http://HOST:PORT of this machine only, otherwise nothing is served; say: gets the lines as well; shown:
        is called when the page can be seen.
        """
        self._address, self._say, self._shown = address, say, shown
        self._child: Child | None = None
        self._lines = -1  # write end of the pipe; −1: there was no line so far, or nothing is served

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._child is not None:
            self._child.send(signal.SIGKILL)
            self._child.wait()
            os.close(self._lines)

    def say(self, line: str) -> None:
        """Take a line about the progress, in this process or in one that it has forked since the first one."""
        self._say(line)
        if self._child is None and _is_served(self._address):
            self._begin()
        if self._lines >= 0:
            with contextlib.suppress(OSError):  # the page has died: what is compiled does not depend on it
                os.write(self._lines, line.encode()[: LONGEST - 1] + b"\n")

    def _begin(self) -> None:
        told, self._lines = os.pipe()
        ready, begun = os.pipe()
        os.set_blocking(self._lines, False)

        def serve() -> int:
            os.close(self._lines)  # the copy of this process, without which the pipe would not end
            return _serve(self._address, told, begun)

        self._child = Child("page", serve)
        os.close(told)
        os.close(begun)
        if os.read(ready, 1):
            self._shown()
        os.close(ready)


def _is_served(address: str) -> bool:
    """Whether an address is local to this machine and needs no certificate."""
    from daq.config.fields import is_local

    try:
        place = urlsplit(address)
        return place.scheme == "http" and bool(place.port) and is_local(place.hostname or "")
    except ValueError:
        return False


def _serve(address: str, told: int, begun: int) -> int:
    """Answer until the pipe of lines ends, which it does with the last process that writes to it.

    begun: a pipe that gets a byte as soon as the page can be seen.
    """
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer  # imported here, since it takes 2 MB

    state = [""]

    class NotThereYet(BaseHTTPRequestHandler):
        """Answers every request that the service has not started yet."""

        timeout = 10.0  # s without data from a client

        def do_GET(self) -> None:
            path = self.path.partition("?")[0]
            if path == SCRIPT:
                self._send(200, "text/javascript", CODE)
            elif path == STYLE:
                self._send(200, "text/css", RULES)
            elif path == "/":
                self._send(503, "text/html; charset=utf-8", _page(state[0]))
            else:
                self._send(503, "text/plain; charset=utf-8", f"kernels are compiled: {state[0]}\n")

        def _send(self, status: int, kind: str, text: str) -> None:
            body = text.encode()
            self.send_response(status)
            for name, value in (HEADERS | {"Content-Type": kind, "Content-Length": str(len(body))}).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def version_string(self) -> str:
            return "jointwatch"

        def log_message(self, *_: object) -> None:
            """Log nothing: browsers ask each second."""

    place = urlsplit(address)
    host = place.hostname or ""
    try:
        listening = socket.create_server(
            (host, place.port or 0), family=socket.AF_INET6 if ":" in host else socket.AF_INET
        )
    except OSError:
        return 0
    server = ThreadingHTTPServer(listening.getsockname()[:2], NotThereYet, bind_and_activate=False)
    server.socket.close()
    server.socket = listening
    Thread(target=server.serve_forever, daemon=True).start()
    os.write(begun, b"1")
    os.close(begun)
    with os.fdopen(told, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            state[0] = line.strip()
    return 0


def _page(line: str) -> str:
    """The page with the last line about the progress."""
    far = FAR.match(line)
    done, count = far.groups() if far else ("0", "1")
    title = f"compiling kernels, {done} of {count}" if far else "compiling kernels"
    return PAGE.format(title=title, script=SCRIPT, style=STYLE, done=done, count=count, line=html.escape(line))
