"""Block devices and files, measured with fio: what may be written, locks, purge, write cache."""
