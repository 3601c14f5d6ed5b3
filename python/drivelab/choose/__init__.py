"""Choosing between drives: run one workload on each, rank them, and say how sure that is.

::

    one workload ──► each drive, repeated      ──► candidate.py  means with intervals
                     (run.py: the journal of each)         │        who cannot keep up
                                                           ▼
                                           ranking.py  who is better, by how much, how sure
                                           costs.py    what each costs, and for an asked rate
                                                           ▼
                                           exhibits.py  the page; answer.py  what programs read

Repetition n uses the same random numbers on every drive. So drives are compared pair by pair, and
what the requests of one repetition have in common cancels out.
"""
