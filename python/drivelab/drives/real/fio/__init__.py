"""fio: its program and jobs, what it is sent and what it answers, and the drives behind it."""
