"""Whether valid means true: simulated joints, honest and not, through alignment and estimator, against their truth."""
