"""Re-fits of a live service beside the core, or on a cluster while that answers."""

import os
import signal
import subprocess
import time
from concurrent.futures import BrokenExecutor
from pathlib import Path
from typing import Any, Final

import pytest

from daq.core.refit_worker import NICE, RefitWorker
from daq.processes import cluster


def test_a_worker_stands_back_behind_the_core_and_one_that_dies_is_replaced(caplog: pytest.LogCaptureFixture) -> None:
    refits = RefitWorker()
    try:
        first = refits.submit(os.getpid).result(60)
        assert first != os.getpid()
        assert refits.submit(os.nice, 0).result(60) == min(19, os.nice(0) + NICE)
        assert refits.submit(signal.getsignal, signal.SIGINT).result(60) == signal.SIG_IGN
        assert refits.submit(divmod, 7, 2).result(60) == (3, 1)
        os.kill(first, signal.SIGKILL)
        with pytest.raises(BrokenExecutor):
            refits.submit(time.sleep, 60).result(60)
        assert refits.submit(os.getpid).result(120) not in (first, os.getpid())
        assert "the refit worker died; a new one is started" in caplog.text
    finally:
        refits.shutdown()


def test_without_an_answer_the_work_is_done_here(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(cluster, "PATIENCE", 0.3)
    monkeypatch.setattr(cluster._ELSEWHERE, "client", None)
    monkeypatch.setattr(cluster._ELSEWHERE, "next_attempt", 0.0)
    assert cluster.elsewhere("tls://127.0.0.1:9", os.getpid) == os.getpid()
    began = time.monotonic()
    assert cluster.elsewhere("tls://127.0.0.1:9", abs, -3) == 3  # not asked again so soon
    assert time.monotonic() - began < 0.2


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

    dask = pytest.importorskip("dask")
    given = {"ca-file": files["operator"][0], "client.cert": files["operator"][0], "client.key": files["operator"][1]}
    with dask.config.set({f"distributed.comm.tls.{name}": file for name, file in given.items()}):
        _serve_operator_only(distributed, security, monkeypatch)


def _serve_operator_only(distributed: Any, security: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster._ELSEWHERE, "client", None)
    monkeypatch.setattr(cluster._ELSEWHERE, "next_attempt", 0.0)
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, dashboard_address=None, protocol="tls", security=security("operator")
    ) as workers:
        with pytest.raises(OSError, match=r"(?i)tls|ssl|certificate|timed out"):
            distributed.Client(workers.scheduler_address, timeout=2.0, security=security("other"))
        refits = RefitWorker(0, workers.scheduler_address)
        try:
            there = refits.submit(os.getpid).result(60)
            assert there in [nanny.pid for nanny in workers.workers.values()]
            with pytest.raises(ZeroDivisionError):
                refits.submit(divmod, 1, 0).result(60)
        finally:
            refits.shutdown()
