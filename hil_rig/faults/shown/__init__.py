"""Faults that the causes of the estimators know, a file each; listed in hil_rig.faults.catalogue."""
