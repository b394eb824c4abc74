"""Mechanisms with known truth: a pin in a bearing with clearance, a pointing mechanism, a tree, a leg of closed loops."""
