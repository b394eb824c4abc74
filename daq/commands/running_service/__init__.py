"""Commands that query the dashboard of a running service: its state, its baselines, and changes of joints."""
