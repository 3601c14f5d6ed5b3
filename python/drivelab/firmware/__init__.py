"""What firmware is asked: requests in order, as the firmware program reads them.

::

    a workload ──> requests.py ──> chunks of requests ──> a file, or the program's input
                                        │
    lee2021.py                          ▼
    the fifteen of table 4 ──────> counted.py     requests, mix, volume, different bytes

A drive in simulated time decides when each request is sent; firmware by itself takes them one
after the other. So a workload is a list here, and one whose order a drive would decide is refused.
"""
