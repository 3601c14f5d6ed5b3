"""How much sequential access is worth on a drive, from few measurements.

After Boito et al. 2015 (SeRRa): passes over a file at a few request sizes, a straight line of the
access time for each kind of pass and interval of sizes, and from the lines the ratio of sequential
to random throughput at every size.
"""
