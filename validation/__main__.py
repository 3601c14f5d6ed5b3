"""Run every section and write it into VALIDATION.md; exit 1 when a claim fails that is no target.

`python -m validation NAME...` runs only the named sections and leaves the others as they are.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

from validation.arrays import arrays
from validation.boito2015 import whole_passes
from validation.collection import collection
from validation.counters_table import write as write_counters
from validation.coverage import simulated_coverage
from validation.document import with_section
from validation.estimators import estimators
from validation.few_measurements import early_forecasts, few_measurements, slow_drives
from validation.fitted import hidden_drives
from validation.fuzzing import fuzzing
from validation.huang2011 import huang2011
from validation.interfaces import interfaces
from validation.lee2021 import lee2021
from validation.models import simulated_accuracy
from validation.mqsim import beside_mqsim
from validation.oracles import simulator_oracles
from validation.placement import placement
from validation.profile_speed import profile_speed
from validation.profiles import profiles
from validation.published import published_figures, simulated_figures, sources_of_values
from validation.published_table import TARGET as PUBLISHED_TABLE
from validation.published_table import table_text
from validation.real_file import file_accuracy
from validation.record_sizes import record_sizes
from validation.snia2010 import coughlin2010, steady_state_rule
from validation.speed import main_job_speed, simulator_speed
from validation.steady_state import steady_state
from validation.synthesis import synthesis
from validation.tails import tails
from validation.trace_minutes import forecast_minutes, learned_minutes
from validation.variability import variability
from validation.yoo2014 import yoo2014

if TYPE_CHECKING:
    from collections.abc import Callable

    from validation.document import Section

SECTIONS: Final[dict[str, Callable[[], Section]]] = {
    "yoo2014": yoo2014,
    "huang2011": huang2011,
    "published": published_figures,
    "boito2015": whole_passes,
    "serra": profiles,
    "snia2010": coughlin2010,
    "pts": steady_state_rule,
    "sources": sources_of_values,
    "variability": variability,
    "steady": steady_state,
    "oracles": simulator_oracles,
    "fuzzing": fuzzing,
    "collection": collection,
    "interfaces": interfaces,
    "arrays": arrays,
    "tails": tails,
    "synthesis": synthesis,
    "estimators": estimators,
    "models": simulated_accuracy,
    "coverage": simulated_coverage,
    "few": few_measurements,
    "slow": slow_drives,
    "early": early_forecasts,
    "fitted": hidden_drives,
    "curves": record_sizes,
    "placement": placement,
    "minutes": learned_minutes,
    "forecasts": forecast_minutes,
    "mqsim": beside_mqsim,
    "lee2021": lee2021,
    "file": file_accuracy,
    "job": main_job_speed,
    "profile": profile_speed,
    "speed": simulator_speed,
}
_TARGET: Final = Path(__file__).parent.parent / "VALIDATION.md"


def main(names: list[str]) -> int:
    """Run the named sections, or all of them and write the document."""
    unknown = [name for name in names if name not in SECTIONS]
    if unknown:
        sys.stderr.write(f"no section {unknown[0]}; there are {', '.join(SECTIONS)}\n")
        return 2
    failed = []
    for name in names or SECTIONS:
        start = time.monotonic()
        section = SECTIONS[name]()
        document = _TARGET.read_text(encoding="utf-8") if _TARGET.exists() else ""
        # At once, so that a stop loses one section at most.
        _TARGET.write_text(with_section(document, name, section, list(SECTIONS)), encoding="utf-8")
        sys.stderr.write(f"{name}: {time.monotonic() - start:.0f} s\n")
        failed += [claim for claim in section.claims if not claim.holds]
    if not names:
        write_counters()
    if "published" in (names or SECTIONS):
        PUBLISHED_TABLE.write_text(table_text(simulated_figures()), encoding="utf-8")
    for claim in failed:
        sys.stderr.write(f"{'missed' if claim.target else 'FAILS'}: {claim.statement}\n")
    return 0 if all(claim.target for claim in failed) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
