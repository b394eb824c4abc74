"""Single joints: rigid.py (read first), two_mass.py (elastic), gear.py (lost motion), imperfect.py (for truth only)."""
