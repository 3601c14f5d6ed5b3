"""Black-box models of a drive: performance from workload characteristics.

After Huang et al. 2011: measure many workloads, fit regression trees on the logarithm of
the performance, ask the model about any other workload.
"""
