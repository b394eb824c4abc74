"""Weights of rows before they are learnt: rows at reversals, and rows whose torque changes within a sample."""
