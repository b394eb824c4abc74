"""Re-fits of a live service beside the core, or on a cluster while that answers."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from concurrent.futures import Future
from pathlib import Path
from typing import Any, Final

import pytest

from daq.core import refit_worker
from daq.core.refit_worker import NICE, RefitWorker, RefitWorkerError
from daq.processes import cluster
from daq.processes.child import without_collections
from tests.support.garbage import ENDED, Garbage, collected
from tests.support.processes.waiting import undisturbed, wait_until


def test_a_worker_stands_back_behind_the_core_and_one_that_dies_is_replaced(caplog: pytest.LogCaptureFixture) -> None:
    refits = RefitWorker()
    try:
        first = refits.submit(os.getpid).result(60)
        assert first != os.getpid()
        assert refits.submit(os.nice, 0).result(60) == min(19, os.nice(0) + NICE)
        assert refits.submit(signal.getsignal, signal.SIGINT).result(60) == signal.SIG_IGN
        assert refits.submit(divmod, 7, 2).result(60) == (3, 1)
        assert refits.pid == first
        os.kill(first, signal.SIGKILL)
        while Path(f"/proc/{first}/stat").exists():
            time.sleep(0.01)
        second = ended(refits, refits.submit(os.getpid)).result()
        assert second not in (first, os.getpid()), "what comes after its death is done by the new one"
        running, behind = refits.submit(time.sleep, 60), refits.submit(os.getpid)
        os.kill(second, signal.SIGKILL)
        with pytest.raises(RefitWorkerError, match="the refit worker was replaced: it died"):
            ended(refits, running).result()
        assert ended(refits, behind).result() not in (first, second, os.getpid())
        assert (refits.replaced, refits.cause) == (2, "it died")
        assert caplog.text.count("the refit worker was replaced: it died") == 2
    finally:
        refits.shutdown()


def test_a_worker_does_not_end_what_the_core_has_let_go() -> None:
    collected()
    ENDED.clear()
    with without_collections():
        Garbage()
        refits = RefitWorker()
        try:
            assert refits.submit(collected).result(60) == []
        finally:
            refits.shutdown()
        assert collected() == [os.getpid()]


def test_what_a_job_raises_is_raised_where_its_result_is_asked_for() -> None:
    refits = RefitWorker()
    try:
        with pytest.raises(ZeroDivisionError):
            refits.submit(divmod, 1, 0).result(60)
        assert refits.submit(divmod, 7, 2).result(60) == (3, 1), "and the worker goes on"
    finally:
        refits.shutdown()


def slow_to_load() -> None:
    busy(1.2)


def test_the_time_that_a_job_may_take_begins_when_the_worker_is_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refit_worker, "DEADLINE", 0.5)
    monkeypatch.setattr("estimators.refit.job.warm", slow_to_load)

    def attempt() -> None:
        refits = RefitWorker()
        try:
            began = time.monotonic()
            assert ended(refits, refits.submit(divmod, 7, 2)).result() == (3, 1)
            assert time.monotonic() - began > 1.0, "the premise: it waited for longer than it may take"
            assert refits.replaced == 0
        finally:
            refits.shutdown()

    undisturbed(attempt)


def ended(refits: RefitWorker, job: "Future[Any]") -> "Future[Any]":
    """The job, once it has ended; the worker is looked at meanwhile, as the core does twice a second."""
    patience = time.monotonic() + 120.0
    while not job.done():
        assert time.monotonic() < patience
        refits.check(time.monotonic())
        time.sleep(0.02)
    return job


def busy(seconds: float) -> None:
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


@pytest.mark.parametrize("fault", ["stopped", "endless"])
def test_a_worker_that_hangs_is_replaced_and_what_waits_behind_its_job_is_done(
    fault: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(refit_worker, "SILENT" if fault == "stopped" else "DEADLINE", 1.0)
    refits = RefitWorker()
    try:
        first = refits.submit(os.getpid).result(60)
        hanging, behind = refits.submit(busy, 600.0), refits.submit(os.getpid)
        if fault == "stopped":
            os.kill(first, signal.SIGSTOP)
        began = time.monotonic()
        words = r"it stood still for \d+ s" if fault == "stopped" else "its job took longer than 1 s"
        with pytest.raises(RefitWorkerError, match=words):
            ended(refits, hanging).result()
        assert time.monotonic() - began > 0.9
        monkeypatch.undo()  # the next one has the usual time: on a busy machine it takes seconds to start
        refits.limit = refit_worker.SILENT
        patience = time.monotonic() + 60.0
        while Path(f"/proc/{first}/cwd").exists():
            assert time.monotonic() < patience, "it is ended"
            time.sleep(0.01)
        assert ended(refits, behind).result() not in (first, os.getpid())
        assert re.search(words, caplog.text)
        refits.check(time.monotonic())  # without a job: before, the new one may have stood still for a moment
        assert (refits.replaced, refits.silence) == (1, 0.0)
    finally:
        refits.shutdown()


def test_a_worker_that_works_or_has_nothing_to_do_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refit_worker, "SILENT", 1.5)

    def attempt() -> None:
        refits = RefitWorker()
        try:
            first = refits.submit(os.getpid).result(60)
            assert ended(refits, refits.submit(busy, 2.0)).result() is None
            idle = time.monotonic() + 1.0
            while time.monotonic() < idle:
                refits.check(time.monotonic())
                assert refits.silence == 0.0
                time.sleep(0.02)
            assert refits.submit(os.getpid).result(60) == first
            assert refits.replaced == 0
        finally:
            refits.shutdown()

    undisturbed(attempt)


def test_a_worker_that_gets_no_processor_does_not_stand_still(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refit_worker, "SILENT", 0.5)
    processor = min(os.sched_getaffinity(0))
    refits = RefitWorker()
    worker = refits.submit(os.getpid).result(60)
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as other:
        try:
            os.sched_setaffinity(other.pid, [processor])
            os.sched_setaffinity(worker, [processor])
            os.sched_setscheduler(worker, os.SCHED_IDLE, os.sched_param(0))  # some .3 %, while the other runs
            job = refits.submit(busy, 600.0)
            end = time.monotonic() + 1.5
            while time.monotonic() < end:
                refits.check(time.monotonic())
                time.sleep(0.02)
            assert (refits.replaced, job.done()) == (0, False)
        finally:
            other.kill()
            with contextlib.suppress(ProcessLookupError):
                os.kill(worker, signal.SIGKILL)
            refits.shutdown(wait=False, cancel_futures=True)


@pytest.mark.parametrize(("scheduler", "more"), [("", 0.0), ("tls://127.0.0.1:9", cluster.LONGEST)])
def test_a_worker_may_be_silent_for_as_long_as_a_cluster_may_take_where_there_is_one(
    scheduler: str, more: float
) -> None:
    refits = RefitWorker(scheduler)
    try:
        assert refits.limit == refit_worker.SILENT + more
    finally:
        refits.shutdown(wait=False, cancel_futures=True)


def test_without_an_answer_the_work_is_done_here(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(cluster, "PATIENCE", 0.3)
    monkeypatch.setattr(cluster._ELSEWHERE, "client", None)
    monkeypatch.setattr(cluster._ELSEWHERE, "next_attempt", 0.0)
    assert cluster.elsewhere("tls://127.0.0.1:9", os.getpid) == os.getpid()
    monkeypatch.setattr(cluster, "PATIENCE", 90.0)
    began = time.monotonic()
    assert cluster.elsewhere("tls://127.0.0.1:9", abs, -3) == 3  # not asked again so soon
    assert time.monotonic() - began < 60.0


CERTIFICATE: Final = (
    "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=cluster "
    "-addext subjectAltName=IP:127.0.0.1"
)


def test_a_cluster_works_for_those_with_its_certificate_and_for_nobody_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    distributed = pytest.importorskip("distributed", reason="needs distributed: pip install 'jointwatch[fleet]'")
    files: dict[str, tuple[str, str]] = {}
    for name in ("operator", "other"):
        files[name] = certificate, key = str(tmp_path / f"{name}.pem"), str(tmp_path / f"{name}.key")
        subprocess.run([*CERTIFICATE.split(), "-keyout", key, "-out", certificate], check=True, capture_output=True)

    def security(name: str) -> Any:
        cert, key = files[name]
        roles = {f"tls_{role}_{part}": file for role in ("client", "worker", "scheduler")
                 for part, file in (("cert", cert), ("key", key))}  # fmt: skip
        return distributed.Security(tls_ca_file=files["operator"][0], require_encryption=True, **roles)

    dask = pytest.importorskip("dask", reason="needs dask: pip install 'jointwatch[fleet]'")
    given = {"ca-file": files["operator"][0], "client.cert": files["operator"][0], "client.key": files["operator"][1]}
    with dask.config.set({f"distributed.comm.tls.{name}": file for name, file in given.items()}):
        _serve_operator_only(distributed, security, monkeypatch)


def _serve_operator_only(distributed: Any, security: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster._ELSEWHERE, "client", None)
    monkeypatch.setattr(cluster._ELSEWHERE, "next_attempt", 0.0)
    any_port = {"dashboard": False, "dashboard_address": "127.0.0.1:0"}  # else it is 8787, which another may have
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, scheduler_kwargs=any_port, protocol="tls", security=security("operator")
    ) as workers:
        with pytest.raises(OSError, match=r"(?i)tls|ssl|certificate|timed out"):
            distributed.Client(workers.scheduler_address, timeout=2.0, security=security("other"))
        refits = RefitWorker(workers.scheduler_address)
        try:
            there = [nanny.pid for nanny in workers.workers.values()]
            # one that a busy machine does not connect in time works here, and asks again
            wait_until(lambda: refits.submit(os.getpid).result(60) in there, 180.0, look=1.0)
            with pytest.raises(ZeroDivisionError):
                refits.submit(divmod, 1, 0).result(60)
        finally:
            refits.shutdown()
