"""Drives that are formulas."""
