"""Drawing exhibits and laying them out as a report; the same code serves every investigation.

`drawing` draws each kind of exhibit, `sheets` arranges pages on paper, `page` makes the HTML page,
`written` writes the files, and `pdf` prints them. This room knows exhibits but no investigation: an
investigation passes in a `drivelab.exhibits.Report`.
"""
