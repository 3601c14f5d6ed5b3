"""Drivelab."""
