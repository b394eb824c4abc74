"""`make mutants`: small errors put into the code one at a time, and whether the tests notice."""
