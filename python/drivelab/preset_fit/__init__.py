"""From measurements of a drive to a preset that behaves like it."""
