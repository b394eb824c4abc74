"""Arms of four to seven axes in trials: drawn at random, disturbed, and what was reported of them."""
