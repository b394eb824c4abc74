"""Other realisations of the faults that the causes of the estimators know, a file each; listed in catalogue.py."""
