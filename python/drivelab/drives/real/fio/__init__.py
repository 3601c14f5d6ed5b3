"""fio: the program and its jobs, what it is sent, what it reports, the drives it measures."""
