"""What follows a joint's samples beside its estimate: use, the fleet's summary, channels for the page."""
