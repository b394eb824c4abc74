"""Gateways in a configuration: every mistake at once, none that others could read by default."""

from pathlib import Path

import pytest

from daq.config.gateways import SparkplugSettings
from daq.config.load import digest, load
from daq.config.words import ConfigError

TEMPLATE = Path(__file__).parents[3] / "daq" / "jointwatch.toml"


def written(folder: Path, lines: str) -> Path:
    file = folder / "jointwatch.toml"
    file.write_text(f"{TEMPLATE.read_text('utf-8')}\n{lines}", "utf-8")
    return file


def mistakes(folder: Path, lines: str) -> dict[str, str]:
    with pytest.raises(ConfigError) as refused:
        load(written(folder, lines))
    found: dict[str, str] = {}
    for problem in refused.value.problems:
        found[problem.path] = f"{found.get(problem.path, '')}{problem.text}\n"
    return found


def test_without_a_table_there_is_none() -> None:
    assert load(TEMPLATE).gateways == {}


def test_every_mistake_is_reported_at_once(tmp_path: Path) -> None:
    found = mistakes(
        tmp_path,
        """
        [gateways.a]
        kind = "foxglov"
        [gateways.b]
        kind = "foxglove"
        address = "ws://0.0.0.0:8765"
        [gateways.c]
        kind = "foxglove"
        addres = "ws://127.0.0.1:1"
        [gateways.bus]
        kind = "foxglove"
        address = "ws://127.0.0.1:8080"
        [gateways.d]
        kind = "foxglove"
        address = "http://127.0.0.1/x"
        [gateways.core]
        kind = "foxglove"
        address = "wss://127.0.0.1:8766"
        [gateways.e]
        kind = "sparkplug"
        broker = "mqtt://broker:1883"
        group = "line3"
        [gateways.f]
        kind = "sparkplug"
        broker = "mqtt://127.0.0.1"
        group = "line/3"
        [gateways.g]
        kind = "opcua"
        endpoint = "opc.tcp://0.0.0.0:4840"
        [gateways.h]
        kind = "ros2"
        topic = "health"
        """,
    )
    assert 'unknown kind "foxglov"' in found.pop("gateways.a")
    assert "insecure = true allows it" in found.pop("gateways.b")
    assert 'did you mean "address"?' in found.pop("gateways.c.addres")
    assert "than a driver's" in found.pop("gateways.bus")
    assert "ws://HOST:PORT" in found.pop("gateways.d.address")
    assert "mqtts://" in found.pop("gateways.e")
    assert "mqtts://HOST:PORT" in found.pop("gateways.f.broker")
    assert "without /, + and #" in found.pop("gateways.f.group")
    assert "certificate and key" in found.pop("gateways.g")
    assert "found none" in found.pop("gateways.h.interface"), "who is in a domain reads: it has no default"
    assert "matches" in found.pop("gateways.h.topic")
    reserved = found.pop("gateways.core")
    assert "of a process of the service" in reserved
    assert "tls = { certificate, key }" in reserved
    assert not found


def test_two_cannot_listen_at_one_port(tmp_path: Path) -> None:
    one = '[gateways.{}]\nkind = "foxglove"\naddress = "ws://127.0.0.1:{}"\n'
    found = mistakes(tmp_path, one.format("a", 8765) + one.format("b", 8765) + one.format("c", 8080))
    assert found["gateways.b"].endswith("found 8765, which is that of the gateway a\n")
    assert found["gateways.c"].endswith("found 8080, which is that of the page\n")


def test_a_gateway_is_no_other_configuration_of_the_estimates(tmp_path: Path) -> None:
    more = load(written(tmp_path, '[gateways.view]\nkind = "foxglove"\n'))
    assert more.gateways["view"].served == ("127.0.0.1", 8765)
    without = load(written(tmp_path, ""))
    assert digest(more) == digest(without)


def test_a_package_that_is_not_there_is_said_with_its_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SparkplugSettings, "package", "paho_of_nobody")
    found = mistakes(tmp_path, '[gateways.a]\nkind = "sparkplug"\nbroker = "mqtt://localhost:1883"\ngroup = "g"\n')
    assert found["gateways.a.kind"].endswith("found it not installed: pip install 'jointwatch[mqtt]'\n")
