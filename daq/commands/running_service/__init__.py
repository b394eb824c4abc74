"""Commands that ask the page of a running service: its state, its baselines, what has changed."""
