"""The requests that change anything: POST /api/baseline and /api/changes; checks who sends them.

The token is in a header that no form can set, and that a foreign page can set only after a preflight request of the
browser, which is never answered here; so a click on another page can change nothing. The web guard compares origins as
well. A wrong token costs its sender a pause, one after the other, so that guessing is hopeless; of a sender that has
several such pauses before it, no token is looked at.
"""

import asyncio
import hmac
import json
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response

from daq.outlet.connections import CountedLog, source
from daq.outlet.history import History

LONGEST: Final = 1000  # bytes of a request
PAUSE: Final = 0.5  # s that a wrong token costs; one at a time of each source
MOST_WRONG: Final = 8  # wrong tokens of one source whose pauses are not over

# Sets the baseline of a joint, or of all (None), or acknowledges its changes. Raises ValueError with the reason why it
# cannot be done now.
Action = Callable[[History, str | None], Awaitable[None]]


class TokenRequest:
    """Checks a request and passes it on."""

    def __init__(self, token: str, joints: frozenset[str], actions: Mapping[str, Action]) -> None:
        """actions: path of the request → what it does."""
        self._token, self._joints, self._actions = token.encode(), joints, actions
        self._turns: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)  # by source
        self._wrong: Counter[str] = Counter()  # by source
        self._log = CountedLog("page: requests with a wrong token: %d, the last from %s")

    async def answer(self, request: Request, history: History) -> Response:
        """204 when it is done; otherwise an error status with the reason in one line."""
        sender = source(request.client.host if request.client else "")
        if self._wrong[sender] >= MOST_WRONG:
            self._log.count(sender)
            return _refuse(429, "Too many wrong tokens came from your address: try again in some seconds.")
        scheme, _, given = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not hmac.compare_digest(given.strip().encode(), self._token):
            await self._pause(sender)
            return _refuse(401, "This is not the token that the service printed at its start.")
        if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
            return _refuse(415, "Expected a JSON object.")
        body = b""
        try:
            async for part in request.stream():
                body += part
                if len(body) > LONGEST:
                    return _refuse(413, f"Expected at most {LONGEST} bytes.")
        except ClientDisconnect:
            return _refuse(408, "The request did not come completely.")
        try:
            joint = json.loads(body).get("joint")
        except (ValueError, AttributeError, RecursionError):
            return _refuse(400, 'Expected {"joint": NAME}, or {} for all of them.')
        if joint is not None and not (isinstance(joint, str) and joint in self._joints):
            return _refuse(404, f"There is no joint {joint!r}.")
        try:
            await self._actions[request.url.path](history, joint)
        except ValueError as error:
            return _refuse(409, f"{error}.")
        return Response(status_code=204)

    async def _pause(self, sender: str) -> None:
        """Wait for a pause after those of the same sender."""
        self._log.count(sender)
        self._wrong[sender] += 1
        try:
            async with self._turns[sender]:
                await asyncio.sleep(PAUSE)
        finally:
            self._wrong[sender] -= 1
            if not self._wrong[sender]:
                del self._wrong[sender], self._turns[sender]


def _refuse(status: int, why: str) -> Response:
    return PlainTextResponse(f"{why}\n", status)
