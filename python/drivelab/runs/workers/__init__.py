"""Executors whose work is done by other processes, here or on other machines."""
