"""Many recordings of many robots: what each says, and who is odd among its siblings."""
