"""Mechanisms: trees and closed chains of links, the friction that their own constraint forces make, journal clearance."""
