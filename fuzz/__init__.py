"""Fuzzing of what reads outside data; `fuzz/README.md` says how to run it."""
