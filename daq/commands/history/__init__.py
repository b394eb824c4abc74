"""`jointwatch history` and `jointwatch compare`: show and compare the content of history files."""
