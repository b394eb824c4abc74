"""`jointwatch history` and `jointwatch compare`: what the history file has."""
