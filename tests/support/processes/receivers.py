"""Real receivers of notifications: an HTTP server and an SMTP server, each on a port of its own, in a thread."""

import socketserver
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self


@dataclass
class HttpReceiver:
    """Keeps every POST; answers what `answer` says."""

    answer: Callable[[int], int] = lambda _: 204  # number of the request, from 0 → status
    requests: list[tuple[str, dict[str, str], bytes]] = field(default_factory=list)

    def __enter__(self) -> Self:
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                outer.requests.append((self.path, dict(self.headers.items()), body))
                self.send_response(outer.answer(len(outer.requests) - 1))
                self.end_headers()

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/hook?robot=arm"


@dataclass
class Letter:
    """What one SMTP transaction has brought."""

    sender: str
    to: list[str]
    data: bytes
    user: str


@dataclass
class SmtpReceiver:
    """A mail server as RFC 5321 has it, with AUTH PLAIN (RFC 4954) and, given a context, STARTTLS (RFC 3207)."""

    refusal: Callable[[str], str] = lambda _: ""  # command line → answer instead of the usual one
    context: ssl.SSLContext | None = None
    at_once: bool = False  # TLS from the first byte
    letters: list[Letter] = field(default_factory=list)

    def __enter__(self) -> Self:
        outer = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                outer._talk(self)

        self._server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    def _talk(self, peer: socketserver.StreamRequestHandler) -> None:
        def say(text: str) -> None:
            peer.wfile.write(f"{text}\r\n".encode())

        def encrypt() -> None:
            assert self.context is not None
            peer.connection = self.context.wrap_socket(peer.connection, server_side=True)
            peer.rfile = peer.connection.makefile("rb")
            peer.wfile = peer.connection.makefile("wb", 0)

        try:
            if self.at_once:
                encrypt()
            self._answer(peer, say, encrypt)
        except OSError:
            pass  # the client has gone, for example because it does not trust the certificate
        finally:
            for opened in (peer.rfile, peer.wfile, peer.connection):
                with suppress(OSError):
                    opened.close()

    def _answer(
        self, peer: socketserver.StreamRequestHandler, say: Callable[[str], None], encrypt: Callable[[], None]
    ) -> None:
        say("220 receiver.example ESMTP")
        letter = Letter("", [], b"", "")
        while line := peer.rfile.readline():
            text = line.decode("ascii").strip()
            verb = text.upper()
            if refused := self.refusal(text):
                say(refused)
            elif verb.startswith("EHLO"):
                offered = "" if self.context is None or self.at_once else "250-STARTTLS\r\n"
                say(f"250-receiver.example\r\n{offered}250 AUTH PLAIN")
            elif verb == "STARTTLS":
                say("220 go on")
                encrypt()
            elif verb.startswith("AUTH PLAIN "):
                letter.user = text.split()[2]
                say("235 welcome")
            elif verb.startswith("MAIL FROM:"):
                letter.sender = text[10:].split()[0].strip("<>")
                say("250 ok")
            elif verb.startswith("RCPT TO:"):
                letter.to.append(text[8:].split()[0].strip("<>"))
                say("250 ok")
            elif verb == "DATA":
                say("354 end with a dot")
                letter.data = b"".join(iter(peer.rfile.readline, b".\r\n"))
                self.letters.append(letter)
                letter = Letter("", [], b"", letter.user)
                say("250 taken")
            elif verb == "QUIT":
                say("221 bye")
                return
            else:
                say("250 ok")


@contextmanager
def silent_receiver() -> Iterator[int]:
    """The port of a server that takes connections and never says a word."""
    done = threading.Event()

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            done.wait(60)

    server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield int(server.server_address[1])
    finally:
        done.set()
        server.shutdown()
        server.server_close()


@contextmanager
def dripping_receiver() -> Iterator[int]:
    """The port of an HTTP server whose answer never ends: one byte of a header every 0.05 s."""
    done = threading.Event()

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            self.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
            while not done.wait(0.05):
                try:
                    self.wfile.write(b"a")
                except OSError:
                    return

    server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield int(server.server_address[1])
    finally:
        done.set()
        server.shutdown()
        server.server_close()
