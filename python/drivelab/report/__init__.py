"""What is shown, drawn and laid out: any list of exhibits, whatever they are of.

`drawing` draws each kind, `sheets` says how pages lie on paper, `page` makes one page of a report,
`written` its files and `pdf` paper. It knows exhibits and no investigation: whoever has something
to show gives a `drivelab.exhibits.Report`.
"""
