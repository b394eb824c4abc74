"""The one request that changes something: who may make it, and what it says to everyone else."""

import asyncio
import http.client
import json
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit

import pytest
from starlette.requests import Request

from daq.outlet.history import History
from daq.outlet.token_request import MOST_WRONG, TokenRequest

GOOD = {"Authorization": "Bearer correct-horse", "Content-Type": "application/json"}


def post(page: str, body: str, method: str = "POST", **headers: str) -> tuple[int, str]:
    line = http.client.HTTPConnection(urlsplit(page).netloc, timeout=60)
    try:
        line.request(method, "/api/baseline", body, {name.replace("_", "-"): value for name, value in headers.items()})
        answer = line.getresponse()
        return answer.status, answer.read().decode()
    finally:
        line.close()


def test_with_the_token_it_is_done(outlet: Any) -> None:
    assert post(outlet.page, json.dumps({"joint": "base"}), **GOOD) == (204, "")
    assert outlet.child.stdout.readline() == "baseline of base\n"
    assert post(outlet.page, "{}", **GOOD) == (204, "")
    assert outlet.child.stdout.readline() == "baseline of all\n"
    other = {"Authorization": "bearer  correct-horse", "Content-Type": "application/json; charset=utf-8"}
    assert post(outlet.page, '{"joint": "base"}'.ljust(1000), **other) == (204, ""), "as other clients write it"
    assert outlet.child.stdout.readline() == "baseline of base\n"


@pytest.mark.parametrize(
    ("body", "headers", "status", "words"),
    [
        ("{}", {}, 401, "token"),
        ("{}", GOOD | {"Authorization": "Bearer correct-hors"}, 401, "token"),
        ("{}", GOOD | {"Authorization": "correct-horse"}, 401, "token"),
        ("{}", GOOD | {"Authorization": "Bearer "}, 401, "token"),
        ("{}", GOOD | {"Content-Type": "text/plain"}, 415, "JSON"),
        ("{}", GOOD | {"Origin": "http://elsewhere.example"}, 403, "another origin"),
        ("{}", GOOD | {"Host": "elsewhere.example"}, 421, "Unknown host"),
        ("{", GOOD, 400, "joint"),
        ("[]", GOOD, 400, "joint"),
        ("[" * 1000, GOOD, 400, "joint"),
        ('{"joint":' * 110, GOOD, 400, "joint"),
        ('{"joint": ["base"]}', GOOD, 404, "no joint"),
        ('{"joint": "../base"}', GOOD, 404, "no joint"),
        ("{}".ljust(1001), GOOD, 413, "1000"),
        ("{}", GOOD | {"Authorization": "Basic correct-horse"}, 401, "token"),
        ('{"joint": "elbow"}', GOOD, 409, "still starting"),
    ],
)
def test_everything_else_is_refused(shared: Any, body: str, headers: dict[str, str], status: int, words: str) -> None:
    found, text = post(shared.page, body, **headers)
    assert (found, words in text, text.count("\n")) == (status, True, 1)


def test_a_form_or_a_link_cannot_do_it(shared: Any) -> None:
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    assert post(shared.page, "joint=base", **form)[0] == 401
    assert post(shared.page, "", method="GET", **GOOD)[0] == 405
    status, _ = post(shared.page, "", method="OPTIONS", Origin="http://elsewhere.example",
                     Access_Control_Request_Headers="authorization")  # fmt: skip
    assert status == 403, "a browser that asks before it sends is told no"


def test_guessing_is_slow_however_many_guess_at_once(shared: Any) -> None:
    guess = GOOD | {"Authorization": "Bearer guess"}
    before = time.monotonic()
    with ThreadPoolExecutor(3) as pool:
        assert [one[0] for one in pool.map(lambda _: post(shared.page, "{}", **guess), range(3))] == [401] * 3
    assert time.monotonic() - before >= 1.5, "half a second each, one after the other"


def test_wrong_tokens_count_only_while_their_pauses_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("daq.outlet.token_request.PAUSE", 0.01)
    answering = TokenRequest("correct-horse", frozenset(), {})
    scope = {"type": "http", "client": ("10.0.0.7", 5), "headers": [(b"authorization", b"Bearer guess")]}
    history = History("arm", [])

    async def status() -> int:
        return (await answering.answer(Request(scope), history)).status_code

    async def several() -> tuple[list[int], list[int]]:
        one_by_one = [await status() for _ in range(3 * MOST_WRONG)]
        return one_by_one, await asyncio.gather(*(status() for _ in range(MOST_WRONG + 2)))

    one_by_one, at_once = asyncio.run(several())
    assert set(one_by_one) == {401}
    assert sorted(at_once) == [401] * MOST_WRONG + [429] * 2


def test_a_request_that_breaks_off_is_told_so_and_nothing_is_done() -> None:
    async def gone() -> dict[str, object]:
        return {"type": "http.disconnect"}

    async def done(_history: History, joint: str | None) -> None:
        raise AssertionError(joint)

    headers = [(b"authorization", b"Bearer right"), (b"content-type", b"application/json")]
    scope = {"type": "http", "method": "POST", "path": "/api/baseline", "headers": headers, "client": ("::1", 1)}
    request, handler = Request(scope, gone), TokenRequest("right", frozenset({"elbow"}), {"/api/baseline": done})
    answer = asyncio.run(handler.answer(request, History("arm", [])))
    assert (answer.status_code, bytes(answer.body)) == (408, b"The request did not come completely.\n")
