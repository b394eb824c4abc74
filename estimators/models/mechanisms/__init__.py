"""Mechanisms: trees and closed chains of links, the friction their own constraint forces make, clearance."""
