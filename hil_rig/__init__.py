"""The rig: simulated and recorded robots of known truth on real wires, and what the service is judged by.

plants: the physics; messages.py and wire: how it is played; live.py: rig and service side by side; truth: whether valid
means true; papers: published experiments reproduced; commands: `jointwatch demo`, `bench`, `reproduce`, `compile`.
"""
