"""Sources of readings: a driver per wire. `catalogue.py` finds the one that `kind = "…"` selects, ours or a plug-in."""

from drivers.catalogue import AnyDriver as AnyDriver
