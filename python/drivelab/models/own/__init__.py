"""Models of what somebody else measured: tables of settings and results, of any names."""
