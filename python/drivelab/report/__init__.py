"""The report of a run: tables are computed, figures drawn from them, a page put around both.

`table` is what a table is; `tables`, `latency` and `effects` compute the rows; `figures` draws
them in the look of `svg`; `words` and `identity` say the rest; `html` makes one page of it and
`build` writes it into the run folder.
"""

from drivelab.report.build import build_report

__all__ = ["build_report"]
