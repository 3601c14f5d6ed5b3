"""Timelines of simulated drives: when dispatch, channels and flash units work."""
