"""Drawing of what a test of the specification shows: one module a kind of exhibit.

`drawn` knows which module draws which kind. Each gives panels for the page, a legend next to
them so that it never lies over the data, and the table that is saved as CSV.
"""
