"""Sends a notification as a mail, by the standard library's smtplib (RFC 5321)."""

import contextlib
import hashlib
import smtplib
import ssl
from email.message import EmailMessage
from email.utils import formatdate
from typing import Final

from daq.config.notify import MailSection
from daq.outlet.notifications.channel import LONGEST, DeliveryRefusedError, deadline
from daq.outlet.notifications.notification import Notification

PERMANENT: Final = 500  # from this code on an answer is final (RFC 5321, 4.2.1)


class Mail:
    """Sends through one server."""

    def __init__(self, settings: MailSection, password: str) -> None:
        self._settings, self._password = settings, password

    def send(self, one: Notification) -> None:
        """Send it. Raises DeliveryRefusedError where the server will never take it, OSError otherwise."""
        try:
            self._send(self._message(one))
        except smtplib.SMTPRecipientsRefused as error:
            refused = "; ".join(f"{who}: {code} {_text(words)}" for who, (code, words) in error.recipients.items())
            if all(code >= PERMANENT for code, _ in error.recipients.values()):
                raise DeliveryRefusedError(f"{self._settings.server} takes no mail for {refused}") from error
            raise OSError(f"{self._settings.server} takes no mail for {refused}") from error
        except smtplib.SMTPResponseException as error:
            answered = f"{self._settings.server} answered {error.smtp_code} {_text(error.smtp_error)}"
            raise (DeliveryRefusedError if error.smtp_code >= PERMANENT else OSError)(answered) from error

    def _message(self, one: Notification) -> EmailMessage:
        message = EmailMessage()
        message["From"] = self._settings.sender
        message["To"] = ", ".join(self._settings.to)
        message["Subject"] = f"[jointwatch] {one.title}"
        message["Date"] = formatdate(localtime=True)
        domain = self._settings.sender.rpartition("@")[2]
        message["Message-ID"] = f"<{hashlib.sha256(one.key.encode()).hexdigest()[:32]}@{domain}>"
        message["Auto-Submitted"] = "auto-generated"  # RFC 3834: no automatic answers, please
        message.set_content(one.letter())
        return message

    def _send(self, message: EmailMessage) -> None:
        settings, context = self._settings, ssl.create_default_context()
        with contextlib.ExitStack() as stack:
            server: smtplib.SMTP
            if settings.security == "tls":
                server = smtplib.SMTP_SSL(timeout=LONGEST, context=context)
            else:
                server = smtplib.SMTP(timeout=LONGEST)
            stack.callback(server.close)
            stack.enter_context(deadline(lambda: server.sock, LONGEST))
            server._host = settings.server  # type: ignore[attr-defined]  # what a certificate is checked for
            server.connect(settings.server, settings.port)
            if settings.security == "starttls":
                server.starttls(context=context)
            if settings.user is not None:
                server.login(settings.user, self._password)
            server.send_message(message, to_addrs=settings.to)
            with contextlib.suppress(OSError):  # it has been taken
                server.quit()


def _text(words: bytes | str) -> str:
    return words.decode("utf-8", "replace") if isinstance(words, bytes) else words
