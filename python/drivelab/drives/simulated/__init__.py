"""Drives that exist as presets, in simulated time."""
