"""Robots as trees of joints: description, kinematics, inverse dynamics, regressors, base parameters.

Joints come in an order where a parent precedes its children; link i is what joint i moves. Link i's frame is joint i's:
URDF's child frame, or the frame that turns with z in a DH table. The ten standard parameters of a link are, about the
origin of that frame and in its axes, in Pinocchio's order,

    [m  mx my mz  Ixx Ixy Iyy Ixz Iyz Izz]            kg, kg·m, kg·m²

A `Robot` (description.py) is read by urdf.py or dh_table.py; `robot.tree()` is what kernels take:

    tree = robot.tree()                               # Tree(parent, kind, geometry, gravity): arrays
    newton_euler(*tree, q, dq, ddq, parameters, external, tau, wrench)      newton_euler.py
    regressor(*tree, q, dq, ddq, Y)                                         regressor.py
    mass_matrix(*tree, q, parameters, M)                                    newton_euler.py
    forward_kinematics(*tree, q, rotation, origin)                          kinematics.py

with n joints: q, dq, ddq, tau (rows, n) in rad or m; parameters (n, 10); Y (rows, n, 10·n); M (rows, n, n); wrench
and external (rows, n, 6) as force then moment, about the link's origin, in its axes: what the parent exerts on the
link through the joint, and what the surroundings exert on the link (external may have 0 rows: none); rotation
(rows, n, 3, 3) and origin (rows, n, 3) in the base frame. Every array is C-contiguous float64 and is filled in place.
Gravity is part of the tree: `tree.weightless()` is the same robot without it. Kernels of one row, for other kernels,
are the `@inline` functions `motion` (kinematics.py), `forces` (newton_euler.py) and `regressor_row` (regressor.py).

    base_projection(tree)                             base_parameters.py: identifiable columns, and their meaning
"""
