"""Recorded block traces: what they ask of a drive, other formats, parts of them.

`source` says which files are read and how, `characterization` what a trace asks of a drive, as
a whole and by window; `rewritten` writes it, or a part of it, in another format. `words` and
`tables` say it to people, `figures` and `exhibits` show it.
"""
