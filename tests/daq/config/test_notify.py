"""[notify]: off by default, and each mistake says what was expected."""

import re
from pathlib import Path

import pytest

from daq.config.load import load
from daq.config.words import ConfigError

TEMPLATE = (Path(__file__).parents[3] / "daq" / "jointwatch.toml").read_text("utf-8")
MAIL = 'server = "smtp.example.org", sender = "arm@example.org", to = ["one@example.org"]'


def configured(folder: Path, notify: str) -> Path:
    file = folder / "jointwatch.toml"
    file.write_text(f"{TEMPLATE}\n{notify}\n", "utf-8")
    return file


def secret(folder: Path, text: str = "a secret of sufficient length", mode: int = 0o600) -> None:
    (folder / "hook.secret").write_text(text, "utf-8")
    (folder / "hook.secret").chmod(mode)


def test_nobody_is_told_unless_it_is_asked_for(tmp_path: Path) -> None:
    assert load(configured(tmp_path, "")).notify is None


def test_a_webhook_and_a_mail_are_configured(tmp_path: Path) -> None:
    secret(tmp_path)
    text = f'[notify]\nwebhook = {{ url = "https://hooks.example.org/x", secret = "hook.secret" }}\nmail = {{ {MAIL} }}'
    found = load(configured(tmp_path, text)).notify
    assert found is not None
    assert found.webhook is not None
    assert found.mail is not None
    assert found.webhook.secret == tmp_path / "hook.secret"
    assert (found.mail.port, found.mail.security) == (587, "starttls")


@pytest.mark.parametrize(
    ("notify", "said"),
    [
        ("[notify]", r"notify: expected webhook = \{ … \} or mail = \{ … \}, found neither"),
        ('[notify]\nwebhook = { url = "hooks.example.org" }', "expected http://HOST… or https://HOST…"),
        ('[notify]\nwebhook = { url = "https://me:word@host/" }', "without user and password"),
        ('[notify]\nwebhook = { url = "https://h/", secret = "none" }', r"none: cannot be read: no such file"),
        ('[notify]\nwebhook = { url = "https://h/", secret = "open.secret" }', "others may read this secret.*chmod"),
        ('[notify]\nwebhook = { url = "https://h/", secret = "short.secret" }', "a secret of at least 16 characters"),
        ('[notify]\nmail = { server = "h", sender = "arm", to = ["a@b"] }', "expected a mail address, NAME@HOST"),
        ('[notify]\nmail = { server = "a b", sender = "a@b", to = ["a@b"] }', "expected a host name or an address"),
        ('[notify]\nmail = { server = "h", sender = "a@b", to = [] }', "notify.mail.to: "),
        (f'[notify]\nmail = {{ {MAIL}, user = "arm", security = "none" }}', "could read the password on its way"),
        (f'[notify]\nmail = {{ {MAIL}, password = "hook.secret" }}', "expected a user for the password"),
        (f'[notify]\nmail = {{ {MAIL}, secure = true }}', "secure"),
        (f'[notify]\nlink = "arm:8080"\nmail = {{ {MAIL} }}', "notify.link: expected http://HOST"),
    ],
)  # fmt: skip
def test_a_mistake_says_what_was_expected(tmp_path: Path, notify: str, said: str) -> None:
    secret(tmp_path)
    for name, text, mode in (("open", "a secret of sufficient length", 0o644), ("short", "brief", 0o600)):
        (tmp_path / f"{name}.secret").write_text(text, "utf-8")
        (tmp_path / f"{name}.secret").chmod(mode)
    with pytest.raises(ConfigError) as raised:
        load(configured(tmp_path, notify))
    assert re.search(said, str(raised.value)), str(raised.value)
