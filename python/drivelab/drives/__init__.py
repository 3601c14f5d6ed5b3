"""Drives: what can be measured, simulated or computed, each named by one string."""
