"""Gateways: the stream for other systems, each in a process of its own that only subscribes.

`process.py` is what all of them run, `gateway.py` what each of them has; `joint_metrics.py` says what a plant gets
of a joint. Then one file a system. No gateway takes a command: what a client sends is refused, or ignored.
"""
