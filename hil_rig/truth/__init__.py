"""Tests of what "valid" means: simulated joints with right and wrong models, their estimates compared with truth."""
