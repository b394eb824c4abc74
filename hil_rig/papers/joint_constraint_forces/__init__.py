"""Guo 2024: trees and closed chains whose friction follows the forces in their joints."""
