"""Users of a joint's samples other than its estimator: counts of use, the summary for a fleet, channels for the
page."""
