"""η of an estimate: in force, and how it is searched again."""
