"""Recorded block traces: what they ask of a drive, other formats, parts of them.

`source` reads files; `characterization` computes what a trace asks of a drive, as a whole and by
window; `rewritten` writes a trace, or a part of it, in another format. `words` and `tables`
describe it to people, `figures` and `exhibits` show it.
"""
