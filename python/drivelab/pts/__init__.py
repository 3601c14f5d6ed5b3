"""Performance of a settled drive, after the SNIA performance test specification."""
