"""Sun 2021: a pointing mechanism whose joint has clearance, identified by a bee colony."""
