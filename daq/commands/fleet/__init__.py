"""`jointwatch fleet`: `command.py` runs it, `page.py` makes the HTML page; the work is in daq/fleet."""
