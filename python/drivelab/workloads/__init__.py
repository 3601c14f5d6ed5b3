"""Workloads (what a drive is asked to do) and experiment designs (sets of workloads)."""
