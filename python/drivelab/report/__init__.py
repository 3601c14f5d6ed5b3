"""The report of a run: tables are computed, figures drawn from them, a page put around both.

`table` is what a table is; `tables`, `latency` and `effects` compute the rows; `figures` draws
them in the look of `svg`; `words` and `identity` say the rest; `html` makes one page of it and
`build` writes it into the run folder.
"""

import logging
import os

from drivelab.report.build import build_report

# Read when Matplotlib is first imported: figures are drawn to files, whatever a shell is set
# up for, and where it keeps its font list is nothing to tell anybody.
os.environ["MPLBACKEND"] = "agg"
logging.getLogger("matplotlib").setLevel(logging.ERROR)

__all__ = ["build_report"]
