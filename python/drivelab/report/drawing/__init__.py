"""Drawing exhibits, one module per kind.

`drawn` chooses the module for an exhibit. Each module returns panels for the page, a legend next to
them (so that it never covers the data), and the table to save as CSV.
"""
