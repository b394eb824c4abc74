"""da Silva 2007: a space robot's joint, recursive least squares and multilevel coordinate search."""
