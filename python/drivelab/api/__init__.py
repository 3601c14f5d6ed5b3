"""The Python API: what `import drivelab` offers, one file per noun.

Functions accept and return tables of any library, and other types that are natural in a notebook.
They call the same code as the command line; nothing here measures, fits or stores by itself.
"""
