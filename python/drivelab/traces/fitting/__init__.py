"""A scenario that asks a drive for what a recorded trace asked for."""
