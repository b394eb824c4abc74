"""What is read and written of robots: URDF, DH tables, identified models."""
