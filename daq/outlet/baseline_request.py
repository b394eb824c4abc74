"""POST /api/baseline: the only request that changes anything; checks who sends it.

The token is in a header that no form can set, and that a foreign page can set only after a preflight request of the
browser, which is never answered here; so a click on another page cannot set a baseline. The web guard compares origins
as well. A wrong token costs its sender a pause, so that guessing is hopeless.
"""

import asyncio
import hmac
import json
from collections.abc import Awaitable, Callable
from typing import Final

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from daq.outlet.history import History

LONGEST: Final = 1000  # bytes of a request
PAUSE: Final = 0.5  # s that a wrong token costs; one at a time

# Sets the baseline of a joint, or of all (None). Raises ValueError with the reason why it cannot be done now.
SetBaseline = Callable[[History, str | None], Awaitable[None]]


class BaselineRequest:
    """Checks a request and passes it on."""

    def __init__(self, token: str, joints: frozenset[str], set_baseline: SetBaseline) -> None:
        self._token, self._joints, self._set = token.encode(), joints, set_baseline
        self._one = asyncio.Lock()

    async def answer(self, request: Request, history: History) -> Response:
        """204 when it is done; otherwise an error status with the reason in one line."""
        scheme, _, given = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not hmac.compare_digest(given.strip().encode(), self._token):
            async with self._one:
                await asyncio.sleep(PAUSE)
            return _refuse(401, "This is not the token that the service printed at its start.")
        if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
            return _refuse(415, "Expected a JSON object.")
        body = b""
        async for part in request.stream():
            body += part
            if len(body) > LONGEST:
                return _refuse(413, f"Expected at most {LONGEST} bytes.")
        try:
            joint = json.loads(body).get("joint")
        except (ValueError, AttributeError, RecursionError):
            return _refuse(400, 'Expected {"joint": NAME}, or {} for all of them.')
        if joint is not None and not (isinstance(joint, str) and joint in self._joints):
            return _refuse(404, f"There is no joint {joint!r}.")
        try:
            await self._set(history, joint)
        except ValueError as error:
            return _refuse(409, f"{error}.")
        return Response(status_code=204)


def _refuse(status: int, why: str) -> Response:
    return PlainTextResponse(f"{why}\n", status)
