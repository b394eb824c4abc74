"""Mechanisms with known truth: a pin with clearance, a pointing mechanism, a tree, a leg of closed loops."""
