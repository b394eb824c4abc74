"""What follows a joint's samples in addition to its estimate: use, the fleet's summary, channels for the page."""
