"""Performance of a drive once it has settled, after the SNIA performance test specification."""
