"""What is asked of a drive: workload characteristics and experiment designs."""
