"""How fast will this drive be under my workload? Measure, model, simulate, predict."""
