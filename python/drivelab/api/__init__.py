"""Drivelab from Python: what `import drivelab` offers, a file a noun.

Functions take and give what is natural in a notebook, tables of any library among it, and call
the same rooms as the command line. Nothing here measures, fits or stores by itself.
"""
