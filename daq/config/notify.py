"""The table [notify]: where each change of a joint is sent once, as a webhook, as a mail, or both."""

import re
from pathlib import Path
from typing import Annotated, Final, Literal, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, field_validator, model_validator

from daq.config.fields import SecretFile, Section, is_local, matching

SHORTEST: Final = 16  # characters of a webhook's secret: shorter ones can be guessed from one signed body


def _address(text: str) -> str:
    if not re.fullmatch(r"[^@\s,<>]+@[^@\s,<>]+", text) or not text.isascii():
        raise ValueError(f"expected a mail address, NAME@HOST, found {text!r}")
    return text


MailAddress = Annotated[str, AfterValidator(_address)]


def _web_address(text: str) -> str:
    parts = urlsplit(text)
    try:
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError as error:
        raise ValueError(f"expected http://HOST or https://HOST: {error}") from None
    if not good or not text.isascii() or not text.isprintable() or " " in text:
        raise ValueError("expected http://HOST… or https://HOST…, in ASCII and without spaces")
    if parts.username is not None:
        raise ValueError("expected an address without user and password: the signature says who sends")
    return text


class WebhookSection(Section):
    """A request for each change: POST with a JSON body, signed with HMAC-SHA256."""

    url: Annotated[str, AfterValidator(_web_address)] = Field(description="http:// or https:// address of the receiver")
    secret: SecretFile | None = Field(
        default=None, description="file (0600) of the secret that signs; left out: $JOINTWATCH_WEBHOOK_SECRET"
    )

    @field_validator("secret")
    @classmethod
    def _long_enough(cls, secret: Path | None) -> Path | None:
        if secret is not None and len(secret.read_text("utf-8").strip()) < SHORTEST:
            raise ValueError(f"{secret}: expected a secret of at least {SHORTEST} characters")
        return secret


class MailSection(Section):
    """A mail for each change."""

    server: Annotated[str, matching(r"[A-Za-z0-9._:-]+", "a host name or an address")] = Field(
        description="host of the SMTP server"
    )
    port: int = Field(default=587, ge=1, le=65535)
    security: Literal["starttls", "tls", "none"] = Field(
        default="starttls", description="tls: from the first byte, usually port 465; none: in the clear, port 25"
    )
    user: str | None = Field(default=None, min_length=1, description="left out: no login")
    password: SecretFile | None = Field(
        default=None, description="file (0600) of the password; left out: $JOINTWATCH_MAIL_PASSWORD"
    )
    sender: MailAddress = Field(description="address that the mail comes from")
    to: list[MailAddress] = Field(min_length=1, description="addresses that get it")

    @model_validator(mode="after")
    def _password_is_not_sent_in_the_clear(self) -> Self:
        if self.user is not None and self.security == "none" and not is_local(self.server):
            raise ValueError(
                f'expected security = "starttls" or "tls" for a login at {self.server}, found "none": everyone on the '
                "network could read the password on its way"
            )
        if self.user is None and self.password is not None:
            raise ValueError("expected a user for the password, found none")
        return self


class NotifySection(Section):
    """Where each change is sent, once; without this table it is not sent anywhere."""

    link: Annotated[str, AfterValidator(_web_address)] | None = Field(
        default=None, description="the page's address as a reader reaches it; left out: [publish] page"
    )
    webhook: WebhookSection | None = None
    mail: MailSection | None = None

    @model_validator(mode="after")
    def _somebody(self) -> Self:
        if self.webhook is None and self.mail is None:
            raise ValueError("expected webhook = { … } or mail = { … }, found neither")
        return self
