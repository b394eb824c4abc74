"""Ding 2018: the ER-16 arm, its parameters by cuckoo search and by variable projection."""
