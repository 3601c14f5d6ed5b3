"""Placing workloads on a pool of drives: who shares a drive with whom, under bounds.

::

    plan_file.py ─► plan.py         workloads, drives, bounds, what is to be least
                      │
                      ▼
    measured.py       each workload alone, and every two side by side, on each kind of drive
    interference.py   what that says of any group: latencies, rates, utilisation
                      │
                      ▼
    model.py          a mixed-integer linear program, solved by HiGHS ──► obstacles.py
                      │  ▲                                                which bound is in the way
                      ▼  │ groups that broke a bound
    placing.py        the groups of the answer, simulated together
                      │
                      ▼
    exhibits.py       the page; answer.py  what programs read

The program decides by what pairs did; the simulation of whole groups has the last word. A group
that breaks a bound there is forbidden, and the program is solved again.
"""
