"""`jointwatch fleet`: `command.py` says which task is which module, `page.py` and `live_page.py` make the HTML pages.

The work is in daq/fleet.
"""
