"""What is decided between two calls of the compiled pass: phases, validity, standstill, model fit."""
