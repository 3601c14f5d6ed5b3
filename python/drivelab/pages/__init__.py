"""What stands on a page of a run: exhibits of several investigations, put together and written.

A campaign's page shows its models too, a comparison several of both. A room of its own, because
neither investigation may know the other and the drawing knows none.
"""
