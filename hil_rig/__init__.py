"""The rig: simulated and recorded robots with known truth on real wires, and the judgement of the service by them.

plants: the physics; messages.py and wire: how samples are sent; live.py: rig and service in parallel; truth: whether
valid estimates are true; papers: reproductions of published experiments; commands: `jointwatch demo`, `bench`,
`reproduce`, `compile`.
"""
