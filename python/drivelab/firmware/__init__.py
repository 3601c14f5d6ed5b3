"""What firmware costs on a drive's processor: run, watched, and predicted.

::

    a workload ──> requests.py ──> chunks of requests ──> a file
                                                            │
    lee2021.py                                              ▼
    the fifteen of table 4             profile.py: firmware on host and target, under qemu
    counted.py         own.py: a firmware of one's own      │
    requests, mix, different bytes     record_logs.py ──> profiled.py: records side by side
                                                            │
                                       evaluation.py: workloads predicted by models of others
                                       learners.py, leave_one_out.py, static_count.py

`board_runs.py` has a board in the place of the target (`board.py` reaches it over ssh),
`counters.py` the processor's own counters in the place of the host.

A drive in simulated time decides when each request is sent; firmware by itself takes them one
after the other. So a workload is a list here, and one whose order a drive would decide is refused.
"""
