"""The limits of a collector's configuration: the days for which a lake keeps what it has."""

from pathlib import Path

import pytest

from daq.config.words import ConfigError
from daq.fleet.live.settings import load_collector


def lake(folder: Path, setting: str) -> Path:
    file = folder / "lake.toml"
    file.write_text(f'[lake]\nplace = "lake"\n{setting}\n[robots]\narm1 = {{ endpoint = "tcp://arm1:5556" }}\n')
    return file


@pytest.mark.parametrize(("name", "least", "most"), [("raw", 0.1, 3660.0), ("minutes", 1.0, 3660.0)])
def test_rows_are_kept_from_a_tenth_of_a_day_to_ten_years(tmp_path: Path, name: str, least: float, most: float) -> None:
    for days in (least, most):
        assert getattr(load_collector(lake(tmp_path, f"{name} = {days}")).lake, name) == days
    for days, expected in (
        (0.9 * least, f"greater than or equal to {least:g}"),
        (1.1 * most, f"less than or equal to {most:g}"),
    ):
        with pytest.raises(ConfigError, match=expected):
            load_collector(lake(tmp_path, f"{name} = {days}"))


def test_a_lake_without_settings_keeps_two_days_of_rows_and_two_months_of_minutes(tmp_path: Path) -> None:
    settings = load_collector(lake(tmp_path, "")).lake
    assert (settings.raw, settings.minutes, settings.collector, settings.key) == (2.0, 60.0, "collector", None)
    assert settings.place == str(tmp_path / "lake")


def test_a_locked_service_wants_our_key_and_every_key_that_is_none_is_named(tmp_path: Path) -> None:
    (tmp_path / "none.key").write_text("nothing")
    (tmp_path / "none.key_secret").write_text("nothing")
    arm = 'arm1 = { endpoint = "tcp://arm1:5556", server_key = "none.key" }'
    file = tmp_path / "lake.toml"
    file.write_text(f'[lake]\nplace = "lake"\n[robots]\n{arm}\n')
    with pytest.raises(
        ConfigError, match=r"expected \[lake\] key = our .key_secret, since robots.arm1 has a server_key"
    ):
        load_collector(file)
    file.write_text(f'[lake]\nplace = "lake"\nkey = "none.key_secret"\n[robots]\n{arm}\n')
    with pytest.raises(ConfigError) as found:
        load_collector(file)
    said = str(found.value).splitlines()
    assert [line.split(" ")[0] for line in said if "none.key" in line] == [f"{file}:3:", f"{file}:5:"]
    assert "lake.key" in said[0]
    assert "robots.arm1.server_key" in said[1]
