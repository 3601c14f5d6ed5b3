"""Presets: files, values with sources, published figures, and import from other formats."""
