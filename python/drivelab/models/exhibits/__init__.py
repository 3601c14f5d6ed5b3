"""What models show in addition to their campaign: how good, how sure, what matters.

Each function takes a run's data (`run_data`) and gives exhibits or what they are made of; it reads
no file and draws nothing.
"""
