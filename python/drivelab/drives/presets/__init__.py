"""Presets: their files, values with sources, published figures, and where else they come from."""
