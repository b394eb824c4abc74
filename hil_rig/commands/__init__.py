"""Commands of `jointwatch` that need the rig: bench, compile, demo, reproduce."""
