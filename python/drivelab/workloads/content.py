"""What the data of writes looks like to a drive that compresses or deduplicates.

What each content shrinks to is defined once, in `crates/request/src/content.rs`.
"""

from __future__ import annotations

from typing import Final

CONTENTS: Final = ("zero", "database", "random")
USUAL: Final = "random"
