"""The exhibits of a campaign: curves, tails, all workloads, and warnings.

Each function takes the campaign's data (`data`) and returns exhibits or parts of them. It reads no
file and draws nothing.
"""
