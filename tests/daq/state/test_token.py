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


def test_it_is_made_where_none_is_given_and_asked_for(config: Config, tmp_path: Path) -> None:
    with pytest.raises(BaselineError, match="cannot be read: no such file; the service makes it"):
        token_of(config)
    made, where = token_of(config, make=True)
    assert Path(where) == tmp_path / "arm.token"
    assert Path(where).stat().st_mode & 0o777 == 0o600
    assert len(made) >= 20
    assert token_of(config) == token_of(config, make=True) == (made, where)
    Path(where).unlink()
    assert token_of(config, make=True)[0] != made, "it cannot be known in advance"


def test_a_file_that_was_named_is_read_and_never_made(config: Config, tmp_path: Path) -> None:
    """A name that is mistyped must not become a token that is not known."""
    named = given(config, tmp_path / "token", "correct-horse-battery\n")
    assert token_of(named, make=True) == ("correct-horse-battery", str(tmp_path / "token"))
    (tmp_path / "token").unlink()
    with pytest.raises(BaselineError, match="token: cannot be read: no such file"):
        token_of(named, make=True)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("mode", [0o600, 0o400])
def test_a_file_of_its_owner_alone_is_taken(config: Config, tmp_path: Path, mode: int) -> None:
    assert token_of(given(config, tmp_path / "token", "correct-horse-battery", mode))[0] == "correct-horse-battery"


@pytest.mark.parametrize("mode", [0o640, 0o620, 0o610, 0o604, 0o602, 0o601, 0o644, 0o660])
def test_a_file_that_group_or_others_may_read_or_write_is_refused(config: Config, tmp_path: Path, mode: int) -> None:
    with pytest.raises(BaselineError, match="others may read this token; expected mode 0600: chmod 600 /"):
        token_of(given(config, tmp_path / "token", "correct-horse-battery", mode))


def test_twelve_printable_characters_are_enough_and_eleven_are_not(config: Config, tmp_path: Path) -> None:
    assert token_of(given(config, tmp_path / "token", "twelve chars"))[0] == "twelve chars"
    for text in ("eleven char", "twelve\tchars"):
        with pytest.raises(BaselineError, match=f"ASCII characters, found {len(text)}$"):
            token_of(given(config, tmp_path / "token", text))


def test_what_is_no_text_is_no_token(config: Config, tmp_path: Path) -> None:
    named = given(config, tmp_path / "token", "")
    (tmp_path / "token").write_bytes(b"\xff" * 20)
    with pytest.raises(BaselineError, match=r"token: expected text$"):
        token_of(named)


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
    monkeypatch.setenv("JOINTWATCH_TOKEN", " out-of-the-environment\n")
    named = given(config, tmp_path / "token", "correct-horse-battery")
    assert token_of(config) == token_of(named) == ("out-of-the-environment", "$JOINTWATCH_TOKEN")
