"""Recursive least squares with forgetting. Read in this order:

state.py (what is known), kernel.py (one row, compiled), forgetting.py (how fast the past fades, the alarm of cusum.py),
estimator.py (θ, P and the noise around the kernel), learner.py (with the factors by which Σ is wider than P says);
then restart.py and prior.py (a fresh start from a window), unidentifiable.py (directions without motion), and weights/.
"""
