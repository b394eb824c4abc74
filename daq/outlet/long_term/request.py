"""Answers /api/history?joint=NAME&span=SECONDS from the history file: figures, use and changes of one joint.

The file is read in a thread, through a connection of its own, so that neither the page nor the writer waits.
"""

import asyncio
import json
import time
from pathlib import Path
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response

from daq.outlet.long_term.keeper import Keeper
from daq.state.history.file import HistoryError
from daq.state.history.reading import grain_of, reading
from daq.stream.json_messages import finite

#: s, argued: Longest and shortest time that can be asked for: 100 years, a minute.
LONGEST: Final = 100 * 366 * 86_400.0
SHORTEST: Final = 60.0


async def answer(keeper: Keeper | None, request: Request) -> Response:
    """The answer, as JSON, with `cause` where there is no history; 400 for a question that makes no sense."""
    if keeper is None:
        return _json({"cause": "this service keeps no history: [history] keep = false"})
    joint, span = request.query_params.get("joint", ""), request.query_params.get("span", "86400")
    try:
        seconds = float(span)
        if not SHORTEST <= seconds <= LONGEST:
            raise ValueError
    except ValueError:
        text = f"expected span = seconds from {SHORTEST:g} to {LONGEST:g}, found {span!r}\n"
        return Response(text, 400, media_type="text/plain")
    status = keeper.status()
    try:
        body = await asyncio.to_thread(of_joint, keeper.path, joint, seconds)
    except HistoryError as error:
        body = {"cause": str(error)}
    return _json(body | {"status": status})


def of_joint(path: Path, joint: str, seconds: float, now: float | None = None) -> dict[str, Any]:
    """What the file has of a joint in the last seconds; rows are start, n, mean, deviation, low, high."""
    end = time.time() if now is None else now
    grain = grain_of(seconds)
    with reading(path, end) as history:
        total = history.total_use(joint)
        values = history.values(grain, end - seconds, end, joint)
        return {
            "joint": joint,
            "start": end - seconds,
            "end": end,
            "interval": grain.seconds,
            "quantities": [
                {"name": quantity.name, "unit": quantity.unit, "rows": rows} for quantity, rows in values.items()
            ],
            "use": [(row.start, *row.counts) for row in history.use(grain, end - seconds, end, joint)],
            "total": None if total is None else {"since": total.since, "unit": total.unit, **total.counts._asdict()},
            "changes": history.changes(joint, end - seconds),
            "notes": history.notes(),
        }


def _json(body: dict[str, Any]) -> Response:
    text = json.dumps(finite(body), allow_nan=False, ensure_ascii=False)
    return Response(text, media_type="application/json", headers={"Cache-Control": "no-store"})
