"""The token: from the environment, a file of its owner's, or made; never empty, and never open to others."""

from pathlib import Path

import pytest

from daq.config.load import load
from daq.config.sections import Config
from daq.state.files import BaselineError, token_of

TEMPLATE = Path(__file__).parents[3] / "daq" / "jointwatch.toml"


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Config:
    monkeypatch.delenv("JOINTWATCH_TOKEN", raising=False)
    monkeypatch.setenv("STATE_DIRECTORY", str(tmp_path))
    return load(TEMPLATE)


def given(config: Config, file: Path, text: str, mode: int = 0o600) -> Config:
    file.write_text(text)
    file.chmod(mode)
    return config.model_copy(update={"publish": config.publish.model_copy(update={"token": file})})


def test_it_is_made_where_none_is_given(config: Config, tmp_path: Path) -> None:
    made, where = token_of(config, make=True)
    assert Path(where).parent == tmp_path
    assert Path(where).stat().st_mode & 0o777 == 0o600
    assert token_of(config) == (made, where)


def test_a_file_of_mode_600_is_taken(config: Config, tmp_path: Path) -> None:
    file = tmp_path / "token"
    assert token_of(given(config, file, "correct-horse-battery\n"))[0] == "correct-horse-battery"
    with pytest.raises(BaselineError, match="others may read this token"):
        token_of(given(config, file, "correct-horse-battery", 0o644))


@pytest.mark.parametrize("text", ["", "\n", "   ", "short", "schlüsselschlüssel"])
def test_an_empty_or_short_one_is_none(
    config: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    with pytest.raises(BaselineError, match="at least 12 ASCII characters"):
        token_of(given(config, tmp_path / "token", text))
    monkeypatch.setenv("JOINTWATCH_TOKEN", text)
    with pytest.raises(BaselineError, match="at least 12"):
        token_of(config)


def test_that_of_the_environment_comes_first(config: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JOINTWATCH_TOKEN", "out-of-the-environment")
    assert token_of(config) == ("out-of-the-environment", "$JOINTWATCH_TOKEN")
