"""The commands that read recordings: replay, export, columns, decode and skew."""
