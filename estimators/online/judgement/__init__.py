"""Judgement: whether rows may teach, values are valid, and the model fits. Read in this order:

gate.py and standstill.py (when a joint rests), motion.py (how much motion there was), validity.py (which values may be
trusted), model_fit.py with fit_state.py (whether the model fits), events.py (the log). What follows from a block of
rows is compiled: block_end.py, step_effects.py, widening.py.
"""
