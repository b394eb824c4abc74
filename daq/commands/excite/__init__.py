"""`jointwatch excite`: a trajectory that tells most of a robot within its limits, or what one is worth."""
