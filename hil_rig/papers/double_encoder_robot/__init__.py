"""Liu 2023: a six-axis robot with two encoders a joint, identified in three loops."""
