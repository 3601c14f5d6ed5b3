"""Fitting a preset to measurements of a drive, so that the simulated drive behaves like it."""
