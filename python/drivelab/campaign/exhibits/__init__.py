"""What a campaign shows: curves, tails, every workload, and what to know before trusting them.

Each function takes the campaign's data (`data`) and gives exhibits or what they are made of; it
reads no file and draws nothing.
"""
