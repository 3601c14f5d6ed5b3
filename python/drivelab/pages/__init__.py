"""The pages of a run: exhibits of several investigations, combined and written to files.

A campaign's page also shows its models, and a comparison shows several runs with theirs. This needs
a room of its own: the investigations must not know each other, and drawing knows none of them.
"""
