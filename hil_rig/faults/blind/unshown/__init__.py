"""Kinds of fault that no cause of the estimators describes, a file each; listed in catalogue.py."""
