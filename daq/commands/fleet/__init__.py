"""`jointwatch fleet`: `command.py` lists the tasks, whose modules have their names; `page.py` and `live_page.py` make
the HTML pages.

The work is in daq/fleet.
"""
