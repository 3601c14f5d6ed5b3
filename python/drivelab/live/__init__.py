"""Simulated drives that programs can open like real ones."""
