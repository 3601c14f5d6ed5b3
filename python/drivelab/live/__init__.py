"""Simulated drives that programs can open."""
