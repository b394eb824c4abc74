"""Guo 2024 (Aerospace 11, 368): trees and closed chains whose friction depends on the forces in their joints.

`jointwatch reproduce tree | closed-chain`. Read tree.py first; closed_chain.py adds loops and a fixed-point iteration.
"""
