"""Quantisation: the effect of encoder steps on rows and on the parameters learnt from them. Read in this order:

encoder_steps.py (the step, its noise in rows), rounding.py and quantisation_weights.py (weights of rows), then the two
effects on θ: errors_in_variables.py (noise) and shifted_quantiser.py (no noise); robot_*.py; effect.py (on η).
"""
