"""Live watch of a gear between two encoders. Read in this order:

two_encoders.py (which joints have such a gear, and its settings), rows.py (samples → regression rows → sums of a
block), lost_motion.py (blocks → lost motion, stiffness, error; reports and events).
"""
