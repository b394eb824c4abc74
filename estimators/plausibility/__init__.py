"""Whether signals can be what they are said to be; what cannot be is named, and nothing is learnt from it."""
