"""The causes, a file each: what it adds to torque and twist, and its remedy. Listed in estimators/causes/catalogue.py."""
