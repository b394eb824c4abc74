"""The clearance of a joint's bearing, live, from two proximity sensors or from a ring encoder with one read head."""
