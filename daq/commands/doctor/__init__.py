"""`jointwatch doctor`: `command.py` runs it; `host.py` examines the machine, `bus.py` frames of an unknown bus,
`framing.py` the bytes of an unknown serial line; `losses.py` has words for counters, `proposal.py` proposes a
configuration."""
