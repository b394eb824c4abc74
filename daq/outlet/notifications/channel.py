"""One way of sending notifications, in a thread of its own: what is due is tried, what fails is tried again, within
limits, and what is given up is counted. Whoever hands a notification over never waits."""

import contextlib
import heapq
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Final

from daq.outlet.notifications.notification import Notification
from daq.processes.logs import log

#: s, argued: Between two attempts, the first to the last: a receiver that restarts is back within a minute; one that is
#: away for longer than the sum, 33 minutes, needs a person, who then sees the change on the page.
PAUSES: Final = (5.0, 15.0, 45.0, 120.0, 300.0, 600.0, 900.0)
#: 1, argued: Notifications that wait: every parameter of a robot of 28 joints at once; more are no news.
WAITING: Final = 300
#: s, argued: One attempt may take this long from its connection to its answer, however slowly the receiver drips.
LONGEST: Final = 20.0


class DeliveryRefusedError(Exception):
    """The receiver has refused this notification for good: another attempt would have the same answer."""


class DeliveryChannel:
    """Delivers notifications by one function."""

    def __init__(
        self,
        name: str,
        send: Callable[[Notification], None],
        done: Callable[[Notification], None],
        pauses: tuple[float, ...] = PAUSES,
    ) -> None:
        """Start the thread.

        name: webhook or mail; send: delivers one, raises DeliveryRefusedError where another attempt is useless, OSError
        (which smtplib's errors are) or ValueError otherwise; done: called from the thread once a notification is
        delivered or given up.
        """
        self.name = name
        self._send, self._done, self._pauses = send, done, pauses
        self._changed = threading.Condition()
        self._waiting: list[tuple[float, int, int, Notification]] = []  # due (monotonic s), number, attempts before
        self._number = 0
        self._counts: Counter[str] = Counter()
        self._trouble = ""
        threading.Thread(target=self._run, name=f"notify-{name}", daemon=True).start()

    def offer(self, one: Notification) -> None:
        """Take a notification; where too many wait it is dropped and counted. Never waits."""
        with self._changed:
            if len(self._waiting) < WAITING:
                self._put(one, time.monotonic(), 0)
                return
            self._counts["dropped_queue_full"] += 1
        self._done(one)

    def counts(self) -> dict[str, int]:
        """How many were sent, tried again, and dropped by cause, since the start."""
        with self._changed:
            return dict(self._counts)

    def _put(self, one: Notification, due: float, attempts: int) -> None:
        self._number += 1
        heapq.heappush(self._waiting, (due, self._number, attempts, one))
        self._changed.notify()

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._waiting or self._waiting[0][0] > time.monotonic():
                    self._changed.wait(self._waiting[0][0] - time.monotonic() if self._waiting else None)
                _, _, attempts, one = heapq.heappop(self._waiting)
            self._attempt(one, attempts)

    def _attempt(self, one: Notification, attempts: int) -> None:
        try:
            self._send(one)
            result, trouble = "sent", ""
        except DeliveryRefusedError as error:
            result, trouble = "dropped_refused", f"{error}; it is not tried again"
        except (OSError, ValueError) as error:
            more = attempts < len(self._pauses)
            result, trouble = "retried" if more else "dropped_gave_up", str(error) or type(error).__name__
        self._say(trouble)
        with self._changed:
            self._counts[result] += 1
            if result == "retried":
                self._put(one, time.monotonic() + self._pauses[attempts], attempts + 1)
                return
        self._done(one)

    def _say(self, trouble: str) -> None:
        """Log a trouble once, and its end."""
        if trouble and trouble != self._trouble:
            log.warning("notification by %s: %s", self.name, trouble)
        elif self._trouble and not trouble:
            log.info("notifications by %s are delivered again", self.name)
        self._trouble = trouble


@contextlib.contextmanager
def deadline(connected: Callable[[], socket.socket | None], seconds: float = LONGEST) -> Iterator[None]:
    """End an exchange that takes longer: a timeout of the socket alone begins anew with every byte.

    connected: returns the socket, None while there is none.
    """
    late = threading.Event()

    def cut() -> None:
        late.set()
        sock = connected()
        if sock is not None:
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)

    timer = threading.Timer(seconds, cut)
    timer.daemon = True
    timer.start()
    words = f"the receiver has not answered within {seconds:g} s"
    try:
        yield
    except Exception as error:
        if late.is_set():
            raise TimeoutError(words) from error
        raise
    finally:
        timer.cancel()
    if late.is_set():  # what was cut off can look like an answer: headers end where the connection ends
        raise TimeoutError(words)
