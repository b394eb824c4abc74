"""Notifications: each change of a joint is sent once to a webhook, as a mail, or both."""
