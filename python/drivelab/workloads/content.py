"""Kinds of written data, for drives that compress or deduplicate.

`crates/request/src/content.rs` defines how much each kind shrinks.
"""

from __future__ import annotations

from typing import Final

CONTENTS: Final = ("zero", "database", "random")
USUAL: Final = "random"
