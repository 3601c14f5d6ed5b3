"""Choosing between drives: one workload on each, ranked, and how sure every difference is.

::

    one workload ──► each drive, some repetitions ──► candidate.py  means with intervals
                     (run.py: the journal of each)         │        who cannot keep up
                                                           ▼
                                           ranking.py  who is better, by how much, how sure
                                           costs.py    what each costs, and for an asked rate
                                                           ▼
                                           exhibits.py  the page; answer.py  what programs read

Repetition n has the same random numbers on every drive, so drives are compared pair by pair: what
the requests of one repetition have in common cancels.
"""
